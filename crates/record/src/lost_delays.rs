//! Delays that made no difference to a time.

use std::fmt;

use serde::{Deserialize, Serialize};

use warpline_base::{Figure, LpId};

/// Sends whose delay was more than 0, and too short to change the time: such an event happens at the time at which it was sent. Both are
/// finite, so all formats can tell them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LostDelays {
    /// How many there were.
    pub count: u64,
    /// The LP that sent the first, by time and LP.
    pub lp: u32,
    /// Which event of its LP it was that sent it, counted from 1, modulo 2³²; 0 is the LP's initialisation.
    pub event: u32,
    /// When, in model time.
    pub time: f64,
    /// The LP that it went to.
    pub to: u32,
    /// Its delay, in model time.
    pub delay: f64,
}

impl LostDelays {
    /// A single one.
    pub fn one(lp: LpId, event: u32, time: f64, to: LpId, delay: f64) -> Self {
        LostDelays { count: 1, lp: lp.0, event, time, to: to.0, delay }
    }

    /// Adds those of another part of the run. Of the same LP and time, this one's come first.
    pub fn add(&mut self, other: &Self) {
        let count = self.count + other.count;
        if (other.time, other.lp) < (self.time, self.lp) {
            *self = *other;
        }
        self.count = count;
    }

    /// How far the next time is from `time`.
    pub fn step_at(time: f64) -> f64 {
        time.next_up() - time
    }
}

impl fmt::Display for LostDelays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostDelays { count, lp, event, time, to, delay } = *self;
        let (lp, to, step) = (LpId(lp), LpId(to), Figure(Self::step_at(time)));
        let sends = if count == 1 { "1 event was".to_owned() } else { format!("{count} events were") };
        let sender = if event == 0 { format!("init of {lp}") } else { format!("event {event} of {lp} at time {}", Figure(time)) };
        write!(
            f,
            "{sends} sent with a delay that is lost to rounding, and happened at the time of sending; the first by {sender}, to {to} with delay {}, \
             where times are {step} apart: if that matters, use longer delays, or a run of fewer units of time",
            Figure(delay)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_named_whatever_the_order() {
        let all = [(3, 8.0), (2, 8.0), (9, 7.0), (1, 9.0)].map(|(lp, time)| LostDelays::one(LpId(lp), 4, time, LpId(0), 1e-20));
        for from in 0..all.len() {
            let mut sum = all[from];
            (1..all.len()).for_each(|next| sum.add(&all[(from + next) % all.len()]));
            assert_eq!((sum.count, sum.lp, sum.time), (4, 9, 7.0));
        }
        let text = LostDelays::one(LpId(3), 7, 1e17, LpId(4), 0.5).to_string();
        assert!(text.contains("the first by event 7 of LP 3 at time 1e17, to LP 4 with delay 0.5, where times are 16 apart"), "{text}");
    }
}
