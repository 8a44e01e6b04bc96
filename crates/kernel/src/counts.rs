use serde::{Deserialize, Serialize};
use warpline_memory::{Books, CasCounts};

/// What a PE has done, for the record and the books.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Events executed, including those undone again.
    pub processed: u64,
    /// Events committed.
    pub committed: u64,
    /// Events executed for good, before the horizon; all others were [executed ahead](Self::ahead).
    pub certain: u64,
    /// Events undone.
    pub rolled_back: u64,
    /// Rollbacks caused by stragglers.
    pub primary: u64,
    /// Rollbacks caused by the cancellation of a processed event.
    pub secondary: u64,
    /// How often events were undone to save memory.
    pub artificial: u64,
    /// How many events that undid.
    pub artificial_events: u64,
    /// Pending events sent back to the PEs that had sent them, to save memory.
    pub sent_back: u64,
    /// Events that came back, and were undone for it, with those after them in their KPs.
    pub taken_back: u64,
    /// Batches of events that were not executed ahead, as memory was short.
    pub memory_stops: u64,
    /// The most bytes that all PEs had taken, as far as this one has seen; 0 without a budget.
    pub memory_most: u64,
    /// How many rollbacks undid 1, 2–3, 4–7, … events.
    pub lengths: [u64; 32],
    /// Events sent, to any PE, including those cancelled later.
    pub sent: u64,
    /// Pending events that this PE has taken over from another engine.
    pub taken_over: u64,
    /// Pending events that it has handed over to another engine.
    pub handed_over: u64,
    /// Events dropped because they had been cancelled.
    pub annihilated: u64,
    /// Events that have arrived without what they carry and never happened, as they lie beyond the end.
    pub unreadable: u64,
    /// Messages sent to other PEs, without anti-messages.
    pub messages_sent: u64,
    /// Messages among them that went by value.
    pub values_sent: u64,
    /// Messages received from other PEs, without anti-messages.
    pub messages_received: u64,
    /// Anti-messages sent.
    pub anti_sent: u64,
    /// Anti-messages received.
    pub anti_received: u64,
    /// Events of this and other PEs that were cancelled before they were processed.
    pub cancelled_in_place: u64,
    /// Messages of undone events that were kept, under lazy cancellation.
    pub kept: u64,
    /// Those of them that were sent again, and stood.
    pub sent_again: u64,
    /// Those that were cancelled in the end.
    pub cancelled_late: u64,
    /// Pending events cancelled by anti-messages: those sent by value, which cannot be cancelled in place.
    pub cancelled_pending: u64,
    /// Committed events that another PE had sent.
    pub remote_committed: u64,
    /// Faults held back because the event might still be undone.
    pub held_back: u64,
    /// Events undone right after they were executed, as there were no buffers for what they sent.
    pub parked: u64,
    /// GVT computations.
    pub gvt_epochs: u64,
    /// Reductions that the GVT computations took.
    pub gvt_trials: u64,
    /// Verdicts that found PEs undoing far more than they commit, and kept the window narrow.
    pub throttled: u64,
    /// How often it began to share its thread with all PEs of its process, as they found GVT for every few events.
    pub gathered: u64,
    /// Steps.
    pub steps: u64,
    /// Steps in which nothing could be executed.
    pub idle_steps: u64,
    /// Those among them in which the PE was waiting for GVT, as it was being computed.
    pub waiting_steps: u64,
    /// Steps that found messages waiting.
    pub receipts: u64,
    /// The most messages found waiting in one step.
    pub mailbox_depth_max: u64,
    /// What became of the messages put into mailboxes for which PEs compete.
    pub mailbox: CasCounts,
    /// The most events that were executed and uncommitted at the same time.
    pub history_max: u64,
    /// Events executed again to work a state out from a copy.
    pub repeated: u64,
    /// The number of an LP's events between copies of its state when the run is over; 0 where there are none.
    pub copy_interval: u32,
    /// Whether events that this PE sent to itself lay in its pool when the run was over, and not in buffers.
    pub pooled: bool,
    /// Events whose observations or saved values, and messages of which copies, are still kept when the run is over.
    pub extras_kept: u64,
}

impl Counts {
    /// Events executed ahead, while others could still come before them, including those undone again.
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

/// Closes the books of a run that has ended, given each PE's counts, buffers and number of pending events: over all PEs, no message, event
/// or buffer may be lost or unaccounted for.
///
/// # Panics
/// If the books do not balance.
pub fn balance<'a>(pes: impl Iterator<Item = (&'a Counts, Books, usize)>) {
    let pes: Vec<_> = pes.map(|(counts, books, pending)| (counts, books, pending as u64)).collect();
    for (counts, books, pending) in &pes {
        assert_eq!(counts.extras_kept, 0, "what events observed and saved is kept until they commit or are undone");
        let settled = counts.sent_again + counts.cancelled_late;
        assert_eq!(counts.kept, settled, "every message that was kept was sent again or cancelled");
        assert_eq!(books.live, *pending, "every buffer in use holds a pending event");
    }
    let sum = |of: fn(&Counts, &Books, u64) -> u64| pes.iter().map(|(counts, books, pending)| of(counts, books, *pending)).sum::<u64>();
    let kept = sum(|counts, _, _| counts.committed + counts.rolled_back);
    assert_eq!(sum(|counts, _, _| counts.processed), kept, "every event processed was committed or rolled back");
    let over = sum(|counts, _, pending| counts.committed + counts.annihilated + counts.handed_over + counts.unreadable + pending);
    let all = sum(|counts, _, _| counts.sent + counts.taken_over);
    assert_eq!(all, over, "every event sent was committed, annihilated or is pending");
    let sent = [sum(|counts, _, _| counts.messages_sent), sum(|counts, _, _| counts.anti_sent), sum(|_, books, _| books.returned)];
    let received =
        [sum(|counts, _, _| counts.messages_received), sum(|counts, _, _| counts.anti_received), sum(|_, books, _| books.taken_back)];
    assert_eq!(sent, received, "every message between PEs arrived");
    let kept = sum(|_, books, _| books.free + books.live + books.deposited);
    assert_eq!(sum(|_, books, _| books.places + books.withdrawn), kept, "every buffer is in use or free");
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// What one PE leaves behind.
    type Left = (Counts, Books, usize);

    /// Something that went wrong on one PE.
    type Slip = fn(&mut Left);

    /// Two PEs that have sent each other messages, anti-messages and free buffers. Only together do their books balance.
    fn two_pes() -> [Left; 2] {
        let zero = Counts {
            processed: 10,
            committed: 7,
            rolled_back: 3,
            sent: 11,
            taken_over: 3,
            annihilated: 2,
            kept: 5,
            sent_again: 3,
            cancelled_late: 2,
            messages_sent: 6,
            messages_received: 4,
            anti_sent: 2,
            anti_received: 1,
            ..Counts::default()
        };
        let one = Counts {
            processed: 20,
            committed: 15,
            rolled_back: 5,
            sent: 20,
            handed_over: 4,
            annihilated: 1,
            messages_sent: 4,
            messages_received: 6,
            anti_sent: 1,
            anti_received: 2,
            ..Counts::default()
        };
        let books = |places, free, live, returned, taken_back| Books { places, free, live, returned, taken_back, ..Books::default() };
        [(zero, books(7, 5, 3, 8, 2), 3), (one, books(9, 6, 2, 2, 8), 2)]
    }

    fn close([zero, one]: &[Left; 2]) {
        balance([zero, one].into_iter().map(|(counts, books, pending)| (counts, *books, *pending)));
    }

    #[test]
    fn books_balance_over_all_pes() {
        close(&two_pes());
    }

    /// One thing too many or too few, of whatever kind and on whichever PE, shows.
    #[test]
    fn books_that_are_out_by_one_do_not_balance() {
        let executed = "every event processed was committed or rolled back";
        let (over, arrived) = ("every event sent was committed, annihilated or is pending", "every message between PEs arrived");
        let kept = "every message that was kept was sent again or cancelled";
        let faults: [(Slip, &str); 20] = [
            (|pe| pe.0.processed += 1, executed),
            (|pe| pe.0.committed -= 1, executed),
            (|pe| pe.0.rolled_back += 1, executed),
            (|pe| pe.0.sent += 1, over),
            (|pe| pe.0.annihilated -= 1, over),
            (|pe| pe.0.taken_over += 1, over),
            (|pe| pe.0.handed_over += 1, over),
            (|pe| pe.0.messages_sent += 1, arrived),
            (|pe| pe.0.messages_received -= 1, arrived),
            (|pe| pe.0.anti_sent += 1, arrived),
            (|pe| pe.0.anti_received -= 1, arrived),
            (|pe| pe.1.returned += 1, arrived),
            (|pe| pe.1.taken_back -= 1, arrived),
            (|pe| pe.1.places += 1, "every buffer is in use or free"),
            (|pe| pe.1.free -= 1, "every buffer is in use or free"),
            (|pe| pe.1.live -= 1, "every buffer in use holds a pending event"),
            (|pe| pe.0.kept += 1, kept),
            (|pe| pe.0.sent_again += 1, kept),
            (|pe| pe.0.cancelled_late += 1, kept),
            (|pe| pe.0.extras_kept = 1, "is kept until they commit or are undone"),
        ];
        for (number, (fault, expected)) in faults.into_iter().enumerate() {
            for pe in 0..2 {
                let mut pes = two_pes();
                fault(&mut pes[pe]);
                let panic = catch_unwind(AssertUnwindSafe(|| close(&pes))).expect_err("the books do not balance");
                let text = panic.downcast_ref::<String>().expect("it is a text");
                assert!(text.contains(expected), "fault {number} on PE {pe}: {text}");
            }
        }
    }

    #[test]
    fn rollbacks_are_counted_by_the_bits_of_their_lengths() {
        let mut counts = Counts::default();
        [0, 1, 2, 3, 4, 7, 8, u64::MAX].into_iter().for_each(|length| counts.rollback(length));
        assert_eq!(counts.lengths[..5], [1, 2, 2, 1, 0]);
        assert_eq!((counts.lengths[31], counts.lengths.iter().sum::<u64>()), (1, 7));
    }

    #[test]
    fn events_ahead_and_the_depth_of_the_mailbox_are_worked_out() {
        let counts = Counts { processed: 10, certain: 4, messages_received: 5, anti_received: 1, receipts: 4, ..Counts::default() };
        assert_eq!((counts.ahead(), counts.mailbox_depth_mean()), (6, 1.5));
        assert_eq!(Counts::default().mailbox_depth_mean(), 0.0);
    }
}
