//! How messages travel between processes that share no memory, or are told not to use it for
//! messages.

mod choice;
pub(crate) mod work;

use std::ops::Range;

use warpline_kernel::Horizon;
use warpline_memory::Region;
use warpline_record::{CommunicationRecord, SharedRingRecord};
use warpline_transport::{CourierCounts, CourierLimits, CourierPlan, Places, Service};

use self::choice::Decision;
use crate::parallel::processes::{Processes, lost};
use crate::plan::{FarPlan, ParallelPlan};
use crate::{Communication, Error};

/// How many batches may be on their way from a courier at a time.
const IN_FLIGHT: usize = 64;
/// Where each message is sent by itself: the bytes of a piece, which has room for a payload of
/// 64 KiB.
const WHOLE_MESSAGE: usize = 128 << 10;

/// What is settled about the wires to far PEs.
pub(crate) struct FarWires {
    pub(crate) plan: CourierPlan,
    pub(crate) service: Service,
    /// Whether PEs of several processes are near each other.
    shares: bool,
    /// Who works for couriers, and why, if that was left to the engine.
    decision: Decision,
}

impl FarWires {
    /// `None` if there are no far PEs. All processes have to call it at the same point.
    ///
    /// # Errors
    /// If a process is gone, or cannot communicate.
    pub(crate) fn of(
        processes: Option<&mut Processes>,
        plan: &ParallelPlan,
    ) -> Result<Option<Self>, Error> {
        let Some(Processes { group, .. }) = processes else { return Ok(None) };
        let FarPlan { shares, carrier, ring, communication: asked, threads, batch, delay: age } =
            plan.wires.far;
        let process = group.number();
        let near: Range<u32> = if shares { group.near() } else { process..process + 1 };
        if near.len() as u32 == plan.processes.count {
            return Ok(None);
        }
        let first_pes: Vec<u32> =
            (0..=plan.processes.count).map(|process| plan.first_pe(process)).collect();
        let near_pes = first_pes[near.start as usize]..first_pes[near.end as usize];
        let (piece, batch) = batch.map_or((WHOLE_MESSAGE, 0), |bytes| (bytes, bytes));
        let limits =
            CourierLimits { piece, batch, age, in_flight: plan.wires.room.places(IN_FLIGHT) };
        let places = Places { process, first_pes, near: near_pes, couriers: threads };
        let may_thread = plan.processes.may_thread();
        let bounds = plan.tuning.horizon == Horizon::Bounds;
        let mut plan = CourierPlan { places, feed: ring, carrier, limits, bounds };
        let decision = match asked {
            Communication::Auto if !may_thread => Decision {
                by: Communication::Dedicated,
                why: "MPI lets one thread call it".to_owned(),
            },
            Communication::Auto => {
                let has_cores =
                    group.cpu_share().suffices_for(plan.places.local().len() + threads as usize);
                let decided =
                    choice::choose(group, &plan, has_cores).map_err(|why| lost(group, why))?;
                decided.map_err(|cause| Error::Communication { cause })?
            }
            given => Decision { by: given, why: String::new() },
        };
        let (couriers, service) = match decision.by {
            Communication::Worker => (1, Service::FirstPes),
            Communication::Dedicated if !may_thread => (1, Service::Watcher),
            Communication::Dedicated => (threads, Service::Threads),
            Communication::Auto | Communication::Distributed => (u32::MAX, Service::FirstPes),
        };
        plan.places.couriers = couriers;
        Ok(Some(FarWires { plan, service, shares: near.len() > 1, decision }))
    }

    /// Its part of the record, without counts.
    pub(crate) fn record(&self) -> CommunicationRecord {
        CommunicationRecord {
            by: self.decision.by.name().to_owned(),
            why: self.decision.why.clone(),
            ..CommunicationRecord::default()
        }
    }

    /// The region of the events that PEs near each other share. `common` is what all processes of the
    /// machine share.
    pub(crate) fn region(&self, common: &Region) -> Region {
        if self.shares { common.clone() } else { Region::own() }
    }
}

/// Adds what the `couriers` of a process have done.
pub(crate) fn add_counts(all: &mut CommunicationRecord, couriers: u64, counts: &CourierCounts) {
    let CourierCounts { batches, bytes, values, refused, cas } = *counts;
    all.couriers += couriers;
    all.messages += values;
    all.batches += batches;
    all.bytes += bytes;
    all.refused += refused;
    let SharedRingRecord { pushed, full, in_progress, collisions } = &mut all.shared_ring;
    *pushed += cas.pushed;
    *full += cas.full;
    *in_progress += cas.in_progress;
    *collisions += cas.collisions;
}
