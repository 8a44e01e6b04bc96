//! Chance, by which a schedule and its parameters are drawn.

use warpline_base::random::mix64;

pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix64(self.0) % n
    }

    pub(super) fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }

    pub(super) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

/// The parameters of a schedule: chances in percent, drawn once for each schedule.
pub(super) struct Habits {
    /// Wires keep the order of control messages.
    pub(super) ordered: bool,
    /// PEs execute the least event, rather than any.
    pub(super) careful: u64,
    pub(super) wish: u64,
    /// Relative frequencies of executing, delivering a message, delivering a control message and
    /// advancing.
    pub(super) weights: [u64; 4],
}
