//! What a rank's messages go through: the target's network, and the engine.

use warpline_base::random::Random;
use warpline_model::Observe;
use warpline_model::engine::Limits;

use crate::packet::RankEvent;
use crate::target::Target;

/// What the engine does for a rank, whatever its program.
pub(crate) trait Services: Observe {
    /// Sends a packet.
    fn send(&mut self, to: u32, delay: f64, event: RankEvent);
    /// One of the LP's streams of random numbers.
    fn stream(&mut self, number: u8) -> &mut Random;
    /// Ends the run with an error.
    fn fail(&mut self, why: String);
    fn limits(&self) -> &Limits;
}

/// The network, as a rank sees it in an event.
pub(crate) struct Network<'a> {
    /// The time, in seconds.
    pub(crate) now: f64,
    /// The rank, in the world.
    pub(crate) me: u32,
    pub(crate) target: &'a Target,
    pub(crate) services: &'a mut (dyn Services + 'static),
}

impl Network<'_> {
    /// Sends an event that arrives exactly at `at`, and no sooner than `least` from now on.
    ///
    /// An engine adds the delay to the time, which rounds. So the delay is chosen that gives `at`:
    /// messages that arrive at the same time must do so although they are sent at different times,
    /// or one would overtake the other. There is always such a delay, as the numbers between delays
    /// are no greater than those between times. Where it is less than `least`, `least` rounds to
    /// the same time.
    #[inline]
    pub(crate) fn send_at(&mut self, to: u32, at: f64, least: f64, event: RankEvent) {
        self.services.send(to, delay_until(self.now, at).max(least), event);
    }

    /// The most calls at one instant.
    pub(crate) fn calls_most(&self) -> u32 {
        self.services.limits().zero_delay_hops
    }
}

/// The delay that makes `at` of `now`, when it is added.
fn delay_until(now: f64, at: f64) -> f64 {
    let mut delay = at - now;
    while now + delay < at {
        delay = delay.next_up();
    }
    while now + delay > at {
        delay = delay.next_down();
    }
    delay
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::delay_until;

    proptest! {
        #[test]
        fn a_delay_leads_exactly_to_its_time(now in 0.0..1e5f64, left in 0.0..1e-3f64, least in 1e-9..1e-4f64) {
            let at = now + left + least;
            let delay = delay_until(now, at);
            prop_assert_eq!(now + delay, at);
            prop_assert_eq!(now + delay.max(least), at);
        }
    }
}
