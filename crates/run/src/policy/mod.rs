//! Which engine suits a run best, found out as it goes on: a state machine that is told how far the
//! run has come and when. It reads no clock.
//!
//! A run begins sequentially, as no engine is faster for a short one; except for a model so large
//! that handing it over would take long. When there is enough left to make up for it, the run goes
//! on for a short stretch on another engine, a *trial*, and stays there if that is faster. What
//! trials may cost altogether is a small share of the run's expected time. An engine that was
//! slower is tried again later, at intervals that grow; or soon, if the rate of the chosen one has
//! changed, as the model is then doing something else.
//!
//! Rates are committed events per second, once the engine is warm. As a model may have more and
//! less expensive times, an engine that was only a little slower is compared with the rates before
//! and after its trial. Where other programs use the cores as well, engines are compared per core
//! (`speed`).
//!
//! No fact that a model declares tells how fast an engine will be, but some rule engines out: few
//! pending events, or little lookahead for the density of events.

pub(crate) mod engine_choice;
pub(crate) mod engine_selector;
mod meter;
mod milestone;
mod reasons;
mod speed;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use self::engine_choice::{Engine, EngineChoice};
use self::meter::Meter;
pub(crate) use self::milestone::Milestone;
use self::speed::{Ratio, Speed};
use crate::Synchronisation;

/// Nothing else is tried before the event loop has taken this long, in seconds.
const START: f64 = 0.025;
/// A trial takes this share of the expected time of the run, within these limits in seconds.
const TRIAL_SHARE: f64 = 0.02;
const TRIAL_LEAST: f64 = 0.02;
const TRIAL_MOST: f64 = 0.25;
/// The first part of a stretch, which is not measured: caches fill, and windows adapt.
const COLD_SHARE: f64 = 0.3;
/// What a parallel engine loses, in seconds, when it begins anew after the trial of another one,
/// until it is warm.
const WARM_UP: f64 = 0.02;
/// A trial of an engine that still gets faster all the time begins anew, up to this often.
const LONGER_MOST: u32 = 4;
/// A trial ends early if it is slower than this after half its time.
const HOPELESS: f64 = 0.5;
/// Trials may cost this share of the expected time of the run; the first of an engine that promises
/// well, a larger one.
const BUDGET: f64 = 0.025;
const BUDGET_OF_PROMISE: f64 = 0.06;
/// What an engine that has not been tried is expected to reach, in rates of the present one: what a
/// trial costs follows from it.
const EXPECTED: f64 = 0.6;
/// A trial pays if it costs less than this share of what is left of the run.
const WORTH: f64 = 0.1;
const WORTH_OF_PROMISE: f64 = 0.2;
/// An engine is faster if its rate is this many times the other's.
const FASTER: f64 = 1.03;
/// With rates of this ratio or a greater one, it takes a comparison with the rates before and after
/// the trial.
const DOUBTFUL: f64 = 0.85;
/// The rate of the chosen engine has changed if it is less than this share of what it was, or what
/// it was of it.
const CHANGED: f64 = 0.7;
/// Rates of a chosen engine are averages over this many seconds.
const SPAN: f64 = 0.1;
/// Conservative PEs need this many events each in the time that the lookahead bridges.
const WINDOW_LEAST: f64 = 16.0;
/// With so many, PEs hardly ever wait for each other.
const WINDOW_AMPLE: f64 = 64.0;
/// With fewer pending events per PE than this, PEs mostly wait for each other.
const PENDING_LEAST: f64 = 4.0;
/// If the busiest PE has this many times the mean work, the LPs are shared out again, by what they
/// turned out to cost.
const UNEVEN: f64 = 1.15;
/// How much of what that could bring is expected.
const EVENED: f64 = 0.85;
/// How often that is tried, as long as the model does not change what it does.
const EVENED_MOST: u32 = 2;
/// A model with this many LPs is large.
const LARGE: u32 = 100_000;

/// What is known of a run before it begins.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) lps: u32,
    pub(crate) end: f64,
    /// How many cores there are for the process.
    pub(crate) cores: u32,
    /// The engines that may be used beside the sequential one, each with the least delay between
    /// its PEs, in model time.
    pub(crate) engines: Vec<(Engine, f64)>,
    /// About how much of an LP and of an event has to be moved when they are handed over, in bytes.
    pub(crate) lp_bytes: usize,
    pub(crate) event_bytes: usize,
}

/// An engine, and what has been found out about it.
#[derive(Clone, Debug)]
struct Candidate {
    engine: Engine,
    least_delay: f64,
    /// How fast it was when it was tried last, or was the chosen one.
    speed: Option<Speed>,
    /// It is not tried again before this time, in seconds.
    not_before: f64,
    /// How often LPs have been shared out again, by what they turned out to cost.
    evened: u32,
}

impl Candidate {
    fn rate(&self) -> Option<f64> {
        self.speed.map(|speed| speed.rate)
    }
}

/// What the present segment is for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// It goes on as long as nothing better is known.
    Chosen,
    /// It shows how fast an engine is, until this time.
    Trial {
        until: f64,
        /// How often it has begun anew.
        longer: u32,
    },
    /// It shows how fast the chosen engine is now, after a trial of another one.
    Comparison { with: usize, until: f64 },
}

/// The state machine; see the module.
pub(crate) struct Policy {
    facts: Facts,
    /// The sequential engine first.
    candidates: Vec<Candidate>,
    /// The engine that is best as far as is known.
    chosen: usize,
    /// The engine of the present segment.
    present: usize,
    phase: Phase,
    meter: Meter,
    /// What comes after the present segment, if it is to end.
    next: Option<(usize, Phase)>,
    /// Seconds that trials have cost so far.
    spent: f64,
    /// Seconds that the last change of the engine took; what it will probably take, before the
    /// first.
    handover: Option<f64>,
    /// When it was decided that the last segment should end, and when it did.
    decided: f64,
    ended: f64,
    pending: usize,
    /// Events per unit of model time.
    density: f64,
    why: String,
    next_why: String,
}

impl Policy {
    pub(crate) fn new(facts: Facts) -> Self {
        let candidate = |(engine, least_delay): (Engine, f64)| Candidate {
            engine,
            least_delay,
            speed: None,
            not_before: 0.0,
            evened: 0,
        };
        let sequential = (Engine::SEQUENTIAL, f64::INFINITY);
        let candidates: Vec<_> =
            [sequential].into_iter().chain(facts.engines.iter().copied()).map(candidate).collect();
        let is_optimistic =
            |candidate: &Candidate| candidate.engine.sync == Synchronisation::Optimistic;
        let in_parallel =
            if facts.lps >= LARGE { candidates.iter().position(is_optimistic) } else { None };
        let first = in_parallel.unwrap_or(0);
        let why =
            if first == 0 { reasons::BEGINNING.to_owned() } else { reasons::large(facts.lps) };
        // Until it is known, about one per LP.
        let pending = if first == 0 { 0 } else { facts.lps as usize };
        Policy {
            facts,
            candidates,
            chosen: first,
            present: first,
            phase: Phase::Chosen,
            meter: Meter::default(),
            next: None,
            spent: 0.0,
            handover: None,
            decided: 0.0,
            ended: 0.0,
            pending,
            density: 0.0,
            why,
            next_why: String::new(),
        }
    }

    /// The next segment begins to execute events.
    pub(crate) fn begin(&mut self, at: Milestone) {
        if let Some((engine, phase)) = self.next.take() {
            let handover = (at.seconds - self.ended).max(0.0);
            (self.handover, self.spent) = (Some(handover), self.spent + handover);
            self.why = std::mem::take(&mut self.next_why);
            // Until the engine before has come to an end takes a while, too.
            let later = |until: f64| until + at.seconds - self.decided;
            (self.present, self.phase) = (
                engine,
                match phase {
                    Phase::Chosen => Phase::Chosen,
                    Phase::Trial { until, longer } => Phase::Trial { until: later(until), longer },
                    Phase::Comparison { with, until } => {
                        Phase::Comparison { with, until: later(until) }
                    }
                },
            );
        }
        let length = match self.phase {
            Phase::Trial { until, .. } | Phase::Comparison { until, .. } => until - at.seconds,
            Phase::Chosen if self.candidates[self.present].speed.is_none() => START,
            Phase::Chosen => SPAN,
        };
        self.meter = Meter::new(at, length, COLD_SHARE);
    }

    /// How soon it should be told how far the run has come, in seconds, if that matters.
    pub(crate) fn patience(&self) -> Option<f64> {
        match self.phase {
            _ if self.candidates.len() == 1 => None,
            Phase::Chosen => (self.candidates[self.present].speed.is_none()).then_some(START / 4.0),
            Phase::Trial { .. } | Phase::Comparison { .. } => Some(TRIAL_LEAST / 8.0),
        }
    }

    /// Takes note of how far the run has come. Returns whether the segment is to end.
    pub(crate) fn is_over(&mut self, at: Milestone) -> bool {
        if self.next.is_some() || self.candidates.len() == 1 {
            return self.next.is_some();
        }
        self.meter.note(at);
        self.pending = at.pending.unwrap_or(self.pending);
        match self.phase {
            Phase::Chosen => self.look_at_chosen(at),
            Phase::Trial { until, longer } => self.judge_trial(at, until, longer),
            Phase::Comparison { with, until } => self.compare(at, with, until),
        }
        self.next.is_some()
    }

    /// The segment has ended. Returns why there was one, and its rate.
    pub(crate) fn end(&mut self, at: Milestone) -> (String, Option<f64>) {
        (self.ended, self.pending) = (at.seconds, at.pending.unwrap_or(self.pending));
        let rate = self
            .meter
            .rate()
            .filter(|_| self.phase != Phase::Chosen)
            .or(self.candidates[self.present].rate());
        if let Phase::Trial { .. } = self.phase
            && self.next.is_none()
        {
            self.why += reasons::OVER;
        }
        let others =
            || self.candidates.iter().enumerate().filter(|(number, _)| *number != self.present);
        if self.phase == Phase::Chosen
            && self.next.is_none()
            && others().all(|(_, candidate)| candidate.speed.is_none())
        {
            self.why += &self.why_none();
        }
        (std::mem::take(&mut self.why), rate)
    }

    /// The engine of the next segment.
    pub(crate) fn choice(&self) -> EngineChoice {
        let engine = self.candidates[self.next.map_or(self.present, |(engine, _)| engine)].engine;
        // The first candidate is sequential.
        EngineChoice { engine, event_rate: self.candidates[0].rate() }
    }

    /// How fast the present engine is, at this rate.
    fn speed(&self, rate: f64) -> Speed {
        let threads = self.candidates[self.present].engine.pes.min(self.facts.cores);
        Speed { rate, threads, share: self.meter.share() }
    }

    fn next(&mut self, at: Milestone, engine: usize, phase: Phase, why: String) {
        (self.next, self.next_why, self.decided) = (Some((engine, phase)), why, at.seconds);
    }

    fn look_at_chosen(&mut self, at: Milestone) {
        let first = self.candidates[self.chosen].speed.is_none();
        let span = if first { (1.0 - COLD_SHARE) * START } else { SPAN };
        let Some(rate) = self.meter.rate().filter(|_| self.meter.span() >= span) else { return };
        if !first && self.meter.is_rising() {
            // It is not warm yet, or the model is about to do something else.
            self.meter = Meter::new(at, SPAN, 0.0);
            return;
        }
        let now = self.speed(rate);
        let before = self.candidates[self.chosen].speed.unwrap_or(now);
        let changed = rate < CHANGED * before.rate
            || before.rate < CHANGED * rate
            || now.is_contested() != before.is_contested();
        let (pace, density) = (self.meter.pace(at), self.meter.density(at));
        // The average follows slowly, so that a change shows.
        let rate = if changed { rate } else { 0.8 * before.rate + 0.2 * rate };
        self.candidates[self.chosen].speed = Some(Speed { rate, ..now });
        self.meter = Meter::new(at, SPAN, 0.0);
        if changed {
            self.candidates
                .iter_mut()
                .for_each(|candidate| (candidate.not_before, candidate.evened) = (0.0, 0));
        }
        // The rate of the first moments tells little about how long the run will take.
        if at.seconds < START.max(self.handover()) || pace <= 0.0 {
            return;
        }
        self.density = density;
        let left = (self.facts.end - at.virtual_time) / pace;
        if let Some((candidate, length)) = self.due(at, left) {
            let why = self.why_try(candidate, changed);
            self.next(at, candidate, Phase::Trial { until: at.seconds + length, longer: 0 }, why);
        }
    }

    /// The engine to be tried next, and for how long, if it is time for that; `left` is what is
    /// left of the run, in seconds.
    fn due(&self, at: Milestone, left: f64) -> Option<(usize, f64)> {
        let whole = at.seconds + left;
        let handover = self.handover();
        let length = (TRIAL_SHARE * whole)
            .clamp(TRIAL_LEAST, TRIAL_MOST)
            .max(2.0 * handover.min(TRIAL_MOST));
        let rate = self.candidates[self.chosen].rate()?;
        let in_parallel = !self.candidates[self.chosen].engine.is_sequential();
        let warm_up = if in_parallel { WARM_UP } else { 0.0 };
        let affordable = |&number: &usize| {
            let candidate = &self.candidates[number];
            if number == self.chosen
                || at.seconds < candidate.not_before
                || self.unsuitable(candidate)
            {
                return false;
            }
            let ratio = candidate.rate().map_or(EXPECTED, |tried| (tried / rate).min(1.0));
            let cost = 2.0 * handover + warm_up + length * (1.0 - ratio);
            let promises =
                !in_parallel && candidate.speed.is_none() && self.window(candidate) >= WINDOW_AMPLE;
            match promises {
                true => {
                    self.spent + handover <= BUDGET_OF_PROMISE * whole
                        && cost <= WORTH_OF_PROMISE * left
                }
                false => self.spent + cost <= BUDGET * whole && cost <= WORTH * left,
            }
        };
        let tried_first = |number: &usize| {
            (
                self.candidates[*number].speed.is_some(),
                -self.window(&self.candidates[*number]).min(WINDOW_AMPLE),
            )
        };
        let all: Vec<usize> = (0..self.candidates.len()).filter(affordable).collect();
        all.into_iter()
            .min_by(|a, b| tried_first(a).partial_cmp(&tried_first(b)).unwrap_or(Ordering::Equal))
            .map(|number| (number, length))
    }

    /// About how long it takes to hand everything over to another engine, in seconds.
    fn handover(&self) -> f64 {
        const FIXED: f64 = 0.5e-3;
        const PER_EVENT: f64 = 100e-9;
        const PER_LP: f64 = 150e-9;
        const PER_BYTE: f64 = 0.5e-9;
        if let Some(handover) = self.handover {
            return handover;
        }
        let bytes =
            self.facts.lps as usize * self.facts.lp_bytes + self.pending * self.facts.event_bytes;
        FIXED
            + PER_EVENT * self.pending as f64
            + PER_LP * f64::from(self.facts.lps)
            + PER_BYTE * bytes as f64
    }

    /// How many events each PE of an engine has in the time that the lookahead bridges.
    fn window(&self, candidate: &Candidate) -> f64 {
        if candidate.engine.is_sequential() {
            return WINDOW_AMPLE;
        }
        self.density * candidate.least_delay.min(self.facts.end) / f64::from(candidate.engine.pes)
    }

    /// Whether an engine cannot be faster than the sequential one.
    fn unsuitable(&self, candidate: &Candidate) -> bool {
        let Candidate { engine, .. } = candidate;
        let few = (self.pending as f64) < PENDING_LEAST * f64::from(engine.pes);
        !engine.is_sequential()
            && (few
                || engine.sync == Synchronisation::Conservative
                    && self.window(candidate) < WINDOW_LEAST)
    }

    fn judge_trial(&mut self, at: Milestone, until: f64, longer: u32) {
        let began = self.meter.began.seconds;
        let length = until - began;
        let enough = self.meter.span() >= 0.4 * length;
        let rate =
            if enough { self.meter.rate().unwrap_or_default() } else { self.meter.rate_of_all(at) };
        let speed = self.speed(rate);
        let compared = speed.compared_to(self.candidates[self.chosen].speed.unwrap_or(speed));
        let ratio = compared.times;
        let after = |share: f64| at.seconds >= began + share * length;
        let lively = enough || self.meter.is_lively();
        let is_hopeless =
            after(0.6) && lively && ratio < HOPELESS || after(1.2) && ratio < 0.5 * HOPELESS;
        // Counts that come rarely make it last longer.
        let is_done = after(1.0) && enough || after(3.0);
        if !(is_hopeless || is_done) {
            return;
        }
        let (tried, chosen) = (self.present, self.chosen);
        self.candidates[tried].speed = Some(speed);
        self.spent += (at.seconds - began) * (1.0 - ratio).max(0.0);
        if ratio < FASTER && !is_hopeless && self.meter.is_rising() && longer < LONGER_MOST {
            // What was measured was not what the engine can do.
            self.phase = Phase::Trial { until: at.seconds + length, longer: longer + 1 };
            self.meter = Meter::new(at, length, 0.0);
            return;
        }
        let names = (self.candidates[tried].engine, self.candidates[chosen].engine);
        let uneven = at.unevenness.unwrap_or(1.0);
        if uneven >= UNEVEN
            && ratio * uneven * EVENED >= FASTER
            && self.candidates[tried].evened < EVENED_MOST
        {
            self.candidates[tried].evened += 1;
            self.why += &reasons::was_uneven(names.1, compared, uneven);
            return self.next(
                at,
                tried,
                Phase::Trial { until: at.seconds + length, longer: 0 },
                reasons::evened_out(),
            );
        }
        if ratio >= FASTER {
            self.why += &reasons::stays(names.1, compared);
            (self.chosen, self.phase) = (tried, Phase::Chosen);
            self.candidates[chosen].not_before = at.seconds * postponed(compared.inverse());
            self.meter = Meter::new(at, SPAN, 0.0);
            return;
        }
        self.candidates[tried].not_before = at.seconds * postponed(compared);
        self.why += &reasons::was_slower(names.1, compared);
        let doubtful = ratio >= DOUBTFUL;
        let phase = if doubtful {
            Phase::Comparison { with: tried, until: at.seconds + length }
        } else {
            Phase::Chosen
        };
        self.next(at, chosen, phase, reasons::goes_back(names.0, compared));
    }

    /// Compares the chosen engine, before and after the trial of another one, with that.
    fn compare(&mut self, at: Milestone, with: usize, until: f64) {
        if at.seconds < until {
            return;
        }
        let Some(rate) = self.meter.rate() else { return };
        let now = self.speed(rate);
        let before = self.candidates[self.chosen].speed.unwrap_or(now);
        if self.meter.is_rising() && rate < before.rate {
            // It is not warm again.
            let length = until - self.meter.began.seconds;
            self.phase = Phase::Comparison { with, until: at.seconds + length };
            self.meter = Meter::new(at, length, 0.0);
            return;
        }
        self.candidates[self.chosen].speed = Some(now);
        self.phase = Phase::Chosen;
        let Some(tried) = self.candidates[with].speed else { return };
        let ratio = tried.compared_to(Speed {
            rate: 0.5 * (before.rate + rate),
            share: before.share.min(now.share),
            ..now
        });
        if ratio.times < FASTER {
            self.meter = Meter::new(at, SPAN, 0.0);
            return;
        }
        let slower = std::mem::replace(&mut self.chosen, with);
        self.candidates[slower].not_before = at.seconds * postponed(ratio.inverse());
        let why = reasons::is_faster(self.candidates[slower].engine, ratio);
        self.next(at, with, Phase::Chosen, why);
    }

    /// Why no other engine was tried.
    fn why_none(&self) -> String {
        match &self.candidates[1..] {
            [] => reasons::nothing_else(self.facts.lps),
            others
                if self.candidates[0].speed.is_some()
                    && others.iter().all(|other| self.unsuitable(other)) =>
            {
                reasons::nothing_suitable(self.pending)
            }
            _ => reasons::TOO_SHORT.to_owned(),
        }
    }

    fn why_try(&self, number: usize, changed: bool) -> String {
        let candidate = &self.candidates[number];
        let chosen = self.candidates[self.chosen].engine;
        let window = self.window(candidate);
        match candidate.speed {
            Some(_) if changed => reasons::tried_after_change(chosen),
            Some(_) => reasons::tried_again(),
            None => reasons::tried(candidate.engine, window, candidate.least_delay > 0.0),
        }
    }
}

/// The factor by which the time has to grow before an engine is tried again that compared in this
/// way to the chosen one.
fn postponed(ratio: Ratio) -> f64 {
    match ratio.times {
        // The cores may be free again at any time.
        _ if ratio.per_core => 2.0,
        ratio if ratio >= 0.9 => 2.0,
        ratio if ratio >= 0.6 => 3.0,
        _ => 6.0,
    }
}
