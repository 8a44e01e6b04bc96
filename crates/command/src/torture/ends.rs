//! Where runs of a search end: after about as many events as are wanted.

use std::time::Duration;

use warpline_cases::{Answer, Case, Worker};

use crate::failure::Failure;

/// The first end that is tried is this part of the model's own.
const FIRST: f64 = 1.0 / (1u64 << 40) as f64;
/// Each end that is tried is this many times the one before it.
const STEP: f64 = 4.0;
/// Ends are tried until one has this many events.
const ENOUGH: u64 = 5000;
/// The longest that such a run may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Ends, each later than the one before it, with the number of events before them.
#[derive(Debug, Default)]
pub(super) struct Ends(Vec<(f64, u64)>);

impl Ends {
    /// These ends; without any, none is drawn.
    #[cfg(test)]
    pub(super) fn known(ends: Vec<(f64, u64)>) -> Self {
        Ends(ends)
    }

    /// Tries ends up to the model's own with the options of `case`, by sequential runs.
    ///
    /// # Errors
    /// If these options are refused.
    pub(super) fn measure(
        case: &Case,
        own: f64,
        worker: &mut Worker,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Self, Failure> {
        let mut ends = Vec::new();
        let mut end = own * FIRST;
        loop {
            let case = case.clone().with("end", end).with("sync", "sequential");
            match worker.run_while(&case, LIMIT, goes_on) {
                Some(Answer::Done(done)) => ends.push((end, done.committed)),
                Some(Answer::Refused(why)) => return Err(Failure::wrong_use(why)),
                // A mistake of the model ends runs to any later time, too, and they are compared
                // all the same.
                Some(Answer::Failed(_)) => ends.push((end, ENOUGH)),
                _ => break,
            }
            if end >= own || ends.last().is_some_and(|(_, events)| *events >= ENOUGH) {
                break;
            }
            end = (end * STEP).min(own);
        }
        Ok(Ends(ends))
    }

    /// An end before which there are about so many events, or the latest; with three digits, as
    /// people will read it.
    pub(super) fn after(&self, events: f64) -> Option<f64> {
        let enough = self.0.iter().position(|(_, found)| *found as f64 >= events);
        let place = enough.or(self.0.len().checked_sub(1))?;
        let (late, many) = self.0[place];
        let (early, few) = if place == 0 { (0.0, 0) } else { self.0[place - 1] };
        let share = (events - few as f64) / (many - few).max(1) as f64;
        let end = early + (late - early) * share.clamp(0.01, 1.0);
        format!("{end:.2e}").parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_has_about_as_many_events_as_are_wanted() {
        let ends = Ends::known(vec![(1.0, 10), (4.0, 40), (16.0, 41)]);
        assert_eq!([5.0, 25.0, 40.0].map(|events| ends.after(events)), [0.5, 2.5, 4.0].map(Some));
        assert_eq!(ends.after(1000.0), Some(16.0));
        assert_eq!(Ends::default().after(5.0), None);
    }
}
