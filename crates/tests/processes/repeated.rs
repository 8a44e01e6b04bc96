//! Many runs of several processes in one program: none leaves anything behind, apart from results
//! that are kept.

use std::fs;

use warpline::prelude::*;
use warpline::{Payload, Run};

use crate::Ended;

/// How many runs there are: more than fit into the address space if each kept its memory.
const RUNS: u32 = 52;
const END: f64 = 8.0;
const LPS: u32 = 4;

/// How a run ends.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Well,
    /// An event fails.
    Fault,
    /// A process is gone.
    Loss,
}

/// LPs that pass frames on, and keep the last ones.
pub(crate) struct Frames {
    /// The number of the run in this program, from 1.
    run: u32,
    ending: Ending,
}

impl Frames {
    pub(crate) fn nth(run: u32) -> Self {
        let ending = match run % 10 {
            4 | 5 => Ending::Fault,
            9 => Ending::Loss,
            _ => Ending::Well,
        };
        Frames { run, ending }
    }
}

/// The run that this process was started for, if another has started it.
fn started_for() -> Option<u32> {
    std::env::var("WARPLINE_GROUP").ok()?.split('/').nth(1)?.parse().ok()
}

#[model]
impl Model for Frames {
    type State = Vec<Payload>;
    type Event = Payload;

    fn lps(&self) -> u32 {
        LPS
    }

    fn init(&self, lp: &mut Init<Self>) -> Vec<Payload> {
        for length in [0, 10, 1000, 100_000] {
            // One frame is late, so that it is pending at the end.
            let frame = Payload::filled(length, |bytes| bytes.fill(lp.id().0 as u8));
            lp.send(lp.id(), if length == 10 { 2.0 * END } else { 0.5 }, frame);
        }
        vec![Payload::zeroed(50)]
    }

    fn handle(&self, last: &mut Vec<Payload>, frame: &Payload, lp: &mut Context<Self>) {
        let id = lp.id().0;
        let now = lp.now();
        if now > END / 2.0 && id == LPS - 1 {
            match self.ending {
                Ending::Well => {}
                Ending::Fault => lp.fail("it is full"),
                Ending::Loss if started_for() == Some(self.run) => std::process::exit(3),
                Ending::Loss => {}
            }
        }
        last.push(frame.clone());
        if last.len() > 3 {
            last.remove(0);
        }
        let delay = lp.random().exponential(1.0);
        lp.send((id + 1) % LPS, delay, frame.clone());
    }
}

/// Final states, and their bytes when the run had ended.
type Kept = (Vec<Vec<Payload>>, Vec<Vec<Vec<u8>>>);

fn bytes(states: &[Vec<Payload>]) -> Vec<Vec<Vec<u8>>> {
    states.iter().map(|state| state.iter().map(|frame| frame.to_vec()).collect()).collect()
}

/// A run of two processes, sharing what they send or copying it. A process that was started for a
/// later run does it alone, and not for long.
fn simulate(run: u32) -> Result<Run<Frames>, Error> {
    let end = if started_for().is_some_and(|other| other != run) { END / 1000.0 } else { END };
    let simulation = Simulation::new(Frames::nth(run))
        .end(end)
        .seed(run.into())
        .processes(2)
        .threads(1 + run % 2)
        .zero_copy(!run.is_multiple_of(3));
    simulation.run()
}

pub(crate) fn repeat() -> Result<(), Ended> {
    let mut kept: Vec<Kept> = Vec::new();
    // The first run makes what stays: hooks, handlers, the allocator's own memory.
    let mut before = None;
    let mut losses = 0;
    for run in 1..=RUNS {
        let outcome = simulate(run);
        if started_for().is_some_and(|other| other != run) {
            continue;
        }
        match (outcome, Frames::nth(run).ending) {
            (Err(Error::Share(share)), _) => return Err(Ended::Share(share)),
            (Ok(run), _) if run.states.is_empty() => {
                return Err("there are no states".to_owned().into());
            }
            (Ok(run), Ending::Well) => {
                let states = run.states.to_vec();
                let bytes = bytes(&states);
                kept.push((states, bytes));
            }
            (Err(Error::Fault(_)), Ending::Fault) => {}
            (Err(Error::Process { .. }), Ending::Loss) => losses += 1,
            (other, _) => {
                return Err(format!("run {run}: {:?}", other.map(|run| run.record.digest)).into());
            }
        }
        // The last results are kept for long.
        if kept.len() > 20 {
            kept.remove(0);
        }
        before.get_or_insert_with(Left::now);
    }
    if kept.iter().any(|(states, before)| bytes(states) != *before) {
        return Err("results have changed after their run".to_owned().into());
    }
    kept.clear();
    let before = before.expect("there was a run");
    let after = Left::now();
    // Payloads of a process that is gone are not freed, as nobody knows which they are. The
    // allocator keeps some address space, too.
    let shared = before.shared + 1000 + 4000 * losses;
    let stays = after.descriptors <= before.descriptors
        && after.space < before.space + 2_000_000
        && after.shared < shared;
    if stays {
        Ok(())
    } else {
        Err(format!("runs have left something behind: {before:?}, and then {after:?}").into())
    }
}

/// What this process holds of the system.
#[derive(Debug)]
struct Left {
    descriptors: usize,
    /// Address space and shared memory, in kB.
    space: u64,
    shared: u64,
}

impl Left {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").expect("the status of this process");
        let of = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a size");
            line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
        };
        let descriptors = fs::read_dir("/proc/self/fd").expect("its files").count();
        Left { descriptors, space: of("VmSize:"), shared: of("RssShmem:") }
    }
}
