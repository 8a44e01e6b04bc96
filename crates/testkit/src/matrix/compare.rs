//! Compares an answer with the expected one.

use std::fmt::Debug;

use warpline::Place;

use crate::reference::{Outcome, Stop};

/// Checks the outcome of the first of several processes, which has only the states of its own LPs.
///
/// # Errors
/// The first difference.
pub fn compare_first(
    mut expected: Result<Outcome, Stop>,
    found: &Result<Outcome, Stop>,
) -> Result<(), String> {
    if let (Ok(expected), Ok(found)) = (&mut expected, found) {
        expected.states.truncate(found.states.len().max(1));
    }
    compare(&expected, found)
}

pub(crate) fn compare(
    expected: &Result<Outcome, Stop>,
    found: &Result<Outcome, Stop>,
) -> Result<(), String> {
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            compare_lists("the state of LP", &expected.states, &found.states)?;
            for (number, (expected, found)) in expected.tables.iter().zip(&found.tables).enumerate()
            {
                compare_lists(&format!("in table {number}, row"), expected, found)?;
            }
            same("the number of tables", &expected.tables.len(), &found.tables.len())?;
            same("the number of committed events", &expected.committed, &found.committed)?;
            same("the digest", &expected.digest, &found.digest)?;
            same("the results", &expected.results, &found.results)?;
            same("the series", &expected.series, &found.series)
        }
        (Err(expected), Err(found)) => {
            if !same_place(&expected.place, &found.place) {
                same("the place of the mistake", &expected.place, &found.place)?;
            }
            // As text, because a fault may hold a NaN.
            same("the mistake", &format!("{:?}", expected.fault), &format!("{:?}", found.fault))?;
            same("the time of the mistake", &expected.time, &found.time)?;
            same("the number of events before the mistake", &expected.committed, &found.committed)
        }
        (Ok(_), Err(found)) => Err(format!("it stopped although nothing is wrong: {found:?}")),
        (Err(expected), Ok(_)) => Err(format!("it did not stop, in spite of {expected:?}")),
    }
}

/// Whether two places are the same, though the text of the event may be cut in the second.
fn same_place(whole: &Place, cut: &Place) -> bool {
    let (
        Place::Event { lp, time, number, payload },
        Place::Event { lp: cut_lp, time: cut_time, number: cut_number, payload: cut_payload },
    ) = (whole, cut)
    else {
        return whole == cut;
    };
    let begins =
        cut_payload.strip_suffix('…').is_some_and(|beginning| payload.starts_with(beginning));
    (lp, time, number) == (cut_lp, cut_time, cut_number) && (payload == cut_payload || begins)
}

fn same<T: PartialEq + Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("{what} should be {expected:?} and is {found:?}"))
    }
}

fn compare_lists<T: PartialEq + Debug>(
    what: &str,
    expected: &[T],
    found: &[T],
) -> Result<(), String> {
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        same(&format!("{what} {number}"), expected, found)?;
    }
    same(&format!("{what}: how many"), &expected.len(), &found.len())
}
