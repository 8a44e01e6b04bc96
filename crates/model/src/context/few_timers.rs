use warpline_base::Sequence;
use warpline_memory::Handle;

/// So many timers fit into a cache line, with their events.
const MOST: usize = 5;

/// A few pending timers, in no order. They are found by looking at each.
#[derive(Clone, Debug)]
pub(super) struct FewTimers {
    timers: [Sequence; MOST],
    events: [Handle; MOST],
    len: Len,
}

/// A number of timers. It is an enum, as its unused values let a table of timers be a
/// few timers or a list and still take no more than a cache line.
#[derive(Clone, Copy, Debug, Default)]
enum Len {
    #[default]
    None,
    One,
    Two,
    Three,
    Four,
    Five,
}

impl Len {
    /// All numbers, in their order.
    const ALL: [Len; MOST + 1] = [Len::None, Len::One, Len::Two, Len::Three, Len::Four, Len::Five];
}

impl Default for FewTimers {
    fn default() -> Self {
        FewTimers {
            timers: [Sequence::from_bits(0); MOST],
            events: [Handle::from_bits(0); MOST],
            len: Len::None,
        }
    }
}

impl FewTimers {
    /// The same timers, if they are few enough to go back and forth without moving out again soon.
    pub(super) fn of(timers: &[(Sequence, Handle)]) -> Option<Self> {
        let mut few = FewTimers::default();
        let fit = timers.len() <= MOST / 2;
        fit.then(|| {
            timers.iter().for_each(|&(timer, event)| _ = few.insert(timer, event));
            few
        })
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// The timers with their events.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Sequence, Handle)> {
        self.timers.into_iter().zip(self.events).take(self.len())
    }

    /// The event of the timer, if there is only one.
    #[inline]
    pub(super) fn only(&self) -> Option<Handle> {
        matches!(self.len, Len::One).then_some(self.events[0])
    }

    #[inline]
    fn find(&self, timer: Sequence) -> Option<usize> {
        self.timers[..self.len()].iter().position(|pending| *pending == timer)
    }

    #[inline]
    pub(super) fn get(&self, timer: Sequence) -> Option<Handle> {
        self.find(timer).map(|place| self.events[place])
    }

    #[inline]
    pub(super) fn take(&mut self, timer: Sequence) -> Option<Handle> {
        let place = self.find(timer)?;
        let event = self.events[place];
        let last = self.len() - 1;
        self.timers[place] = self.timers[last];
        self.events[place] = self.events[last];
        self.len = Len::ALL[last];
        Some(event)
    }

    /// Adds a timer. Returns whether there was room.
    #[inline]
    pub(super) fn insert(&mut self, timer: Sequence, event: Handle) -> bool {
        let place = self.len();
        let fits = place < MOST;
        if fits {
            self.timers[place] = timer;
            self.events[place] = event;
            self.len = Len::ALL[place + 1];
        }
        fits
    }

    pub(super) fn forget_from(&mut self, first: Sequence) {
        let mut place = 0;
        while place < self.len() {
            if self.timers[place] < first {
                place += 1;
            } else {
                self.take(self.timers[place]);
            }
        }
    }
}
