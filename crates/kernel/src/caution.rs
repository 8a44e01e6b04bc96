/// When a PE whose next event is not certain yet waits until it is, and when it executes it ahead.
///
/// An event that is executed ahead costs more than one that is certain, as it is recorded and may be undone. But a wait costs as much as
/// some events: it takes a while until a bound of another PE is seen. So a PE waits as long as it executes enough events between waits.
/// Where it does not, it goes ahead for a stretch of events before it tries to wait again; the more often that was of no use, the longer
/// the stretch.
///
/// What it decides follows from counts alone, and no answer depends on it.
#[derive(Debug)]
pub(crate) struct Caution {
    waiting: bool,
    /// Events executed in the present stretch.
    executed: u64,
    /// Waits in the present stretch. A long one counts as several.
    waits: u64,
    /// Steps in a row in which there was nothing to execute.
    idle_steps: u32,
    /// How many events the next stretch ahead has.
    ahead: u64,
}

impl Caution {
    /// So many events are worth a wait.
    const EVENTS_PER_WAIT: u64 = 4;
    /// Waits that are enough to judge by.
    const WAITS: u64 = 128;
    /// So many steps are as bad as a further wait.
    const LONG_WAIT: u32 = 64;
    /// Events of a stretch ahead.
    const AHEAD_LEAST: u64 = 2048;
    const AHEAD_MOST: u64 = 1 << 17;

    /// Of a PE that may wait, or of one that always goes ahead.
    pub(crate) fn new(may_wait: bool) -> Self {
        let ahead = if may_wait { Self::AHEAD_LEAST } else { u64::MAX };
        Caution { waiting: may_wait, executed: 0, waits: 0, idle_steps: 0, ahead }
    }

    /// Whether the PE rather waits than goes ahead.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.waiting
    }

    /// Takes note of a step that executed so many events.
    #[inline]
    pub(crate) fn note(&mut self, executed: u32) {
        if executed > 0 {
            self.executed += u64::from(executed);
            self.idle_steps = 0;
        } else {
            self.waits += u64::from(self.idle_steps.is_multiple_of(Self::LONG_WAIT));
            self.idle_steps = self.idle_steps.wrapping_add(1);
        }
        let over = if self.waiting { self.waits >= Self::WAITS } else { self.executed >= self.ahead };
        if over {
            self.begin_stretch();
        }
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
        (self.executed, self.waits) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets a PE alternate between so many events and so many idle steps, until it goes ahead or has done so often.
    fn alternate(caution: &mut Caution, events: u32, idle: u32) {
        for _ in 0..1000 {
            caution.note(events);
            for _ in 0..idle {
                caution.note(0);
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
    fn a_pe_that_mostly_waits_goes_ahead_and_tries_again_ever_more_rarely() {
        for (events, idle) in [(3, 1), (3, 64), (7, 65), (19, 320)] {
            let (mut caution, mut stretches) = (Caution::new(true), Vec::new());
            for _ in 0..8 {
                alternate(&mut caution, events, idle);
                assert!(!caution.waits(), "{events} events, {idle} idle steps");
                stretches.push((1..).find(|_| {
                    caution.note(64);
                    caution.waits()
                }));
            }
            let stretches: Vec<u32> = stretches.into_iter().flatten().map(|steps| 64 * steps).collect();
            assert_eq!(stretches, [4096, 8192, 16_384, 32_768, 65_536, 131_072, 131_072, 131_072], "{events} events, {idle} idle steps");
            // Once waiting is of use again, it soon is all the way.
            alternate(&mut caution, 100, 1);
            assert!(caution.waits());
            (0..Caution::WAITS).for_each(|_| alternate(&mut caution, 3, 1));
            assert_eq!(caution.ahead, 4096);
        }
    }

    #[test]
    fn a_pe_that_may_not_wait_never_does() {
        let mut caution = Caution::new(false);
        (0..100).for_each(|_| alternate(&mut caution, 1_000_000, 1000));
        assert!(!caution.waits());
    }
}
