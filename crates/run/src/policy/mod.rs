//! Finds out which engine suits a run best, while the run goes on: a state machine that is told how
//! far the run has come and when. It reads no clock.
//!
//! A run begins sequentially, as no engine is faster for a short one; except if the model is so
//! large that handing it over would take long. When enough of the run is left to make up for it,
//! the run goes on for a short stretch on another engine, a *trial*, and stays there if that is
//! faster. All trials together may cost a small share of the run's expected time. An engine that
//! was slower is tried again later, at growing intervals; or soon, if the rate of the chosen one
//! has changed, as the model is then doing something else.
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
mod judging;
mod limits;
mod meter;
mod milestone;
mod reasons;
mod speed;
#[cfg(test)]
mod tests;
mod trying;

use self::engine_choice::{Engine, EngineChoice};
use self::limits::{COLD_SHARE, LARGE, SPAN, START, TRIAL_LEAST};
use self::meter::Meter;
pub(crate) use self::milestone::Milestone;
use self::speed::Speed;
use crate::Synchronisation;

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
    /// About how many bytes of an LP and of an event are moved when they are handed over.
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
    /// The chosen engine goes on as long as no better one is known.
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

/// The state machine that chooses engines.
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
    /// Seconds that the last change of the engine took; `None` before the first.
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
            self.handover = Some(handover);
            self.spent += handover;
            self.why = std::mem::take(&mut self.next_why);
            self.present = engine;
            // The engine before takes a while to come to its end.
            let later = |until: f64| until + at.seconds - self.decided;
            self.phase = match phase {
                Phase::Chosen => Phase::Chosen,
                Phase::Trial { until, longer } => Phase::Trial { until: later(until), longer },
                Phase::Comparison { with, until } => {
                    Phase::Comparison { with, until: later(until) }
                }
            };
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

    /// Notes how far the run has come. Returns whether the segment is to end.
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
        self.ended = at.seconds;
        self.pending = at.pending.unwrap_or(self.pending);
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
        self.next = Some((engine, phase));
        self.next_why = why;
        self.decided = at.seconds;
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
}
