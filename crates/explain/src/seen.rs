//! The delays that sends actually had.

use warpline_base::LpId;
use warpline_model::engine::Lookahead;

use super::findings::LpDelay;

/// A send from one LP to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenDelay {
    pub(super) from: LpId,
    pub(super) to: LpId,
    /// In model time. It is rounded, because it is the difference of two times.
    pub(super) delay: f64,
    /// When it was sent.
    pub(super) sent: f64,
}

impl SeenDelay {
    /// The delay, together with the one that the model declares.
    pub(super) fn finding(&self, lookahead: &Lookahead) -> LpDelay {
        let declared = lookahead.between(self.from, self.to).unwrap_or(0.0);
        LpDelay { from: self.from, to: self.to, declared, seen: self.plain().max(declared) }
    }

    /// The shortest number that the delay may have been. Times are rounded to 53 bits, so their
    /// difference has more digits than the delay.
    fn plain(&self) -> f64 {
        let time = self.sent + self.delay;
        let rounding = time.next_up() - time;
        let shorter =
            (0..17).map(|digits| format!("{:.digits$e}", self.delay).parse().unwrap_or(self.delay));
        shorter
            .into_iter()
            .find(|short: &f64| (short - self.delay).abs() <= rounding)
            .unwrap_or(self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_of_times_does_not_show() {
        for (sent, delay) in
            [(0.3, 0.1), (1234.567, 0.005), (0.0, 1.0 / 3.0), (1e6, 0.25), (7.1, 2.5)]
        {
            let seen = SeenDelay { from: LpId(0), to: LpId(1), delay: (sent + delay) - sent, sent };
            assert_eq!(seen.plain(), delay, "{sent} + {delay} - {sent} is {}", seen.delay);
        }
    }

    /// A model may declare any delay that was seen.
    #[test]
    fn no_delay_is_seen_that_is_below_what_was_declared() {
        let from = LpId(0);
        let to = LpId(1);
        let declared = 0.1 + 0.2;
        let seen = SeenDelay { from, to, delay: 0.3, sent: 0.0 };
        assert!(seen.plain() < declared);
        assert_eq!(
            seen.finding(&Lookahead::uniform(declared)),
            LpDelay { from, to, declared, seen: declared }
        );
    }
}
