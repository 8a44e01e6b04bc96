//! How much memory a run may take, and how much it has taken.

use crate::payload::held;
use crate::sync::{AtomicU64, Ordering};
use crate::{Common, Exhausted, Region, Shareable};

/// The memory that the processing elements (PEs) of a machine may take together, in bytes. All
/// [accounts](Self::account) draw on it.
///
/// It only counts; those who draw on it decide what to do.
///
/// ```
/// let budget = warpline_memory::Budget::new(&warpline_memory::Region::own(), 1000, 0);
/// let mut a = budget.account();
/// let mut b = budget.account();
/// assert_eq!((a.settle(400), b.settle(500)), (400, 900));
/// assert_eq!((a.settle(100), budget.taken(), budget.limit()), (600, 600, 1000));
/// drop(b);
/// assert_eq!(budget.taken(), 100);
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    counters: Common<Counters>,
    limit: u64,
    /// Bytes taken before the run, which messages count as part of the limit.
    before: u64,
    /// Whether payloads count at once, and not only at the next sample.
    counts_payloads: bool,
}

#[derive(Debug)]
struct Counters {
    /// Bytes that all accounts have drawn.
    drawn: AtomicU64,
    /// Bytes outside all accounts, at the last sample.
    elsewhere: AtomicU64,
    /// Bytes that the payloads of the process held at that sample.
    payloads: AtomicU64,
}

// SAFETY: these are numbers.
unsafe impl Shareable for Counters {}

impl Budget {
    /// An untouched budget of `limit` bytes, in addition to those taken `before`. Processes that
    /// share the region share the budget.
    ///
    /// # Panics
    /// If there is no room in the region, it [unwinds](crate::Exhausted::unwind).
    pub fn new(region: &Region, limit: u64, before: u64) -> Self {
        let counters = region.place(Counters {
            drawn: AtomicU64::new(0),
            elsewhere: AtomicU64::new(0),
            payloads: AtomicU64::new(held::bytes()),
        });
        Budget { counters, limit, before, counts_payloads: false }
    }

    /// For a run with this process alone, whose payloads are then those of the run: they count at
    /// once, and not only at the next [sample](Self::note_taken).
    #[must_use]
    pub fn with_payloads(self) -> Self {
        Budget { counts_payloads: true, ..self }
    }

    /// The error when a run needs this many bytes, and its budget has fewer.
    pub fn exceeded(&self, needed: u64) -> Exhausted {
        Exhausted::Budget {
            limit: self.limit + self.before,
            needed: needed.saturating_add(self.before),
        }
    }

    /// An account that has drawn nothing.
    pub fn account(&self) -> Account {
        Account { budget: self.clone(), drawn: 0 }
    }

    /// How many bytes may be taken.
    #[inline]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// How many bytes have been taken.
    #[inline]
    pub fn taken(&self) -> u64 {
        // Relaxed, here and below: no other data depends on these numbers.
        let drawn = self.counters.drawn.load(Ordering::Relaxed);
        let elsewhere = self.counters.elsewhere.load(Ordering::Relaxed);
        let since = if self.counts_payloads {
            let payloads = self.counters.payloads.load(Ordering::Relaxed);
            held::bytes().wrapping_sub(payloads).cast_signed()
        } else {
            0
        };
        drawn.saturating_add(elsewhere.saturating_add_signed(since))
    }

    /// Takes a sample: how many bytes have been taken in all, as the system sees it. What exceeds
    /// the accounts has been taken elsewhere, such as by states with memory of their own. Until the
    /// next sample, only changes of payloads are seen.
    pub fn note_taken(&self, bytes: u64) {
        self.counters.payloads.store(held::bytes(), Ordering::Relaxed);
        let drawn = self.counters.drawn.load(Ordering::Relaxed);
        self.counters.elsewhere.store(bytes.saturating_sub(drawn), Ordering::Relaxed);
    }
}

/// What one PE has drawn on a [`Budget`]. Dropping it gives all of that back.
#[derive(Debug)]
pub struct Account {
    budget: Budget,
    drawn: u64,
}

impl Account {
    /// The budget.
    #[inline]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Sets how many bytes this PE has now. Returns how many all have taken.
    #[inline]
    pub fn settle(&mut self, bytes: u64) -> u64 {
        if bytes != self.drawn {
            // To subtract, the sum wraps around.
            self.budget.counters.drawn.fetch_add(bytes.wrapping_sub(self.drawn), Ordering::Relaxed);
            self.drawn = bytes;
        }
        self.budget.taken()
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.settle(0);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn accounts_add_up_and_are_closed() {
        let budget = Budget::new(&Region::own(), 100, 0);
        let mut accounts: Vec<Account> = (0..4).map(|_| budget.account()).collect();
        for (bytes, account) in (1..).zip(&mut accounts) {
            account.settle(10 * bytes);
        }
        assert_eq!(budget.taken(), 100);
        assert_eq!((accounts[3].settle(5), accounts[0].settle(11)), (65, 66));
        drop(accounts);
        assert_eq!(budget.taken(), 0);
    }

    #[test]
    fn what_was_taken_before_is_told_too() {
        let budget = Budget::new(&Region::own(), 700_000, 9_000_000);
        let why = budget.exceeded(1_200_000).to_string();
        assert_eq!(why, "the run needs 10.2 MB of memory, but its budget is 9.7 MB");
    }

    #[test]
    fn what_the_system_sees_beyond_the_accounts_has_been_taken_too() {
        let budget = Budget::new(&Region::own(), 100, 0);
        let mut account = budget.account();
        account.settle(30);
        budget.note_taken(50);
        assert_eq!((budget.taken(), account.settle(40)), (50, 60));
        budget.note_taken(20);
        assert_eq!(budget.taken(), 40, "what accounts have drawn counts in any case");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri would hold the payload for real")]
    fn payloads_count_at_once_and_only_once() {
        let without = Budget::new(&Region::own(), 100, 0);
        let with = Budget::new(&Region::own(), 100, 0).with_payloads();
        // Other tests hold payloads, too, but none as large.
        let payload = crate::Payload::zeroed(1 << 30);
        let about = |bytes: u64| (bytes + (1 << 28)) >> 29;
        assert_eq!((without.taken(), about(with.taken())), (0, 2));
        with.note_taken(3 << 30);
        assert_eq!(about(with.taken()), 6);
        drop(payload);
        assert_eq!(about(with.taken()), 4);
    }

    #[test]
    fn several_threads_draw_on_one_budget() {
        let budget = Budget::new(&Region::own(), u64::MAX, 0);
        let rounds = if cfg!(miri) { 20 } else { 10_000u64 };
        // An account gives back what it has drawn when it is dropped.
        let _accounts: Vec<Account> = std::thread::scope(|scope| {
            let draw = |pe| {
                let mut account = budget.account();
                scope.spawn(move || {
                    (0..rounds).for_each(|round| _ = account.settle(round * pe % 97));
                    account.settle(pe);
                    account
                })
            };
            let threads: Vec<_> = (1..=3).map(draw).collect();
            threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
        });
        assert_eq!(budget.taken(), 6);
    }
}
