//! The table of counters: what every PE counts, and where that stands in the record of a run.
//!
//! To add a counter, write its line into the table, and increment the field that the line makes in the kernel's `Counts`.
//! Its merging, its places in the record and its column in the report follow from the line.
//!
//! A line has the meaning of the counter, its field, its type, how it is [merged](of_pes), and then the places where it
//! stands, in this order, as far as it has them:
//!
//! - `pe(name, label, unit)`: in [`PeRecord`](crate::PeRecord) as `name`, and in the report's table of PEs.
//!   Columns come in the order of the table.
//! - `run(name)`: in [`ParallelRecord`](crate::ParallelRecord).
//! - `rollbacks(name)`, `memory(name)`, `throttle(name)`: in a part of that.
//!
//! A counter without a place only balances the books, or is for tests.

/// Passes the table of counters to a macro: for each counter `[meaning] field: type, merging, places;`.
#[doc(hidden)]
#[macro_export]
macro_rules! counters {
    ($macro:ident) => {
        $crate::counters! { @table $macro;
            /// Events executed, including those undone again.
            processed: u64, sum, pe(processed_events, "executed", "events"), run(processed_events);
            /// Events that were certain when they were executed, as nothing could precede them any more.
            /// None of these is ever undone.
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
            /// Messages sent to other PEs, without anti-messages.
            messages_sent: u64, sum, pe(messages_sent, "sent to other PEs", "messages");
            /// Messages sent to other PEs by value.
            values_sent: u64, sum;
            /// Messages received from other PEs, without anti-messages.
            messages_received: u64, sum;
            /// Committed events that another PE had sent.
            remote_committed: u64, sum, run(remote_events);
            /// Steps that found messages waiting.
            receipts: u64, sum;
            /// The most messages found waiting in one step.
            mailbox_depth_max: u64, most, pe(mailbox_depth_max, "mailbox, most", "messages");
            /// The most events that were executed and uncommitted at the same time.
            history_max: u64, most, pe(history_max, "uncommitted, most", "events");
            /// Event buffers allocated by the end of the run.
            buffers: u64, most, pe(buffers, "buffers", "events");
            /// Free event buffers given to a pool of all PEs, as there were too many.
            buffers_shared: u64, sum, pe(buffers_shared, "buffers given to all", "events");
            /// Events undone right after they were executed, as there were no buffers for what they sent.
            /// They count neither as executed nor as undone.
            parked: u64, sum, pe(parked_events, "waits for buffers", ""), run(parked_events);
            /// Events executed again to work out a state from a copy.
            repeated: u64, sum, pe(repeated_events, "executed again", "events"), run(repeated_events);
            /// The number of an LP's events between copies of its state at the end of the run; 0 without copies.
            copy_interval: u32, last, pe(copy_interval, "between copies", "events");
            /// Whether, at the end of the run, events sent by a PE to itself lay in a pool of its own, and not in
            /// buffers.
            pooled: bool, last, pe(own_pool, "own pool", "");
            /// Messages cancelled in place, before they were processed.
            cancelled_in_place: u64, sum, run(cancelled_in_place);
            /// Pending events cancelled by anti-messages, as messages by value cannot be cancelled in place.
            cancelled_pending: u64, sum;
            /// Messages of undone events that were not cancelled at once, under lazy cancellation.
            kept: u64, sum, run(kept_messages);
            /// Kept messages that their events sent again, so that they stood.
            sent_again: u64, sum, run(sent_again);
            /// Kept messages that were cancelled in the end.
            cancelled_late: u64, sum, run(cancelled_late);
            /// GVT computations.
            gvt_epochs: u64, alike, run(gvt_epochs);
            /// Reductions for GVT: more than one per computation if messages were in flight.
            gvt_trials: u64, alike, run(gvt_trials);
            /// The most bytes that all PEs of a machine had taken at a time, free ones included; 0 without a budget.
            memory_most: u64, most, memory(taken_most_bytes);
            /// Batches of events that were not executed ahead, as there was no memory for them.
            memory_stops: u64, sum, memory(stops);
            /// How often events were undone to save memory: artificial rollbacks.
            artificial: u64, sum, memory(artificial_rollbacks);
            /// Pending events sent back to the PEs that had sent them, to save memory: cancelback.
            sent_back: u64, sum, memory(sent_back);
            /// Events sent back that came before what had sent them committed, and were undone.
            taken_back: u64, sum, memory(taken_back);
            /// Events undone to save memory, in either way.
            artificial_events: u64, sum, memory(artificial_events);
            /// GVT computations that found PEs undoing far more than they commit. From the first one on, a window
            /// that was wide or had no end was as narrow as an adaptive one.
            throttled: u64, alike, throttle(narrowed_epochs);
            /// How often all PEs of a process were given one thread, as they found GVT for every few events and
            /// committed more that way.
            gathered: u64, alike, throttle(gathered);
            /// Pending events taken over from another engine.
            taken_over: u64, sum;
            /// Pending events handed over to another engine.
            handed_over: u64, sum;
            /// Events dropped because they had been cancelled.
            annihilated: u64, sum;
            /// Events that arrived without a readable payload and never happened, as they lie beyond the end.
            unreadable: u64, sum;
            /// Faults held back because the event might still be undone.
            held_back: u64, sum;
            /// Steps.
            steps: u64, sum;
            /// Steps in which nothing could be executed.
            idle_steps: u64, sum;
            /// Idle steps in which the PE waited for a GVT computation to end.
            waiting_steps: u64, sum;
            /// Observations, saved values and copies of messages that are still kept at the end of the run.
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

/// How the counters of several PEs of a run become those of the run. The functions are the ways of merging in the table.
pub mod of_pes {
    /// They add up.
    pub fn sum(all: &mut u64, more: u64) {
        *all += more;
    }

    /// All count the same thing, some perhaps less of it: the one that has seen most of it is right.
    pub fn alike(all: &mut u64, more: u64) {
        *all = more.max(*all);
    }

    /// The most of any.
    pub fn most(all: &mut u64, more: u64) {
        *all = more.max(*all);
    }

    /// It says how things stand at the end and is no count: the last PE is taken.
    pub fn last<T>(all: &mut T, more: T) {
        *all = more;
    }
}

/// How the counters of several segments of a run, one after the other, become those of all of them.
pub(crate) mod of_segments {
    pub(crate) use super::of_pes::{last, most, sum};

    /// PEs count the same in each segment, and segments add up.
    pub(crate) fn alike(all: &mut u64, more: u64) {
        *all += more;
    }
}
