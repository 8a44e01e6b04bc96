use super::*;
use crate::Rule;

const NEVER: Moment = Moment::Never;

fn time(time: f64) -> VirtualTime {
    VirtualTime::new(time).expect("a time")
}

fn event(at: f64) -> Moment {
    Moment::Event(EventKey {
        time: time(at),
        step: 0,
        priority: Priority::NORMAL,
        sender: LpId(0),
        sequence: Sequence::first_of(1),
    })
}

/// In a run to 100, with a window of this width.
fn frontier(width: f64) -> Frontier {
    Frontier::new(Window::new(Rule::Fixed(width), time(100.0), 0.0, 3), time(100.0), None, None)
}

/// After this GVT.
fn at(gvt: Moment, width: f64, least: Option<f64>) -> Frontier {
    let mut frontier = frontier(width);
    frontier.on_gvt(verdict(gvt, NEVER), least);
    frontier
}

fn verdict(gvt: Moment, failure: Moment) -> Verdict {
    Verdict { epoch: 0, rounds: 1, gvt, in_transit: Moment::Never, failure, work: Work::default() }
}

/// Lets PE 1 of three read bounds, with least delays of 5 and 7 to it.
fn read(frontier: &mut Frontier, bounds: [Option<f64>; 2]) -> bool {
    let bounds =
        [bounds[0], Some(0.0), bounds[1]].map(|bound| bound.map_or(0, |bound| bits(time(bound))));
    let delays = DelaysHere { from_each: &[5.0, f64::NAN, f64::INFINITY], links: &[(2, 7.0)] };
    frontier.read_bounds(1, 0..3, delays, |pe| bounds[pe as usize])
}

#[test]
fn gvt_has_a_time() {
    assert_eq!((frontier(1.0).gvt(), frontier(1.0).gvt_time()), (Moment::Init(LpId(0)), 0.0));
    for (gvt, expected) in [(Moment::Init(LpId(3)), 0.0), (event(25.5), 25.5), (NEVER, 100.0)] {
        let frontier = at(gvt, 1.0, None);
        assert_eq!((frontier.gvt(), frontier.gvt_time()), (gvt, expected));
    }
}

#[test]
fn the_window_begins_at_gvt_or_at_the_floor() {
    assert_eq!(frontier(10.0).limit(), time(10.0));
    assert_eq!(at(event(25.0), 10.0, None).limit(), time(35.0));
    assert_eq!(
        [at(event(95.0), 10.0, None).limit(), at(NEVER, 10.0, None).limit()],
        [time(100.0); 2]
    );
    let mut further = at(event(25.0), 10.0, Some(20.0));
    assert!(read(&mut further, [Some(60.0), Some(50.0)]));
    assert_eq!(
        (further.floor(), further.limit()),
        (VirtualTime::ZERO, time(45.0)),
        "no floor lies beyond the PE's own bound"
    );
    further.own_bound(time(40.0), time(100.0));
    read(&mut further, [Some(60.0), Some(50.0)]);
    assert_eq!((further.floor(), further.limit()), (time(40.0), time(50.0)));
}

/// However narrow the window, all that happens at the time of GVT may be executed, and all that
/// is certain.
#[test]
fn a_window_without_width_leaves_what_is_due_and_what_is_certain() {
    let due = at(event(25.0), 0.0, None);
    assert_eq!(
        (due.due(), due.limit()),
        (VirtualTime::from_bits(time(25.0).bits() + 1), due.due())
    );
    assert_eq!(at(event(25.0), 0.0, Some(4.0)).limit(), time(29.0));
}

#[test]
fn gvt_raises_the_horizon_by_the_least_delay() {
    for (gvt, least, expected) in [
        (Moment::Init(LpId(3)), 10.0, 0.0),
        (event(25.0), 10.0, 35.0),
        (event(25.0), f64::INFINITY, 100.0),
        (event(95.0), 10.0, 100.0),
        (Moment::Finish(LpId(0)), 10.0, 100.0),
        (NEVER, 10.0, 100.0),
    ] {
        let frontier = at(gvt, 1.0, Some(least));
        assert_eq!(
            (frontier.horizon(), frontier.earliest_arrival()),
            (time(expected), time(expected)),
            "GVT {gvt:?}"
        );
    }
    // Without a safe lane, GVT alone says what may still arrive.
    for (gvt, expected) in [(event(25.0), 25.0), (NEVER, 100.0)] {
        let frontier = at(gvt, 1.0, None);
        assert_eq!(
            (frontier.horizon(), frontier.earliest_arrival()),
            (VirtualTime::ZERO, time(expected))
        );
    }
}

#[test]
fn a_horizon_at_gvt_is_held_up() {
    assert!(!frontier(1.0).is_held_up() && !at(NEVER, 1.0, Some(0.0)).is_held_up());
    assert!(
        at(event(25.0), 1.0, Some(0.0)).is_held_up() && at(event(25.0), 1.0, None).is_held_up()
    );
    assert!(!at(event(25.0), 1.0, Some(1.0)).is_held_up());
}

/// What comes before the GVT before the last is settled, unless the last verdict was a failure:
/// then nothing changes any more.
#[test]
fn everything_before_the_last_gvt_but_one_is_settled() {
    let mut frontier = at(event(10.0), 1.0, Some(5.0));
    assert_eq!(frontier.settled(), None);
    frontier.on_gvt(verdict(event(20.0), NEVER), Some(5.0));
    assert_eq!((frontier.settled(), frontier.horizon()), (Some(event(10.0)), time(25.0)));
    frontier.on_gvt(verdict(event(30.0), event(29.0)), Some(5.0));
    assert_eq!((frontier.settled(), frontier.horizon()), (Some(event(10.0)), time(25.0)));
    assert_eq!(frontier.verdict().map(|verdict| verdict.failure), Some(event(29.0)));
}

#[test]
fn the_horizon_is_the_least_bound_plus_delay_and_rises_when_messages_are_filed() {
    let mut frontier = frontier(1.0);
    for (bounds, moves, raised) in [
        ([Some(3.0), None], false, 0.0),
        ([None, Some(3.0)], false, 0.0),
        ([Some(3.0), Some(2.0)], true, 8.0),
        ([Some(3.0), Some(1.0)], false, 8.0),
        ([Some(3.0), Some(0.5)], false, 8.0),
        ([Some(10.0), Some(2.0)], true, 9.0),
        ([Some(99.0), Some(98.0)], true, 100.0),
    ] {
        let before = frontier.horizon();
        assert_eq!(
            (read(&mut frontier, bounds), frontier.horizon()),
            (moves, before),
            "{bounds:?}"
        );
        assert_eq!(
            (frontier.raise_horizon(), frontier.horizon()),
            (moves, time(raised)),
            "{bounds:?}"
        );
    }
}

/// While it holds back, a PE does nothing for good from some time on, whatever becomes of GVT
/// and horizon, and keeps GVT from passing it.
#[test]
fn a_pe_that_holds_back_stays_where_it_is() {
    let after = |time: VirtualTime| VirtualTime::from_bits(time.bits() + 1);
    let ties = TieBreak::Unbiased { seed: 3 };
    let mut frontier = at(event(25.0), 1.0, Some(10.0));
    assert_eq!(frontier.held_back_at(ties), NEVER);
    // Up to the horizon, or through the time of the first pending event if that comes before.
    assert_eq!(
        at(event(25.0), 1.0, Some(10.0)).propose_end(time(50.0)),
        (time(35.0), after(VirtualTime::ZERO)),
        "it has not contributed yet"
    );
    frontier.contributed = event(31.0);
    assert_eq!(frontier.propose_end(time(30.0)), (after(time(30.0)), after(time(31.0))));
    let Moment::Event(key) = frontier.held_back_at(ties) else { panic!("GVT could pass it") };
    assert!(key.time == time(30.0) && Moment::Event(key).is_before(&event(30.0), ties), "{key:?}");
    frontier.on_gvt(verdict(event(31.0), NEVER), Some(10.0));
    // What GVT has passed is done for good all the same: the new end lies after it.
    assert_eq!(
        (frontier.horizon(), frontier.due(), frontier.held_back_at(ties)),
        (after(time(30.0)), after(time(31.0)), event(31.0))
    );
    frontier.end_at(time(40.0));
    assert_eq!((frontier.horizon(), frontier.limit()), (time(40.0), time(40.0)));
    let held_back = frontier.held_back_at(ties);
    assert!(
        held_back.time(time(100.0)) < time(40.0),
        "GVT could pass the new end before all PEs know it: {held_back:?}"
    );
    frontier.let_go();
    assert_eq!(frontier.held_back_at(ties), NEVER);
}

#[test]
fn a_pe_publishes_the_least_of_what_holds_it_and_takes_nothing_back() {
    let bound = |frontier: &mut Frontier, first, committed| {
        time_of(frontier.own_bound(time(first), time(committed)))
    };
    let mut frontier = at(event(15.0), 1.0, Some(5.0));
    assert_eq!(bound(&mut frontier, 12.0, 14.0), Some(time(12.0)));
    assert_eq!(bound(&mut frontier, 17.0, 14.0), Some(time(14.0)));
    assert_eq!(bound(&mut frontier, 30.0, 40.0), Some(time(20.0)));
    assert_eq!(bound(&mut frontier, 18.0, 40.0), Some(time(20.0)));
}
