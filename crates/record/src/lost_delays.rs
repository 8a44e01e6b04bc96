//! Delays that are lost to rounding.

use std::fmt;

use serde::{Deserialize, Serialize};

use warpline_base::{Figure, LpId};

/// Sends with a positive delay too short to change the time: the event happens when it is sent. All
/// numbers are finite, so every format can represent them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LostDelays {
    /// How many there were.
    pub count: u64,
    /// The LP that sent the first, by time and LP.
    pub lp: u32,
    /// The number of the sending event at its LP, from 1, modulo 2³²; 0 is the LP's initialisation.
    pub event: u32,
    /// When it was sent, in model time.
    pub time: f64,
    /// The receiver.
    pub to: u32,
    /// Its delay, in model time.
    pub delay: f64,
}

impl LostDelays {
    /// The record of a single send.
    pub fn one(lp: LpId, event: u32, time: f64, to: LpId, delay: f64) -> Self {
        LostDelays { count: 1, lp: lp.0, event, time, to: to.0, delay }
    }

    /// Adds another part of the run. At equal LP and time, this part's sends come first.
    pub fn add(&mut self, other: &Self) {
        let count = self.count + other.count;
        if (other.time, other.lp) < (self.time, self.lp) {
            *self = *other;
        }
        self.count = count;
    }

    /// The distance from `time` to the next greater time, in model time.
    pub fn step_at(time: f64) -> f64 {
        time.next_up() - time
    }
}

impl fmt::Display for LostDelays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostDelays { count, lp, event, time, to, delay } = *self;
        let lp = LpId(lp);
        let to = LpId(to);
        let step = Figure(Self::step_at(time));
        let sends =
            if count == 1 { "1 event was".to_owned() } else { format!("{count} events were") };
        let sender = if event == 0 {
            format!("init of {lp}")
        } else {
            format!("event {event} of {lp} at time {}", Figure(time))
        };
        write!(
            f,
            "{sends} sent with a delay that is lost to rounding, and happened at the time of \
             sending; the first by {sender}, to {to} with delay {}, where times are {step} apart: \
             if that matters, use longer delays, or a run of fewer units of time",
            Figure(delay)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_named_whatever_the_order() {
        let all = [(3, 8.0), (2, 8.0), (9, 7.0), (1, 9.0)]
            .map(|(lp, time)| LostDelays::one(LpId(lp), 4, time, LpId(0), 1e-20));
        for from in 0..all.len() {
            let mut sum = all[from];
            (1..all.len()).for_each(|next| sum.add(&all[(from + next) % all.len()]));
            assert_eq!((sum.count, sum.lp, sum.time), (4, 9, 7.0));
        }
        let text = LostDelays::one(LpId(3), 7, 1e17, LpId(4), 0.5).to_string();
        assert!(
            text.contains(
                "the first by event 7 of LP 3 at time 1e17, to LP 4 with delay 0.5, \
                               where times are 16 apart"
            ),
            "{text}"
        );
    }
}
