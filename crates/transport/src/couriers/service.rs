//! All couriers of a process, and who works for them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::counts::CourierCounts;
use super::courier::Courier;
use super::courier_report::CourierReport;

/// A courier that PEs of a process share with each other or with the thread that works for it. The
/// lock is hardly ever contended.
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
    /// The first PE of each courier. If each PE has a courier of its own, every PE.
    FirstPes,
    /// Threads that do nothing else.
    Threads,
    /// The thread that watches the PEs, where no other may call MPI (MPI_THREAD_FUNNELED).
    Watcher,
}

/// The couriers of a process.
pub struct Couriers<E> {
    couriers: Vec<SharedCourier<E>>,
    report: CourierReport,
    /// By PE of this process.
    courier_of: Vec<usize>,
    service: Service,
}

impl<E: Send> Couriers<E> {
    /// `courier_of` has the courier of each PE of this process.
    pub(super) fn new(
        couriers: Vec<SharedCourier<E>>,
        report: CourierReport,
        courier_of: Vec<usize>,
        service: Service,
    ) -> Self {
        Couriers { couriers, report, courier_of, service }
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

    /// Does the work of a courier. If it `hurries`, no batch waits for more messages. Returns
    /// whether there was anything to do.
    pub fn work(&self, number: usize, hurries: bool) -> bool {
        let outcome = self.couriers[number].lock().work(hurries);
        self.report.note(outcome).unwrap_or(false)
    }

    /// Does the work of the courier of a PE that has nothing left to do, if PEs work for couriers.
    /// `pe` counts the PEs of this process.
    pub fn work_for(&self, pe: usize) {
        if self.service == Service::FirstPes {
            self.work(self.courier_of[pe], false);
        }
    }

    /// What has gone wrong, if anything has: a carrier has failed, or has brought what makes no
    /// sense. Nothing more is sent or received then.
    pub fn trouble(&self) -> Option<&str> {
        self.report.trouble()
    }

    /// Ends communication. Has to be called until it returns true: then nothing is on its way any
    /// more. All processes have to do so.
    ///
    /// # Errors
    /// If something goes wrong.
    pub fn close(&self) -> Result<bool, String> {
        self.couriers.iter().try_fold(true, |all, courier| Ok(all & courier.lock().close()?))
    }

    /// Ends without the other processes, as some are gone: what is on its way may never arrive.
    /// Memory that the system may still write into is leaked.
    pub fn abandon(self) {
        for courier in self.couriers {
            let leaks = courier.lock().is_written_into();
            if leaks {
                std::mem::forget(courier);
            }
        }
    }

    /// The work that they have done.
    pub fn counts(&self) -> CourierCounts {
        let cas = self.report.counts();
        self.couriers
            .iter()
            .map(|courier| courier.lock().counts())
            .fold(CourierCounts { cas, ..CourierCounts::default() }, |all, one| all + one)
    }
}
