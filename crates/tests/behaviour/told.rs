//! What followed LPs tell, and who still waits at the end.

use std::sync::{Arc, Mutex};

use warpline::prelude::*;
use warpline::record::{Deed, Stuck, Told};
use warpline::{LpChoice, Synchronisation};

/// A ball that goes round and round. Whoever has it tells. Its last holder waits for ever.
struct Ball {
    lps: u32,
    throws: u32,
}

#[model]
impl Model for Ball {
    type State = Option<f64>; // since when the LP has had the ball
    type Event = u32; // throws left

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        0.5
    }

    fn kind(&self, lp: LpId) -> &str {
        if lp.0 == 0 { "first" } else { "" }
    }

    fn init(&self, lp: &mut Init<Self>) -> Option<f64> {
        lp.tell("the player", Deed::Does, "comes in");
        if lp.id().0 == 0 {
            lp.send(0, 0.5, self.throws);
        }
        None
    }

    fn handle(&self, since: &mut Option<f64>, left: &u32, lp: &mut Context<Self>) {
        *since = Some(lp.now());
        lp.tell("the player", Deed::Takes, "ball");
        if let Some(left) = left.checked_sub(1) {
            let delay = 0.5 + lp.random().exponential(1.0);
            lp.send((lp.id().0 + 1) % self.lps, delay, left);
            lp.tell(format!("throw {left}"), Deed::Gives, "ball");
            *since = None;
        }
    }

    fn stuck(&self, lp: LpId, since: &Option<f64>, most: usize) -> Stuck {
        let lines =
            since.iter().take(most).map(|since| format!("{lp} has had the ball since {since:.3}"));
        Stuck { waits: since.iter().count() as u64, lines: lines.collect() }
    }
}

fn ball() -> Simulation<'static, Ball> {
    Simulation::new(Ball { lps: 8, throws: 100 }).end(1e6)
}

#[test]
fn every_engine_tells_the_same_in_the_same_order() {
    let alone = ball().sync(Synchronisation::Sequential).follow(LpChoice::ids([1, 6]));
    let alone = alone.run().unwrap().record.told;
    assert!(alone.len() > 2 * 25 && alone.is_sorted_by(|one, other| one.time <= other.time));
    assert!(alone.iter().all(|Told { lp, .. }| [1, 6].contains(lp)));
    for sync in [
        Synchronisation::Conservative,
        Synchronisation::Optimistic,
        Synchronisation::Mixed,
        Synchronisation::Auto,
    ] {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = heard.clone();
        let run = ball().sync(sync).threads(3).follow(LpChoice::ids([1, 6]));
        let run = run.on_told(move |told| hears.lock().unwrap().push(told.clone()));
        assert_eq!(run.run().unwrap().record.told, alone, "{sync:?}");
        assert_eq!(*heard.lock().unwrap(), alone, "{sync:?}");
    }
}

#[test]
fn an_lp_tells_no_more_than_it_may() {
    let run = ball().follow(LpChoice::all()).follow_limit(3).threads(2).run().unwrap();
    let told = run.record.told;
    assert!((0..8).all(|lp| told.iter().filter(|told| told.lp == lp).count() == 3));
}

#[test]
fn nobody_tells_unless_followed() {
    assert!(ball().run().unwrap().record.told.is_empty());
}

#[test]
fn an_unknown_lp_cannot_be_followed() {
    let error = ball().follow(LpChoice::ids([8])).run().unwrap_err().to_string();
    assert_eq!(error, "`follow` of model `Ball`: there is no LP 8: ids go from 0 to 7");
}

#[test]
fn whoever_waits_when_no_event_is_left_is_named() {
    let stuck = ball().run().unwrap().record.stuck;
    let Some(Stuck { waits: 1, lines }) = &stuck else { panic!("{stuck:?}") };
    assert!(lines[0].starts_with("LP 4 has had the ball since "), "{lines:?}");
    let parallel = ball().sync(Synchronisation::Conservative).threads(3).run().unwrap();
    assert_eq!(parallel.record.stuck, stuck);
    assert_eq!(ball().end(5.0).run().unwrap().record.stuck, None, "the ball is in the air");
}
