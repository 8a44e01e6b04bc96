//! The plots of the workload that `phold --plots true` adds to a run.

use warpline::Outcome;
use warpline::prelude::*;
use warpline::record::{Bar, HistogramView, LinesView, View};

use super::parameters::PholdParameters;

const EVENTS: Counter = Counter::slot(2);
const DELAY: Histogram = Histogram::slot(3);
const REMOTE_SHARE: Mean = Mean::slot(4);

/// The most bars of a histogram.
const BARS: usize = 60;

pub(super) fn declare(parameters: &PholdParameters, declare: &mut Declarations) {
    declare.counter(EVENTS, "events", "events", "events of each LP").items(parameters.lps).series();
    declare.histogram(DELAY, "delay", "", "delays of messages").series();
    if parameters.clusters > 1 {
        declare
            .mean(REMOTE_SHARE, "remote_share", "", "share of messages that leave their cluster")
            .series();
    }
}

/// Observes a message that an event sends. Out of line, as most runs plot nothing.
#[cold]
#[inline(never)]
pub(super) fn observe(
    parameters: &PholdParameters,
    delay: f64,
    remote: bool,
    lp: &mut impl Observe,
    id: LpId,
) {
    lp.count(EVENTS.at(id.0), 1);
    lp.sample(DELAY, delay);
    if parameters.clusters > 1 {
        lp.observe(REMOTE_SHARE, f64::from(u8::from(remote)));
    }
}

/// The delays, alone and beside the declared ones, and how events are spread over LPs.
pub(super) fn views(parameters: &PholdParameters, outcome: &Outcome) -> Vec<View> {
    let mut views = outcome.statistics.histogram_views();
    views.extend([
        View::Lines(delays(parameters, outcome)),
        View::Histogram(events_per_lp(parameters, outcome)),
    ]);
    views
}

/// The distribution function of the delays, as it is and as it was declared.
fn delays(parameters: &PholdParameters, outcome: &Outcome) -> LinesView {
    let tally = outcome.statistics.histogram(DELAY);
    let bars = tally.bars(BARS);
    let mut below = 0;
    let sent = bars.iter().map(|bar| {
        below += bar.count;
        (bar.high, below as f64 / tally.count() as f64)
    });
    let share =
        |delay: f64| -libm::expm1(-(delay - parameters.lookahead).max(0.0) / parameters.mean);
    let declared = bars
        .first()
        .map(|bar| bar.low)
        .into_iter()
        .chain(bars.iter().map(|bar| bar.high))
        .map(|delay| (delay, share(delay)));
    LinesView {
        title: "Delays, sent and declared".into(),
        x: "delay".into(),
        y: "share of messages with no longer delay".into(),
        lines: vec![("sent".into(), sent.collect()), ("declared".into(), declared.collect())],
    }
}

fn events_per_lp(parameters: &PholdParameters, outcome: &Outcome) -> HistogramView {
    let counts: Vec<u64> =
        (0..parameters.lps).map(|lp| outcome.statistics.counter(EVENTS.at(lp))).collect();
    let least = counts.iter().copied().min().unwrap_or(u64::MAX);
    let most = counts.iter().copied().max().unwrap_or(0);
    let width = (most - least) / BARS as u64 + 1;
    let edge = |bar: u64| (least + bar * width) as f64;
    let mut bars: Vec<Bar> = (0..=(most - least) / width)
        .map(|bar| Bar { low: edge(bar), high: edge(bar + 1), count: 0 })
        .collect();
    counts.iter().for_each(|count| bars[((count - least) / width) as usize].count += 1);
    let mean = counts.iter().sum::<u64>() as f64 / f64::from(parameters.lps);
    let [title, quantity, unit, counted] =
        ["Events per LP", "events", "", "LPs"].map(str::to_owned);
    HistogramView { title, quantity, unit, counted, bars, marks: vec![("mean".into(), mean)] }
}
