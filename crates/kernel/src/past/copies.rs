//! When states are copied, so that events can be undone.
//!
//! Infrequent state saving and the best interval between copies are due to Y.-B. Lin, B. Preiss, W.
//! Loucks and E. Lazowska, "Selecting the checkpoint interval in Time Warp simulation", PADS 1993;
//! adapting the interval during the run, to R. Rönngren and R. Ayani, "Adaptive checkpointing in
//! Time Warp", PADS 1994.
//!
//! Small plain states are copied before every event. Otherwise each PE looks for the interval at
//! which copying and coast forward together cost least (`Control` has the formula). It counts how
//! often states are worked out from copies. It has to be told what a copy costs, as a PE decides
//! nothing by a clock: its worker times some copies now and then, and in a virtual cluster a copy
//! costs as much as an event.
//!
//! Reverse code cannot undo an event that fails. So under reverse code, too, states are copied now
//! and then (`RARELY`); see `pe/lanes/deferred.rs`.

use warpline_memory::list_of;

use crate::tuning::{LAG, Undoing};

/// The longest interval that is chosen, in events.
const LONGEST: u32 = 256;
/// The interval is chosen anew after at least this many events.
const PERIOD: u64 = 1024;
/// What a copy is assumed to cost until that is known, in events.
const COST: f64 = 1.0;
/// With copies before every event, nothing shows how often events would have to be executed again.
/// So one period in this many has fewer copies.
const LOOK_EVERY: u32 = 16;
/// Under reverse code, the state of an LP is copied before one in this many of its events, in case
/// an event fails.
const RARELY: u32 = 64;

/// Decides when states are copied, for PEs that do not copy before every event.
#[derive(Debug)]
pub(crate) struct Copies {
    /// The number of events of an LP between copies; 0 if nothing is copied.
    every: u32,
    /// What adapts it, if it is adapted.
    control: Option<Control>,
    /// By LP; empty if states are copied before every event, or never.
    last: Vec<LastCopy>,
}

#[derive(Clone, Copy, Debug)]
struct LastCopy {
    /// Its place in the history.
    place: u64,
    /// Events executed since.
    since: u32,
}

impl Copies {
    pub(crate) fn new(undoing: Undoing, lps: usize) -> Self {
        let control = (undoing == Undoing::CopyAdaptively).then(Control::default);
        let every = match undoing {
            Undoing::Copy { interval } => interval,
            // Not 1, so that the cost of working states out from copies shows.
            Undoing::CopyAdaptively => 2,
            Undoing::Reverse => RARELY,
            Undoing::Journal => 0,
        };
        let none = LastCopy { place: 0, since: u32::MAX };
        let last = list_of(
            none,
            if undoing.lag() == 0 { 0 } else { lps },
            "what is noted about copies of states",
        );
        Copies { every, control, last }
    }

    /// The present number of events of an LP between copies. Under reverse code, copies serve only
    /// to undo events that fail.
    pub(crate) fn interval(&self) -> u32 {
        self.every
    }

    /// Whether the interval is adapted.
    pub(crate) fn adapts(&self) -> bool {
        self.control.is_some()
    }

    /// Sets how many events cost as much as a copy.
    pub(crate) fn set_cost(&mut self, events: f64) {
        if let Some(control) = &mut self.control {
            control.cost = events;
        }
    }

    /// Adapts the interval, unless it is fixed, when `processed` events have been executed in all.
    pub(crate) fn adapt(&mut self, processed: u64) {
        if let Some(control) = &mut self.control
            && let Some(every) = control.choose(self.every, processed)
        {
            self.every = every;
        }
    }

    /// How much memory the table takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<LastCopy>() * self.last.capacity()
    }

    /// Whether the state of an LP is to be copied before an event whose record will be at `place`.
    #[inline]
    pub(crate) fn is_due(&self, lp: usize, place: u64) -> bool {
        let is_due_since =
            |last: LastCopy| last.since >= self.every - 1 || place - last.place >= LAG;
        self.every == 1 || self.every > 1 && is_due_since(self.last[lp])
    }

    /// Notes that an event was executed, with a copy or without.
    #[inline]
    pub(crate) fn executed(&mut self, lp: usize, place: u64, copied: bool) {
        // If a copy is due before every event, nobody asks.
        if self.every != 1
            && let Some(last) = self.last.get_mut(lp)
        {
            *last = if copied {
                LastCopy { place, since: 0 }
            } else {
                LastCopy { since: last.since + 1, ..*last }
            };
        }
    }

    /// Notes that the state of an LP was worked out from a copy, and makes sure that it is copied
    /// before its next event.
    pub(crate) fn worked_out(&mut self, lp: usize) {
        if let Some(control) = &mut self.control {
            control.worked_out += 1.0;
        }
        self.soon(lp);
    }

    /// Makes sure that the state of an LP is copied before its next event.
    pub(crate) fn soon(&mut self, lp: usize) {
        if let Some(last) = self.last.get_mut(lp) {
            last.since = u32::MAX;
        }
    }
}

/// Finds the interval at which copying and executing events again together cost least.
///
/// Let a state be copied before every `n`-th event, a copy cost as much as `c` events, and a share
/// `r` of events be the ones to which an LP is rolled back. Then copies cost `c / n` per event, and
/// executing events again costs `r (n - 1) / 2` on average. The sum is least at `n = sqrt(2 c /
/// r)`.
#[derive(Debug)]
struct Control {
    /// How many events cost as much as a copy.
    cost: f64,
    /// Events executed; recent ones count for more.
    events: f64,
    /// States worked out from copies since the interval was last chosen.
    worked_out: f64,
    /// Rollbacks of LPs, as estimated from the states worked out; recent ones count for more.
    rollbacks: f64,
    /// How many events had been executed when the interval was last chosen.
    processed: u64,
    /// How often the interval has been chosen.
    periods: u32,
}

impl Default for Control {
    fn default() -> Self {
        Control {
            cost: COST,
            events: 0.0,
            worked_out: 0.0,
            rollbacks: 0.0,
            processed: 0,
            periods: 0,
        }
    }
}

impl Control {
    /// Chooses the next interval if the present one, `every`, has lasted long enough.
    fn choose(&mut self, every: u32, processed: u64) -> Option<u32> {
        let events = processed - self.processed;
        if events < PERIOD {
            return None;
        }
        self.processed = processed;
        self.periods += 1;
        let worked_out = std::mem::take(&mut self.worked_out);
        if every == 1 {
            // Nothing has been learned in this period.
            return Some(if self.periods.is_multiple_of(LOOK_EVERY) { 2 } else { 1 });
        }
        // One rollback in `every` ends at an event that has its own copy, and works out no state.
        let rollbacks = worked_out * f64::from(every) / f64::from(every - 1);
        self.events = self.events / 2.0 + events as f64;
        self.rollbacks = self.rollbacks / 2.0 + rollbacks;
        // Without any rollback, count half of one.
        let share = self.rollbacks.max(0.5) / self.events;
        let best = (2.0 * self.cost / share).sqrt().round();
        Some(best.clamp(1.0, f64::from(LONGEST)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Undoing = Undoing::Copy { interval: 3 };

    /// Executes an event of LP 0 at a place, and returns whether the state was copied before it.
    fn execute(copies: &mut Copies, place: u64) -> bool {
        let due = copies.is_due(0, place);
        copies.executed(0, place, due);
        due
    }

    #[test]
    fn states_are_copied_at_intervals() {
        for (undoing, every) in
            [(Undoing::Copy { interval: 1 }, 1), (INTERVAL, 3), (Undoing::Reverse, 64)]
        {
            let mut copies = Copies::new(undoing, 2);
            for number in 0..200 {
                assert_eq!(
                    execute(&mut copies, 1 + number),
                    number.is_multiple_of(every),
                    "{undoing:?}, event {number}"
                );
            }
            // Each LP has a count of its own.
            assert!(copies.is_due(1, 201));
        }
    }

    #[test]
    fn where_changes_are_logged_nothing_is_copied() {
        let mut copies = Copies::new(Undoing::Journal, 2);
        copies.soon(0);
        assert!((1..2 * LAG).all(|place| !execute(&mut copies, place)));
        assert_eq!(Undoing::Journal.lag(), 0);
    }

    #[test]
    fn states_are_copied_before_the_last_copy_is_reclaimed() {
        let mut copies = Copies::new(Undoing::Copy { interval: 1_000_000 }, 1);
        assert!(execute(&mut copies, 1));
        assert!(!execute(&mut copies, LAG) && execute(&mut copies, LAG + 1));
        assert!(!execute(&mut copies, 2 * LAG) && execute(&mut copies, 2 * LAG + 1));
    }

    #[test]
    fn the_next_copy_can_be_brought_forward() {
        let mut copies = Copies::new(INTERVAL, 1);
        let copied = [0, 1, 2, 3, 4, 5].map(|place| {
            if place == 1 {
                copies.soon(0);
            }
            execute(&mut copies, place)
        });
        assert_eq!(copied, [true, true, false, false, true, false]);
    }

    #[test]
    fn copies_are_kept_only_where_a_state_may_be_worked_out_from_them() {
        assert_eq!((Undoing::Copy { interval: 1 }).lag(), 0);
        assert!(
            [Undoing::Copy { interval: 2 }, Undoing::CopyAdaptively, Undoing::Reverse]
                .into_iter()
                .all(|undoing| undoing.lag() == LAG)
        );
    }

    /// The interval after a run of `periods`, in each of which LPs are rolled back `per_1000` times
    /// per 1000 events.
    fn adapted(cost: f64, per_1000: f64, periods: u64) -> u32 {
        let mut copies = Copies::new(Undoing::CopyAdaptively, 1);
        copies.set_cost(cost);
        for period in 1..=periods {
            let every = f64::from(copies.interval());
            copies.control.as_mut().unwrap().worked_out =
                PERIOD as f64 / 1000.0 * per_1000 * (every - 1.0) / every;
            copies.adapt(period * PERIOD);
        }
        copies.interval()
    }

    #[test]
    fn the_interval_is_where_copies_and_events_executed_again_cost_least() {
        for (cost, per_1000) in
            [(1.0, 10.0), (10.0, 10.0), (0.5, 10.0), (3.0, 200.0), (50.0, 100.0)]
        {
            let total = |every: u32| {
                cost / f64::from(every) + per_1000 / 1000.0 * f64::from(every - 1) / 2.0
            };
            let found = adapted(cost, per_1000, 30);
            let best = (1..=LONGEST).min_by(|a, b| total(*a).total_cmp(&total(*b))).unwrap();
            assert!(
                found.abs_diff(best) <= 1,
                "{found} and {best}, if a copy costs {cost}, with {per_1000} of 1000"
            );
        }
        // Cheap copies, and many rollbacks; and none.
        assert_eq!((adapted(0.01, 300.0, 30), adapted(1.0, 0.0, 30)), (1, 91));
    }

    #[test]
    fn copies_before_every_event_are_not_for_ever() {
        let mut copies = Copies::new(Undoing::CopyAdaptively, 1);
        copies.set_cost(0.001);
        let mut processed = 0;
        let mut run = |copies: &mut Copies, share: f64, periods| {
            for _ in 0..periods {
                processed += PERIOD;
                copies.control.as_mut().unwrap().worked_out +=
                    if copies.interval() > 1 { share * PERIOD as f64 } else { 0.0 };
                copies.adapt(processed);
            }
            copies.interval()
        };
        assert_eq!(run(&mut copies, 0.2, 8), 1);
        copies.set_cost(10.0);
        assert!(run(&mut copies, 0.0, 200) > 20, "{copies:?}");
    }

    #[test]
    fn an_interval_lasts_for_some_time() {
        let mut copies = Copies::new(Undoing::CopyAdaptively, 1);
        copies.adapt(PERIOD - 1);
        assert_eq!(copies.interval(), 2);
        copies.adapt(PERIOD);
        assert!(copies.interval() > 2);
        let mut fixed = Copies::new(INTERVAL, 1);
        fixed.adapt(100 * PERIOD);
        assert_eq!(fixed.interval(), 3);
    }
}
