//! Several runs at once in one program: of several processes, and in threads.

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

/// Two runs of two processes at a time, three times, beside runs in threads: all come to the answer
/// that they have alone. A run like one of another thread is refused.
pub(crate) fn at_once() -> Result<(), Ended> {
    let told = |error: Error| Ended::of(error, |error| format!("a run failed: {error}"));
    let mut alone = Vec::new();
    for seed in 1..=3 {
        alone.push(simulate(seed, 1).map_err(told)?);
    }
    let repeat = |seed, processes| (0..3).map(|_| simulate(seed, processes)).collect::<Vec<_>>();
    let at_once = thread::scope(|scope| {
        let runs = [(1, 1), (2, 2), (3, 2)]
            .map(|(seed, processes)| scope.spawn(move || repeat(seed, processes)));
        runs.map(|runs| runs.join().expect("a thread"))
    });
    for (alone, runs) in alone.iter().zip(at_once) {
        for digest in runs {
            let digest = digest.map_err(told)?;
            if digest != *alone {
                return Err(format!("{alone} alone, {digest} beside others").into());
            }
        }
    }
    match simulate(2, 2) {
        Err(Error::Setting(why)) if why.contains("another thread has begun a run") => Ok(()),
        other => Err(format!("a run like that of another thread: {other:?}").into()),
    }
}

/// A model that begins a run of its own when it is asked for its LPs.
struct Nested(Arc<OnceLock<Result<String, Error>>>);

#[model]
impl Model for Nested {
    type State = ();
    type Event = ();

    fn lps(&self) -> u32 {
        self.0.get_or_init(|| simulate(1, 2));
        2
    }

    fn init(&self, lp: &mut Init<Self>) {
        lp.send(lp.id(), 1.0, ());
    }

    fn handle(&self, _: &mut (), (): &(), lp: &mut Context<Self>) {
        lp.send(lp.id(), 1.0, ());
    }
}

/// A run of several processes may begin another one and wait for it.
pub(crate) fn one_within_another() -> Result<(), Ended> {
    let told = |error: Error| Ended::of(error, |error| format!("a run failed: {error}"));
    let alone = simulate(1, 1).map_err(told)?;
    let within = Arc::new(OnceLock::new());
    Simulation::new(Nested(within.clone())).end(5.5).threads(1).processes(2).run().map_err(told)?;
    match within.get() {
        Some(Ok(digest)) if *digest == alone => Ok(()),
        Some(Err(Error::Share(share))) => Err(Ended::Share(share.clone())),
        other => Err(format!("{alone} alone, {other:?} within another run").into()),
    }
}
