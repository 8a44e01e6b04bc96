//! What an algorithm is, and what it needs of its PE.

use warpline_base::Moment;

use super::algorithm::GvtAlgorithm;
use super::messages::{Control, Tag, Verdict, Work};
use super::put::Put;

/// What an algorithm asks its PE to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Passes a control message to another PE, which [receives](Gvt::receive_control) it.
    Send {
        /// The receiver.
        to: u32,
        /// The message.
        control: Control,
    },
    /// Writes into the memory of another PE, which [receives](Gvt::receive_control) what it
    /// [reads](Put::read) there.
    Write {
        /// Whose memory.
        to: u32,
        /// What.
        put: Put,
    },
    /// Adopts the verdict: commits what comes before its GVT.
    Adopt(Verdict),
}

/// What an algorithm needs to know about its PE. It asks only when it has to.
pub trait Local {
    /// The earliest moment of anything that has yet to be done: of pending events, and of rollbacks
    /// and anti-messages that were put off.
    ///
    /// It covers every message reported as [received](Gvt::received) that has not been dealt with
    /// yet.
    fn least(&mut self) -> Moment;

    /// The earliest committed fault, or [`Moment::Never`].
    fn failure(&self) -> Moment;

    /// What was done since the last call.
    fn take_work(&mut self) -> Work;
}

/// One PE's part in computing GVT.
///
/// Algorithms rely on one rule alone: whatever a PE executes or undoes causes nothing before its
/// own moment.
pub trait Gvt: Send {
    /// Which algorithm this is.
    fn algorithm(&self) -> GvtAlgorithm;

    /// Counts a message to PE `to`, positive or anti, for an event at the moment `at` or later, and
    /// returns its tag. Call it when the message is made, even if the message then waits to be
    /// handed over.
    fn sent(&mut self, to: u32, at: impl FnOnce() -> Moment) -> Tag;

    /// Announces all messages counted since the last call. Call it before any of them is handed
    /// over.
    fn announce(&mut self) {}

    /// Counts a message that has arrived, positive or anti, for an event at the moment `at`. Before
    /// the PE calls [`advance`](Self::advance), it must put the message where [`Local::least`]
    /// covers it.
    fn received(&mut self, tag: Tag, at: impl FnOnce() -> Moment);

    /// Asks for a new GVT, because the interval has passed or the PE is idle. Idempotent. Ignored
    /// while a computation is under way, as its verdict may be enough.
    fn wish(&mut self);

    /// Takes a control message that has arrived.
    ///
    /// # Panics
    /// If the message was not meant for this PE, or arrived twice.
    fn receive_control(&mut self, control: Control);

    /// The next action for the PE, if any. Call it until there is none, after every `wish` and
    /// `receive_control`.
    ///
    /// # Panics
    /// If GVT would decrease, or more messages were received than sent: some were not counted.
    fn advance(&mut self, local: &mut dyn Local) -> Option<Action>;

    /// Tells the algorithm that GVT alone says how far PEs may go: what it knows should be fresh.
    fn drive(&mut self) {}

    /// If it can be read at any moment: the least moments of what PEs have yet to do, and of messages
    /// in transit. Nothing that is sent from now on is caused by anything before the earlier of the
    /// two. `None` if it cannot, or not just now.
    fn read(&self) -> Option<(Moment, Moment)> {
        None
    }

    /// The PEs that this one exchanges control messages with, in no particular order.
    fn neighbours(&self) -> Vec<u32>;

    /// Whether the PE must not execute events now. It still has to receive messages.
    fn is_paused(&self) -> bool;

    /// Whether this PE is taking part in a computation.
    fn is_on(&self) -> bool;

    /// How many computations this PE has joined so far.
    fn epoch(&self) -> u64;
}
