use warpline_base::{EventKey, EventKind, LpId, Priority, Sequence, VirtualTime};
use warpline_model::engine::PortableWith;

/// An event in an engine's memory. It takes 48 bytes with a payload of up to 16, so that it fits
/// into a cache line of 64 bytes with a link or two.
///
/// If events were packed tighter, half of them would straddle two lines, which costs a large model
/// a quarter of its speed.
#[derive(Clone, Debug, PortableWith)]
pub struct Event<E> {
    /// The time at which it happens.
    pub time: VirtualTime,
    /// The sender's sequence number.
    pub sequence: Sequence,
    /// The LP that sent it.
    pub sender: LpId,
    /// The LP that it reaches.
    pub receiver: LpId,
    /// The number of zero-delay hops that led to it within its instant.
    pub step: u32,
    /// Its priority.
    pub priority: Priority,
    /// Whether it is a timer of its LP.
    pub kind: EventKind,
    /// What it carries.
    pub payload: E,
}

impl<E> Event<E> {
    /// The timer that it is, if it is one.
    #[inline]
    pub fn as_timer(&self) -> Option<Sequence> {
        self.is_timer().then_some(self.sequence)
    }

    /// Whether it is a timer that has not been cancelled.
    #[inline]
    pub fn is_timer(&self) -> bool {
        self.kind == EventKind::Timer
    }

    /// Its place in the total order of events.
    #[inline]
    pub fn key(&self) -> EventKey {
        EventKey {
            time: self.time,
            step: self.step,
            priority: self.priority,
            sender: self.sender,
            sequence: self.sequence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_of_16_bytes_leaves_room_in_a_cache_line() {
        assert_eq!(size_of::<Option<Event<[u64; 2]>>>(), 48);
    }
}
