use super::*;
use crate::engine::{Executor, Lookahead};
use crate::statistics::Observation;
use crate::{Init, Model};

struct Flood;

impl Model for Flood {
    type State = ();
    type Event = u32;
    fn lps(&self) -> u32 {
        2
    }
    fn init(&self, _: &mut Init<Self>) {}
    fn handle(&self, _: &mut (), _: &u32, _: &mut Context<Self>) {}
}

#[test]
fn sends_are_limited() {
    let mut executor = Executor::new(&Flood, 1, 10, false);
    executor.lp().limits.sends = 3;
    (0..4).for_each(|number| executor.lp().send(1, 1.0, number));
    assert_eq!(executor.lp().outbox.len(), 3);
    assert_eq!(executor.take_fault(), Some(Fault::TooManySends { limit: 3 }));
}

#[test]
fn the_first_fault_stays() {
    let mut executor = Executor::new(&Flood, 1, 10, false);
    executor.lp().send(7, 1.0, 0);
    executor.lp().send(1, f64::NAN, 0);
    assert_eq!(executor.take_fault(), Some(Fault::UnknownLp { to: LpId(7), lps: 2 }));
    assert_eq!(executor.take_fault(), None);
}

#[test]
fn what_is_forwarded_keeps_its_place_among_the_sends() {
    for last in [false, true] {
        let mut executor = Executor::new(&Flood, 1, 10, false);
        executor.lp().forward(1, 1.0);
        executor.lp().send(0, 2.0, 8);
        executor.lp().send(1, 3.0, 9);
        executor.lp().forward(0, 4.0);
        executor.lp().forward_with_priority(1, 5.0, -3);
        executor.lp().send(1, 6.0, 10);
        assert!(executor.forwards());
        if last {
            executor.copy_forwards_but_last(&7, |_| &7);
            assert_eq!(
                executor.lp().outbox.iter().map(|sent| sent.event).collect::<Vec<_>>(),
                [7, 8, 9, 7, 10]
            );
            executor.move_forward(6);
        } else {
            executor.copy_forwards(&6, |_| &6);
        }
        let sent: Vec<_> =
            executor.lp().outbox.iter().map(|sent| (sent.time.get(), sent.event)).collect();
        let other = if last { 7 } else { 6 };
        assert_eq!(sent, [(1.0, other), (2.0, 8), (3.0, 9), (4.0, other), (5.0, 6), (6.0, 10)]);
        assert_eq!(
            (executor.lp().outbox[4].priority, executor.forwards(), executor.take_fault()),
            (Priority::new(-3), false, None)
        );
    }
}

#[test]
fn forwarding_has_the_faults_of_sending() {
    let fault = |to: u32, delay| {
        let mut executor = Executor::new(&Flood, 1, 0, false);
        executor.begin(LpId(0), 1, VirtualTime::new(5.0).unwrap(), 0);
        executor.lp().forward(to, delay);
        assert!(!executor.forwards());
        executor.take_fault()
    };
    assert_eq!(fault(7, 1.0), Some(Fault::UnknownLp { to: LpId(7), lps: 2 }));
    assert_eq!(fault(1, -1.0), Some(Fault::Delay { to: LpId(1), delay: -1.0 }));
    assert_eq!(fault(0, 0.0), Some(Fault::ZeroDelayLoop { limit: 0 }));
}

#[test]
fn forwards_count_among_the_sends() {
    let limited = || {
        let mut executor = Executor::new(&Flood, 1, 10, false);
        executor.lp().limits.sends = 3;
        executor
    };
    let mut executor = limited();
    (0..4).for_each(|_| executor.lp().forward(1, 1.0));
    assert_eq!(executor.take_fault(), Some(Fault::TooManySends { limit: 3 }));
    let mut executor = limited();
    executor.lp().forward(1, 1.0);
    (0..3).for_each(|number| executor.lp().send(1, 1.0, number));
    assert_eq!(executor.take_fault(), None, "not before all is counted");
    executor.copy_forwards(&9, |_| &9);
    assert_eq!(
        (executor.take_fault(), executor.forwards()),
        (Some(Fault::TooManySends { limit: 3 }), false)
    );
    executor.forget();
    executor.lp().forward(1, 1.0);
    executor.forget();
    assert!(!executor.forwards(), "what never happened forwards nothing");
}

/// Times are ordered by their bits, and those of -0.0 would come after all others.
#[test]
fn a_delay_of_minus_zero_is_no_delay() {
    let mut executor = Executor::new(&Flood, 1, 10, false);
    executor.begin(LpId(1), 1, VirtualTime::new(-0.0).unwrap(), 0);
    [0.0, -0.0]
        .into_iter()
        .zip(0..)
        .for_each(|(delay, number)| executor.lp().send(1, delay, number));
    executor.lp().send(0, -0.0, 2);
    let sent: Vec<_> =
        executor.lp().outbox.iter().map(|sent| (sent.time, sent.step, sent.event)).collect();
    assert_eq!(
        sent,
        [(VirtualTime::ZERO, 1, 0), (VirtualTime::ZERO, 1, 1), (VirtualTime::ZERO, 1, 2)]
    );
    assert_eq!(executor.take_fault(), None);
}

#[test]
fn a_delay_that_is_lost_to_rounding_is_noted() {
    let mut executor = Executor::new(&Flood, 1, 10, false);
    executor.begin(LpId(1), 7, VirtualTime::new(1e17).unwrap(), 3);
    [8.0, 0.0, 16.0]
        .into_iter()
        .zip(0..)
        .for_each(|(delay, number)| executor.lp().send(0, delay, number));
    executor.lp().forward(0, 0.5);
    let lost = |delay| Observation::LostDelay { to: LpId(0), event: 7, delay };
    assert_eq!(executor.lp().observations.current(), [lost(8.0), lost(0.5)]);
    assert_eq!(executor.take_fault(), None);
    // The fault says that it is not a zero-delay loop.
    executor.begin(LpId(1), 8, VirtualTime::new(1e17).unwrap(), 10);
    executor.lp().send(0, 0.5, 0);
    assert_eq!(
        executor.take_fault(),
        Some(Fault::LostDelay { to: LpId(0), delay: 0.5, step: 16.0, limit: 10 })
    );
}

#[test]
fn steps_count_hops_that_take_no_time() {
    let mut executor = Executor::new(&Flood, 1, 10, false);
    executor.begin(LpId(1), 1, VirtualTime::new(5.0).unwrap(), 3);
    // The last delay is lost to rounding.
    [0.0, 2.0, 1e-20]
        .into_iter()
        .zip(0..)
        .for_each(|(delay, number)| executor.lp().send(0, delay, number));
    assert_eq!(executor.lp().outbox.iter().map(|sent| sent.step).collect::<Vec<_>>(), [4, 0, 4]);
    assert_eq!(executor.take_fault(), None);
}

/// Some times cannot be reached by any delay: the sum with every delay is rounded to another.
#[test]
fn events_happen_exactly_when_they_are_sent_to() {
    let (now, time) = (2.0f64.powi(-52), 3.0f64.next_up());
    let delay = time - now;
    assert!([delay.next_down(), delay, delay.next_up()].iter().all(|delay| now + delay != time));
    let mut executor = Executor::new(&Flood, 1, 10, false);
    executor.begin(LpId(0), 1, VirtualTime::new(now).unwrap(), 4);
    for time in [time, now, 0.1 + 0.2] {
        executor.lp().send_at(1, time, 7);
    }
    let sent = executor.lp().outbox.iter().map(|sent| (sent.time.get(), sent.step));
    assert_eq!(sent.collect::<Vec<_>>(), [(time, 0), (now, 5), (0.1 + 0.2, 0)]);
    assert_eq!(executor.take_fault(), None);
}

#[test]
fn an_event_at_a_time_is_not_earlier_than_the_lookahead_allows() {
    let fault = |to: u32, time, lookahead: f64| {
        let mut executor = Executor::new(&Flood, 1, 0, false);
        executor.lp().limits.lookahead = Lookahead::uniform(lookahead);
        executor.begin(LpId(0), 1, VirtualTime::new(0.1).unwrap(), 0);
        executor.lp().send_at(to, time, 0);
        assert_eq!(executor.lp().outbox.is_empty(), executor.has_fault());
        executor.take_fault()
    };
    let to = LpId(1);
    assert!(matches!(fault(1, f64::NAN, 0.0), Some(Fault::Past { time, .. }) if time.is_nan()));
    assert_eq!(fault(1, 0.0, 0.0), Some(Fault::Past { to, time: 0.0 }));
    assert_eq!(fault(1, 0.1, 0.0), Some(Fault::ZeroDelayLoop { limit: 0 }));
    assert_eq!(fault(7, 1.0, 0.0), Some(Fault::UnknownLp { to: LpId(7), lps: 2 }));
    let delay = f64::INFINITY;
    assert_eq!(fault(1, delay, 0.0), Some(Fault::EndOfTime { to, delay }));
    // As engines do, the sum is rounded: 0.1 + 0.7 is less than 0.8.
    assert_eq!(fault(1, 0.1 + 0.7, 0.7), None);
    let early = (0.1f64 + 0.7).next_down();
    assert_eq!(
        fault(1, early, 0.7),
        Some(Fault::Lookahead { to, delay: early - 0.1, lookahead: 0.7 })
    );
    assert_eq!(fault(0, early, 0.7), None, "lookahead is about other LPs");
}

/// Here the difference of the two times is less than the lookahead, and their sum is not.
#[test]
fn rounding_hides_no_other_fault_of_an_event_at_a_time() {
    let (now, lookahead) = (0.7, 0.1);
    let time: f64 = now + lookahead;
    assert!(time - now < lookahead);
    let mut executor = Executor::new(&Flood, 1, 0, false);
    executor.lp().limits.lookahead = Lookahead::uniform(lookahead);
    executor.lp().limits.sends = 1;
    executor.begin(LpId(0), 1, VirtualTime::new(now).unwrap(), 0);
    executor.lp().send_at(1, time, 0);
    assert!(!executor.has_fault());
    executor.lp().send_at(1, time, 0);
    assert_eq!(executor.take_fault(), Some(Fault::TooManySends { limit: 1 }));
}
