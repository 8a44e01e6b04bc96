use std::fmt;
use std::path::PathBuf;

/// What is in the file of a [trace](crate::Simulation::trace), and what was left out to keep it
/// within its [limit](crate::Simulation::trace_limit).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceSummary {
    /// The file.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// Spans of wall time that are shown one by one.
    pub spans: u64,
    /// Those that are not. The time that they cover is shown as `left out`, with sums of what they
    /// did.
    pub spans_left_out: u64,
    /// Committed events that are shown on virtual time.
    pub events: u64,
    /// Those of the same LPs that are not.
    pub events_left_out: u64,
    /// Whether the run did not get all the memory that the trace may take.
    pub out_of_memory: bool,
}

impl TraceSummary {
    /// Whether anything was left out.
    pub fn is_thinned(&self) -> bool {
        self.spans_left_out > 0 || self.events_left_out > 0 || self.out_of_memory
    }
}

/// What was left out, and why; nothing if nothing was.
impl fmt::Display for TraceSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.spans_left_out > 0 {
            let all = self.spans + self.spans_left_out;
            parts.push(format!(
                "{} of {all} spans are shown: the beginning, the end, and where most time went \
                 into rollbacks, commits or waiting; the others are summed up as `left out`",
                self.spans
            ));
        }
        if self.events_left_out > 0 {
            parts.push(format!(
                "{} of {} events of LPs are shown, chosen evenly",
                self.events,
                self.events + self.events_left_out
            ));
        }
        parts.push(match self.out_of_memory {
            true => "more would be shown if there had been memory for it".to_owned(),
            false if parts.is_empty() => return Ok(()),
            false => "a larger --trace-limit shows more".to_owned(),
        });
        f.write_str(&parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_trace_says_what_it_lacks() {
        let path = PathBuf::from("trace.json");
        let whole = TraceSummary {
            path,
            bytes: 9,
            spans: 10,
            spans_left_out: 0,
            events: 5,
            events_left_out: 0,
            out_of_memory: false,
        };
        assert!(!whole.is_thinned() && whole.to_string().is_empty());
        let thinned = TraceSummary { spans_left_out: 90, events_left_out: 2, ..whole.clone() };
        let text = thinned.to_string();
        assert!(
            thinned.is_thinned() && text.starts_with("10 of 100 spans are shown: the beginning"),
            "{text}"
        );
        assert!(
            text.contains("5 of 7 events of LPs")
                && text.ends_with("a larger --trace-limit shows more"),
            "{text}"
        );
        let starved = TraceSummary { out_of_memory: true, ..whole };
        assert!(
            starved.is_thinned()
                && starved.to_string().starts_with("more would be shown if there had been memory")
        );
    }
}
