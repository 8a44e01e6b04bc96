//! Payloads and states that panic when they are dropped.

use super::*;

/// A payload is dropped after its event, sequentially too.
#[test]
fn a_payload_that_panics_after_its_event_is_the_same_mistake_everywhere() {
    for (lp, seen) in [(Some(0), 1), (Some(5), 9), (Some(11), 40), (None, 30)] {
        let lp = lp.map(LpId);
        let trap = Trap::Handled(lp, seen);
        let expected = [sequential(trap, 0.0), sequential(trap, 0.02)]
            .map(|answer| answer.expect_err("a letter burns"));
        for failure in &expected {
            let Place::Event { lp: found, time, number, payload } = &failure.place else {
                panic!("{failure}")
            };
            assert!(lp.is_none_or(|lp| lp == *found), "{failure}");
            assert_eq!(
                (*time, *number, payload.as_str()),
                (failure.time, None, "its payload is gone")
            );
            let fault = failure.fault.to_string();
            assert!(
                fault.starts_with(&format!(
                    "panicked: a letter burns, when its payload was dropped ({}:",
                    LETTERS_BURN_IN
                )),
                "{fault}"
            );
            assert!(failure.committed + 1 >= seen, "{failure}");
        }
        in_all_ways(trap, |lookahead, how, found| {
            let expected = &expected[usize::from(lookahead > 0.0)];
            let found = found.expect_err("a letter burns");
            if how.copies_all() {
                assert_eq!(&found, expected, "{how:?}");
            } else {
                // Payloads are kept as long as states may have to be restored with them, and more
                // events may have committed by then.
                assert_eq!(
                    (&found.place, &found.fault),
                    (&expected.place, &expected.fault),
                    "{how:?}"
                );
                assert!(found.committed >= expected.committed, "{how:?}: {found}");
            }
        });
    }
}

/// Cancelled events and those beyond the end never happen, nor do events sent on a state that is
/// undone.
#[test]
fn payloads_of_events_that_never_happened_may_panic() {
    let expected = [peace(0.0), peace(0.02)];
    for (expected, lookahead) in expected.iter().zip([0.0, 0.02]) {
        assert_eq!(&sequential(Trap::Unhandled, lookahead), expected);
    }
    let [_, payloads, _] = in_all_ways(Trap::Unhandled, |lookahead, how, found| {
        assert_eq!(found, expected[usize::from(lookahead > 0.0)], "{how:?}");
    });
    let beyond = u64::from(LPS) * (ways(0.0).len() + ways(0.02).len()) as u64;
    assert!(payloads > beyond + 100, "{payloads} of which {beyond} lay beyond the end");
}

#[test]
fn states_may_panic_when_they_are_dropped() {
    let expected = [peace(0.0), peace(0.02)];
    let [_, _, states] = in_all_ways(Trap::State, |lookahead, how, found| {
        assert_eq!(found, expected[usize::from(lookahead > 0.0)], "{how:?}");
    });
    assert!(states > 1000, "{states}");
}

/// A state that panics whenever it is dropped.
#[derive(Clone, Debug)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb");
    }
}

/// LP 2 fails, in `init` or at its event.
struct Failing {
    in_init: bool,
}

impl Model for Failing {
    type State = Bomb;
    type Event = ();

    fn lps(&self) -> u32 {
        4
    }

    fn init(&self, lp: &mut Init<Self>) -> Bomb {
        lp.send(lp.id(), 1.0, ());
        if self.in_init && lp.id() == LpId(2) {
            lp.fail("as planned");
        }
        Bomb
    }

    fn handle(&self, _: &mut Bomb, (): &(), lp: &mut Context<Self>) {
        if lp.id() == LpId(2) {
            lp.fail("as planned");
        }
    }
}

/// A run that fails drops all of its states.
#[test]
fn states_that_panic_hide_no_mistake() {
    let failure = |simulation: Simulation<'static, Failing>| match simulation.run() {
        Err(Error::Fault(failure)) => failure,
        other => panic!("it should have failed: {other:?}"),
    };
    let expected = failure(Simulation::new(Failing { in_init: false }));
    assert_eq!(expected.fault, Fault::Failed("as planned".into()));
    for pes in [1, 2, 4] {
        let _limit = time_limit(pes);
        assert_eq!(
            failure(
                Simulation::new(Failing { in_init: false })
                    .sync(Synchronisation::Optimistic)
                    .threads(pes)
            ),
            expected
        );
        assert_eq!(
            failure(
                Simulation::new(Failing { in_init: false })
                    .sync(Synchronisation::Optimistic)
                    .threads(pes)
                    .virtual_cluster(pes.into())
            ),
            expected
        );
    }
}

/// A state whose LP fails in `init` is dropped at once.
#[test]
fn a_state_that_panics_hides_no_mistake_in_init() {
    for (sync, pes) in [
        (Synchronisation::Sequential, 1),
        (Synchronisation::Optimistic, 1),
        (Synchronisation::Optimistic, 3),
    ] {
        let _limit = time_limit((sync, pes));
        let Err(Error::Fault(failure)) =
            Simulation::new(Failing { in_init: true }).sync(sync).threads(pes).run()
        else {
            panic!("it should have failed")
        };
        assert_eq!(
            (failure.place, failure.fault),
            (Place::Init(LpId(2)), Fault::Failed("as planned".into()))
        );
    }
}
