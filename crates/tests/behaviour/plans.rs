//! What is planned, and why.

use warpline::prelude::*;
use warpline::{Barrier, Conservative, Messages, Synchronisation};

struct Clock;

impl Model for Clock {
    type State = u32;
    type Event = ();

    fn lps(&self) -> u32 {
        4
    }

    fn lookahead(&self) -> f64 {
        1.0
    }

    fn init(&self, lp: &mut Init<Self>) -> u32 {
        lp.send(lp.id(), 1.0, ());
        0
    }

    fn handle(&self, ticks: &mut u32, (): &(), lp: &mut Context<Self>) {
        *ticks += 1;
        lp.send(lp.id(), 1.0, ());
    }
}

type Way = fn(Simulation<'_, Clock>) -> Simulation<'_, Clock>;

#[test]
fn the_record_of_a_run_has_what_was_planned() {
    let ways: [Way; 6] = [
        |run| run.threads(1),
        |run| run.threads(2),
        |run| run.threads(3).batch(7).window(0.5),
        |run| {
            run.threads(2).sync(Synchronisation::Conservative).conservative(Conservative::Windows)
        },
        |run| run.threads(2).barrier(Barrier::Central).undo(Undo::Copy).use_lookahead(false),
        |run| run.threads(2).virtual_cluster(7).messages(Messages::Copy),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let planned = way(Simulation::new(Clock).end(5.0)).plan().expect("a plan");
        let engine = way(Simulation::new(Clock).end(5.0)).run().expect("a run").record.engine;
        assert!(planned.len() > 3, "{number}: {planned:?}");
        for setting in &planned {
            assert_eq!(
                engine[&setting.name.replace('-', "_")],
                setting.value,
                "{number}: {}",
                setting.name
            );
        }
    }
}

#[test]
fn a_plan_says_why() {
    let planned =
        Simulation::new(Clock).threads(2).barrier(Barrier::Central).plan().expect("a plan");
    let why = |name: &str| {
        planned.iter().find(|setting| setting.name == name).map(|setting| setting.why.as_str())
    };
    assert_eq!(
        [why("barrier"), why("threads"), why("kps")],
        [Some("given"), Some("given"), Some("the default")]
    );
    assert_eq!(why("gvt"), Some("only PEs of synchronous GVT meet at a barrier"));
    assert_eq!(why("conservative"), None, "an optimistic run has no use for it");
}
