use warpline_model::Context;
use warpline_model::engine::Limits;
use warpline_model::statistics::Row;
use warpline_model::{Declarations, Init};

use super::*;
use crate::agenda::pending::Heap;

struct Clock;

impl Model for Clock {
    type State = ();
    type Event = ();
    fn lps(&self) -> u32 {
        1
    }
    fn init(&self, lp: &mut Init<Self>) {
        lp.send(0, 1.0, ());
    }
    fn handle(&self, (): &mut (), (): &(), lp: &mut Context<Self>) {
        lp.send(0, 1.0, ());
    }
}

struct NoRows;

impl RowSink for NoRows {
    fn row(&mut self, _: Row<'_>) {}
}

#[test]
fn an_lp_that_can_count_no_further_is_an_error() {
    let statistics = Statistics::new(Declarations::default(), 0.0, 10.0);
    let executor = Executor::new(&Clock, 1, Limits::ZERO_DELAY_HOPS, false);
    let end = VirtualTime::new(10.0).unwrap();
    let mut engine = Sequential::new(
        &Clock,
        executor,
        TieBreak::BySender,
        end,
        statistics,
        NoRows,
        Heap::default(),
    );
    engine.initialise_next().unwrap();
    assert_eq!(engine.next_lp(), None);
    engine.lps[0].events = Sequence::EVENT_LIMIT - 3;
    assert_eq!(
        engine.step(10),
        Err(Stop::Fault(Fault::TooManyEvents { limit: Sequence::EVENT_LIMIT }))
    );
    assert_eq!((engine.committed(), engine.now()), (2, 3.0));
    assert!(engine.running().is_some());
}
