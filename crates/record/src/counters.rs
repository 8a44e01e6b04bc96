//! The table of counters: what every PE counts, and where it appears in the record of a run.
//!
//! To add a counter, write its line into the table, and increment the field that the line makes in
//! the kernel's `Counts`. How it merges, its places in the record and its column in the report
//! follow from the line.
//!
//! A line gives the meaning of the counter, its field, its type and how it is [merged](of_pes).
//! Then come the places where it appears, if any, in this order:
//!
//! - `pe(name, label, unit)`: in [`PeRecord`](crate::PeRecord) as `name`, and in the report's table
//!   of PEs. Columns come in the order of the table.
//! - `run(name)`: in [`ParallelRecord`](crate::ParallelRecord).
//! - `rollbacks(name)`, `memory(name)`, `throttle(name)`: in a part of `ParallelRecord`.
//!
//! A counter without a place is read only by balance checks and tests.

/// Passes the table of counters to a macro: for each counter `[meaning] field: type, merging,
/// places;`.
#[doc(hidden)]
#[macro_export]
macro_rules! counters {
    ($macro:ident) => {
        $crate::counters! { @table $macro;
            /// Events executed, including those undone again.
            processed: u64, sum, pe(processed_events, "executed", "events"), run(processed_events);
            /// Events that nothing could precede any more when they were executed. They are never
            /// undone.
            certain: u64, sum, pe(certain_events, "certain", "events"), run(certain_events);
            /// Events committed.
            committed: u64, sum, pe(committed_events, "committed", "events");
            /// Events undone.
            rolled_back: u64, sum, pe(rolled_back_events, "undone", "events"), run(rolled_back_events);
            /// Rollbacks caused by stragglers.
            primary: u64, sum, pe(primary_rollbacks, "primary rollbacks", ""), rollbacks(primary);
            /// Rollbacks caused by the cancellation of an event that had been processed.
            secondary: u64, sum, pe(secondary_rollbacks, "secondary rollbacks", ""), rollbacks(secondary);
            /// Events sent, to any PE, including those cancelled later.
            sent: u64, sum;
            /// Anti-messages sent: cancellations of messages that another PE may have processed.
            anti_sent: u64, sum, pe(anti_messages, "anti-messages", ""), run(anti_messages);
            /// Anti-messages received.
            anti_received: u64, sum;
            /// Messages sent to other PEs, not counting anti-messages.
            messages_sent: u64, sum, pe(messages_sent, "sent to other PEs", "messages");
            /// Messages sent to other PEs by value.
            values_sent: u64, sum;
            /// Messages received from other PEs, not counting anti-messages.
            messages_received: u64, sum;
            /// Committed events that another PE had sent.
            remote_committed: u64, sum, run(remote_events);
            /// Steps that found messages waiting.
            receipts: u64, sum;
            /// The greatest number of messages found waiting in one step.
            mailbox_depth_max: u64, most, pe(mailbox_depth_max, "mailbox, most", "messages");
            /// The greatest number of events that were executed and uncommitted at the same time.
            history_max: u64, most, pe(history_max, "uncommitted, most", "events");
            /// Event buffers allocated by the end of the run.
            buffers: u64, most, pe(buffers, "buffers", "events");
            /// Free event buffers given to the pool of all PEs, because this PE had too many.
            buffers_shared: u64, sum, pe(buffers_shared, "buffers given to all", "events");
            /// Events undone right after they were executed, because there were no buffers for what
            /// they sent. They count neither as executed nor as undone.
            parked: u64, sum, pe(parked_events, "waits for buffers", ""), run(parked_events);
            /// Events executed again to reconstruct a state from a copy.
            repeated: u64, sum, pe(repeated_events, "executed again", "events"), run(repeated_events);
            /// The number of an LP's events between two copies of its state, at the end of the run;
            /// 0 without copies.
            copy_interval: u32, last, pe(copy_interval, "between copies", "events");
            /// Whether, at the end of the run, events sent by a PE to itself lay in its own pool
            /// instead of buffers.
            pooled: bool, last, pe(own_pool, "own pool", "");
            /// Messages cancelled in place, before they were processed.
            cancelled_in_place: u64, sum, run(cancelled_in_place);
            /// Pending events cancelled by anti-messages. Messages by value cannot be cancelled in
            /// place.
            cancelled_pending: u64, sum;
            /// Messages of undone events that were not cancelled at once, under lazy cancellation.
            kept: u64, sum, run(kept_messages);
            /// Kept messages that their events sent again, so they stayed valid.
            sent_again: u64, sum, run(sent_again);
            /// Kept messages that were cancelled later.
            cancelled_late: u64, sum, run(cancelled_late);
            /// GVT computations.
            gvt_epochs: u64, alike, run(gvt_epochs);
            /// Rounds of reduction for GVT: more than one per computation if messages were in
            /// flight.
            gvt_rounds: u64, alike, run(gvt_trials);
            /// The greatest number of bytes that all PEs of a machine held at once, free ones
            /// included; 0 without a budget.
            memory_most: u64, most, memory(taken_most_bytes);
            /// Batches of speculative events that were put off for lack of memory.
            memory_stops: u64, sum, memory(stops);
            /// Artificial rollbacks: how often events were undone to save memory.
            artificial: u64, sum, memory(artificial_rollbacks);
            /// Cancelback: pending events sent back to their senders to save memory.
            sent_back: u64, sum, memory(sent_back);
            /// Events sent back before the event that had sent them committed, so that event was
            /// undone.
            taken_back: u64, sum, memory(taken_back);
            /// Events undone to save memory, by artificial rollback or cancelback.
            artificial_events: u64, sum, memory(artificial_events);
            /// GVT computations that found PEs undoing far more events than they commit. The first
            /// one narrows a wide or endless window to that of an adaptive one, for the rest of the
            /// run.
            throttled: u64, alike, throttle(narrowed_epochs);
            /// How often all PEs of a process were moved to one thread, because they computed GVT
            /// every few events and committed more that way.
            gathered: u64, alike, throttle(gathered);
            /// Pending events taken over from another engine.
            taken_over: u64, sum;
            /// Pending events handed over to another engine.
            handed_over: u64, sum;
            /// Events dropped because they had been cancelled.
            annihilated: u64, sum;
            /// Events that arrived without a readable payload and never happened, because they lie
            /// beyond the end.
            unreadable: u64, sum;
            /// Faults deferred because the event might still be undone.
            held_back: u64, sum;
            /// How often a horizon rose because GVT was read between its computations.
            gvt_reads: u64, sum, run(gvt_reads);
            /// How often LBTS was read from the registers of a Global Synchronization Unit.
            register_reads: u64, sum, run(register_reads);
            /// How often registers of such a unit were written: a PE's own, or those that announce
            /// messages to another.
            register_writes: u64, sum, run(register_writes);
            /// Steps.
            steps: u64, sum, run(steps);
            /// Steps in which nothing could be executed.
            idle_steps: u64, sum;
            /// Idle steps in which the PE waited for a GVT computation to end.
            waiting_steps: u64, sum;
            /// Observations, saved values and copies of messages that are still kept at the end of
            /// the run.
            side_records_kept: u64, sum;
        }
    };
    (@table $macro:ident; $(
        $(#[doc = $meaning:literal])+
        $field:ident: $type:ident, $merging:ident $(, $place:ident($($there:tt)*))*;
    )*) => {
        $macro! { $([concat!($($meaning, "\n"),+)] $field: $type, $merging $(, $place($($there)*))*;)* }
    };
}

/// How the counters of several PEs merge into those of the run. The table names these functions.
pub mod of_pes {
    /// The sum.
    pub fn sum(all: &mut u64, more: u64) {
        *all += more;
    }

    /// All PEs count the same thing, but some may have missed a part, so the greatest count is
    /// right.
    pub fn alike(all: &mut u64, more: u64) {
        *all = more.max(*all);
    }

    /// The greatest.
    pub fn most(all: &mut u64, more: u64) {
        *all = more.max(*all);
    }

    /// Not a count but a state at the end of the run: the last PE's value is taken.
    pub fn last<T>(all: &mut T, more: T) {
        *all = more;
    }
}

/// How counters of successive segments of a run merge.
pub(crate) mod of_segments {
    pub(crate) use super::of_pes::{last, most, sum};

    /// Within a segment all PEs count the same thing. Segments add up.
    pub(crate) fn alike(all: &mut u64, more: u64) {
        *all += more;
    }
}
