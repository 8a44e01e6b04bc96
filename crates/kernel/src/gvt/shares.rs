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

#[cfg(test)]
mod tests {
    use warpline_base::Moment;

    use super::*;
    use crate::gvt::Work;

    fn share() -> Share {
        let never = Moment::Never;
        Share { sent: 0, received: 0, least: never, failure: never, work: Work::default() }
    }

    #[test]
    fn each_neighbour_has_a_share_for_each_of_two_rounds_of_two_epochs() {
        let mut shares = Shares::default();
        let all = || {
            let rounds = [(4, 1), (4, 2), (5, 1), (5, 2)];
            [7, 9].into_iter().flat_map(move |pe| rounds.map(|(epoch, round)| (pe, epoch, round)))
        };
        for (pe, epoch, round) in all() {
            assert!(!shares.has(pe, epoch, round));
            shares.add(pe, epoch, round, share());
        }
        for (pe, epoch, round) in all().skip(1) {
            assert!(shares.take(pe, epoch, round).is_some() && !shares.has(pe, epoch, round));
        }
        assert!(shares.has(7, 4, 1) && shares.take(9, 4, 1).is_none());
    }

    #[test]
    #[should_panic(expected = "two shares of PE 3 in epoch 2, round 1")]
    fn a_block_holds_one_share() {
        let mut shares = Shares::default();
        for pe in [4, 3, 3] {
            shares.add(pe, 2, 1, share());
        }
    }

    #[test]
    #[should_panic(expected = "PE 3 gave a share of another (epoch, round)")]
    fn a_share_of_another_round_is_a_mistake() {
        let mut shares = Shares::default();
        shares.add(3, 4, 1, share());
        shares.take(3, 2, 1);
    }
}
