use warpline_base::{EventKey, Moment, TieBreak, VirtualTime};

/// The keys of the events that a PE committed most recently. What is certain commits ahead of GVT, so a failure elsewhere may turn out to
/// precede some of it.
#[derive(Debug, Default)]
pub(crate) struct CommitLog {
    recent: Generation,
    /// The generation before, which is forgotten as a whole.
    older: Generation,
}

#[derive(Debug, Default)]
struct Generation {
    keys: Vec<EventKey>,
    /// The latest of their times.
    latest: VirtualTime,
}

impl CommitLog {
    /// More than this many are so many that their PE waits for others: the nearer caches hold them, and a span of lookahead has fewer.
    pub(crate) const MOST: usize = 1 << 16;

    /// How many keys are kept.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.recent.keys.len() + self.older.keys.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, key: EventKey) {
        self.recent.latest = self.recent.latest.max(key.time);
        self.recent.keys.push(key);
    }

    /// Lets go of keys that come before `time`, in the long run of all of them.
    #[inline]
    pub(crate) fn forget_before(&mut self, time: VirtualTime) {
        if self.older.latest < time && self.len() > 0 {
            self.older.keys.clear();
            self.older.latest = VirtualTime::ZERO;
            std::mem::swap(&mut self.recent, &mut self.older);
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
        EventKey { time, step: 0, priority: Priority::NORMAL, sender: LpId(0), sequence: Sequence::first_of(1) }
    }

    /// A PE that waits for others adds nothing, and must not wait for ever.
    #[test]
    fn a_full_log_empties_though_nothing_is_added() {
        let mut log = CommitLog::default();
        (0..=CommitLog::MOST).for_each(|_| log.push(key(1.0)));
        log.forget_before(VirtualTime::new(0.5).expect("a time"));
        assert!(log.len() > CommitLog::MOST);
        log.forget_before(VirtualTime::new(1.5).expect("a time"));
        assert_eq!(log.len(), 0);
    }

    #[test]
    fn what_may_be_asked_for_is_kept_and_little_else() {
        let (mut committed, ties, mut most) = (CommitLog::default(), TieBreak::BySender, 0);
        for n in 0..1000u32 {
            // Commits run 10 ahead of GVT, two and one back.
            let now = f64::from(n);
            committed.forget_before(VirtualTime::new(now).expect("a time"));
            [12.0, 10.0, 11.0].into_iter().for_each(|ahead| committed.push(key(now + ahead)));
            for after in 0..15 {
                let from = now + f64::from(after);
                let expected = (0..=n).flat_map(|n| [12, 10, 11].map(|ahead| f64::from(n + ahead))).filter(|time| *time >= from).count();
                assert_eq!(committed.count_from(&Moment::Event(key(from)), ties), expected as u64, "{from} at {now}");
            }
            most = most.max(committed.recent.keys.len() + committed.older.keys.len());
        }
        assert!(most <= 3 * 3 * 12, "{most} keys kept");
    }
}
