//! The work of communication beside the steps of PEs: working for couriers, and going on with
//! reductions over ranks.

use std::sync::{Mutex, PoisonError};

use warpline_base::TieBreak;
use warpline_kernel::gvt::{Barrier, Pacer, PacerDriver, RankPlaces};
use warpline_transport::{CourierCounts, Service};

use crate::parallel::any_couriers::AnyCouriers;
use crate::parallel::processes::Processes;
use crate::plan::ParallelPlan;
use crate::{Error, GvtAlgorithm};

/// Where the PEs of a rank meet, if reductions go over all ranks. PEs go on with reductions in
/// their steps, unless they may not call MPI, or there are threads that only send and receive. All
/// ranks have to call it at the same point.
///
/// # Errors
/// Those of MPI.
pub(crate) fn barrier_of_rank(
    plan: &ParallelPlan,
    processes: Option<&Processes>,
    service: Option<Service>,
    ties: TieBreak,
) -> Result<Option<Barrier>, Error> {
    let Some(Processes { group, .. }) = processes else { return Ok(None) };
    if (plan.gvt, plan.barrier) != (GvtAlgorithm::Synchronous, crate::Barrier::AllReduce) {
        return Ok(None);
    }
    let Some(all_reduce) = group.all_reduce().map_err(|cause| Error::Communication { cause })?
    else {
        return Ok(None);
    };
    let first_pes = (0..=plan.processes.count).map(|process| plan.first_pe(process)).collect();
    let pes_drive =
        plan.processes.may_thread() && service.is_none_or(|service| service == Service::FirstPes);
    let places = RankPlaces { rank: group.number(), first_pes, pes_drive };
    Ok(Some(Barrier::of_rank(places, all_reduce, ties)))
}

/// By which threads that only send and receive tell PEs when to find GVT, if these threads have an
/// interval of their own.
pub(crate) fn pacer(plan: &ParallelPlan, service: Service) -> Option<Pacer> {
    let is_theirs =
        plan.tuning.adapts_interval && matches!(service, Service::Threads | Service::Watcher);
    is_theirs.then(|| Pacer::new(plan.tuning.gvt_interval))
}

/// The couriers of a process, and the barrier of a rank, if it has them.
pub(crate) struct CommunicationWork<'c> {
    couriers: Option<Box<dyn AnyCouriers + 'c>>,
    /// Where the PEs of this rank meet, if reductions go over all ranks.
    barrier: Option<Barrier>,
    /// If the first of the threads that only send and receive says when GVT is to be found.
    pacer: Option<Paced>,
}

/// How threads that only send and receive ask for GVT.
struct Paced {
    now: Pacer,
    /// Only the first of them takes the lock.
    driver: Mutex<PacerDriver>,
}

impl<'c> CommunicationWork<'c> {
    pub(crate) fn new(
        couriers: Option<Box<dyn AnyCouriers + 'c>>,
        barrier: Option<Barrier>,
        pacer: Option<Pacer>,
    ) -> Self {
        let paced = |pacer: Pacer| Paced {
            now: pacer.clone(),
            driver: Mutex::new(PacerDriver::new(pacer)),
        };
        CommunicationWork { couriers, barrier, pacer: pacer.map(paced) }
    }

    fn is_done_by(&self, service: Service) -> bool {
        self.couriers.as_ref().is_some_and(|couriers| couriers.service() == service)
    }

    /// How many threads only send and receive.
    pub(crate) fn threads(&self) -> usize {
        self.couriers
            .as_ref()
            .filter(|_| self.is_done_by(Service::Threads))
            .map_or(0, |couriers| couriers.len())
    }

    /// Whether the thread that watches the PEs does the work.
    pub(crate) fn is_for_watcher(&self) -> bool {
        let reduces = self.barrier.as_ref().is_some_and(|barrier| !barrier.pes_drive());
        self.is_done_by(Service::Watcher) || reduces && self.threads() == 0
    }

    /// Does the work of one of the threads; the first also goes on with reductions, and says when
    /// GVT is to be found. Returns whether there was anything to do.
    pub(crate) fn work_as(&self, thread: usize) -> bool {
        let reduced = thread == 0 && self.barrier.as_ref().is_some_and(Barrier::go_on);
        let mut hurries = false;
        if let Some(pacer) = &self.pacer {
            // While PEs wait for GVT, they wait for messages that are in flight.
            hurries = pacer.now.is_on();
            if thread == 0 {
                pacer.driver.lock().unwrap_or_else(PoisonError::into_inner).pass();
            }
        }
        self.couriers.as_ref().is_some_and(|couriers| couriers.work(thread, hurries)) | reduced
    }

    /// Works for the courier of a PE that has nothing left to do, if PEs work for couriers. The PE
    /// is given by its number in this process.
    pub(crate) fn work_for(&self, pe: usize) {
        self.couriers.iter().for_each(|couriers| couriers.work_for(pe));
    }

    /// Does all the work, for the watcher.
    pub(crate) fn work(&self) -> bool {
        let couriers = self.couriers.as_ref().map_or(1, |couriers| couriers.len());
        (0..couriers).fold(false, |worked, number| worked | self.work_as(number))
    }

    /// What has gone wrong, if anything.
    pub(crate) fn trouble(&self) -> Option<&str> {
        let of_couriers = self.couriers.as_ref().and_then(|couriers| couriers.trouble());
        of_couriers.or_else(|| self.barrier.as_ref().and_then(Barrier::trouble))
    }

    /// Called when all PEs have ended. Unless the run fails, waits until no message is in flight.
    pub(crate) fn close(
        &mut self,
        processes: Option<&mut Processes>,
        fails: bool,
    ) -> Result<(), Error> {
        self.barrier.iter().for_each(Barrier::close);
        match (&self.couriers, processes) {
            (Some(couriers), Some(processes)) if !fails => processes.close(&**couriers),
            _ => {
                self.abandon();
                Ok(())
            }
        }
    }

    /// Leaves everything as it is, in a run that fails.
    pub(crate) fn abandon(&mut self) {
        self.barrier.iter().for_each(Barrier::close);
        self.couriers.take().into_iter().for_each(|couriers| couriers.abandon());
    }

    /// How many couriers there were, and what they did, if there were any and they were not
    /// abandoned.
    pub(crate) fn counts(&self) -> Option<(u64, CourierCounts)> {
        self.couriers.as_ref().map(|couriers| (couriers.len() as u64, couriers.counts()))
    }
}
