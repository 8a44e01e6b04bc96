//! How far PEs are from each other, without divisions: every message asks several times.

use warpline_machine::{Machine, Time, Topology};

/// Divides by a number that does not change: D. Lemire, O. Kaser and N. Kurz, "Faster remainder by
/// direct computation", Software: Practice and Experience 49(6), 2019.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    by: u32,
    /// 2^64 divided by it, rounded up; 0 for 1.
    inverse: u64,
}

impl Divisor {
    fn new(by: u32) -> Self {
        Divisor { by, inverse: (u64::MAX / u64::from(by)).wrapping_add(1) }
    }

    /// The quotient and the remainder.
    #[inline]
    fn divide(self, number: u32) -> (u32, u32) {
        if self.by == 1 {
            return (number, 0);
        }
        let quotient = ((u128::from(self.inverse) * u128::from(number)) >> 64) as u32;
        (quotient, number - quotient * self.by)
    }
}

/// The distances between the cores of a machine.
///
/// Invariant: all is as the [machine](Machine::latency) says.
#[derive(Debug)]
pub(super) struct Distances {
    cores: Divisor,
    /// What a message takes within a node that has one domain.
    near: Option<Time>,
    far: Time,
    hop: Time,
    /// The nodes along each dimension of a torus.
    torus: Option<Vec<Divisor>>,
}

impl Distances {
    pub(super) fn new(machine: &Machine) -> Self {
        let torus = match &machine.topology {
            Topology::Torus { dimensions } => {
                Some(dimensions.iter().map(|nodes| Divisor::new(*nodes)).collect())
            }
            Topology::Flat | Topology::FatTree { .. } => None,
        };
        Distances {
            cores: Divisor::new(machine.cores),
            near: (machine.domains <= 1).then_some(machine.near.latency),
            far: machine.far.latency,
            hop: machine.hop,
            torus,
        }
    }

    /// The node of a core.
    #[inline]
    pub(super) fn node(&self, core: u32) -> u32 {
        self.cores.divide(core).0
    }

    /// Whether two cores belong to different nodes.
    #[inline]
    pub(super) fn is_far(&self, from: u32, to: u32) -> bool {
        self.node(from) != self.node(to)
    }

    /// How long the first byte takes from one core of the machine to another.
    #[inline]
    pub(super) fn latency(&self, machine: &Machine, from: u32, to: u32) -> Time {
        let nodes = [self.node(from), self.node(to)];
        match (&self.torus, self.near) {
            (Some(torus), _) if nodes[0] != nodes[1] => self.far + self.hop * hops(torus, nodes),
            (_, Some(near)) if nodes[0] == nodes[1] => near,
            _ => machine.latency(from, to),
        }
    }
}

/// The hops from one node of a torus to another.
#[inline]
fn hops(torus: &[Divisor], [mut from, mut to]: [u32; 2]) -> u64 {
    let mut hops = 0;
    for nodes in torus {
        let (from_rest, from_place) = nodes.divide(from);
        let (to_rest, to_place) = nodes.divide(to);
        let apart = from_place.abs_diff(to_place);
        hops += u64::from(apart.min(nodes.by - apart));
        (from, to) = (from_rest, to_rest);
    }
    hops
}

#[cfg(test)]
mod tests {
    use warpline_machine::{THIS, names, open};

    use super::*;

    #[test]
    fn distances_are_those_of_the_machine() {
        for name in names().filter(|name| *name != THIS) {
            let machine = open(name).expect("it is built in");
            let distances = Distances::new(&machine);
            let most = machine.cores * machine.topology.nodes_most().unwrap_or(40_000) as u32;
            let far_apart = (0..40).map(|place| (u64::from(most - 1) * place / 39) as u32);
            let all: Vec<u32> = (0..most.min(40)).chain(far_apart).collect();
            for &from in &all {
                assert_eq!(distances.node(from), machine.node(from));
                for &to in &all {
                    let found = distances.latency(&machine, from, to);
                    assert_eq!(found, machine.latency(from, to), "{} {from} {to}", machine.name);
                    assert_eq!(distances.is_far(from, to), machine.is_far(from, to));
                }
            }
        }
    }

    #[test]
    fn a_divisor_divides_any_number() {
        for by in [1, 2, 3, 7, 12, 25, 641, 65_537, u32::MAX - 1, u32::MAX] {
            let divisor = Divisor::new(by);
            for number in [0, 1, by - 1, by, by.wrapping_add(1), 1_000_003, u32::MAX - 1, u32::MAX]
            {
                assert_eq!(divisor.divide(number), (number / by, number % by), "{number} / {by}");
            }
        }
    }
}
