//! Shares that have arrived and wait for their turn.
//!
//! They are what the receive blocks of Perumalla, Park and Tipparaju (§2.7) hold: for each
//! neighbour four, (d, r), (d, r+1), (d+1, r), (d+1, r+1), for two epochs and two rounds of each. A
//! neighbour may be one round ahead, or in the next epoch already. Hardly any of them are in use at
//! a time, so a PE has one list of those that are. Where PEs are very many, each has a few dozen
//! neighbours, and the blocks of all would be most of its memory.

use super::messages::Share;
use super::put::block;

/// A share, and whose it is.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    from: u32,
    epoch: u64,
    round: u32,
    share: Share,
}

/// The shares that have arrived at a PE.
///
/// Invariant: there is one at most for each neighbour and block.
#[derive(Debug, Default)]
pub(super) struct Shares(Vec<Arrived>);

impl Shares {
    fn place(&self, from: u32, epoch: u64, round: u32) -> Option<usize> {
        let wanted = block(epoch, round);
        self.0.iter().position(|arrived| {
            arrived.from == from && block(arrived.epoch, arrived.round) == wanted
        })
    }

    /// Whether the block of PE `from` for a round is in use.
    pub(super) fn has(&self, from: u32, epoch: u64, round: u32) -> bool {
        self.place(from, epoch, round).is_some()
    }

    /// Adds the share of PE `from` for a round.
    ///
    /// # Panics
    /// If the block is in use.
    pub(super) fn add(&mut self, from: u32, epoch: u64, round: u32, share: Share) {
        assert!(
            !self.has(from, epoch, round),
            "two shares of PE {from} in epoch {epoch}, round {round}"
        );
        self.0.push(Arrived { from, epoch, round, share });
    }

    /// Takes the share of PE `from` for a round, if it has arrived.
    ///
    /// # Panics
    /// If the block has a share of another round.
    pub(super) fn take(&mut self, from: u32, epoch: u64, round: u32) -> Option<Share> {
        let place = self.place(from, epoch, round)?;
        let arrived = self.0.swap_remove(place);
        assert_eq!(
            (arrived.epoch, arrived.round),
            (epoch, round),
            "PE {from} gave a share of another (epoch, round)"
        );
        Some(arrived.share)
    }
}
