//! How PEs hand over records to couriers in other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use warpline_memory::{CasConsumer, CasCounts, CasProducer, Consumer, Producer, cas_ring, ring};

use super::records::Record;
use crate::Room;

warpline_base::words! {
    /// How PEs hand over messages to a courier that runs in another thread. The answer does not
    /// depend on it.
    ///
    /// ```
    /// use warpline_transport::CommunicationRing;
    /// let all = [CommunicationRing::PerSender, CommunicationRing::Cas];
    /// assert_eq!(all.map(CommunicationRing::name), ["per-sender", "cas"]);
    /// ```
    pub enum CommunicationRing {
        /// Each through a ring of its own, for which only two threads ever contend.
        #[default]
        PerSender = "per-sender",
        /// All through one ring, in which they reserve places by compare-and-swap: the
        /// communication buffer of B. Williams and others, "High-performance PDES on manycore
        /// clusters", SIGSIM-PADS 2021, §4.1.
        Cas = "cas",
    }
}

/// How many messages a ring holds.
const MESSAGES: usize = 4096;
/// How often a PE tries to push a message into a ring that others are pushing into.
const TRIES: u32 = 64;

/// The end of a PE.
pub(super) enum Outlet<E> {
    Ring(Producer<Record<E>>),
    Cas(CasProducer<Record<E>>),
}

/// The end of the courier.
pub(super) enum Intake<E> {
    Rings(Vec<Consumer<Record<E>>>),
    Cas(CasConsumer<Record<E>>),
}

/// The ends of this many PEs and their courier.
pub(super) fn feed<E: Send>(
    kind: CommunicationRing,
    pes: usize,
    room: Room,
) -> (Vec<Outlet<E>>, Intake<E>) {
    let room = room.places(MESSAGES);
    match kind {
        CommunicationRing::PerSender => {
            let (producers, consumers): (Vec<_>, Vec<_>) = (0..pes).map(|_| ring(room)).unzip();
            (producers.into_iter().map(Outlet::Ring).collect(), Intake::Rings(consumers))
        }
        CommunicationRing::Cas => {
            let (producer, consumer) = cas_ring(room);
            ((0..pes).map(|_| Outlet::Cas(producer.clone())).collect(), Intake::Cas(consumer))
        }
    }
}

impl<E: Send> Outlet<E> {
    /// Hands a record over, if there is room.
    #[inline]
    pub(super) fn put(&mut self, record: Record<E>) -> Result<(), Record<E>> {
        match self {
            Outlet::Ring(ring) => ring.write(record),
            Outlet::Cas(ring) => ring.push_within(record, TRIES).map_err(|refused| refused.value),
        }
    }

    /// Whether the courier finds a record only once it is [published](Self::publish).
    #[inline]
    pub(super) fn keeps_back(&self) -> bool {
        matches!(self, Outlet::Ring(_))
    }

    /// Lets the courier find what has been handed over.
    #[inline]
    pub(super) fn publish(&mut self) {
        if let Outlet::Ring(ring) = self {
            ring.publish();
        }
    }
}

impl<E> Outlet<E> {
    /// What became of the records pushed into a ring that PEs share.
    pub(super) fn counts(&self) -> CasCounts {
        match self {
            Outlet::Ring(_) => CasCounts::default(),
            Outlet::Cas(ring) => ring.counts(),
        }
    }
}

impl<E: Send> Intake<E> {
    /// Takes out the records that have been handed over, and returns how many there were.
    pub(super) fn drain(&mut self, mut take: impl FnMut(Record<E>)) -> usize {
        match self {
            Intake::Rings(rings) => {
                let mut taken = 0;
                for ring in rings {
                    for record in ring.drain().into_iter().flatten() {
                        take(record);
                        taken += 1;
                    }
                }
                taken
            }
            Intake::Cas(ring) => ring.drain(usize::MAX, take),
        }
    }
}

/// The bounds that the PEs of a courier have published, in the order of the PEs.
#[derive(Clone)]
pub(super) struct Bounds(Arc<[AtomicU64]>);

impl Bounds {
    pub(super) fn new(pes: usize) -> Self {
        Bounds((0..pes).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    pub(super) fn write(&self, pe: usize, bound: u64) {
        // Release pairs with the Acquire of `read`: whoever sees the bound also finds what the PE
        // has handed over before.
        self.0[pe].store(bound, Ordering::Release);
    }

    #[inline]
    pub(super) fn read(&self, pe: usize) -> u64 {
        self.0[pe].load(Ordering::Acquire)
    }
}
