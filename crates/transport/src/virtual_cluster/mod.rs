//! A torture test for PEs: all of them in one thread, in an order drawn from a seed.
//!
//! Messages are late and overtake each other. PEs stand still, and rings are full. Bounds are as
//! late as messages, but never overtake those sent before them. Where the model has a format for
//! its events, messages by value travel as bytes. The code of the PEs is unchanged. So this finds
//! errors that threads on few cores hardly ever meet, and makes them reproducible.

mod latest;
mod network;
mod port;

use warpline_base::random::mix64;

use self::network::{Chance, SharedNetwork};
pub use self::port::VirtualPort;
use crate::Codec;

/// Speeds last for at most this many steps per PE.
const LASTING: u32 = 100;
/// With more PEs than this, speeds last no longer: GVT needs all PEs, and would wait long for those
/// that stand still.
const LASTING_PES: u32 = 16;

/// PEs that live in one thread, and the network between them. Which PE is stepped next, and how
/// long each message takes, is drawn from a seed. The same seed gives the same schedule, so errors
/// can be reproduced. With a codec, messages by value travel as bytes.
#[derive(Debug)]
pub struct VirtualCluster<E> {
    network: SharedNetwork<E>,
    random: Chance,
    /// How likely each PE is to be stepped: for a while, some are slow and some stand still.
    speeds: Vec<u32>,
    /// Their sum.
    total: u32,
    /// Steps until new speeds are drawn.
    until_change: u32,
}

impl<E> VirtualCluster<E> {
    /// A cluster of this many PEs, and their ports.
    pub fn new(pes: u32, seed: u64, codec: Option<Codec<E>>) -> (Self, Vec<VirtualPort<E>>) {
        let mut random = Chance::new(mix64(seed));
        let delay = [1, pes, 4 * pes][random.below(3) as usize];
        let network = SharedNetwork::new(pes as usize, delay, Chance::new(mix64(!seed)), codec);
        let ports = (0..pes).map(|me| VirtualPort::new(me, network.clone())).collect();
        let cluster = VirtualCluster {
            network,
            random,
            speeds: vec![1; pes as usize],
            total: pes,
            until_change: 0,
        };
        (cluster, ports)
    }

    /// The PE to step next.
    pub fn next_pe(&mut self) -> usize {
        self.network.get().advance();
        if self.until_change == 0 {
            self.draw_speeds();
        }
        self.until_change -= 1;
        let mut chosen = self.random.below(self.total);
        let is_chosen = |&speed: &u32| {
            let found = chosen < speed;
            chosen = chosen.wrapping_sub(speed);
            found
        };
        self.speeds.iter().position(is_chosen).unwrap_or_default()
    }

    fn draw_speeds(&mut self) {
        let pes = self.speeds.len() as u32;
        self.until_change = 1 + self.random.below(LASTING * pes.min(LASTING_PES));
        for speed in &mut self.speeds {
            *speed = [0, 1, 10, 100][self.random.below(4) as usize];
        }
        // At least one PE must not stand still.
        let fast = self.random.below(pes);
        self.speeds[fast as usize] = 100;
        self.total = self.speeds.iter().sum();
    }
}
