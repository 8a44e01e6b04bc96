//! When another engine is tried, and which.

use std::cmp::Ordering;

use super::limits::{
    BUDGET, BUDGET_OF_PROMISE, CHANGED, COLD_SHARE, EXPECTED, PENDING_LEAST, SPAN, START,
    TRIAL_LEAST, TRIAL_MOST, TRIAL_SHARE, WARM_UP, WINDOW_AMPLE, WINDOW_LEAST, WORTH,
    WORTH_OF_PROMISE,
};
use super::meter::Meter;
use super::speed::Speed;
use super::{Candidate, Milestone, Phase, Policy, reasons};
use crate::Synchronisation;

impl Policy {
    /// Measures the chosen engine, and has another one tried when it is time for that.
    pub(super) fn look_at_chosen(&mut self, at: Milestone) {
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
        let pace = self.meter.pace(at);
        let density = self.meter.density(at);
        // The average follows slowly, so that a change shows.
        let rate = if changed { rate } else { 0.8 * before.rate + 0.2 * rate };
        self.candidates[self.chosen].speed = Some(Speed { rate, ..now });
        self.meter = Meter::new(at, SPAN, 0.0);
        if changed {
            for candidate in &mut self.candidates {
                candidate.not_before = 0.0;
                candidate.evened = 0;
            }
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
        let length = (TRIAL_SHARE * whole)
            .clamp(TRIAL_LEAST, TRIAL_MOST)
            .max(2.0 * self.handover().min(TRIAL_MOST));
        let rate = self.candidates[self.chosen].rate()?;
        let tried_first = |number: &usize| {
            let candidate = &self.candidates[*number];
            (candidate.speed.is_some(), -self.window(candidate).min(WINDOW_AMPLE))
        };
        let others = (0..self.candidates.len()).filter(|number| *number != self.chosen);
        let possible = others.filter(|number| {
            let candidate = &self.candidates[*number];
            at.seconds >= candidate.not_before
                && !self.unsuitable(candidate)
                && self.can_afford(candidate, length, rate, left, whole)
        });
        possible
            .min_by(|a, b| tried_first(a).partial_cmp(&tried_first(b)).unwrap_or(Ordering::Equal))
            .map(|number| (number, length))
    }

    /// Whether a trial of this `length` is worth what it costs, where the chosen engine has this
    /// `rate`, and so much is `left` of the `whole` run; all times in seconds.
    fn can_afford(
        &self,
        candidate: &Candidate,
        length: f64,
        rate: f64,
        left: f64,
        whole: f64,
    ) -> bool {
        let handover = self.handover();
        let in_parallel = !self.candidates[self.chosen].engine.is_sequential();
        let warm_up = if in_parallel { WARM_UP } else { 0.0 };
        let ratio = candidate.rate().map_or(EXPECTED, |tried| (tried / rate).min(1.0));
        let cost = 2.0 * handover + warm_up + length * (1.0 - ratio);
        let promises =
            !in_parallel && candidate.speed.is_none() && self.window(candidate) >= WINDOW_AMPLE;
        if promises {
            self.spent + handover <= BUDGET_OF_PROMISE * whole && cost <= WORTH_OF_PROMISE * left
        } else {
            self.spent + cost <= BUDGET * whole && cost <= WORTH * left
        }
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

    /// How many events each PE of an engine has within the lookahead.
    fn window(&self, candidate: &Candidate) -> f64 {
        if candidate.engine.is_sequential() {
            return WINDOW_AMPLE;
        }
        self.density * candidate.least_delay.min(self.facts.end) / f64::from(candidate.engine.pes)
    }

    /// Whether an engine cannot be faster than the sequential one.
    pub(super) fn unsuitable(&self, candidate: &Candidate) -> bool {
        let Candidate { engine, .. } = candidate;
        let few = (self.pending as f64) < PENDING_LEAST * f64::from(engine.pes);
        !engine.is_sequential()
            && (few
                || engine.sync == Synchronisation::Conservative
                    && self.window(candidate) < WINDOW_LEAST)
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
