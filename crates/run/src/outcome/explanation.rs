//! How fast a model could be on more cores, and what stands in the way.

use warpline_base::LpId;
use warpline_explain::{CORE_COUNTS, Findings};
use warpline_kernel::{Groups, Partition};

use crate::EventCost;

/// The numbers of cores about which an [`Explanation`] says something.
pub const CORES: [u32; CORE_COUNTS] = [2, 8, 64, 1000];

/// What one sequential run shows about the parallelism of its model;
/// [`Simulation::explain`](crate::Simulation::explain) has an example.
///
/// An event begins when the previous event of its LP and the event that sent it have been executed.
/// The longest chain of events that wait for each other so is the critical path. No engine here can
/// be done before the end of that chain, as all of them execute every event after everything that
/// it depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The model.
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// The end of the run, in model units.
    pub end: f64,
    /// What an event costs: `work` and `path` in the findings are numbers of events, or
    /// nanoseconds.
    pub cost: EventCost,
    /// The digest of the history, equal to that of a run.
    pub digest: String,
    /// What was found, for the [`CORES`] in turn.
    pub findings: Findings,
    /// The [groups](crate::Model::group) of LPs that PEs divide, for the [`CORES`] in turn; `None`
    /// where they divide none.
    pub divided: [Option<DividedGroups>; CORE_COUNTS],
}

/// Groups of LPs that a model wants on one PE each, and that are divided, as there are more PEs
/// than groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DividedGroups {
    /// How many boundaries between PEs divide a group.
    pub boundaries: u32,
    /// The PE that begins at the first of them.
    pub pe: u32,
    /// Its first LP.
    pub at: LpId,
    /// The number of the group that is divided there.
    pub group: u32,
    /// The group's first LP.
    pub first: LpId,
    /// The group's last LP.
    pub last: LpId,
}

impl DividedGroups {
    /// The groups that a partition divides.
    pub(crate) fn by(partition: &Partition, groups: &Groups) -> Option<Self> {
        let starts = (1..partition.pes()).map(|pe| (pe, partition.lps(pe).start));
        let mut divided =
            starts.filter_map(|(pe, start)| Some((pe, start, groups.divided_at(start)?)));
        let (pe, start, group) = divided.next()?;
        Some(DividedGroups {
            boundaries: 1 + divided.count() as u32,
            pe,
            at: LpId(start),
            group: group.number,
            first: LpId(group.lps.start),
            last: LpId(group.lps.end - 1),
        })
    }
}

impl Explanation {
    /// How many events go on at a time, on average, if nothing but the critical path holds them up;
    /// 1 if there were none.
    pub fn parallelism(&self) -> f64 {
        let Findings { work, ref path, .. } = self.findings;
        if path.length == 0 { 1.0 } else { work as f64 / path.length as f64 }
    }
}
