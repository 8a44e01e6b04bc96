//! All couriers of a process, and who works for them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::counts::CourierCounts;
use super::courier::Courier;
use super::notes::Notes;

/// A courier that the PEs of a process, or a thread of its own, share. It is hardly ever contended.
pub(super) struct SharedCourier<E>(Arc<Mutex<Courier<E>>>);

impl<E> Clone for SharedCourier<E> {
    fn clone(&self) -> Self {
        SharedCourier(self.0.clone())
    }
}

impl<E> SharedCourier<E> {
    pub(super) fn new(courier: Courier<E>) -> Self {
        SharedCourier(Arc::new(Mutex::new(courier)))
    }

    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, Courier<E>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who works for couriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// The first PE of each courier. If each PE has a courier of its own, that is every PE.
    FirstPes,
    /// Threads that do nothing else.
    Threads,
    /// The thread that watches the PEs, where no other may call MPI: MPI_THREAD_FUNNELED.
    Watcher,
}

/// The couriers of a process.
pub struct Couriers<E> {
    couriers: Vec<SharedCourier<E>>,
    notes: Notes,
    /// By PE of this process.
    courier_of: Vec<usize>,
    service: Service,
}

impl<E: Send> Couriers<E> {
    /// `courier_of` says by PE of this process which of them is its own.
    pub(super) fn new(
        couriers: Vec<SharedCourier<E>>,
        notes: Notes,
        courier_of: Vec<usize>,
        service: Service,
    ) -> Self {
        Couriers { couriers, notes, courier_of, service }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.couriers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.couriers.is_empty()
    }

    /// Who has to [work](Self::work) for them.
    pub fn service(&self) -> Service {
        self.service
    }

    /// Lets a courier do what there is to do; if it `hurries`, no batch waits for more messages.
    /// Returns whether there was anything.
    pub fn work(&self, number: usize, hurries: bool) -> bool {
        let outcome = self.couriers[number].lock().work(hurries);
        self.notes.note(outcome).unwrap_or(false)
    }

    /// Does so for the courier of a PE that has nothing left to do, if PEs work for couriers; the
    /// PE goes by its number in this process.
    pub fn work_for(&self, pe: usize) {
        if self.service == Service::FirstPes {
            self.work(self.courier_of[pe], false);
        }
    }

    /// What has gone wrong, if anything has: a carrier fails, or brings what makes no sense.
    /// Nothing more is sent or received then.
    pub fn trouble(&self) -> Option<&str> {
        self.notes.trouble()
    }

    /// Goes on until nothing is on its way any more, here or in other processes, all of which have
    /// to do the same. Returns whether that is over; it has to be called again if not.
    ///
    /// # Errors
    /// If something goes wrong.
    pub fn close(&self) -> Result<bool, String> {
        self.couriers.iter().try_fold(true, |all, courier| Ok(all & courier.lock().close()?))
    }

    /// Leaves everything as it is: what is on its way may never arrive, as other processes are
    /// gone. Memory that the system may still write into is leaked.
    pub fn abandon(self) {
        for courier in self.couriers {
            let leaks = courier.lock().is_written_into();
            if leaks {
                std::mem::forget(courier);
            }
        }
    }

    /// What they have done.
    pub fn counts(&self) -> CourierCounts {
        let cas = self.notes.counts();
        self.couriers
            .iter()
            .map(|courier| courier.lock().counts())
            .fold(CourierCounts { cas, ..CourierCounts::default() }, |all, one| all + one)
    }
}
