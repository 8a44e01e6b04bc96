use serde::{Deserialize, Serialize};

/// What an event is to the LP that sent it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum EventKind {
    /// An event that nobody can take back.
    #[default]
    Plain,
    /// A timer of its LP, which may still be cancelled.
    Timer,
    /// A timer that was cancelled, and so never happens.
    CancelledTimer,
}

impl EventKind {
    /// All kinds, by number.
    const ALL: [EventKind; 3] = [EventKind::Plain, EventKind::Timer, EventKind::CancelledTimer];

    /// The kind as a number.
    #[inline]
    pub fn bits(self) -> u8 {
        self as u8
    }

    /// The kind with these [`bits`](Self::bits), if there is one.
    #[inline]
    pub fn from_bits(bits: u8) -> Option<Self> {
        Self::ALL.get(usize::from(bits)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_back_from_their_numbers() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_bits(kind.bits()), Some(kind));
        }
        assert_eq!(EventKind::from_bits(3), None);
    }
}
