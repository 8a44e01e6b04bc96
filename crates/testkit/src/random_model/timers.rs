//! Timers of random models: set, cancelled and rescheduled at random, in every way there is.
//!
//! A timer that fires sends one parcel that leads to no further timers, so there is an end.

use warpline::{Context, Timer};

use super::behaviour::RandomModel;
use super::parcel::{Errand, Load, Owned, Parcel};
use super::timer_memory::{REMEMBERED, Timers};

/// The stream that decides what becomes of timers.
const TIMERS: u8 = 9;
/// The stream that delays of timers are drawn from.
const DELAYS: u8 = 10;
impl<const WORDS: usize, O: Owned> RandomModel<WORDS, O> {
    /// Sets, cancels and reschedules timers.
    pub(super) fn play_with_timers(
        &self,
        timers: &mut Timers,
        parcel: &Parcel<WORDS, O>,
        lp: &mut Context<Self>,
    ) {
        let before = timers.told;
        let sets = parcel.errand == Errand::Spread && parcel.energy > 1;
        let turns = [0, 1, 1, 2, 3, 8][lp.stream(TIMERS).below(6) as usize];
        let mut changes = 0u32;
        for _ in 0..turns {
            let slot = lp.stream(TIMERS).below(REMEMBERED as u32) as usize;
            match lp.stream(TIMERS).below(5) {
                0 | 1 if sets => {
                    let timer = self.set(parcel, lp);
                    timers.remember(slot, Some(timer), lp);
                    changes += 1;
                }
                2 => {
                    let was_pending = timers.last[slot].is_some_and(|timer| lp.cancel(timer));
                    timers.note(was_pending, lp);
                }
                3 => {
                    let (delay, _) = self.rest(parcel, lp);
                    // The old one is remembered if it was no longer pending.
                    let again = timers.last[slot].and_then(|timer| lp.reschedule(timer, delay));
                    timers.note(again.is_some(), lp);
                    if again.is_some() {
                        timers.remember(slot, again, lp);
                        changes += 1;
                    }
                }
                _ => {
                    let pending = timers.last[slot].is_some_and(|timer| lp.is_pending(timer));
                    timers.note(pending, lp);
                }
            }
        }
        lp.save(changes);
        lp.save(before);
    }

    /// Draws how long a timer runs, and how many hops without delay it makes then.
    fn rest(&self, parcel: &Parcel<WORDS, O>, lp: &mut Context<Self>) -> (f64, u32) {
        let now = lp.now();
        let long = f64::from(lp.stream(TIMERS).below(3));
        let delay = long + self.delay(now, parcel.hops, 0.0, lp.stream(DELAYS));
        (delay, if now + delay > now { 0 } else { parcel.hops + 1 })
    }

    fn set(&self, parcel: &Parcel<WORDS, O>, lp: &mut Context<Self>) -> Timer {
        let (delay, hops) = self.rest(parcel, lp);
        let shared = warpline::Payload::from(vec![3; 8]);
        let load = Load::draw(self.recipe.payloads, &shared, lp.stream(TIMERS));
        let words = [0; WORDS].map(|_: u64| lp.stream(TIMERS).next_u64());
        lp.send_later(delay, Parcel { energy: 0, hops, errand: Errand::Timeout, load, words })
    }
}
