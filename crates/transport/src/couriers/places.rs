//! Where PEs and couriers are.

use std::ops::Range;
use std::time::Duration;

use super::carrier::Address;
use super::feed::CommunicationRing;
use super::plugged::PluggedCarriers;

/// Which process has which PEs, and how many couriers.
#[derive(Clone, Debug)]
pub struct Places {
    /// This process.
    pub process: u32,
    /// By process: its first PE. The number of all PEs follows.
    pub first_pes: Vec<u32>,
    /// The PEs with which those of this process share memory, themselves among them.
    pub near: Range<u32>,
    /// The most couriers of a process. Each carries the messages of an equal share of its PEs.
    pub couriers: u32,
}

impl Places {
    /// How many PEs there are.
    pub fn pes(&self) -> u32 {
        self.first_pes.last().copied().unwrap_or_default()
    }

    /// The PEs of a process.
    pub fn pes_of(&self, process: u32) -> Range<u32> {
        self.first_pes[process as usize]..self.first_pes[process as usize + 1]
    }

    /// The PEs of this process.
    pub fn local(&self) -> Range<u32> {
        self.pes_of(self.process)
    }

    /// The processes with which this one shares no memory.
    pub fn far(&self) -> impl Iterator<Item = u32> + '_ {
        let processes = self.first_pes.len() as u32 - 1;
        (0..processes).filter(|process| !self.near.contains(&self.first_pes[*process as usize]))
    }

    /// How many couriers a process has.
    pub fn couriers_of(&self, process: u32) -> u32 {
        self.couriers.clamp(1, self.pes_of(process).len().max(1) as u32)
    }

    /// All couriers of all processes.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        let of = |process| {
            (0..self.couriers_of(process)).map(move |courier| Address { process, courier })
        };
        (0..self.first_pes.len() as u32 - 1).flat_map(of).collect()
    }

    /// The courier that carries the messages to and from a PE.
    pub fn courier_of(&self, pe: u32) -> Address {
        let process = self.first_pes.partition_point(|first| *first <= pe) as u32 - 1;
        let pes = self.pes_of(process);
        let place = u64::from(pe - pes.start);
        let couriers = u64::from(self.couriers_of(process));
        Address { process, courier: (place * couriers / pes.len() as u64) as u32 }
    }
}

/// The limits of batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CourierLimits {
    /// The most bytes of a piece, its header included.
    pub piece: usize,
    /// A batch of this many bytes is sent without waiting for more. At most `piece`.
    pub batch: usize,
    /// How long the first message of a batch waits for others.
    pub age: Duration,
    /// How many pieces of a courier may be on their way at a time.
    pub in_flight: usize,
}

/// What brings messages to processes that share no memory with this one, or share it only for
/// control messages.
#[derive(Clone, Copy, Debug)]
pub enum CarrierKind {
    /// Rings in memory that the processes share.
    Rings,
    /// MPI. A launcher has to have started the processes.
    Mpi,
    /// Carriers from outside this crate, on one machine.
    Plugged(&'static dyn PluggedCarriers),
}

/// How messages travel to far PEs.
#[derive(Clone, Debug)]
pub struct CourierPlan {
    /// Where everything is.
    pub places: Places,
    /// How PEs hand messages over to couriers.
    pub feed: CommunicationRing,
    /// What brings them to other processes.
    pub carrier: CarrierKind,
    /// The limits of batches.
    pub limits: CourierLimits,
    /// Whether far PEs read each other's bounds.
    pub bounds: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn couriers_have_equal_shares_of_pes() {
        let places = Places { process: 1, first_pes: vec![0, 3, 7, 8], near: 3..7, couriers: 2 };
        assert_eq!((places.pes(), places.local()), (8, 3..7));
        assert_eq!(places.far().collect::<Vec<_>>(), [0, 2]);
        assert_eq!([0, 1, 2].map(|process| places.couriers_of(process)), [2, 2, 1]);
        let couriers = (0..8)
            .map(|pe| places.courier_of(pe))
            .map(|Address { process, courier }| (process, courier));
        assert_eq!(
            couriers.collect::<Vec<_>>(),
            [(0, 0), (0, 0), (0, 1), (1, 0), (1, 0), (1, 1), (1, 1), (2, 0)]
        );
    }
}
