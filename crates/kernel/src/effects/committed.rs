use warpline_base::{EventKey, Moment, TieBreak, VirtualTime};
use warpline_memory::MakeRoom;

/// The keys of the events that a PE committed most recently. Certain events commit ahead of GVT, so
/// a failure on another PE may turn out to precede some of them.
///
/// The verdict after the one that made a failure certain reports it. By then PEs may have committed
/// events beyond the failure. Each PE subtracts those from its count, so the number of committed
/// events at a failure is that of a sequential run. Keys are kept until all bounds have passed
/// them; without a safe lane, since the GVT before the last.
#[derive(Debug, Default)]
pub(crate) struct CommitLog {
    recent: Generation,
    /// The generation before it. Generations are forgotten as a whole.
    older: Generation,
}

#[derive(Debug, Default)]
struct Generation {
    keys: Vec<EventKey>,
    /// The latest time of the keys.
    latest: VirtualTime,
}

impl CommitLog {
    /// A PE with more keys than this waits for the others. So many fit into the nearer caches, and
    /// a span of lookahead has fewer events.
    pub(crate) const MOST: usize = 1 << 16;
    /// The same when memory is short.
    pub(crate) const MOST_WHERE_SHORT: usize = 1 << 12;
    /// It grows by at least so many keys at a time. Of many PEs, each has few, and an eighth more at
    /// a time would move them again and again.
    const LEAST: usize = 16;

    /// How many keys are kept.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.recent.keys.len() + self.older.keys.len()
    }

    /// How much memory the keys take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<EventKey>() * (self.recent.keys.capacity() + self.older.keys.capacity())
    }

    /// Gives back memory that is not in use.
    pub(crate) fn give_back_room(&mut self) {
        self.recent.keys.shrink_to_fit();
        self.older.keys.shrink_to_fit();
    }

    #[inline]
    pub(crate) fn push(&mut self, key: EventKey) {
        self.recent.latest = self.recent.latest.max(key.time);
        if self.recent.keys.len() == self.recent.keys.capacity() {
            self.grow();
        }
        self.recent.keys.push(key);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.recent.keys.make_little_room(Self::LEAST, "the keys of events committed last");
    }

    /// Forgets the older generation if all its keys come before `time`. Repeated calls thus forget
    /// every key before `time`.
    #[inline]
    pub(crate) fn forget_before(&mut self, time: VirtualTime) {
        if self.older.latest < time && self.len() > 0 {
            self.forget_older();
        }
    }

    /// Forgets the older generation. The recent one becomes the older.
    pub(crate) fn forget_older(&mut self) {
        self.older.keys.clear();
        self.older.latest = VirtualTime::ZERO;
        std::mem::swap(&mut self.recent, &mut self.older);
    }

    /// Forgets all keys before `moment`, one by one.
    pub(crate) fn forget_before_moment(&mut self, moment: &Moment, ties: TieBreak) {
        for generation in [&mut self.recent, &mut self.older] {
            generation.keys.retain(|key| !Moment::Event(*key).is_before(moment, ties));
        }
    }

    /// How many of the keys do not come before `moment`.
    pub(crate) fn count_from(&self, moment: &Moment, ties: TieBreak) -> u64 {
        let keys = self.recent.keys.iter().chain(&self.older.keys);
        keys.filter(|key| !Moment::Event(**key).is_before(moment, ties)).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use warpline_base::{LpId, Priority, Sequence};

    use super::*;

    fn key(time: f64) -> EventKey {
        let time = VirtualTime::new(time).expect("a time");
        EventKey {
            time,
            step: 0,
            priority: Priority::NORMAL,
            sender: LpId(0),
            sequence: Sequence::first_of(1),
        }
    }

    /// A PE that waits for others adds no keys. It must not wait for ever.
    #[test]
    fn a_full_log_empties_even_if_nothing_is_added() {
        let mut log = CommitLog::default();
        (0..=CommitLog::MOST).for_each(|_| log.push(key(1.0)));
        log.forget_before(VirtualTime::new(0.5).expect("a time"));
        assert!(log.len() > CommitLog::MOST);
        log.forget_before(VirtualTime::new(1.5).expect("a time"));
        assert_eq!(log.len(), 0);
    }

    #[test]
    fn of_two_generations_the_older_one_can_be_forgotten_whatever_its_times() {
        let mut log = CommitLog::default();
        for n in 1..10 {
            (0..n).for_each(|_| log.push(key(1.0)));
            log.forget_older();
            assert_eq!(log.len(), n, "what was added last is left");
        }
        log.forget_older();
        assert_eq!(log.len(), 0);
    }

    #[test]
    fn keys_of_one_instant_can_be_forgotten_one_by_one() {
        let ties = TieBreak::BySender;
        let mut log = CommitLog::default();
        let numbered = |number| EventKey { sender: LpId(number), ..key(1.0) };
        (0..10).for_each(|number| log.push(numbered(number)));
        log.forget_before(VirtualTime::new(1.0).unwrap());
        (10..20).for_each(|number| log.push(numbered(number)));
        let moment = Moment::Event(numbered(7));
        log.forget_before_moment(&moment, ties);
        assert_eq!((log.len(), log.count_from(&moment, ties)), (13, 13));
        log.forget_before_moment(&Moment::Never, ties);
        assert_eq!(log.len(), 0);
    }

    #[test]
    fn keys_that_may_be_asked_for_are_kept_and_few_others() {
        let ties = TieBreak::BySender;
        let mut committed = CommitLog::default();
        let mut most = 0;
        for n in 0..1000u32 {
            // Commits are at least 10 ahead of GVT, and out of order.
            let now = f64::from(n);
            committed.forget_before(VirtualTime::new(now).expect("a time"));
            [12.0, 10.0, 11.0].into_iter().for_each(|ahead| committed.push(key(now + ahead)));
            for after in 0..15 {
                let from = now + f64::from(after);
                let expected = (0..=n)
                    .flat_map(|n| [12, 10, 11].map(|ahead| f64::from(n + ahead)))
                    .filter(|time| *time >= from)
                    .count();
                assert_eq!(
                    committed.count_from(&Moment::Event(key(from)), ties),
                    expected as u64,
                    "{from} at {now}"
                );
            }
            most = most.max(committed.recent.keys.len() + committed.older.keys.len());
        }
        assert!(most <= 3 * 3 * 12, "{most} keys kept");
    }
}
