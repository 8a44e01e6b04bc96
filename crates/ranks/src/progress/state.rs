//! The state of a rank's messages, and what its calls do.

use std::collections::VecDeque;

use super::messages::{Body, Posted, Unexpected, WORLD};
use super::requests::{Key, Pattern, Received, Requests, Work};
use crate::call::{Call, Name};
use crate::network::Network;
use crate::packet::{Accept, Content, Envelope, Offer, RankEvent};

/// How many calls a rank may make before the simulation catches up with its clock.
const CALLS_AHEAD: u32 = 256;

/// The state of a rank's messages.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The rank's time in seconds: now, or later.
    pub(crate) clock: f64,
    /// When the rank's cards are free again, near and far, in seconds.
    card_free: [f64; 2],
    pub(crate) requests: Requests,
    /// Receives that have not found a message, in the order of calls.
    pub(super) posted: Vec<Posted>,
    /// Messages that have found no receive, in the order of arrival.
    pub(super) unexpected: VecDeque<Unexpected>,
    /// The call that the program makes, or made last.
    pub(crate) call: Call,
    /// Whether something has happened for which the program waits.
    pub(super) is_ready: bool,
    /// How many requests the program waits for.
    awaited: u32,
    /// Whether the program waits for a message to probe.
    pub(crate) probes: bool,
    /// Whether the program has come to its end.
    pub(crate) has_ended: bool,
    /// Whether the run has failed here.
    pub(crate) has_failed: bool,
    /// Calls since the last event.
    calls: u32,
    /// Sleeps that have begun, and that are over; they end in the order of their ends.
    sleeps: u32,
    sleeping: u32,
    woken: Option<u32>,
    /// The least number that this rank has used for no communicator.
    pub(crate) next_context: u32,
    /// How many calls of all ranks there were in each communicator that had any.
    collective_calls: Vec<(u32, u32)>,
}

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Eagerly if it is short.
    Standard,
    /// Only once the receiver is ready.
    Synchronous,
}

/// A message that a rank sends.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// The receiver, as a rank of the world.
    pub(crate) to: u32,
    pub(crate) context: u32,
    pub(crate) tag: u32,
    pub(crate) datatype: u8,
    pub(crate) content: Content,
    pub(crate) mode: Mode,
    pub(crate) call: Call,
}

impl Progress {
    pub(crate) fn new(call: Call) -> Self {
        Progress {
            clock: 0.0,
            card_free: [0.0; 2],
            requests: Requests::default(),
            posted: Vec::new(),
            unexpected: VecDeque::new(),
            call,
            is_ready: true,
            awaited: 0,
            probes: false,
            has_ended: false,
            has_failed: false,
            calls: 0,
            sleeps: 0,
            sleeping: 0,
            woken: None,
            next_context: WORLD + 1,
            collective_calls: Vec::new(),
        }
    }

    /// An event has reached the rank. Returns whether its program can go on.
    pub(crate) fn arrive(&mut self, event: &RankEvent, net: &mut Network<'_>) -> bool {
        self.is_ready = false;
        self.calls = 0;
        match event {
            RankEvent::Wake(sleep) => {
                self.woken = Some(*sleep);
                self.sleeping -= 1;
                self.is_ready = true;
            }
            RankEvent::Eager(envelope, content) => {
                let body = Body::Here(content.clone());
                self.receive(Unexpected { envelope: *envelope, body, at: net.now }, net);
            }
            RankEvent::Offer(envelope, offer) => {
                let body = Body::Offered(*offer);
                self.receive(Unexpected { envelope: *envelope, body, at: net.now }, net);
            }
            RankEvent::Accept(accept) => self.accepted(*accept, net),
            RankEvent::Bulk(receives, content) => {
                self.requests.at(*receives).content = Some(content.clone());
                self.complete(*receives, net.now);
            }
        }
        let is_ready = self.is_ready && !self.has_failed && !self.has_ended;
        if is_ready {
            self.clock = self.clock.max(net.now);
        }
        is_ready
    }

    /// The program makes a call.
    ///
    /// # Panics
    /// If it has made so many at one instant that it seems to be in a loop.
    pub(crate) fn enter(&mut self, call: Call, net: &mut Network<'_>) {
        self.call = call;
        self.calls += 1;
        if self.calls > net.calls_most() {
            self.fail(
                net,
                format!(
                    "it makes calls in a loop that never lets time advance, {} of them at this instant; let it compute or wait \
                     for a message",
                    self.calls
                ),
            );
            std::panic::resume_unwind(Box::new("a loop of calls"));
        }
    }

    /// Whether the simulation should catch up with the rank's clock, as the rank has made many calls
    /// without waiting.
    pub(crate) fn is_far_ahead(&self, net: &Network<'_>) -> bool {
        self.calls.is_multiple_of(CALLS_AHEAD) && self.clock > net.now
    }

    /// Begins to sleep until the simulation has caught up with the rank's clock, if it has not.
    pub(crate) fn sleep(&mut self, net: &mut Network<'_>) -> Option<u32> {
        let ahead = self.clock - net.now;
        (ahead > 0.0).then(|| {
            self.sleeps = self.sleeps.wrapping_add(1);
            self.sleeping += 1;
            net.send_at(net.me, self.clock, 0.0, RankEvent::Wake(self.sleeps));
            self.sleeps
        })
    }

    /// Whether this sleep is over.
    pub(crate) fn has_woken(&self, sleep: u32) -> bool {
        self.woken == Some(sleep)
    }

    /// Whether the program waits for anything of the simulation.
    pub(crate) fn waits(&self) -> bool {
        self.awaited > 0 || self.sleeping > 0 || self.probes || self.has_failed
    }

    /// How many messages nobody has received.
    pub(crate) fn unread(&self) -> usize {
        self.unexpected.len()
    }

    /// Ends the run with an error that names the rank and its call.
    #[cold]
    pub(crate) fn fail(&mut self, net: &mut Network<'_>, why: String) {
        if !self.has_failed {
            self.has_failed = true;
            net.services.fail(format!("rank {}, in {}: {why}", net.me, self.call));
        }
    }

    /// Sends a message. Returns its request, unless it is complete.
    pub(crate) fn send(&mut self, message: Outgoing, net: &mut Network<'_>) -> Option<Key> {
        let Outgoing { to, context, tag, datatype, content, mode, call } = message;
        let bytes = content.len();
        let envelope = Envelope { from: net.me, context, tag, call: call.name as u8, datatype };
        if to == net.me {
            // A copy within the rank: as soon as its receive is there.
            let at = self.clock;
            self.receive(Unexpected { envelope, body: Body::Here(content), at }, net);
            return None;
        }
        self.clock += net.target.wire(net.me, to).overhead;
        if mode == Mode::Standard && bytes <= net.target.eager_most() {
            self.transmit(to, bytes, self.clock, RankEvent::Eager(envelope, content), net);
            return None;
        }
        let key = self.requests.add(Work::Send { to, tag, content }, call, self.clock);
        let offer = Offer { request: key.place, bytes };
        self.transmit(to, 0, self.clock, RankEvent::Offer(envelope, offer), net);
        Some(key)
    }

    /// Has the card send a packet of so many bytes, not before `at`. Returns when its bytes have
    /// left.
    fn transmit(
        &mut self,
        to: u32,
        bytes: u64,
        at: f64,
        event: RankEvent,
        net: &mut Network<'_>,
    ) -> f64 {
        let wire = net.target.wire(net.me, to);
        let card = &mut self.card_free[usize::from(net.target.is_far(net.me, to))];
        let start = at.max(*card);
        let takes = wire.bytes(bytes);
        *card = start + takes + wire.gap;
        let left = start + takes;
        let latency = net.target.latency(net.me, to);
        // The more is left, the later it arrives: messages to one rank do not overtake each other.
        net.send_at(to, left + latency, latency, event);
        left
    }

    /// The receiver of a long message is ready for it.
    fn accepted(&mut self, accept: Accept, net: &mut Network<'_>) {
        let slot = self.requests.at(accept.sends);
        let Work::Send { content, .. } = &mut slot.work else {
            return self.fail(net, "a message was accepted that was not offered".to_owned());
        };
        let content = std::mem::replace(content, Content::Size(0));
        let bytes = content.len();
        let bulk = RankEvent::Bulk(accept.receives, content);
        let left = self.transmit(accept.by, bytes, net.now, bulk, net);
        self.complete(accept.sends, left);
    }

    /// A request is complete from `at` on.
    pub(super) fn complete(&mut self, place: u32, at: f64) {
        let slot = self.requests.at(place);
        slot.work = Work::Done;
        slot.at = slot.at.max(at);
        if std::mem::take(&mut slot.is_awaited) {
            self.awaited -= 1;
            self.is_ready = true;
        }
    }

    /// The program waits for a request: what it has received, if it is complete, which removes it.
    pub(crate) fn poll(&mut self, key: Key, net: &mut Network<'_>) -> Option<Outcome> {
        let Some(slot) = self.requests.get(key) else {
            self.fail(net, "it waits for a request that it has waited for before".to_owned());
            return None;
        };
        let is_cancelled = matches!(slot.work, Work::Cancelled);
        if !is_cancelled && !matches!(slot.work, Work::Done) {
            self.awaited += u32::from(!std::mem::replace(&mut slot.is_awaited, true));
            return None;
        }
        self.clock = self.clock.max(slot.at);
        let (received, content) = self.requests.remove(key)?;
        if content.is_some() && received.from != net.me {
            self.clock += net.target.wire(net.me, received.from).overhead;
        }
        Some(Outcome { received, content, is_cancelled })
    }

    /// Whether a request is complete by the rank's clock.
    pub(crate) fn is_complete(&mut self, key: Key) -> bool {
        let clock = self.clock;
        self.completion(key).is_some_and(|at| at <= clock)
    }

    /// When a request was complete, if it is.
    pub(crate) fn completion(&mut self, key: Key) -> Option<f64> {
        let slot = self.requests.get(key)?;
        matches!(slot.work, Work::Done | Work::Cancelled).then_some(slot.at)
    }

    /// The program waits for the first of these requests. Returns whether one is complete; then it
    /// waits no longer for the others.
    pub(crate) fn wait_for_any(&mut self, keys: impl Iterator<Item = Key> + Clone) -> bool {
        let is_over = keys.clone().any(|key| self.completion(key).is_some());
        for key in keys {
            if let Some(slot) = self.requests.get(key) {
                let awaits = !is_over && !matches!(slot.work, Work::Done | Work::Cancelled);
                let awaited = std::mem::replace(&mut slot.is_awaited, awaits);
                self.awaited = self.awaited + u32::from(awaits) - u32::from(awaited);
            }
        }
        is_over
    }

    /// The number of the next call of all ranks in a communicator.
    pub(crate) fn next_collective(&mut self, context: u32) -> u32 {
        let calls = &mut self.collective_calls;
        let place = calls.iter().position(|(of, _)| *of == context).unwrap_or_else(|| {
            calls.reserve_exact(1);
            calls.push((context, 0));
            calls.len() - 1
        });
        calls[place].1 += 1;
        calls[place].1
    }

    /// The program has come to its end, as by `MPI_Finalize`.
    pub(crate) fn end(&mut self, net: &mut Network<'_>) {
        self.has_ended = true;
        self.call.name = Name::Finalize;
        let open = self.requests.iter().next().map(|slot| (slot.call, self.describe(slot)));
        if let Some((begun, what)) = open {
            return self.fail(
                net,
                format!("{begun} began {what} and nothing has waited for it; wait for each request, or free it"),
            );
        }
        if let Some(message) = self.unexpected.front() {
            let what = message.describe();
            self.fail(net, format!("nothing has received {what}"));
        }
    }
}

/// What a complete request leaves.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) received: Received,
    /// The bytes of a message that was received.
    pub(crate) content: Option<Content>,
    pub(crate) is_cancelled: bool,
}

impl Progress {
    /// Begins to receive a message of at most so many bytes.
    pub(crate) fn post(
        &mut self,
        pattern: Pattern,
        most: u64,
        call: Call,
        net: &mut Network<'_>,
    ) -> Key {
        let key = self.requests.add(Work::Receive { pattern, most }, call, self.clock);
        match self.take_unexpected(&pattern) {
            Some(message) => self.matched(key.place, message, net),
            None => {
                // There are many ranks, and most wait for one message at a time.
                if self.posted.capacity() == 0 {
                    self.posted.reserve_exact(1);
                }
                self.posted.push(Posted { pattern, request: key.place });
            }
        }
        key
    }
}
