use super::*;
use crate::{Model, Outcome, Statistics, statistics::Declarations};

/// Each LP draws from two streams. Reverse code draws the same again and compares, unless the state
/// is empty.
struct Draws;

impl Model for Draws {
    type State = Vec<u64>;
    type Event = ();

    fn lps(&self) -> u32 {
        4
    }

    fn init(&self, _: &mut Init<Self>) -> Vec<u64> {
        Vec::new()
    }

    fn handle(&self, drawn: &mut Vec<u64>, (): &(), lp: &mut Context<Self>) {
        *drawn = [
            lp.random().next_u64(),
            lp.stream(2).next_u64(),
            lp.random().next_u64(),
            lp.stream(2).next_u64(),
        ]
        .into();
    }

    fn reverse(&self, drawn: &mut Vec<u64>, (): &(), lp: &mut Reverse<Self>) {
        if drawn.is_empty() {
            return;
        }
        let again = [
            lp.random().next_u64(),
            lp.stream(2).next_u64(),
            lp.random().next_u64(),
            lp.stream(2).next_u64(),
        ];
        assert_eq!(*drawn, again);
        drawn.clear();
    }
}

#[test]
fn reverse_code_draws_what_the_event_drew() {
    let mut executor = Executor::new(&Draws, 1, 9, true);
    let mut drawn = Vec::new();
    for event in 1..4 {
        executor.begin(LpId(3), event, VirtualTime::ZERO, 0);
        Draws.handle(&mut drawn, &(), executor.lp());
        assert_eq!(executor.streams().positions(), [(0, 2), (2, 2)]);
        executor.reverse(&Draws, &mut drawn, &());
        assert_eq!((executor.streams().positions(), drawn.len()), (vec![(0, 2), (2, 2)], 0));
    }
    executor.begin(LpId(3), 4, VirtualTime::ZERO, 0);
    Draws.handle(&mut drawn, &(), executor.lp());
    executor.reverse(&Draws, &mut Vec::new(), &());
    executor.begin(LpId(3), 5, VirtualTime::ZERO, 0);
    assert_eq!(executor.streams().positions(), [(0, 0)], "nothing has been drawn for this event");
}

#[test]
fn a_model_declares_nothing_unless_it_says_so() {
    assert_eq!(
        (Draws.unbiased_ties(), Draws.links(LpId(0)), Draws.lookahead()),
        (false, None, 0.0)
    );
    let statistics = Statistics::new(Declarations::default().checked().unwrap(), 0.0, 1.0);
    let outcome = Outcome { statistics: &statistics, end: 1.0, warmup: 0.0 };
    assert_eq!(Draws.results(&outcome).to_value(&Draws, &outcome), statistics.to_json());
}
