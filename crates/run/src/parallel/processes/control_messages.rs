//! What the processes of a run tell each other, beside messages between PEs.

use serde::{Deserialize, Serialize};
use warpline_base::{LpId, Moment, RunDigest, StateDigest};
use warpline_kernel::{CommittedFault, MomentRow};
use warpline_model::{Fault, Statistics};
use warpline_record::Stuck;
use warpline_transport::CourierCounts;

use crate::job::kinds::RoleTally;
use crate::parallel::acts::Performed;
use crate::parallel::out_of_memory::OutOfMemory;
use crate::parallel::record::PeSummary;
use crate::parallel::status::PeStatus;

/// What a process tells the first while its PEs are at work, and when they are done.
#[derive(Serialize, Deserialize)]
pub(super) enum ControlMessage {
    Progress {
        status: PeStatus,
        settled: Option<Moment>,
        rows: Vec<MomentRow>,
    },
    /// The last rows.
    Rows(Vec<MomentRow>),
    End(LoopEnd),
    /// The answer to [`Order::Perform`].
    Performed(Performed),
}

/// What the first process tells another.
#[derive(Serialize, Deserialize)]
pub(super) enum Order {
    /// To perform the acts with these numbers.
    Perform(Vec<u64>),
    /// To send the next rows.
    GoOn,
    /// To perform no more acts, those that it keeps or any others.
    GiveUpActs,
    /// How the PEs of all have ended.
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

impl Remains {
    /// Adds those of another process.
    pub(crate) fn add(&mut self, other: Remains) {
        self.pes.extend(other.pes);
        self.committed += other.committed;
        self.failed = self.failed.take().or(other.failed);
        self.couriers = self
            .couriers
            .zip(other.couriers)
            .map(|((number, counts), (others, more))| (number + others, counts + more));
    }
}

/// What the LPs of a process leave.
#[derive(Serialize, Deserialize)]
pub(crate) struct Finished {
    pub(crate) digest: RunDigest,
    /// Of their final states, if it is wanted.
    pub(crate) state_digest: Option<StateDigest>,
    /// What they did, by role.
    pub(crate) by_role: Vec<RoleTally>,
    pub(crate) statistics: Statistics,
    /// Who still waits.
    pub(crate) stuck: Stuck,
    /// What they recorded when they finished, in order.
    pub(crate) rows: Vec<MomentRow>,
    /// The first that failed to finish.
    pub(crate) fault: Option<(LpId, Fault)>,
}
