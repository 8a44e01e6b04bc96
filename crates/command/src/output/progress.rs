//! The progress of a long run, for people: a bar on a terminal, otherwise a line now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpline_run::Progress;

use crate::output::{self, format};

/// Shorter runs show no progress.
const SILENT: Duration = Duration::from_secs(2);
/// The time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(3);
/// The steps of the bar.
const STEPS: u64 = 1000;
/// The width of the bar in characters, with the space after it.
const BAR: usize = 7;
/// The width of a line, if the terminal does not report one.
const WIDTH: usize = 80;

/// Shows people the progress of a run.
pub(crate) struct ProgressDisplay {
    unit: &'static str,
    channel: Channel,
    /// The kinds of thrashing that people have been warned of already.
    told: Thrashing,
}

/// Which kinds of thrashing the engine has throttled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Thrashing {
    /// PEs undo most of what they execute ahead.
    undoes: bool,
    /// PEs wait for GVT every few events.
    waits: bool,
}

enum Channel {
    Nobody,
    Terminal(Option<ProgressBar>),
    Lines { last: Option<Duration> },
}

impl ProgressDisplay {
    /// For a model whose unit of time is `unit`.
    pub(crate) fn new(unit: &'static str, quiet: bool) -> Self {
        ProgressDisplay { unit, channel: Channel::new(quiet), told: Thrashing::default() }
    }

    pub(crate) fn show(&mut self, progress: &Progress) {
        if progress.elapsed < SILENT {
            return;
        }
        let warnings = if matches!(self.channel, Channel::Nobody) {
            Vec::new()
        } else {
            warnings(progress, self.unit, &mut self.told)
        };
        match &mut self.channel {
            Channel::Nobody => {}
            Channel::Terminal(bar) => {
                let bar = bar.get_or_insert_with(|| new_bar(STEPS));
                warnings.into_iter().for_each(|warning| bar.println(warning));
                let width = console::Term::stderr()
                    .size_checked()
                    .map_or(WIDTH, |(_, width)| usize::from(width));
                bar.set_message(line(progress, self.unit, width.saturating_sub(BAR)));
                bar.set_position((share(progress) * STEPS as f64) as u64);
            }
            Channel::Lines { last } => {
                warnings.into_iter().for_each(output::notify);
                if is_due(*last, progress.elapsed) {
                    *last = Some(progress.elapsed);
                    output::notify(line(progress, self.unit, WIDTH));
                }
            }
        }
    }

    /// Clears the bar from the terminal.
    pub(crate) fn finish(self) {
        self.channel.finish();
    }
}

impl Channel {
    fn new(quiet: bool) -> Self {
        match quiet {
            true => Channel::Nobody,
            false if std::io::stderr().is_terminal() => Channel::Terminal(None),
            false => Channel::Lines { last: None },
        }
    }

    fn finish(self) {
        if let Channel::Terminal(Some(bar)) = self {
            bar.finish_and_clear();
        }
    }
}

/// Shows people how far a search has come that lasts for a given time.
pub(crate) struct SearchDisplay(Channel);

impl SearchDisplay {
    pub(crate) fn new(quiet: bool) -> Self {
        SearchDisplay(Channel::new(quiet))
    }

    /// Shows `line` and the time that is left.
    pub(crate) fn show(
        &mut self,
        elapsed: Duration,
        time: Duration,
        line: impl FnOnce() -> String,
    ) {
        if elapsed < SILENT {
            return;
        }
        let whole = || {
            let left = format::duration(time.saturating_sub(elapsed).as_secs_f64());
            format!("{left} left | {}", line())
        };
        match &mut self.0 {
            Channel::Nobody => {}
            Channel::Terminal(bar) => {
                let bar = bar.get_or_insert_with(|| new_bar(STEPS));
                bar.set_message(whole());
                let share = elapsed.as_secs_f64() / time.as_secs_f64();
                bar.set_position((share.min(1.0) * STEPS as f64) as u64);
            }
            Channel::Lines { last } => {
                if is_due(*last, elapsed) {
                    *last = Some(elapsed);
                    output::notify(whole());
                }
            }
        }
    }

    /// Clears the bar from the terminal.
    pub(crate) fn finish(self) {
        self.0.finish();
    }
}

/// Shows people on a terminal which of many runs is under way.
pub(crate) struct RunCounter {
    runs: u64,
    begun: Instant,
    /// Whether there is a terminal to show it on.
    shown: bool,
    bar: Option<ProgressBar>,
}

impl RunCounter {
    /// A counter for this many runs, the first of which begins now.
    pub(crate) fn new(runs: u64, quiet: bool) -> Self {
        RunCounter {
            runs,
            begun: Instant::now(),
            shown: !quiet && std::io::stderr().is_terminal(),
            bar: None,
        }
    }

    /// Shows which run, counted from 0, is under way and what it runs.
    pub(crate) fn show(&mut self, run: u64, what: &str) {
        let elapsed = self.begun.elapsed();
        if self.shown && elapsed >= SILENT {
            let bar = self.bar.get_or_insert_with(|| new_bar(self.runs));
            bar.set_message(format!(
                "run {} of {}: {what} | {} so far",
                run + 1,
                self.runs,
                format::duration(elapsed.as_secs_f64())
            ));
            bar.set_position(run);
        }
    }

    /// Clears the bar from the terminal.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(steps: u64) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:6} {wide_msg}").map(|style| style.progress_chars("━╸─"));
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn is_due(last: Option<Duration>, now: Duration) -> bool {
    // The clock restarts when the event loop begins.
    last.and_then(|last| now.checked_sub(last)).is_none_or(|gap| gap >= LINE_EVERY)
}

/// The share of model time done, from 0 to 1.
fn share(progress: &Progress) -> f64 {
    (progress.virtual_time / progress.end).clamp(0.0, 1.0)
}

/// The state of a run in one line. Efficiency is shown only if the line stays within `width`.
fn line(progress: &Progress, unit: &str, width: usize) -> String {
    let share = share(progress);
    let elapsed = progress.elapsed.as_secs_f64();
    let left = if share > 0.0 {
        format::duration(elapsed * (1.0 - share) / share)
    } else {
        "unknown".into()
    };
    let memory =
        progress.rss_bytes.map(|bytes| format!(" | {}", format::bytes(bytes))).unwrap_or_default();
    if progress.committed_events == 0 {
        return format!("starting: making LPs and their first events{memory}");
    }
    let head = format!(
        "{:.1} % | {left} left | {}",
        share * 100.0,
        format::event_rate(progress.event_rate)
    );
    let time = format!(
        " | time {} of {}",
        format::significant(progress.virtual_time, 4),
        format::time(progress.end, unit)
    );
    let efficiency = efficiency(progress)
        .map(|share| format!(" | efficiency {:.0} %", share * 100.0))
        .unwrap_or_default();
    // To make room for efficiency, the time is left out: the percentage says much the same.
    let lines =
        [format!("{head}{time}{memory}{efficiency}"), format!("{head}{memory}{efficiency}")];
    let fitting =
        lines.into_iter().find(|line| efficiency.is_empty() || line.chars().count() <= width);
    fitting.unwrap_or_else(|| format!("{head}{time}{memory}"))
}

/// Warnings of thrashing that the engine throttles, each kind once: `told` has the kinds so far.
fn warnings(progress: &Progress, unit: &str, told: &mut Thrashing) -> Vec<String> {
    let Some(sample) = progress.speculation else { return Vec::new() };
    let now = Thrashing { undoes: sample.throttled_epochs > 0, waits: sample.gathered > 0 };
    let undoes = (now.undoes && !told.undoes).then(|| {
        let undone =
            100.0 * sample.rolled_back_events as f64 / sample.processed_events.max(1) as f64;
        let window = format::time(sample.window, unit);
        format!(
            "warning: PEs undo most of what they execute ahead ({undone:.1} % so far). They now \
             stay within {window} of each other, narrower than --window if that is set. --sync \
             sequential is probably faster"
        )
    });
    let waits = (now.waits && !told.waits).then(|| {
        let events = progress.committed_events as f64 / sample.gvt_epochs.max(1) as f64;
        format!(
            "warning: PEs wait for GVT every {events:.1} events, so the PEs of a process now share \
             one thread while that is faster. A lookahead or fewer conservative LPs would let them \
             go on; --sync sequential is probably faster"
        )
    });
    *told = Thrashing { undoes: told.undoes || now.undoes, waits: told.waits || now.waits };
    undoes.into_iter().chain(waits).collect()
}

/// The share of executed events that was not undone; `None` before the first and in a sequential
/// run.
fn efficiency(progress: &Progress) -> Option<f64> {
    let sample = progress.speculation.filter(|sample| sample.processed_events > 0)?;
    Some(1.0 - sample.rolled_back_events as f64 / sample.processed_events as f64)
}

#[cfg(test)]
mod tests {
    use warpline_record::SpeculationSample;

    use super::*;

    fn progress(virtual_time: f64) -> Progress {
        let elapsed = Duration::from_secs(20);
        let rss_bytes = Some(35_200_000);
        Progress {
            virtual_time,
            end: 80.0,
            committed_events: 1_000_000,
            elapsed,
            event_rate: 8.311e6,
            rss_bytes,
            speculation: None,
        }
    }

    #[test]
    fn a_line_shows_everything() {
        let expected = "25.0 % | 1:00 min left | 8.31 M events/s | time 20 of 80 s | 35.2 MB";
        assert_eq!(line(&progress(20.0), "s", WIDTH), expected);
    }

    #[test]
    fn efficiency_is_shown_where_there_is_room() {
        let plain = "25.0 % | 1:00 min left | 8.31 M events/s | time 20 of 80 s | 35.2 MB";
        let short = "25.0 % | 1:00 min left | 8.31 M events/s | 35.2 MB | efficiency 93 %";
        let sample = SpeculationSample {
            processed_events: 1000,
            rolled_back_events: 70,
            ..SpeculationSample::default()
        };
        let progress = Progress { speculation: Some(sample), ..progress(20.0) };
        let whole = format!("{plain} | efficiency 93 %");
        for (width, expected) in [
            (86, &*whole),
            (85, short),
            (WIDTH, short),
            (WIDTH - BAR, short),
            (68, short),
            (67, plain),
            (9, plain),
        ] {
            assert_eq!(line(&progress, "s", width), expected, "{width}");
        }
        let nothing = Progress { speculation: Some(SpeculationSample::default()), ..progress };
        assert_eq!(line(&nothing, "s", 100), plain);
    }

    #[test]
    fn each_kind_of_thrashing_is_warned_of_once() {
        let mut told = Thrashing::default();
        let sample = SpeculationSample {
            processed_events: 100_000,
            rolled_back_events: 97_000,
            window: 0.5,
            ..Default::default()
        };
        let at = |sample| Progress { speculation: Some(sample), ..progress(1.0) };
        assert!(
            warnings(&progress(1.0), "s", &mut told).is_empty()
                && warnings(&at(sample), "s", &mut told).is_empty()
        );
        let narrowed = SpeculationSample { throttled_epochs: 3, gvt_epochs: 500_000, ..sample };
        let [undoes] = &warnings(&at(narrowed), "s", &mut told)[..] else { panic!("one warning") };
        assert!(
            undoes.starts_with(
                "warning: PEs undo most of what they execute ahead (97.0 % so far). They now stay \
                 within 0.5 s"
            ),
            "{undoes}"
        );
        let [waits] =
            &warnings(&at(SpeculationSample { gathered: 1, ..narrowed }), "s", &mut told)[..]
        else {
            panic!("one warning")
        };
        assert!(waits.starts_with("warning: PEs wait for GVT every 2.0 events"), "{waits}");
        assert!(
            warnings(&at(SpeculationSample { gathered: 2, ..narrowed }), "s", &mut told).is_empty()
        );
    }

    #[test]
    fn unknown_figures_are_left_out() {
        let text = line(&Progress { rss_bytes: None, ..progress(0.0) }, "s", WIDTH);
        assert_eq!(text, "0.0 % | unknown left | 8.31 M events/s | time 0 of 80 s");
        let starting = line(&Progress { committed_events: 0, ..progress(0.0) }, "s", WIDTH);
        assert_eq!(starting, "starting: making LPs and their first events | 35.2 MB");
    }

    #[test]
    fn only_terminals_show_which_run_is_under_way() {
        let mut counter = RunCounter { runs: 6, begun: Instant::now(), shown: false, bar: None };
        counter.show(1, "sequential");
        assert!(counter.bar.is_none());
        counter.shown = true;
        counter.show(1, "sequential");
        assert!(counter.bar.is_none(), "it has only begun");
        counter.begun -= SILENT;
        counter.show(1, "sequential");
        let bar = counter.bar.as_ref().unwrap();
        assert_eq!(
            (bar.message().as_str(), bar.position(), bar.length()),
            ("run 2 of 6: sequential | 2.0 s so far", 1, Some(6))
        );
        counter.finish();
    }

    #[test]
    fn lines_keep_their_distance() {
        let seconds = Duration::from_secs;
        assert!(
            is_due(None, seconds(2))
                && is_due(Some(seconds(2)), seconds(5))
                && !is_due(Some(seconds(2)), seconds(4))
        );
        assert!(is_due(Some(seconds(9)), seconds(2)), "the event loop has begun since");
    }

    #[test]
    fn a_short_run_shows_no_progress() {
        let mut display = ProgressDisplay {
            unit: "s",
            channel: Channel::Lines { last: None },
            told: Thrashing::default(),
        };
        display.show(&Progress { elapsed: Duration::from_millis(1999), ..progress(1.0) });
        assert!(matches!(display.channel, Channel::Lines { last: None }));
    }
}
