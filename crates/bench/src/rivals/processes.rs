//! Starts the processes, and tells each how to find the others.

use std::process::{Child, Command, Stdio};

use warpline_memory::Region;

use super::copies::Copies;
use super::exchange::{Done, exchange};
use super::plan::Plan;
use super::rival::Rival;
use super::zero_copy::{Rings, ZeroCopy};

/// Tells a process what to do: the carrier, bytes, use, processes, microseconds to warm up and to
/// measure, its number, and how to find the others.
const VARIABLE: &str = "WARPLINE_RIVAL_PROCESS";

/// Processes that have been started, which end with this one.
struct Others(Vec<Child>);

impl Others {
    fn start(plan: &Plan, ticket: &str, command: impl Fn() -> Command) -> Self {
        let start = |me| {
            command()
                .env(VARIABLE, plan.write(me, ticket))
                .stdout(Stdio::null())
                .spawn()
                .expect("the benchmark can start itself")
        };
        Others((1..plan.processes).map(start).collect())
    }

    fn wait(mut self) {
        for mut child in self.0.drain(..) {
            assert!(child.wait().expect("a process ends").success(), "another process has failed");
        }
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Runs a plan as the first process; `command` starts the others. Returns what all of them have
/// done in the measured time, or `None` if another process reports that.
pub(super) fn run_first(plan: &Plan, command: impl Fn() -> Command) -> Option<Done> {
    match plan.rival {
        Rival::ZeroCopy | Rival::Copies => {
            let (region, ticket) = Region::create(plan.processes as u32)
                .expect("this system has memory that processes share");
            let rings = Rings::new(&region, 0, plan.processes, plan.messages());
            let others = Others::start(plan, &ticket.to_string(), command);
            let done = run_rings(plan, 0, rings);
            others.wait();
            Some(done)
        }
        Rival::Boost | Rival::BoostKept => run_boost(plan, command),
        Rival::Mpi => {
            launch_ranks(plan, &command());
            None
        }
    }
}

fn launch_ranks(plan: &Plan, rank: &Command) {
    let mut launch = Command::new(std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".to_owned()));
    launch
        .args(["--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-np"])
        .arg(plan.processes.to_string())
        .arg(rank.get_program())
        .args(rank.get_args())
        .env(VARIABLE, plan.write(0, "-"));
    let status = launch.status().expect("there is an mpirun, or MPIRUN says where");
    assert!(status.success(), "a rank has failed");
}

/// Runs a plan as another process, or as a rank of MPI. The first rank returns what all have done.
pub(super) fn run_other() -> Option<Done> {
    let text = std::env::var(VARIABLE).expect("the first process says what to do");
    let (plan, me, ticket) = Plan::read(&text).unwrap_or_else(|| panic!("this is no plan: {text}"));
    match plan.rival {
        Rival::ZeroCopy | Rival::Copies => {
            let region = Region::join(&ticket.parse().expect("a ticket"), me as u32)
                .expect("the first process shares its memory");
            run_rings(&plan, me, Rings::new(&region, me, plan.processes, plan.messages()));
            None
        }
        Rival::Boost | Rival::BoostKept => {
            join_boost(&plan, me, ticket);
            None
        }
        Rival::Mpi => run_rank(&plan),
    }
}

fn run_rings(plan: &Plan, me: usize, rings: Rings) -> Done {
    if plan.rival == Rival::Copies {
        exchange(plan, me, Copies::new(rings))
    } else {
        exchange(plan, me, ZeroCopy(rings))
    }
}

#[cfg(feature = "boost")]
fn run_boost(plan: &Plan, command: impl Fn() -> Command) -> Option<Done> {
    use super::boost::Boost;
    let mut segment =
        warpline_rivals::Segment::create(plan.segment_bytes(), 1 + plan.processes as u32)
            .unwrap_or_else(|error| panic!("{error}"));
    let others = Others::start(plan, segment.name(), command);
    // Each says in the last queue that it has opened the segment.
    let since = std::time::Instant::now();
    let mut opened = 0;
    while opened < plan.processes - 1 {
        opened += segment
            .receive(plan.processes as u32, |_, _| ())
            .unwrap_or_else(|error| panic!("{error}"));
        std::thread::yield_now();
        assert!(
            since.elapsed() < std::time::Duration::from_secs(60),
            "another process does not begin"
        );
    }
    segment.remove_name();
    let done = exchange(
        plan,
        0,
        Boost::new(Box::leak(Box::new(segment)), 0, plan.rival == Rival::BoostKept),
    );
    others.wait();
    Some(done)
}

#[cfg(feature = "boost")]
fn join_boost(plan: &Plan, me: usize, name: &str) {
    use super::boost::Boost;
    let segment =
        Box::new(warpline_rivals::Segment::open(name).unwrap_or_else(|error| panic!("{error}")));
    let segment: &'static warpline_rivals::Segment = Box::leak(segment);
    let here = segment.message(0).unwrap_or_else(|error| panic!("{error}"));
    segment.send(plan.processes as u32, 0, here).unwrap_or_else(|(_, error)| panic!("{error}"));
    exchange(plan, me, Boost::new(segment, me, plan.rival == Rival::BoostKept));
}

#[cfg(not(feature = "boost"))]
fn run_boost(_: &Plan, _: impl Fn() -> Command) -> Option<Done> {
    panic!("build the benchmark with the feature `boost`")
}

#[cfg(not(feature = "boost"))]
fn join_boost(_: &Plan, _: usize, _: &str) {
    panic!("build the benchmark with the feature `boost`")
}

#[cfg(feature = "mpi")]
fn run_rank(plan: &Plan) -> Option<Done> {
    use warpline_mpi::{Launch, Mpi, ThreadLevel};
    let launch = Launch::detect().expect("a launcher has started this");
    let mpi = Mpi::start(launch, ThreadLevel::Funneled).unwrap_or_else(|error| panic!("{error}"));
    let comm = mpi.world().unwrap_or_else(|error| panic!("{error}"));
    let carrier = super::mpi::Mpi::new(&comm, plan.bytes).unwrap_or_else(|error| panic!("{error}"));
    let done = exchange(plan, mpi.rank() as usize, carrier);
    (mpi.rank() == 0).then_some(done)
}

#[cfg(not(feature = "mpi"))]
fn run_rank(_: &Plan) -> Option<Done> {
    panic!("build the benchmark with the feature `mpi`")
}
