//! What comes of a trial.

use super::limits::{DOUBTFUL, EVENED, EVENED_MOST, FASTER, HOPELESS, LONGER_MOST, SPAN, UNEVEN};
use super::meter::Meter;
use super::speed::{Ratio, Speed};
use super::{Milestone, Phase, Policy, reasons};

impl Policy {
    /// Ends a trial when it is long enough to tell, or hopeless.
    pub(super) fn judge_trial(&mut self, at: Milestone, until: f64, longer: u32) {
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
        self.candidates[self.present].speed = Some(speed);
        self.spent += (at.seconds - began) * (1.0 - ratio).max(0.0);
        if ratio < FASTER && !is_hopeless && self.meter.is_rising() && longer < LONGER_MOST {
            // What was measured was not what the engine can do.
            self.phase = Phase::Trial { until: at.seconds + length, longer: longer + 1 };
            self.meter = Meter::new(at, length, 0.0);
            return;
        }
        self.end_trial(at, length, compared);
    }

    /// Stays on the engine that has been tried, tries it again, or goes back.
    fn end_trial(&mut self, at: Milestone, length: f64, compared: Ratio) {
        let ratio = compared.times;
        let tried = self.present;
        let chosen = self.chosen;
        let chosen_engine = self.candidates[chosen].engine;
        let uneven = at.unevenness.unwrap_or(1.0);
        if uneven >= UNEVEN
            && ratio * uneven * EVENED >= FASTER
            && self.candidates[tried].evened < EVENED_MOST
        {
            self.candidates[tried].evened += 1;
            self.why += &reasons::was_uneven(chosen_engine, compared, uneven);
            let phase = Phase::Trial { until: at.seconds + length, longer: 0 };
            return self.next(at, tried, phase, reasons::evened_out());
        }
        if ratio >= FASTER {
            self.why += &reasons::stays(chosen_engine, compared);
            self.chosen = tried;
            self.phase = Phase::Chosen;
            self.candidates[chosen].not_before = at.seconds * postponed(compared.inverse());
            self.meter = Meter::new(at, SPAN, 0.0);
            return;
        }
        self.candidates[tried].not_before = at.seconds * postponed(compared);
        self.why += &reasons::was_slower(chosen_engine, compared);
        let phase = if ratio >= DOUBTFUL {
            Phase::Comparison { with: tried, until: at.seconds + length }
        } else {
            Phase::Chosen
        };
        let why = reasons::goes_back(self.candidates[tried].engine, compared);
        self.next(at, chosen, phase, why);
    }

    /// Compares an engine that was tried with the chosen one, before and after the trial.
    pub(super) fn compare(&mut self, at: Milestone, with: usize, until: f64) {
        if at.seconds < until {
            return;
        }
        let Some(rate) = self.meter.rate() else { return };
        let now = self.speed(rate);
        let before = self.candidates[self.chosen].speed.unwrap_or(now);
        if self.meter.is_rising() && rate < before.rate {
            // It is not warm yet.
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
}

/// The factor by which the time of the run grows before an engine is tried again that compared so
/// to the chosen one.
fn postponed(ratio: Ratio) -> f64 {
    match ratio.times {
        // The cores may be free again at any time.
        _ if ratio.per_core => 2.0,
        ratio if ratio >= 0.9 => 2.0,
        ratio if ratio >= 0.6 => 3.0,
        _ => 6.0,
    }
}
