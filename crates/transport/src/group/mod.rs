//! The processes of a run: those of a machine share memory, and all end together.
//!
//! Either the first process starts the others, with the same program and the same arguments, and
//! they come to the same run; or a launcher of MPI programs has started all of them. So each has
//! the same model without being sent it. In the run, each has some of the PEs. Whatever else they
//! have to tell goes to the first process in control messages.

#[cfg(feature = "mpi")]
mod all_reduce;
mod carriers;
#[cfg(feature = "mpi")]
mod control_channel;
mod control_messages;
mod cpu_share;
mod ending;
mod failure_reporter;
mod invitation;
#[cfg(feature = "mpi")]
mod launched;
mod lost;
mod messages;
#[cfg(not(feature = "mpi"))]
mod no_ranks;
mod peers;
mod presence;
#[cfg(feature = "mpi")]
mod ranks;

use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_memory::{Common, Region};

#[cfg(feature = "mpi")]
use self::control_channel::MpiControlChannel;
use self::control_messages::{ControlEnds, control_ends};
pub use self::cpu_share::CpuShare;
pub use self::failure_reporter::FailureReporter;
use self::failure_reporter::FailureReports;
use self::invitation::INVITATION;
pub use self::invitation::{Invitation, RunId};
pub use self::lost::Lost;
#[cfg(not(feature = "mpi"))]
use self::no_ranks::MpiControlChannel;
#[cfg(not(feature = "mpi"))]
pub use self::no_ranks::Ranks;
use self::peers::Peers;
#[cfg(feature = "mpi")]
pub use self::ranks::Ranks;
use crate::{Fold, Tally};

/// How often a process that waits for others looks.
const LOOK_EVERY: Duration = Duration::from_micros(200);
/// How long processes may take to come to the run: they have to make the model first.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long processes may take to end.
const END_WITHIN: Duration = Duration::from_secs(5);
/// The counters of a group, in the order of their numbers.
const COUNTERS_OF_GROUP: &[Fold] = &[Fold::Max, Fold::Max, Fold::Max];
/// The counter of a process that is gone: its number plus 1. At 0, none is.
const LOST: usize = 1;
/// The counter of the time of the last GVT that any process knew of, in bits.
const GVT: usize = 2;

/// This process among those of a run.
#[derive(Debug)]
pub struct Group {
    number: u32,
    processes: u32,
    /// The processes with which it shares memory, itself among them.
    near: Range<u32>,
    cpu_share: CpuShare,
    region: Region,
    counters: Tally,
    /// 1 once one of those near has taken it on to tell the user of a loss.
    told: Common<AtomicU32>,
    /// By process, of those near.
    failures: FailureReports,
    /// By process, of those near: whether it has said everything.
    left: Common<[AtomicU32]>,
    peers: Peers,
    /// Empty if not all processes share memory.
    ends: ControlEnds,
    /// If a launcher has started the processes.
    channel: Option<MpiControlChannel>,
    /// Whether control messages go through the channel, as not all processes share memory.
    by_channel: bool,
    /// Whether this process has taken leave: everything has gone well.
    is_done: bool,
}

impl Group {
    /// Starts the other processes: this program once more, with the same arguments, for this one of
    /// its runs of several processes.
    ///
    /// # Errors
    /// If the system refuses memory or processes.
    pub fn start(processes: u32, run: RunId) -> io::Result<Self> {
        let (region, ticket) = Region::create(processes)?;
        // Placed before there is another process that could use it.
        let mut group = Group::place(region, 0, processes, 0..processes, Peers::none());
        let RunId { number: run, hash } = run;
        let invitation = |number| OsString::from(format!("{number}/{run}/{hash}/{ticket}"));
        let invitations = (1..processes).map(invitation);
        group.peers = Peers::start(INVITATION, invitations)?;
        Ok(group)
    }

    /// Joins the group that has invited this process.
    ///
    /// # Errors
    /// If the first process is gone, or its memory cannot be mapped.
    pub fn join(invitation: &Invitation) -> io::Result<Self> {
        let number = invitation.number();
        let ticket = invitation.ticket();
        let peers = Peers::of(ticket.owner())?;
        let region = Region::join(ticket, number)?;
        Ok(Group::place(region, number, ticket.processes(), 0..ticket.processes(), peers))
    }

    fn place(region: Region, number: u32, processes: u32, near: Range<u32>, peers: Peers) -> Self {
        let counters = Tally::place(&region, COUNTERS_OF_GROUP);
        let told = region.place(AtomicU32::new(0));
        let failures = FailureReports::place(&region, near.len());
        let left = region.place_list(near.len(), |_| AtomicU32::new(0));
        let by_channel = near.len() < processes as usize;
        let ends = if by_channel {
            ControlEnds::default()
        } else {
            control_ends(&region, number, processes)
        };
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let cpu_share =
            CpuShare { number, of: processes, cores: f64::from(cores) / f64::from(processes) };
        Group {
            number,
            processes,
            near,
            cpu_share,
            region,
            counters,
            told,
            failures,
            left,
            peers,
            ends,
            channel: None,
            by_channel,
            is_done: false,
        }
    }

    /// The number of this process, from 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many processes there are.
    pub fn processes(&self) -> u32 {
        self.processes
    }

    /// Whether this is the first process, which leads the run.
    pub fn is_first(&self) -> bool {
        self.number == 0
    }

    /// The processes with which this one shares memory, itself among them.
    pub fn near(&self) -> Range<u32> {
        self.near.clone()
    }

    /// Its share of the cores of its machine.
    pub fn cpu_share(&self) -> CpuShare {
        self.cpu_share
    }

    /// The memory that it shares with the processes near it.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Reports failures of this process from other threads.
    pub fn failure_reporter(&self) -> FailureReporter {
        FailureReporter::new(
            self.number - self.near.start,
            self.counters.clone(),
            self.failures.clone(),
        )
    }

    /// Makes sure that all processes are about to do the same, by comparing the entries of their
    /// descriptions.
    ///
    /// # Errors
    /// If a process is gone, does not arrive, or is about to do something else.
    pub fn introduce(&mut self, description: &[(String, String)]) -> Result<(), Lost> {
        if !self.is_first() {
            self.send(&description)?;
            return self.receive_from(0);
        }
        for number in 1..self.processes {
            let theirs: Vec<(String, String)> =
                self.receive_from(number).map_err(Lost::before_the_run)?;
            if let Some(why) = difference(description, &theirs) {
                self.stop();
                return Err(Lost { number, of: self.processes, why });
            }
        }
        self.send(&())
    }

    /// Waits until all processes have come to the same point.
    ///
    /// # Errors
    /// If a process is gone, or does not arrive.
    pub fn meet(&mut self) -> Result<(), Lost> {
        self.decide(&(), |_| ())
    }

    /// Lets the first process decide for all, and returns the decision. It decides from what each
    /// process has found, in the order of the processes.
    ///
    /// # Errors
    /// If a process is gone, or does not arrive.
    ///
    /// # Panics
    /// If another process is at another point.
    pub fn decide<F, D>(&mut self, found: &F, decide: impl FnOnce(Vec<F>) -> D) -> Result<D, Lost>
    where
        F: Clone + Serialize + DeserializeOwned,
        D: Serialize + DeserializeOwned,
    {
        if !self.is_first() {
            self.send(found)?;
            return self.receive_from(0);
        }
        let others = (1..self.processes).map(|number| self.receive_from(number));
        let all: Result<Vec<F>, Lost> = std::iter::once(Ok(found.clone())).chain(others).collect();
        let decision = decide(all?);
        self.send(&decision)?;
        Ok(decision)
    }
}

/// The first difference between two descriptions, in words.
fn difference(ours: &[(String, String)], theirs: &[(String, String)]) -> Option<String> {
    let other =
        |(name, value): &(String, String)| match theirs.iter().find(|(found, _)| found == name) {
            Some((_, found)) if found == value => None,
            Some((_, found)) => {
                Some(format!("has another {name}: {found}, where the first has {value}"))
            }
            None => Some(format!("knows nothing of {name}")),
        };
    ours.iter().find_map(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let entry = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let ours = [entry("model", "phold"), entry("seed", "1")];
        assert_eq!(difference(&ours, &ours), None);
        let theirs = [entry("seed", "2"), entry("model", "phold")];
        assert_eq!(
            difference(&ours, &theirs).unwrap(),
            "has another seed: 2, where the first has 1"
        );
        assert_eq!(difference(&ours, &theirs[..1]).unwrap(), "knows nothing of model");
    }
}
