//! What followed LPs tell, a line for each deed.

use std::sync::{Arc, Mutex, PoisonError};

use warpline_record::Told;

use crate::output::format;

/// The lines that a run has told so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Story(Arc<Mutex<Vec<String>>>);

impl Story {
    /// Writes down what it hears, with times in this unit.
    pub(super) fn hearer(&self, unit: &'static str) -> impl Fn(&Told) + Send + Sync + 'static {
        let Story(lines) = self.clone();
        move |told| {
            let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push(line(told, unit));
        }
    }

    /// Takes all lines.
    pub(super) fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn line(told: &Told, unit: &str) -> String {
    format!("{:>14}  LP {:<3} {told}\n", format::time(told.time, unit), told.lp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_record::Deed;

    #[test]
    fn a_deed_is_a_line_with_its_time_and_lp() {
        let story = Story::default();
        let hears = story.hearer("min");
        let told = |time, deed| Told { time, lp: 3, who: "Ann".into(), deed, what: "till".into() };
        hears(&told(1.5, Deed::Queues));
        hears(&told(12.25, Deed::Takes));
        let lines = story.told();
        assert_eq!(
            lines,
            [
                "       1.5 min  LP 3   Ann queues for till\n",
                "     12.25 min  LP 3   Ann takes till\n",
            ]
        );
        assert!(story.told().is_empty());
    }
}
