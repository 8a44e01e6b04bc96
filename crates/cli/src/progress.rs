//! How a long run is going, for people: a bar on a terminal, else a line now and then.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpline::Progress;

use crate::{format, output};

/// A shorter run needs no progress.
const SILENT: Duration = Duration::from_secs(2);
/// The time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(3);
/// The steps of the bar.
const STEPS: u64 = 1000;

/// Tells people how a run is going.
pub(crate) struct Teller {
    unit: &'static str,
    channel: Channel,
}

enum Channel {
    Nobody,
    Terminal(Option<ProgressBar>),
    Lines { last: Option<Duration> },
}

impl Teller {
    /// For a model whose time is in `unit`.
    pub(crate) fn new(unit: &'static str, quiet: bool) -> Self {
        let channel = match quiet {
            true => Channel::Nobody,
            false if std::io::stderr().is_terminal() => Channel::Terminal(None),
            false => Channel::Lines { last: None },
        };
        Teller { unit, channel }
    }

    pub(crate) fn tell(&mut self, progress: &Progress) {
        if progress.elapsed < SILENT {
            return;
        }
        match &mut self.channel {
            Channel::Nobody => {}
            Channel::Terminal(bar) => {
                let bar = bar.get_or_insert_with(new_bar);
                bar.set_message(line(progress, self.unit));
                bar.set_position((share(progress) * STEPS as f64) as u64);
            }
            Channel::Lines { last } => {
                if is_due(*last, progress.elapsed) {
                    *last = Some(progress.elapsed);
                    output::tell(line(progress, self.unit));
                }
            }
        }
    }

    /// Leaves the terminal clean.
    pub(crate) fn finish(self) {
        if let Channel::Terminal(Some(bar)) = self.channel {
            bar.finish_and_clear();
        }
    }
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:6} {wide_msg}").map(|style| style.progress_chars("━╸─"));
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn is_due(last: Option<Duration>, now: Duration) -> bool {
    // The clock starts again with the event loop.
    last.and_then(|last| now.checked_sub(last)).is_none_or(|gap| gap >= LINE_EVERY)
}

/// The share of model time done, from 0 to 1.
fn share(progress: &Progress) -> f64 {
    (progress.virtual_time / progress.end).clamp(0.0, 1.0)
}

/// The state of a run in one line.
fn line(progress: &Progress, unit: &str) -> String {
    let share = share(progress);
    let elapsed = progress.elapsed.as_secs_f64();
    let left = if share > 0.0 { format::duration(elapsed * (1.0 - share) / share) } else { "unknown".into() };
    let memory = progress.rss_bytes.map(|bytes| format!(" | {}", format::bytes(bytes))).unwrap_or_default();
    if progress.committed_events == 0 {
        return format!("starting: making LPs and their first events{memory}");
    }
    format!(
        "{:.1} % | {left} left | {} | time {} of {}{memory}",
        share * 100.0,
        format::event_rate(progress.event_rate),
        format::significant(progress.virtual_time, 4),
        format::time(progress.end, unit),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(virtual_time: f64) -> Progress {
        let (elapsed, rss_bytes) = (Duration::from_secs(20), Some(35_200_000));
        Progress { virtual_time, end: 80.0, committed_events: 1_000_000, elapsed, event_rate: 8.311e6, rss_bytes, speculation: None }
    }

    #[test]
    fn a_line_tells_all() {
        let expected = "25.0 % | 1:00 min left | 8.31 M events/s | time 20 of 80 s | 35.2 MB";
        assert_eq!(line(&progress(20.0), "s"), expected);
    }

    #[test]
    fn what_is_unknown_is_left_out() {
        let text = line(&Progress { rss_bytes: None, ..progress(0.0) }, "s");
        assert_eq!(text, "0.0 % | unknown left | 8.31 M events/s | time 0 of 80 s");
        assert_eq!(line(&Progress { committed_events: 0, ..progress(0.0) }, "s"), "starting: making LPs and their first events | 35.2 MB");
    }

    #[test]
    fn lines_keep_their_distance() {
        let seconds = Duration::from_secs;
        assert!(is_due(None, seconds(2)) && is_due(Some(seconds(2)), seconds(5)) && !is_due(Some(seconds(2)), seconds(4)));
        assert!(is_due(Some(seconds(9)), seconds(2)), "the event loop has begun since");
    }

    #[test]
    fn nothing_is_told_of_a_short_run() {
        let mut teller = Teller { unit: "s", channel: Channel::Lines { last: None } };
        teller.tell(&Progress { elapsed: Duration::from_millis(1999), ..progress(1.0) });
        assert!(matches!(teller.channel, Channel::Lines { last: None }));
    }
}
