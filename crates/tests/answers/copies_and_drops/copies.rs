//! States that panic when they are copied, or when an event is repeated on a copy.

use super::*;

fn is_copy_fault(failure: &Failure) -> bool {
    let says = |words: &str| failure.to_string().contains(words);
    says("panicked: cannot be copied, when the state was copied")
        && says("--sync conservative or sequential")
}

/// With a copy before every event, the first event before which the state cannot be copied fails,
/// and it is always the same one.
#[test]
fn a_state_that_cannot_be_copied_is_a_mistake_of_the_model() {
    let trap = Trap::Copy(7);
    let mut first: [Option<Failure>; 2] = [None, None];
    let quiet = [peace(0.0), peace(0.02)];
    assert_eq!(
        [sequential(trap, 0.0), sequential(trap, 0.02)],
        quiet,
        "sequentially nothing is copied"
    );
    let mut failures = 0;
    in_all_ways(trap, |lookahead, how, found| {
        let first = &mut first[usize::from(lookahead > 0.0)];
        let quiet = &quiet[usize::from(lookahead > 0.0)];
        let failure = match found {
            Err(failure) => failure,
            Ok(_) => {
                // No copy was needed, so the answer is the usual one.
                assert_eq!(&found, quiet, "{how:?}");
                assert!(how.lookahead || !how.copies_all(), "{how:?}");
                return;
            }
        };
        failures += 1;
        assert!(
            is_copy_fault(&failure) && how.sync == Synchronisation::Optimistic,
            "{how:?}: {failure}"
        );
        assert!(
            matches!(&failure.place, Place::Event { payload, .. } if payload.starts_with("Letter")),
            "{failure}"
        );
        if !how.lookahead && how.copies_all() {
            let expected = first.get_or_insert_with(|| (*failure).clone());
            // The text of a letter shows its other fields as well.
            let at = |failure: &Failure| (failure.time, failure.committed);
            assert_eq!(at(&failure), at(expected), "{how:?}");
        }
    });
    assert!(failures > 15, "{failures}");
}

/// The state after a rollback cannot be restored. Either a later rollback goes further back, or the
/// LP has no next event.
#[test]
fn a_state_that_cannot_be_restored_is_a_mistake_of_the_model() {
    for (trap, words) in [
        (Trap::CopyOfCopy(3), "panicked: cannot be copied, when the state was copied"),
        (Trap::Repeat(3), "panicked: never again"),
    ] {
        let quiet = [peace(0.0), peace(0.02)];
        let mut failures = 0;
        let mut successes = 0;
        in_all_ways(trap, |lookahead, how, found| match found {
            Ok(_) => {
                successes += 1;
                assert_eq!(found, quiet[usize::from(lookahead > 0.0)], "{how:?}");
            }
            Err(failure) => {
                failures += 1;
                assert!(failure.to_string().contains(words), "{how:?}: {failure}");
                assert!(
                    matches!(failure.place, Place::Event { .. } | Place::Finish(_)),
                    "{how:?}: {failure}"
                );
                assert!(how.sync == Synchronisation::Optimistic, "{how:?}");
            }
        });
        assert!(
            failures > 10 && successes > 10,
            "{trap:?}: {failures} failures and {successes} answers"
        );
    }
}

#[test]
fn states_that_never_happened_may_panic_when_they_are_copied() {
    for trap in [Trap::OddCopy, Trap::OddCopyOfCopy] {
        let expected = [peace(0.0), peace(0.02)];
        let [copies, ..] = in_all_ways(trap, |lookahead, how, found| {
            assert_eq!(found, expected[usize::from(lookahead > 0.0)], "{how:?}")
        });
        assert!(copies > 0, "{trap:?}");
    }
}
