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

/// How fast PEs are that do not stand still, by how many times the slowest.
const SPEEDS: [u32; 3] = [1, 10, 100];
/// Speeds last for at most this many steps per PE.
const LASTING: u32 = 100;
/// With more PEs than this, speeds last no longer: GVT needs all PEs, and would wait long for those
/// that stand still.
const LASTING_PES: u32 = 16;
/// One in so many draws of speeds lasts however long the PEs wait.
const PATIENT: u32 = 64;

/// PEs that live in one thread, and the network between them. Which PE is stepped next, and how
/// long each message takes, is drawn from a seed. The same seed gives the same schedule, so errors
/// can be reproduced. With a codec, messages by value travel as bytes.
#[derive(Debug)]
pub struct VirtualCluster<E> {
    network: SharedNetwork<E>,
    random: Chance,
    speeds: Speeds,
    /// Steps until new speeds are drawn.
    until_change: u32,
    /// How long messages take, or a step of every PE if that is longer.
    turn: u32,
    /// For how many steps no PE has executed anything, and for how many the speeds outlast that.
    idle: u32,
    patience: u32,
}

/// How likely each PE is to be stepped: for a while, some are slow and some stand still. PEs of one
/// speed are in one list, so choosing one costs the same however many there are.
#[derive(Debug)]
struct Speeds {
    pes: u32,
    /// The PEs that have each of the [`SPEEDS`].
    groups: [Vec<u32>; SPEEDS.len()],
}

impl Speeds {
    /// All are equally fast.
    fn equal(pes: u32) -> Self {
        Speeds { pes, groups: [(0..pes).collect(), Vec::new(), Vec::new()] }
    }

    fn draw(&mut self, random: &mut Chance) {
        self.groups.iter_mut().for_each(Vec::clear);
        // At least one PE must not stand still.
        let fast = random.below(self.pes);
        for pe in 0..self.pes {
            let drawn = random.below(1 + SPEEDS.len() as u32);
            let speed = if pe == fast {
                Some(SPEEDS.len() - 1)
            } else {
                drawn.checked_sub(1).map(|drawn| drawn as usize)
            };
            if let Some(speed) = speed {
                self.groups[speed].push(pe);
            }
        }
    }

    fn choose(&self, random: &mut Chance) -> usize {
        let weight = |(group, speed): (&Vec<u32>, u32)| group.len() as u32 * speed;
        let total = self.groups.iter().zip(SPEEDS).map(weight).sum();
        let mut drawn = random.below(total);
        for (group, speed) in self.groups.iter().zip(SPEEDS) {
            let of_group = weight((group, speed));
            if drawn < of_group {
                return group[(drawn / speed) as usize] as usize;
            }
            drawn -= of_group;
        }
        unreachable!("less than the sum has been drawn")
    }
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
            speeds: Speeds::equal(pes),
            until_change: 0,
            turn: delay.max(pes),
            idle: 0,
            patience: 0,
        };
        (cluster, ports)
    }

    /// The PE to step next. The last one was `idle` if it had nothing to execute: when those that
    /// do not stand still have waited long enough, others get their turn.
    pub fn next_pe(&mut self, idle: bool) -> usize {
        self.network.get().advance();
        self.idle = if idle { self.idle.saturating_add(1) } else { 0 };
        if self.until_change == 0 || self.idle > self.patience {
            self.draw_speeds();
        }
        self.until_change -= 1;
        self.speeds.choose(&mut self.random)
    }

    fn draw_speeds(&mut self) {
        let pes = self.speeds.pes;
        self.until_change = 1 + self.random.below(LASTING * pes.min(LASTING_PES));
        self.speeds.draw(&mut self.random);
        self.idle = 0;
        let patient = self.random.below(PATIENT) == 0;
        self.patience = if patient { u32::MAX } else { self.turn };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pes_are_chosen_by_their_speeds() {
        let speeds = Speeds { pes: 5, groups: [vec![3], vec![0], vec![2, 4]] };
        let mut random = Chance::new(7);
        let mut chosen = [0u32; 5];
        for _ in 0..21_100 {
            chosen[speeds.choose(&mut random)] += 1;
        }
        let near = |count: u32, expected: u32| count.abs_diff(expected) < expected / 5 + 40;
        assert!(
            chosen[1] == 0
                && near(chosen[3], 100)
                && near(chosen[0], 1000)
                && near(chosen[2], 10_000)
                && near(chosen[4], 10_000),
            "{chosen:?}"
        );
    }

    #[test]
    fn speeds_last_less_long_while_nothing_happens() {
        let lasting = |idle: bool| {
            let (mut cluster, _ports) = VirtualCluster::<()>::new(4, 1, None);
            let mut draws = 0;
            for _ in 0..100_000 {
                let last = cluster.until_change;
                cluster.next_pe(idle);
                draws += u32::from(cluster.until_change + 1 != last);
            }
            100_000 / draws
        };
        let most = LASTING * 4;
        assert!((most / 3..most).contains(&lasting(false)), "{}", lasting(false));
        assert!(lasting(true) < most / 10, "{}", lasting(true));
    }

    #[test]
    fn at_least_one_pe_is_fast() {
        let mut random = Chance::new(3);
        for pes in [1, 2, 3, 100] {
            let mut speeds = Speeds::equal(pes);
            for _ in 0..50 {
                speeds.draw(&mut random);
                assert!(!speeds.groups[SPEEDS.len() - 1].is_empty());
                assert!(speeds.groups.iter().flatten().all(|pe| *pe < pes));
            }
        }
    }
}
