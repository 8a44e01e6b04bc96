//! LPs finish in the process that has them, and the first process puts together what they leave.

use warpline_base::{RunDigest, StateDigest, VirtualTime};
use warpline_kernel::Lp;
use warpline_memory::{DropEach, MakeRoom};
use warpline_model::engine::Executor;
use warpline_model::{Model, Statistics};
use warpline_record::Stuck;
use warpline_transport::Lost;

use super::finish::{FinishFault, FinishRows, Finisher, finish_failure};
use crate::Error;
use crate::job::Job;
use crate::job::check::RunSpec;
use crate::job::kinds::KindTally;
use crate::outcome::rows::Rows;
use crate::parallel::processes::control_messages::Finished;
use crate::parallel::processes::{Processes, lost};
use crate::watch::Control;

/// What LPs leave beside their states: first the LPs of this process, and in the first process, in
/// the end, the LPs of all.
pub(super) struct Left<'k> {
    pub(super) digest: RunDigest,
    /// Of the states, if it is wanted.
    pub(super) state_digest: Option<StateDigest>,
    pub(super) tally: KindTally<'k>,
    pub(super) statistics: Statistics,
    /// Who still waits.
    pub(super) stuck: Stuck,
}

impl Left<'_> {
    /// Adds what the LPs of all other processes have left. `own` is how those of this one finished;
    /// returns how those of all did.
    ///
    /// # Errors
    /// If a process is gone.
    fn gather(
        &mut self,
        own: Result<(), FinishFault>,
        processes: &mut Processes,
        rows: &mut Rows,
    ) -> Result<Result<(), FinishFault>, Lost> {
        let mut finished = own;
        for other in processes.gather_finished()? {
            self.digest.merge(other.digest);
            if let (Some(all), Some(other)) = (&mut self.state_digest, other.state_digest) {
                all.merge(other);
            }
            self.tally.add_roles(other.by_role);
            self.statistics.merge(&other.statistics);
            self.stuck.add(other.stuck);
            if finished.is_ok() {
                processes.pass_on(other.rows.into_iter(), rows)?;
                finished = other.fault.map_or(Ok(()), Err);
            }
        }
        processes.give_up_acts()?;
        processes.group.take_leave();
        Ok(finished)
    }

    /// The message to the first process, which has the counts of roles from all PEs already.
    fn into_message(self, rows: FinishRows, fault: Option<FinishFault>) -> Finished {
        Finished {
            digest: self.digest,
            state_digest: self.state_digest,
            by_role: self.tally.into_roles(),
            statistics: self.statistics,
            stuck: self.stuck,
            rows: rows.0,
            fault,
        }
    }
}

/// The LPs of this process when the last segment has ended.
pub(super) struct LastLps<M: Model> {
    /// The id of the first.
    pub(super) first: u32,
    /// In blocks of consecutive ids.
    pub(super) blocks: Vec<DropEach<Lp<M::State>>>,
    /// When they finish.
    pub(super) end: VirtualTime,
    /// How many events have committed in all processes.
    pub(super) committed: u64,
}

impl<M: Model> Job<M> {
    /// Has the LPs of all processes finish. Returns the states of those of this one.
    ///
    /// # Errors
    /// If an LP fails, or a process is gone. A process other than the first has done its share.
    pub(super) fn finish_everywhere<'k>(
        &self,
        spec: &'k RunSpec,
        lps: LastLps<M>,
        statistics: Statistics,
        rows: &mut Rows,
        processes: Option<&mut Processes>,
        control: &Control,
    ) -> Result<(DropEach<M::State>, Left<'k>), Error> {
        let LastLps { first, blocks, end, committed } = lps;
        let mut left = Left {
            digest: RunDigest::default(),
            state_digest: self.settings.state_digest().then(StateDigest::default),
            tally: spec.kinds.tally(),
            statistics,
            stuck: Stuck::default(),
        };
        let states = take_states(first, blocks, &mut left);
        let mut executor = Executor::with_limits(spec.limits.clone(), self.settings.seed(), false);
        control.watch(None, executor.beat());
        let finisher = Finisher {
            model: &*self.model,
            executor: &mut executor,
            statistics: &mut left.statistics,
            end,
            digest: left.state_digest.as_mut(),
            stuck: &mut left.stuck,
        };
        let finished = match processes {
            None => finisher.finish(first, states.iter(), rows),
            Some(processes) if processes.group.is_first() => {
                let own = finisher.finish(first, states.iter(), rows);
                let all = left.gather(own, processes, rows);
                all.map_err(|why| lost(&mut processes.group, why))?
            }
            Some(processes) => {
                let mut rows = FinishRows::default();
                let fault = finisher.finish(first, states.iter(), &mut rows).err();
                // Payloads may lie in memory of another process, so they are dropped before this
                // one takes leave.
                drop(states);
                let message = left.into_message(rows, fault);
                return Err(processes.send_finished(message, self.stop.is_on()));
            }
        };
        finished.map_err(|fault| finish_failure(&self.name, fault, end, committed))?;
        Ok((states, left))
    }
}

/// Takes the states out of LPs, and adds up what these did.
fn take_states<S>(first: u32, blocks: Vec<DropEach<Lp<S>>>, left: &mut Left<'_>) -> DropEach<S> {
    let mut states = DropEach::default();
    states.make_room(blocks.iter().map(|block| block.len()).sum(), "the states of LPs");
    let mut next = first;
    for block in blocks {
        left.tally.add_lps(next, &block);
        Lp::add_digests(&block, next, &mut left.digest);
        next += block.len() as u32;
        states.extend(block.into_iter().map(|lp| lp.state));
    }
    states
}
