use warpline_memory::Books;

/// What a PE has done, for the record and the books.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// How many rollbacks undid 1, 2–3, 4–7, … events.
    pub lengths: [u64; 32],
    /// Events sent, to any PE, including those cancelled later.
    pub sent: u64,
    /// Events dropped because they had been cancelled.
    pub annihilated: u64,
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
    /// Pending events cancelled by anti-messages: those sent by value, which cannot be cancelled in place.
    pub cancelled_pending: u64,
    /// Committed events that another PE had sent.
    pub remote_committed: u64,
    /// Faults held back because the event might still be undone.
    pub held_back: u64,
    /// GVT computations.
    pub gvt_epochs: u64,
    /// Reductions that the GVT computations took.
    pub gvt_trials: u64,
    /// Steps.
    pub steps: u64,
    /// Steps in which nothing could be executed.
    pub idle_steps: u64,
    /// Steps that found messages waiting.
    pub receipts: u64,
    /// The most messages found waiting in one step.
    pub mailbox_depth_max: u64,
    /// The most events that were executed and uncommitted at the same time.
    pub history_max: u64,
    /// Events whose observations or saved values are still kept when the run is over.
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
    let (mut processed, mut kept, mut sent, mut over, mut messages, mut anti) = (0, 0, 0, 0, 0i64, 0i64);
    let (mut places, mut accounted, mut empty) = (0, 0, 0i64);
    for (counts, books, pending) in pes {
        processed += counts.processed;
        kept += counts.committed + counts.rolled_back;
        sent += counts.sent;
        over += counts.committed + counts.annihilated + pending as u64;
        messages += counts.messages_sent as i64 - counts.messages_received as i64;
        anti += counts.anti_sent as i64 - counts.anti_received as i64;
        places += books.places;
        accounted += books.free + books.live;
        empty += books.returned as i64 - books.taken_back as i64;
        assert_eq!(counts.extras_kept, 0, "what events observed and saved is kept until they commit or are undone");
        assert_eq!(books.live, pending as u64, "every buffer in use holds a pending event");
    }
    assert_eq!(processed, kept, "every event processed was committed or rolled back");
    assert_eq!(sent, over, "every event sent was committed, annihilated or is pending");
    assert_eq!((messages, anti, empty), (0, 0, 0), "every message between PEs arrived");
    assert_eq!(places, accounted, "every buffer is in use or free");
}
