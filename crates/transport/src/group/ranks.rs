//! Processes that a launcher of MPI programs has started together: the ranks of a run.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_mpi::{Comm, Launch, Mpi, NodeView, Nodes, ThreadLevel};

use super::CpuShare;

/// The ranks of a run, numbered so that those of a machine follow each other. The first is rank 0.
///
/// All of them have to make the same calls in the same order, as they wait for each other, and have
/// to tell the others if they cannot. When a rank ends without that, the launcher ends all.
pub struct Ranks {
    mpi: &'static Mpi,
    comm: Comm<'static>,
    number: u32,
    /// By process.
    all: Vec<RankPlace>,
}

impl std::fmt::Debug for Ranks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ranks")
            .field("number", &self.number)
            .field("all", &self.all)
            .finish_non_exhaustive()
    }
}

/// Where a rank is.
#[derive(Clone, Copy, Debug)]
struct RankPlace {
    rank: u32,
    /// The lowest rank of its machine.
    machine: u32,
    pid: u32,
    /// How many cores it has: its share of those that it may use.
    cores: f64,
}

impl Ranks {
    /// Starts MPI, and finds out who the others are. It waits for them. Returns `None` if there are
    /// none. If `funneled` is set, or the library cannot do more, only this thread may then call
    /// MPI; otherwise all threads may.
    ///
    /// # Errors
    /// If MPI cannot be started, in its words.
    pub fn start(launch: Launch, funneled: bool) -> Result<Option<Self>, String> {
        let level = if funneled { ThreadLevel::Funneled } else { ThreadLevel::Multiple };
        let mpi = Mpi::start_for_good(launch, level).map_err(in_words)?;
        if mpi.size() == 1 {
            mpi.finish_for_good().map_err(in_words)?;
            return Ok(None);
        }
        let comm = mpi.world().map_err(in_words)?;
        let nodes = Nodes::find(&comm, NodeView::Shared).map_err(in_words)?;
        let told: Vec<(u32, Vec<u32>)> = all_to_all(&comm, &(std::process::id(), own_cores()))?;
        // A launcher may have given each rank cores of its own, or all ranks the same cores.
        let users = |machine: u32, core: &u32| {
            (0..)
                .zip(&told)
                .filter(|(rank, (_, cores))| {
                    nodes.node_of(*rank) == machine && cores.contains(core)
                })
                .count()
        };
        let share = |machine, cores: &[u32]| {
            cores.iter().map(|core| 1.0 / users(machine, core).max(1) as f64).sum()
        };
        let place = |(rank, (pid, cores)): (u32, &(u32, Vec<u32>))| {
            let machine = nodes.node_of(rank);
            RankPlace { rank, machine, pid: *pid, cores: share(machine, cores) }
        };
        let mut all: Vec<RankPlace> = (0..).zip(&told).map(place).collect();
        all.sort_by_key(|place| (place.machine, place.rank));
        let number =
            all.iter().position(|place| place.rank == comm.rank()).unwrap_or_default() as u32;
        Ok(Some(Ranks { mpi, comm, number, all }))
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// Whether all threads may call MPI, and not only the one that has started it.
    pub fn may_thread(&self) -> bool {
        self.mpi.thread_level() == ThreadLevel::Multiple
    }

    /// The number of this one.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many cores all of them have together.
    pub fn cores(&self) -> u32 {
        // Shares are fractions whose sums are whole.
        self.all.iter().map(|place| place.cores).sum::<f64>().round().max(1.0) as u32
    }

    /// How many of them each machine has, if all have equally many.
    pub fn per_machine(&self) -> Option<u32> {
        let on = |machine| self.all.iter().filter(|place| place.machine == machine).count();
        let first = on(self.all.first()?.machine);
        self.all.iter().all(|place| on(place.machine) == first).then_some(first as u32)
    }

    /// This one's share of the cores of its machine.
    pub(super) fn cpu_share(&self) -> CpuShare {
        let near = self.neighbours();
        let cores = self.all[self.number as usize].cores;
        CpuShare { number: self.number - near.start, of: near.len() as u32, cores }
    }

    /// The ranks of this machine.
    pub(super) fn neighbours(&self) -> Range<u32> {
        let machine = self.all[self.number as usize].machine;
        let first = self.all.partition_point(|place| place.machine < machine) as u32;
        let end = self.all.partition_point(|place| place.machine <= machine) as u32;
        first..end
    }

    /// Whether no rank of the same machine has a lower number.
    pub(super) fn is_first_of_machine(&self, number: u32) -> bool {
        number == 0 || self.all[number as usize - 1].machine != self.all[number as usize].machine
    }

    /// The other ranks of this machine: their numbers and process ids.
    pub(super) fn neighbour_processes(&self) -> impl Iterator<Item = (u32, u32)> {
        self.neighbours()
            .filter(|number| *number != self.number)
            .map(|number| (number, self.all[number as usize].pid))
    }

    /// The rank with a number.
    pub(crate) fn rank(&self, number: u32) -> u32 {
        self.all[number as usize].rank
    }

    /// The number of a rank.
    pub(crate) fn number_of(&self, rank: u32) -> u32 {
        self.all.iter().position(|place| place.rank == rank).unwrap_or_default() as u32
    }

    pub(crate) fn comm(&self) -> &Comm<'static> {
        &self.comm
    }

    /// Exchanges values: every rank gives one, and gets those of all, by number. It waits for them.
    ///
    /// # Errors
    /// Those of MPI, in its words.
    pub(super) fn exchange<T: Serialize + DeserializeOwned>(
        &self,
        mine: &T,
    ) -> Result<Vec<T>, String> {
        let mut by_rank: Vec<Option<T>> =
            all_to_all(&self.comm, mine)?.into_iter().map(Some).collect();
        self.all
            .iter()
            .map(|place| {
                by_rank[place.rank as usize].take().ok_or_else(|| "a rank said nothing".to_owned())
            })
            .collect()
    }

    /// Finishes MPI, which no rank may use any more. It waits for the others.
    pub(super) fn finish(self) {
        let Ranks { mpi, comm, .. } = self;
        drop(comm);
        match mpi.finish_for_good() {
            Ok(true) => {}
            Ok(false) => {
                eprintln!("error: a mistake of the engine: MPI is still in use at the end of a run")
            }
            Err(error) => eprintln!("error: {error}"),
        }
    }
}

/// The numbers of the cores that this process may use. Where the system does not say, one core.
fn own_cores() -> Vec<u32> {
    #[cfg(all(target_os = "linux", not(miri)))]
    if let Ok(allowed) = rustix::thread::sched_getaffinity(None) {
        return (0..rustix::thread::CpuSet::MAX_CPU)
            .filter(|core| allowed.is_set(*core))
            .map(|core| core as u32)
            .collect();
    }
    vec![0]
}

pub(super) fn in_words(error: warpline_mpi::Error) -> String {
    error.to_string()
}

/// Every rank gives a value, and gets those of all, by rank.
fn all_to_all<T: Serialize + DeserializeOwned>(
    comm: &Comm<'_>,
    mine: &T,
) -> Result<Vec<T>, String> {
    let bytes = postcard::to_stdvec(mine).map_err(|error| error.to_string())?;
    let gathered = comm.gather(&bytes).map_err(in_words)?;
    let mut all = gathered
        .map_or(Ok(Vec::new()), |all| postcard::to_stdvec(&all))
        .map_err(|error| error.to_string())?;
    comm.broadcast(&mut all).map_err(in_words)?;
    let all: Vec<Vec<u8>> = postcard::from_bytes(&all).map_err(|error| error.to_string())?;
    all.iter().map(|bytes| postcard::from_bytes(bytes).map_err(|error| error.to_string())).collect()
}
