//! A run of several processes, as one of them sees it: what it tells the first process, which puts everything together.

use serde::{Deserialize, Serialize};
use warpline_base::{LpId, Moment, RunDigest, VirtualTime};
use warpline_kernel::{CommittedFault, MomentRow, RoleCounts, RowContent};
use warpline_model::{Fault, Statistics};
use warpline_transport::{CourierCounts, Couriers, Group, Lost};

use super::OutOfMemory;
use super::board::PeStatus;
use super::merge::RowMerge;
use super::record::PeSummary;
use crate::Error;

/// This process and the others of a run.
pub(crate) struct Processes {
    pub(crate) group: Group,
    /// What the others have told the first; empty in the others.
    others: Vec<Other>,
}

/// What is known of another process.
#[derive(Default)]
struct Other {
    status: PeStatus,
    settled: Option<Moment>,
    end: Option<LoopEnd>,
}

/// What a process tells the first while its PEs are at work, and when they are done.
#[derive(Serialize, Deserialize)]
enum Letter {
    Progress {
        status: PeStatus,
        settled: Option<Moment>,
        rows: Vec<MomentRow>,
    },
    /// The last rows.
    Rows(Vec<MomentRow>),
    End(LoopEnd),
}

/// How the PEs of a process have ended.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct LoopEnd {
    /// The earliest failure.
    pub(crate) failure: Moment,
    /// Where memory ran out, if it did.
    pub(crate) full: Option<OutOfMemory>,
}

/// What the PEs of a process leave, beside their LPs.
#[derive(Serialize, Deserialize)]
pub(crate) struct Remains {
    /// Whether these are the remains of all processes.
    #[serde(skip)]
    pub(crate) are_all: bool,
    pub(crate) pes: Vec<PeSummary>,
    pub(crate) committed: u64,
    pub(crate) failed: Option<CommittedFault>,
    /// How many couriers there were, and what they did, if there were any.
    pub(crate) couriers: Option<(u64, CourierCounts)>,
}

/// What the LPs of a process leave.
#[derive(Serialize, Deserialize)]
pub(crate) struct Finished {
    pub(crate) digest: RunDigest,
    /// LPs, committed events and counts, by role.
    pub(crate) by_role: Vec<(u32, u64, RoleCounts)>,
    pub(crate) statistics: Statistics,
    /// What they wrote when they finished, in order.
    pub(crate) rows: Vec<MomentRow>,
    /// The first of them that failed then.
    pub(crate) fault: Option<(LpId, Fault)>,
}

/// The end of a run in which a process was lost.
pub(crate) fn lost(group: &mut Group, lost: Lost) -> Error {
    let error = Error::Process { gvt: VirtualTime::from_bits(group.gvt()).get(), lost: lost.clone() };
    if !group.is_first() {
        // Nobody waits for what this process returns.
        if group.is_to_tell(&lost) {
            eprintln!("error: {error}");
        }
        group.abandon();
        std::process::exit(1);
    }
    error
}

impl Processes {
    /// Makes sure that all are about to do the same, which `description` says entry by entry.
    ///
    /// # Errors
    /// If one is gone, or is about to do something else.
    pub(crate) fn new(mut group: Group, description: &[(String, String)]) -> Result<Self, Error> {
        let others = if group.is_first() { (1..group.processes()).map(|_| Other::default()).collect() } else { Vec::new() };
        let introduced = group.introduce(description);
        introduced.map_err(|why| lost(&mut group, why))?;
        Ok(Processes { group, others })
    }

    /// Waits until all processes have placed what they share.
    ///
    /// # Errors
    /// If one is gone.
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        self.group.meet().map_err(|why| lost(&mut self.group, why))
    }

    /// Tells the first process how far the PEs of this one have come; or, in the first, hears of the others, whose rows go to the merge. Adds
    /// what is known of all processes to `status` and `settled`. Returns whether the PEs of this process have to stop.
    pub(crate) fn exchange(&mut self, status: &mut PeStatus, settled: &mut Option<Moment>, merge: &mut RowMerge) -> Result<bool, Lost> {
        self.group.note_gvt(VirtualTime::new(status.gvt).map_or(0, VirtualTime::bits));
        self.group.check()?;
        if !self.group.is_first() {
            let letter = Letter::Progress { status: *status, settled: *settled, rows: without_acts(&self.group, merge.take()) };
            self.group.send(&letter)?;
            return Ok(false);
        }
        for index in 0..self.others.len() {
            while self.others[index].end.is_none()
                && let Some(letter) = self.group.next_letter(index as u32 + 1)
            {
                self.read(index, letter, merge);
            }
            let other = &self.others[index];
            *status = status.and(other.status);
            *settled = settled.zip(other.settled).map(|(a, b)| merge.earlier(a, b));
        }
        Ok(self.others.iter().any(|other| other.end.is_some_and(|end| end.full.is_some())))
    }

    fn read(&mut self, index: usize, letter: Letter, merge: &mut RowMerge) {
        let other = &mut self.others[index];
        match letter {
            Letter::Progress { status, settled, rows } => {
                (other.status, other.settled) = (status, settled);
                merge.add(rows);
            }
            Letter::Rows(rows) => merge.add(rows),
            Letter::End(end) => other.end = Some(end),
        }
    }

    /// All processes agree on how the PEs have ended. Their last rows are in the merge of the first process then.
    pub(crate) fn agree(&mut self, mut own: LoopEnd, merge: &mut RowMerge) -> Result<LoopEnd, Lost> {
        if !self.group.is_first() {
            let rows = without_acts(&self.group, merge.take());
            self.group.send(&Letter::Rows(rows))?;
            self.group.send(&Letter::End(own))?;
            return self.group.receive_from(0);
        }
        for index in 0..self.others.len() {
            let end = loop {
                if let Some(end) = self.others[index].end {
                    break end;
                }
                let letter = self.group.receive_from(index as u32 + 1)?;
                self.read(index, letter, merge);
            };
            own.failure = merge.earlier(own.failure, end.failure);
            own.full = own.full.or(end.full);
        }
        self.group.send(&own)?;
        Ok(own)
    }

    /// Waits until no message is on its way any more, here or in other processes.
    ///
    /// # Errors
    /// If a process is gone, or messages cannot be sent or read.
    pub(crate) fn close<E: Send>(&mut self, couriers: &Couriers<E>) -> Result<(), Error> {
        loop {
            match couriers.close() {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(why) => self.group.give_up(&why),
            }
            if let Err(why) = self.group.check() {
                return Err(lost(&mut self.group, why));
            }
            std::thread::yield_now();
        }
    }

    /// The first process gets what all others have sent, in their order; the others send it, and get nothing.
    pub(crate) fn gather<T: Serialize + serde::de::DeserializeOwned>(&mut self, own: &T) -> Result<Vec<T>, Lost> {
        if !self.group.is_first() {
            self.group.send(own)?;
            return Ok(Vec::new());
        }
        (1..self.group.processes()).map(|number| self.group.receive_from(number)).collect()
    }

    /// Tells the first process what the LPs of this one have left. It has done its part then, and ends.
    pub(crate) fn send_finished(&mut self, finished: &Finished, early: bool) -> Error {
        match self.group.send(finished) {
            Ok(()) => self.leave(early),
            Err(why) => return lost(&mut self.group, why),
        }
        unreachable!("only the first process goes on")
    }

    /// What the LPs of the other processes have left.
    pub(crate) fn gather_finished(&mut self) -> Result<Vec<Finished>, Lost> {
        (1..self.group.processes()).map(|number| self.group.receive_from(number)).collect()
    }

    /// This process has done its part, in a run that may have been ended early. Only the first returns.
    pub(crate) fn leave(&mut self, early: bool) {
        self.group.take_leave();
        if !self.group.is_first() {
            self.end(early);
            std::process::exit(0);
        }
    }

    /// Waits for the other processes, in a run that may have been ended early.
    pub(crate) fn end(&mut self, early: bool) {
        if early { self.group.end_early() } else { self.group.end() }
    }
}

/// Rows to be sent to the first process. What is done outside cannot be sent.
fn without_acts(group: &Group, rows: Vec<MomentRow>) -> Vec<MomentRow> {
    if rows.iter().any(|row| matches!(row.content, RowContent::Act(_))) {
        group.voice().say(
            "what LPs do to the outside world (when_settled) has to be done in the order of all events, by the first process alone: use threads",
        );
        std::process::exit(1);
    }
    rows
}
