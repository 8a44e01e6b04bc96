/// Decides whether a PE whose next event is not certain yet waits until it is certain, or executes
/// it ahead.
///
/// An event executed ahead costs more than a certain one, as it is recorded and may be undone. But
/// a wait costs as much as several events, as the bound of another PE takes a while to become
/// visible. So a PE waits as long as it executes enough events between waits. Otherwise it goes
/// ahead for a stretch of events before it tries waiting again; the stretches grow as long as
/// waiting does not pay.
///
/// Invariant: the decision follows from counts alone.
#[derive(Debug)]
pub(crate) struct Caution {
    waiting: bool,
    /// Going ahead is in vain until GVT has been found.
    vain: bool,
    /// Events executed in the current stretch.
    executed: u64,
    /// Waits in the current stretch. A long one counts as several.
    waits: u64,
    /// Steps in a row in which there was nothing to execute.
    idle_steps: u32,
    /// The length of the next stretch ahead, in events.
    ahead: u64,
}

impl Caution {
    /// Waiting pays with at least this many events per wait.
    const EVENTS_PER_WAIT: u64 = 4;
    /// How many waits it takes to judge.
    const WAITS: u64 = 128;
    /// A wait of more steps than this counts as several.
    const LONG_WAIT: u32 = 64;
    /// The shortest and the longest stretch ahead, in events.
    const AHEAD_LEAST: u64 = 2048;
    const AHEAD_MOST: u64 = 1 << 17;

    /// Without `may_wait`, the PE always goes ahead.
    pub(crate) fn new(may_wait: bool) -> Self {
        let ahead = if may_wait { Self::AHEAD_LEAST } else { u64::MAX };
        Caution { waiting: may_wait, vain: false, executed: 0, waits: 0, idle_steps: 0, ahead }
    }

    /// Whether the PE waits rather than goes ahead.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.waiting || self.vain
    }

    /// Notes whether going ahead is in vain until GVT has been found.
    #[inline]
    pub(crate) fn note_vain(&mut self, vain: bool) {
        self.vain = vain;
    }

    /// Notes a step that executed this many events.
    #[inline]
    pub(crate) fn on_step(&mut self, executed: u32) {
        if executed > 0 {
            self.executed += u64::from(executed);
            self.idle_steps = 0;
        } else {
            self.waits += u64::from(self.idle_steps.is_multiple_of(Self::LONG_WAIT));
            self.idle_steps = self.idle_steps.wrapping_add(1);
        }
        let over =
            if self.waiting { self.waits >= Self::WAITS } else { self.executed >= self.ahead };
        if over {
            self.begin_stretch();
        }
    }

    /// Notes steps that were not made, as nothing would have been executed in them.
    pub(crate) fn note_idle_steps(&mut self, steps: u32) {
        let long_waits = |steps: u32| u64::from(steps.div_ceil(Self::LONG_WAIT));
        let all = self.idle_steps.saturating_add(steps);
        self.waits += long_waits(all) - long_waits(self.idle_steps);
        self.idle_steps = all;
    }

    /// After how many more idle steps it goes ahead, if nothing arrives. `None` if it does already.
    pub(crate) fn idle_steps_left(&self) -> Option<u32> {
        if !self.waiting {
            return None;
        }
        let to_next_wait = self.idle_steps.wrapping_neg() % Self::LONG_WAIT + 1;
        let more = Self::WAITS.saturating_sub(self.waits).saturating_sub(1) as u32;
        Some(to_next_wait + more * Self::LONG_WAIT)
    }

    #[inline(never)]
    fn begin_stretch(&mut self) {
        if !self.waiting {
            self.waiting = true;
        } else if self.executed >= Self::EVENTS_PER_WAIT * self.waits {
            self.ahead = Self::AHEAD_LEAST;
        } else {
            self.ahead = (2 * self.ahead).min(Self::AHEAD_MOST);
            self.waiting = false;
        }
        self.executed = 0;
        self.waits = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Alternates between `events` events and `idle` idle steps, until the PE goes ahead or has
    /// done so a thousand times.
    fn alternate(caution: &mut Caution, events: u32, idle: u32) {
        for _ in 0..1000 {
            caution.on_step(events);
            for _ in 0..idle {
                caution.on_step(0);
                if !caution.waits() {
                    return;
                }
            }
        }
    }

    #[test]
    fn a_pe_waits_as_long_as_waits_are_few() {
        let mut caution = Caution::new(true);
        for (events, idle) in [(4, 1), (4, 64), (100, 60), (9, 65), (25, 320)] {
            alternate(&mut caution, events, idle);
            assert!(caution.waits(), "{events} events, {idle} idle steps");
        }
    }

    #[test]
    fn a_pe_does_not_go_ahead_in_vain() {
        let mut caution = Caution::new(false);
        assert!(!caution.waits());
        caution.note_vain(true);
        assert!(caution.waits());
        caution.note_vain(false);
        assert!(!caution.waits());
    }

    #[test]
    fn it_knows_after_how_many_idle_steps_it_goes_ahead() {
        for idle in [0, 1, 63, 64, 65, 1000] {
            let mut caution = Caution::new(true);
            (0..idle).for_each(|_| caution.on_step(0));
            let left = caution.idle_steps_left().expect("it waits");
            (1..left).for_each(|_| caution.on_step(0));
            assert!(caution.waits(), "{idle}");
            caution.on_step(0);
            assert!(!caution.waits(), "{idle}");
            assert_eq!(caution.idle_steps_left(), None);
        }
    }

    #[test]
    fn a_pe_that_mostly_waits_goes_ahead_and_tries_again_ever_more_rarely() {
        for (events, idle) in [(3, 1), (3, 64), (7, 65), (19, 320)] {
            let mut caution = Caution::new(true);
            let mut stretches = Vec::new();
            for _ in 0..8 {
                alternate(&mut caution, events, idle);
                assert!(!caution.waits(), "{events} events, {idle} idle steps");
                stretches.push((1..).find(|_| {
                    caution.on_step(64);
                    caution.waits()
                }));
            }
            let stretches: Vec<u32> =
                stretches.into_iter().flatten().map(|steps| 64 * steps).collect();
            assert_eq!(
                stretches,
                [4096, 8192, 16_384, 32_768, 65_536, 131_072, 131_072, 131_072],
                "{events} events, {idle} idle steps"
            );
            // Once waiting has paid again, stretches ahead start from the shortest.
            alternate(&mut caution, 100, 1);
            assert!(caution.waits());
            (0..Caution::WAITS).for_each(|_| alternate(&mut caution, 3, 1));
            assert_eq!(caution.ahead, 4096);
        }
    }

    #[test]
    fn steps_that_were_not_made_count_as_if_they_had_been() {
        let mut one = Caution::new(true);
        let mut other = Caution::new(true);
        for steps in [1, 63, 64, 1, 200, 2000] {
            (0..=steps).for_each(|_| one.on_step(0));
            other.on_step(0);
            other.note_idle_steps(steps);
            assert_eq!((one.waits, one.idle_steps), (other.waits, other.idle_steps), "{steps}");
        }
    }

    #[test]
    fn a_pe_that_may_not_wait_never_does() {
        let mut caution = Caution::new(false);
        (0..100).for_each(|_| alternate(&mut caution, 1_000_000, 1000));
        assert!(!caution.waits());
    }
}
