//! What all ways to execute an event share.
//!
//! There are three ways, in three loops. They run the same handler and count the event in the same
//! way. They differ in what they do around that:
//!
//! | | sequential loop | safe lane | speculative lane |
//! |---|---|---|---|
//! | before | nothing: whatever is pending happens | drops a cancelled event; settles what its KP has executed ahead | drops a cancelled event; rolls its KP back if it is a straggler |
//! | kept, to undo it | nothing | nothing | a record, with a copy of the state or a log of its changes |
//! | what it observed | counts at once | counts at once | is kept, and counts on commit |
//! | what it sent | takes over its memory | takes over its memory; goes to other PEs for good | is linked to its record, and may be cancelled |
//! | a timer that it cancelled | never happens | never happens | is passed over, and comes back if that is undone |
//! | if it fails | the run ends | it is deferred until GVT has reached it | it is undone, deferred, and tried again |
//!
//! A single function would have to ask at every event what each way knows beforehand. The
//! sequential loop is the measure of every speed-up, and the safe lane should come near it, so
//! neither pays for what only the speculative lane needs.

use warpline_base::{EventKey, LpId, Sequence, VirtualTime};
use warpline_model::Model;
use warpline_model::engine::{Executor, Outgoing};

use super::Lp;
use crate::Event;

/// Runs the handler of an event at `time`, the `number`-th of its LP.
#[inline(always)]
pub(crate) fn run_handler<M: Model>(
    model: &M,
    executor: &mut Executor<M>,
    lp: &mut Lp<M::State>,
    event: &Event<M::Event>,
    time: VirtualTime,
    number: u64,
) {
    executor.begin(event.receiver, number, time, event.step);
    model.handle(&mut lp.state, &event.payload, executor.lp());
}

impl<S> Lp<S> {
    /// Counts the `number`-th event of this LP, which has been executed and has not failed.
    #[inline(always)]
    pub(crate) fn count(&mut self, number: u64, key: &EventKey) {
        self.events = number;
        self.digest.push(key);
    }
}

/// Takes the last event that LP `sender` has sent out of the outbox. `first` is the sequence number
/// of the first. The pending set does not mind the last coming first, as it orders events by key.
#[inline(always)]
pub(crate) fn take_last<M: Model>(
    executor: &mut Executor<M>,
    sender: LpId,
    first: Sequence,
) -> Option<Event<M::Event>> {
    let Outgoing { time, to: receiver, step, priority, kind, event: payload } =
        executor.outbox_mut().pop()?;
    let sequence = first.nth(executor.outbox_mut().len() as u32);
    Some(Event { time, sequence, sender, receiver, step, priority, kind, payload })
}
