use warpline_model::TimeMean;

use crate::running::Services;

/// A quantity over time, and its mean, which may be observed as a statistic of the model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LevelOverTime {
    value: f64,
    since: f64,
    area: f64,
    statistic: Option<TimeMean>,
}

impl LevelOverTime {
    /// A level that is observed as this statistic, if any.
    pub(crate) fn new(value: f64, now: f64, statistic: Option<TimeMean>) -> Self {
        LevelOverTime { value, since: now, area: 0.0, statistic }
    }

    #[inline]
    pub(crate) fn get(&self) -> f64 {
        self.value
    }

    /// Changes the level now.
    #[inline]
    pub(crate) fn set(&mut self, value: f64, now: f64, lp: &mut dyn Services) {
        if value == self.value {
            return;
        }
        if let Some(statistic) = self.statistic {
            lp.observations().change(statistic, self.since, self.value, value);
        }
        self.area += self.value * (now - self.since);
        self.value = value;
        self.since = now;
    }

    /// Observes the level as this statistic from now on. What it was before counts as 0.
    pub(crate) fn observe_as(&mut self, statistic: TimeMean, now: f64, lp: &mut dyn Services) {
        let value = self.value;
        self.area += value * (now - self.since);
        self.since = now;
        if value != 0.0 {
            lp.observations().change(statistic, 0.0, 0.0, value);
        }
        self.statistic = Some(statistic);
    }

    /// The mean from time 0 on; 0 at time 0.
    pub(crate) fn mean(&self, now: f64) -> f64 {
        let area = self.area + self.value * (now - self.since);
        if now > 0.0 { area / now } else { 0.0 }
    }
}
