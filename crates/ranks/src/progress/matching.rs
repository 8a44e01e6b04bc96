//! Which message goes to which receive.
//!
//! Invariant: no message in `unexpected` fits any receive in `posted`.

use super::messages::{Body, Unexpected, is_collective};
use super::requests::{Key, Pattern, Received, Work};
use super::state::Progress;
use crate::call::Name;
use crate::network::Network;
use crate::packet::{Accept, Envelope, RankEvent};

impl Progress {
    /// A message has arrived, or its offer has.
    pub(super) fn receive(&mut self, message: Unexpected, net: &mut Network<'_>) {
        if self.has_ended {
            let what = message.describe();
            return self.fail(net, format!("nothing will receive {what}"));
        }
        let Envelope { context, from, tag, .. } = message.envelope;
        let taker = self.posted.iter().position(|posted| posted.pattern.takes(context, from, tag));
        match taker {
            Some(place) => {
                let request = self.posted.remove(place).request;
                self.matched(request, message, net);
            }
            None => {
                if self.unexpected.is_empty() {
                    self.unexpected.reserve_exact(1);
                }
                self.unexpected.push_back(message);
                self.is_ready |= self.probes;
            }
        }
    }

    /// Takes the first message that fits.
    pub(super) fn take_unexpected(&mut self, pattern: &Pattern) -> Option<Unexpected> {
        let place = self.find_unexpected(pattern)?;
        self.unexpected.remove(place)
    }

    fn find_unexpected(&self, pattern: &Pattern) -> Option<usize> {
        self.unexpected.iter().position(|message| {
            let Envelope { context, from, tag, .. } = message.envelope;
            pattern.takes(context, from, tag)
        })
    }

    /// The first message that fits, and when it arrived.
    pub(crate) fn peek(&self, pattern: &Pattern) -> Option<(Received, f64)> {
        let message = self.unexpected.get(self.find_unexpected(pattern)?)?;
        Some((message.received(), message.at))
    }

    /// A receive has found its message.
    pub(super) fn matched(&mut self, place: u32, message: Unexpected, net: &mut Network<'_>) {
        let slot = self.requests.at(place);
        let Work::Receive { most, .. } = slot.work else {
            return self
                .fail(net, "a message has found a request that receives nothing".to_owned());
        };
        let call = slot.call;
        let envelope = message.envelope;
        if message.body.bytes() > most {
            let what = message.describe();
            return self
                .fail(net, format!("{call} takes {most} bytes at most, too few for {what}"));
        }
        if is_collective(envelope.context) && envelope.call != call.name as u8 {
            let theirs = Name::of(envelope.call).map_or("?", Name::text);
            return self.fail(
                net,
                format!(
                    "{call} is call {} of all ranks of its communicator, and rank {} calls {theirs} there; all ranks must make \
                     the same calls in the same order",
                    envelope.tag, envelope.from
                ),
            );
        }
        slot.received = message.received();
        match message.body {
            Body::Here(content) => {
                slot.content = Some(content);
                self.complete(place, message.at);
            }
            Body::Offered(offer) => {
                let at = slot.at.max(message.at);
                slot.work = Work::Arriving;
                let accept = Accept { by: net.me, sends: offer.request, receives: place };
                // The card answers, and the program has nothing to do with it.
                let latency = net.target.latency(net.me, envelope.from);
                net.send_at(envelope.from, at + latency, latency, RankEvent::Accept(accept));
            }
        }
    }

    /// Withdraws a receive that has found no message. Returns whether it was one.
    pub(crate) fn cancel(&mut self, key: Key) -> bool {
        let Some(slot) = self.requests.get(key) else { return false };
        if !matches!(slot.work, Work::Receive { .. }) {
            return false;
        }
        slot.work = Work::Cancelled;
        self.posted.retain(|posted| posted.request != key.place);
        true
    }
}
