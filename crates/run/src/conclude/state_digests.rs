//! Digests of final states and of statistics, for the record.

use std::fmt;

use serde_json::json;
use warpline_base::StateDigest;
use warpline_model::{Outcome, Results, Statistics};
use warpline_record::StateDigestRecord;

/// Digests of states and statistics, for the record. Statistics include those that the model's
/// results leave out.
pub(crate) fn state_digest_record(
    states: StateDigest,
    statistics: &Statistics,
) -> StateDigestRecord {
    let statistics = StateDigest::of(&StatisticsText(statistics));
    StateDigestRecord {
        text: states.text(),
        content: states.content(),
        statistics: statistics.text(),
    }
}

/// All statistics and series as text, written piece by piece: as one value in memory they may take
/// more than the run.
struct StatisticsText<'a>(&'a Statistics);

impl fmt::Display for StatisticsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (short, lists) = Results::<()>::of(self.0).into_parts();
        let outcome = Outcome { statistics: self.0, end: 0.0, warmup: 0.0 };
        writeln!(f, "{short} {}", json!(self.0.series()))?;
        lists.iter().try_for_each(|(name, list)| {
            write!(f, "{name}:")?;
            (0..list.entries())
                .try_for_each(|number| writeln!(f, "{}", list.entry(&(), &outcome, number)))
        })
    }
}
