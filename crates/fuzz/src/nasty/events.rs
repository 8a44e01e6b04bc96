//! The events of `nasty`, and how they leave their process.

use serde::{Deserialize, Serialize, Serializer};
use warpline::prelude::*;
use warpline::{Payload, WireFormat};

/// What LPs send each other.
#[derive(Clone, Debug, PartialEq, Portable, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(super) errand: Errand,
    pub(super) payload: Payload,
}

#[derive(Clone, Debug, PartialEq, Portable, Serialize, Deserialize)]
pub(crate) enum Errand {
    /// Brings about more events, while the energy lasts.
    Spread { energy: u32 },
    /// One of a numbered series.
    Tick { number: u64 },
    /// One of many, or a timer.
    Dust,
    /// Goes on for ever.
    Loop,
    /// Cannot be written.
    Unwritable(Bomb),
}

#[derive(Clone, Debug, PartialEq, Portable, Deserialize)]
pub(crate) struct Bomb(pub(super) u8);

impl Serialize for Bomb {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("a bomb cannot be written")
    }
}

impl Errand {
    fn word(&self) -> u64 {
        match self {
            Errand::Spread { energy } => u64::from(*energy) << 8,
            Errand::Tick { number } => number << 8 | 1,
            Errand::Dust => 2,
            Errand::Loop => 3,
            Errand::Unwritable(_) => 4,
        }
    }
}

/// A number that stands for an event and its time.
pub(super) fn mark(event: &Event, now: f64) -> u64 {
    let ends = [event.payload.first(), event.payload.last()]
        .map(|byte| u64::from(byte.copied().unwrap_or_default()));
    event.errand.word() ^ now.to_bits().rotate_left(20) ^ ends[0] << 40 ^ ends[1] << 48
}

/// A way for events to leave their process.
pub(crate) trait Wires: 'static {
    const WIRE: WireFormat<Event>;
}

/// As they lie in memory.
#[derive(Debug)]
pub(crate) struct Plain;

/// As serde writes them.
#[derive(Debug)]
pub(crate) struct Written;

impl Wires for Plain {
    const WIRE: WireFormat<Event> = WireFormat::portable();
}

impl Wires for Written {
    const WIRE: WireFormat<Event> = WireFormat::serde();
}
