//! What whoever steps the PEs of a modelled machine sees of its network.

use std::iter::Sum;
use std::ops::Range;

use warpline_machine::Time;

use super::mailbox::Opened;

/// What a step has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Events and anti-messages.
    pub messages: u64,
    /// How many of them go to other nodes.
    pub far: u64,
    /// Control messages, blocks and bounds.
    pub others: u64,
    /// What sending events and anti-messages takes.
    pub sending: Time,
    /// What sending all else takes.
    pub gvt: Time,
}

/// Something that arrives at a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The PE.
    pub to: u32,
    /// When.
    pub at: Time,
    /// Whether it is an event or an anti-message.
    pub is_event: bool,
}

/// How far what a step has sent has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departed {
    /// Until when the sender is busy with it; at the latest, if it waits.
    pub until: Time,
    /// For how long of that it has waited for the card of its node to take its bounds. The card
    /// takes none before it has sent the last.
    pub publishing: Time,
    /// Since when a message waits for room in a full mailbox, and others behind it. Then it is to
    /// be tried again, at `until` or when there is [room](ModelledWires::has_room).
    pub waits: Option<Time>,
}

/// How mailboxes in hardware were used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailboxUse {
    /// Messages that went through one.
    pub messages: u64,
    /// Messages that found one full and waited.
    pub waits: u64,
    /// How often that was in vain, so that the flag was set and the message sent through memory.
    pub failures: u64,
}

impl Sum for MailboxUse {
    fn sum<I: Iterator<Item = Self>>(uses: I) -> Self {
        uses.fold(Self::default(), |a, b| MailboxUse {
            messages: a.messages + b.messages,
            waits: a.waits + b.waits,
            failures: a.failures + b.failures,
        })
    }
}

/// The network of a part of the machine as whoever steps its PEs sees it, which is the same for all
/// models.
pub trait ModelledWires: Sync {
    /// The PEs of the part.
    fn pes(&self) -> Range<u32>;

    /// Hands over what has left for PEs of other parts. Returns when the first of it arrives.
    fn hand_over(&self) -> Option<Time>;

    /// Takes what other parts have handed over. `arrives` hears of all of it.
    fn take_over(&self, arrives: &mut dyn FnMut(Arrival));

    /// Opens the mailbox of a PE for a step at this time, if it has had nothing to do since `idle`.
    fn open(&self, pe: u32, now: Time, idle: Time) -> Opened;

    /// What the step of a PE has sent.
    fn sent(&self, pe: u32) -> Sent;

    /// The step of a PE has ended: what it has sent leaves. `arrives` hears of all of it.
    fn depart(&self, pe: u32, now: Time, arrives: &mut dyn FnMut(Arrival)) -> Departed;

    /// The PEs that wait for room in the mailbox of this one. It has made a step, so that there may
    /// be room now.
    fn has_room(&self, pe: u32) -> Vec<u32>;

    /// How mailboxes in hardware were used.
    fn mailbox_use(&self) -> MailboxUse;

    /// Prefetches the mailbox of a PE.
    fn prefetch(&self, pe: u32);

    /// Prefetches what arrives first in the mailbox of a PE, once the mailbox itself is there.
    fn prefetch_arrivals(&self, pe: u32);

    /// When the first thing arrives that a PE which waits at `now` has to look at; whether events
    /// are among it, and bounds.
    fn next(&self, pe: u32, now: Time, events: bool, bounds: bool) -> Option<Time>;
}
