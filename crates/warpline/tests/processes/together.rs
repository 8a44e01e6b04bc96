//! A run of several processes beside runs in threads, in one program.

use std::sync::{Arc, OnceLock};
use std::thread;

use warpline::prelude::*;

use crate::Ended;
use crate::repeated::Frames;

/// The digest of a run with payloads.
fn simulate(seed: u64, processes: u32) -> Result<String, Error> {
    let simulation = Simulation::new(Frames::nth(1)).end(10.0).seed(seed).threads(2);
    Ok(simulation.processes(processes).run()?.record.digest)
}

/// Runs in threads and runs of two processes, at the same time, have the answers that they have
/// alone.
pub(crate) fn at_once() -> Result<(), Ended> {
    let told = |error: Error| Ended::of(error, |error| format!("a run failed: {error}"));
    let alone = [1, 2].map(|seed| simulate(seed, 1));
    let (in_threads, in_processes) = thread::scope(|scope| {
        let in_threads = scope.spawn(|| (0..4).map(|_| simulate(1, 1)).collect::<Vec<_>>());
        let in_processes: Result<Vec<_>, _> = (0..3).map(|_| simulate(2, 2)).collect();
        (in_threads.join().expect("a thread"), in_processes)
    });
    let in_processes = in_processes.map_err(told)?;
    let [first, second] = alone.map(|alone| alone.map_err(told));
    let first = first?;
    let second = second?;
    let in_threads = in_threads.into_iter().collect::<Result<Vec<_>, _>>().map_err(told)?;
    let are_equal = in_threads.iter().all(|digest| *digest == first)
        && in_processes.iter().all(|digest| *digest == second);
    if are_equal {
        Ok(())
    } else {
        Err(format!("{first} and {second} alone, {in_threads:?} and {in_processes:?} at once")
            .into())
    }
}

/// A model that begins another run when it is asked for its number of LPs.
struct Nested(Arc<OnceLock<String>>);

#[model]
impl Model for Nested {
    type State = ();
    type Event = ();

    fn lps(&self) -> u32 {
        self.0.get_or_init(|| simulate(1, 2).unwrap_or_else(|error| error.to_string()));
        2
    }

    fn init(&self, lp: &mut Init<Self>) {
        lp.send(lp.id(), 1.0, ());
    }

    fn handle(&self, _: &mut (), (): &(), lp: &mut Context<Self>) {
        lp.send(lp.id(), 1.0, ());
    }
}

/// A second run of several processes is refused until the first has ended.
pub(crate) fn one_has_the_turn() -> Result<(), Ended> {
    let told = |error: Error| Ended::of(error, |error| format!("a run failed: {error}"));
    let within = Arc::new(OnceLock::new());
    Simulation::new(Nested(within.clone())).end(5.5).threads(1).processes(2).run().map_err(told)?;
    let refused = within.get().cloned().unwrap_or_default();
    if !refused.contains("another run of several processes is under way in this program") {
        return Err(format!("it was not refused: {refused}").into());
    }
    simulate(1, 2).map(|_| ()).map_err(told)
}
