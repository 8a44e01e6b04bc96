//! The carriers between the processes of a group, and reductions over all of them.

use std::time::Duration;

use warpline_kernel::gvt::AllReduce;

use super::{Group, Lost, MpiControlChannel};
use crate::couriers::{Carrier, CarrierKind, CourierPlan, PluggedCarriers, copy_carriers, try_out};

impl Group {
    /// Measures carriers: couriers send each other batches as in the run. Returns how long a batch
    /// takes the slowest courier of this process, or why carriers fail. All processes have to call
    /// it at the same point.
    ///
    /// # Errors
    /// If a process is gone.
    pub fn try_out(&mut self, plan: &CourierPlan) -> Result<Result<Duration, String>, Lost> {
        // Pieces that go through rings are payloads in common memory.
        self.region.share_payloads();
        let carriers = self.carriers(plan);
        // Nobody may use the rings before the first process has placed its own.
        self.meet()?;
        match carriers {
            Ok(carriers) => {
                let region = self.region.clone();
                try_out(carriers, plan, &region, || self.check())
            }
            Err(why) => Ok(Err(why)),
        }
    }

    /// A carrier for each courier of this process, to the processes that share no memory with this
    /// one, or only for control messages. All processes have to call it at the same point.
    ///
    /// # Errors
    /// Those of carriers, in words, or if a process is gone.
    pub fn carriers(&mut self, plan: &CourierPlan) -> Result<Vec<Box<dyn Carrier>>, String> {
        match (plan.carrier, &self.channel) {
            (CarrierKind::Mpi, Some(channel)) => channel.carriers(plan),
            (CarrierKind::Rings, None) => Ok(copy_carriers(&self.region, plan)),
            (CarrierKind::Plugged(by), None) => self.plugged_carriers(by, plan),
            (kind, channel) => {
                let starter = if channel.is_some() { "a launcher" } else { "the first one" };
                unreachable!("{kind:?} between processes that {starter} has started")
            }
        }
    }

    /// Plugged-in carriers, through a medium that the first process creates. The medium loses its
    /// name when all have joined it.
    fn plugged_carriers(
        &mut self,
        by: &dyn PluggedCarriers,
        plan: &CourierPlan,
    ) -> Result<Vec<Box<dyn Carrier>>, String> {
        let in_words = |lost: Lost| lost.to_string();
        let couriers = plan.places.addresses();
        if !self.is_first() {
            let name: String = self.receive_from(0).map_err(in_words)?;
            let carriers = by.join(&name, self.number, &couriers)?;
            self.send(&()).map_err(in_words)?;
            return Ok(carriers);
        }
        let medium = by.create(couriers.len(), plan.limits.piece)?;
        let carriers = by.join(medium.name(), self.number, &couriers)?;
        self.send(&medium.name()).map_err(in_words)?;
        (1..self.processes).try_for_each(|number| self.receive_from(number)).map_err(in_words)?;
        Ok(carriers)
    }

    /// Reductions over the ranks that a launcher has started, if one has. All processes have to
    /// call it at the same point.
    ///
    /// # Errors
    /// Those of MPI.
    pub fn all_reduce(&self) -> Result<Option<Box<dyn AllReduce>>, String> {
        self.channel.as_ref().map(MpiControlChannel::all_reduce).transpose()
    }
}
