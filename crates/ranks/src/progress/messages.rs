//! Messages and receives that wait for each other.

use super::requests::{Pattern, Received};
use crate::call::Name;
use crate::packet::{Content, Envelope, Offer};

/// The communicator of all ranks.
pub(crate) const WORLD: u32 = 0;

/// A receive that has not found a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub(crate) pattern: Pattern,
    pub(crate) request: u32,
}

/// What there is of a message.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// Its bytes.
    Here(Content),
    /// An offer.
    Offered(Offer),
}

impl Body {
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Body::Here(content) => content.len(),
            Body::Offered(offer) => offer.bytes,
        }
    }
}

/// A message that has found no receive.
#[derive(Clone, Debug)]
pub(crate) struct Unexpected {
    pub(crate) envelope: Envelope,
    pub(crate) body: Body,
    /// When it arrived.
    pub(crate) at: f64,
}

impl Unexpected {
    pub(super) fn received(&self) -> Received {
        let Envelope { from, tag, datatype, .. } = self.envelope;
        Received { from, tag, datatype, bytes: self.body.bytes() }
    }

    pub(super) fn describe(&self) -> String {
        let Envelope { from, context, tag, .. } = self.envelope;
        let bytes = self.body.bytes();
        let call = Name::of(self.envelope.call).map_or("?", Name::text);
        let place = match context >> 1 {
            WORLD => String::new(),
            other => format!(" in communicator {other}"),
        };
        if is_collective(context) {
            return format!("the message of rank {from} in {call}{place}");
        }
        format!(
            "the message of {bytes} bytes that rank {from} sent{place} with tag {tag} by {call}"
        )
    }
}

/// Whether messages in this context are those of calls of all ranks.
pub(crate) fn is_collective(context: u32) -> bool {
    context & 1 == 1
}
