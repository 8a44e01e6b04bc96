use serde::{Deserialize, Serialize};
use warpline_memory::{Books, CasCounts};
use warpline_record::counters::of_pes;
use warpline_record::{MemoryRecord, ParallelRecord, PeRecord, Rollbacks, ThrottleRecord};

macro_rules! declare_counts {
    ($(
        [$meaning:expr] $field:ident: $type:ty, $merging:ident
        $(, pe($pe:ident, $label:literal, $unit:literal))? $(, run($run:ident))?
        $(, rollbacks($rollbacks:ident))? $(, memory($memory:ident))? $(, throttle($throttle:ident))?;
    )*) => {
        /// What a PE has done, for the record and the books: the [table of
        /// counters](warpline_record::counters!) as plain fields, which the PE increments, and two
        /// lists.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct Counts {
            $(#[doc = $meaning] pub $field: $type,)*
            /// How many rollbacks undid 1, 2–3, 4–7, … events.
            pub lengths: [u64; 32],
            /// What became of the messages put into mailboxes for which PEs compete.
            pub mailbox: CasCounts,
        }

        impl Counts {
            /// Adds the counts of another PE of the same run.
            pub fn add(&mut self, other: &Counts) {
                $(of_pes::$merging(&mut self.$field, other.$field);)*
                self.lengths.iter_mut().zip(other.lengths).for_each(|(all, more)| *all += more);
                self.mailbox = self.mailbox + other.mailbox;
            }

            /// The counters that the record has of every PE, and what follows from them.
            pub fn of_pe(&self) -> PeRecord {
                PeRecord {
                    $($($pe: self.$field,)?)*
                    ahead_events: self.ahead(),
                    mailbox_depth_mean: self.mailbox_depth_mean(),
                    ..PeRecord::default()
                }
            }

            /// The counters that the record has of the run, and what follows from them. `self` must
            /// be the sum over all of its PEs.
            pub fn of_run(&self) -> ParallelRecord {
                ParallelRecord {
                    $($($run: self.$field,)?)*
                    ahead_events: self.ahead(),
                    ..ParallelRecord::default()
                }
            }

            /// Likewise the counters of its rollbacks.
            pub fn of_rollbacks(&self) -> Rollbacks {
                Rollbacks { $($($rollbacks: self.$field,)?)* ..Rollbacks::default() }
            }

            /// Likewise the counters of keeping within the memory budget.
            pub fn of_memory(&self) -> MemoryRecord {
                MemoryRecord { $($($memory: self.$field,)?)* }
            }

            /// Likewise the counters of thrashing.
            pub fn of_throttle(&self) -> ThrottleRecord {
                ThrottleRecord { $($($throttle: self.$field,)?)* }
            }
        }
    };
}

warpline_record::counters!(declare_counts);

impl Counts {
    /// Events executed ahead, while others could still come before them, including those undone
    /// again.
    pub fn ahead(&self) -> u64 {
        self.processed - self.certain
    }

    /// Messages found waiting, averaged over the steps that found any.
    pub fn mailbox_depth_mean(&self) -> f64 {
        (self.messages_received + self.anti_received) as f64 / self.receipts.max(1) as f64
    }

    /// Notes a rollback of `length` events.
    pub(crate) fn rollback(&mut self, length: u64) {
        if let Some(bits) = length.checked_ilog2() {
            self.lengths[(bits as usize).min(self.lengths.len() - 1)] += 1;
        }
    }
}

/// Checks the books of a run that has ended, given each PE's counts, buffers and number of pending
/// events: over all PEs, no message, event or buffer may be lost or unaccounted for.
///
/// # Panics
/// If the books do not balance.
pub fn balance<'a>(pes: impl Iterator<Item = (&'a Counts, Books, usize)>) {
    let pes: Vec<_> = pes.map(|(counts, books, pending)| (counts, books, pending as u64)).collect();
    for (counts, books, pending) in &pes {
        assert_eq!(
            counts.side_records_kept, 0,
            "what events observed and saved is kept until they commit or are undone"
        );
        let settled = counts.sent_again + counts.cancelled_late;
        assert_eq!(counts.kept, settled, "every message that was kept was sent again or cancelled");
        assert_eq!(books.live, *pending, "every buffer in use holds a pending event");
    }
    let sum = |of: fn(&Counts, &Books, u64) -> u64| {
        pes.iter().map(|(counts, books, pending)| of(counts, books, *pending)).sum::<u64>()
    };
    let kept = sum(|counts, _, _| counts.committed + counts.rolled_back);
    assert_eq!(
        sum(|counts, _, _| counts.processed),
        kept,
        "every event processed was committed or rolled back"
    );
    let over = sum(|counts, _, pending| {
        counts.committed + counts.annihilated + counts.handed_over + counts.unreadable + pending
    });
    let all = sum(|counts, _, _| counts.sent + counts.taken_over);
    assert_eq!(all, over, "every event sent was committed, annihilated or is pending");
    let sent = [
        sum(|counts, _, _| counts.messages_sent),
        sum(|counts, _, _| counts.anti_sent),
        sum(|_, books, _| books.returned),
    ];
    let received = [
        sum(|counts, _, _| counts.messages_received),
        sum(|counts, _, _| counts.anti_received),
        sum(|_, books, _| books.taken_back),
    ];
    assert_eq!(sent, received, "every message between PEs arrived");
    let kept = sum(|_, books, _| books.free + books.live + books.deposited);
    assert_eq!(
        sum(|_, books, _| books.places + books.withdrawn),
        kept,
        "every buffer is in use or free"
    );
}

#[cfg(test)]
#[path = "counts_tests.rs"]
mod tests;
