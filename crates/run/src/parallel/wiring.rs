//! Makes the PEs of a segment with the wires that its plan asks for, and has them stepped.
//!
//! *Code for each model.* An engine is compiled for every model, and most of the time of a build
//! goes there. So there is one kind of PE, whose wires are chosen at run time (`AnyPort`). What steps
//! PEs is compiled once, for all models ([`any_pe`](super::any_pe)).

use std::sync::Arc;

use warpline_kernel::Horizon;
use warpline_kernel::gvt::{AnyGvt, Barrier};
use warpline_machine::Machine;
use warpline_memory::{IsPortable, Region};
use warpline_model::Model;
use warpline_transport::{
    AnyPort, Codec, ControlPlan, ModelledWires, RingPort, VirtualCluster, cas_ports_in,
    inbox_ports, modelled_ports, node_ports, ring_ports,
};

use super::all_pes::AllPes;
use super::cluster;
use super::common::{Common, PeOf, Start};
use super::driven::{self, LoopOutcome};
use super::far::FarWires;
use super::far::work::{CommunicationWork, barrier_of_rank, pacer};
use super::modelled::{self, Modelled};
use super::monitor::LoopMonitor;
use super::threads::{self, ThreadLayout};
use crate::{Error, GvtAlgorithm, Mailbox};

/// The PEs of a segment, before they are made.
struct Prepared<'c, 'm, M: Model> {
    common: &'c Common<'m, M>,
    start: Start<M>,
    /// The region of what they share.
    region: Region,
    /// The parts of those of this process in finding GVT.
    gvts: Vec<AnyGvt>,
    controls: ControlPlan,
    /// Where the PEs of this rank meet, if reductions go over all ranks.
    barrier: Option<Barrier>,
    layout: ThreadLayout,
}

/// Makes the PEs, and steps them until they are done.
pub(super) fn drive<M: Model>(
    common: &Common<'_, M>,
    start: Start<M>,
    watch: LoopMonitor<'_, '_>,
    far: Option<FarWires>,
    layout: ThreadLayout,
) -> Result<LoopOutcome<M>, Error> {
    let Common { plan, task, .. } = common;
    let region = watch.region();
    if far.is_some() || M::ABILITIES.wire().is_some_and(|wire| wire.payloads().is_some()) {
        region.share_payloads();
    }
    let _member = region.enter();
    let service = far.as_ref().map(|far| far.service);
    let barrier = barrier_of_rank(plan, watch.processes.as_deref(), service, task.ties)?;
    let (gvts, controls) = plan.gvts(&region, task.ties, barrier.as_ref(), &common.local);
    let _rings = common.account_for_rings(&region);
    let pes = Prepared { common, start, region, gvts, controls, barrier, layout };
    if let Some(machine) = &plan.machine {
        pes.drive_on_machine(machine, watch)
    } else if let Some(seed) = plan.wires.cluster {
        pes.drive_in_cluster(seed, watch)
    } else if let Some(far) = far {
        pes.drive_with_couriers(&far, watch)
    } else {
        pes.drive_with_mailboxes(watch)
    }
}

impl<M: Model> Prepared<'_, '_, M> {
    /// Threads of one process, with mailboxes.
    fn drive_with_mailboxes(self, watch: LoopMonitor<'_, '_>) -> Result<LoopOutcome<M>, Error> {
        let ports = self.mailboxes();
        let Prepared { common, start, region, gvts, barrier, layout, .. } = self;
        let pes = common.pes(&region, start, gvts, ports);
        let communication = CommunicationWork::new(None, barrier, None);
        in_threads(pes, watch, layout, &common.all_pes(&region), communication)
    }

    /// Threads of one of several processes, with couriers to PEs that are far.
    fn drive_with_couriers(
        self,
        far: &FarWires,
        mut watch: LoopMonitor<'_, '_>,
    ) -> Result<LoopOutcome<M>, Error> {
        let Prepared { common, start, region, gvts, controls, barrier, layout } = self;
        let codec = M::ABILITIES.wire().map(Codec::new);
        let group = watch.processes.as_mut().map(|processes| &mut processes.group);
        let (Some(codec), Some(group)) = (codec, group) else {
            unreachable!("events of a model without a wire stay in one process")
        };
        let carriers = group.carriers(&far.plan).map_err(|cause| Error::Communication { cause })?;
        // The region of the events that PEs near each other share.
        let store = far.region(&region);
        let (ports, couriers) = node_ports(
            &store,
            proof_of_portability::<M>(),
            &controls,
            codec,
            (&far.plan, far.service),
            carriers,
        );
        let ports = ports.into_iter().map(|port| AnyPort::Node(Box::new(port)));
        let mut pes = common.pes(&store, start, gvts, ports);
        let pacer = pacer(common.plan, far.service);
        if let Some(pacer) = &pacer {
            pes.iter_mut().for_each(|pe| pe.follow(pacer.clone()));
        }
        let communication = CommunicationWork::new(Some(Box::new(couriers)), barrier, pacer);
        in_threads(pes, watch, layout, &common.all_pes(&region), communication)
    }

    /// One thread, in the order of the virtual cluster with this seed.
    fn drive_in_cluster(
        self,
        seed: u64,
        watch: LoopMonitor<'_, '_>,
    ) -> Result<LoopOutcome<M>, Error> {
        let Prepared { common, start, region, gvts, .. } = self;
        let codec = M::ABILITIES.wire().map(Codec::new);
        let (mut cluster, ports) = VirtualCluster::new(common.plan.pes, seed, codec);
        let ports = ports.into_iter().map(AnyPort::Virtual);
        let pes = common.pes(&region, start, gvts, ports);
        driven::run(pes, watch, |pes, watch| {
            cluster::drive(pes, &mut |idle| cluster.next_pe(idle), watch)
        })
    }

    /// One thread for each part of a modelled machine, in the order of its time.
    fn drive_on_machine(
        self,
        machine: &Arc<Machine>,
        watch: LoopMonitor<'_, '_>,
    ) -> Result<LoopOutcome<M>, Error> {
        let Prepared { common, start, region, gvts, .. } = self;
        let plan = common.plan;
        let payload = |event: &M::Event| M::payload(event).map_or(0, |bytes| bytes.len() as u64);
        let (networks, ports) = modelled_ports(machine, &plan.machine_parts(), payload);
        let least_delay = Some(common.task.delays.least()).filter(|least| least.is_finite());
        let ports = ports.into_iter().map(AnyPort::Modelled);
        let pes = common.pes(&region, start, gvts, ports);
        let lanes = plan.tuning.lanes;
        let follows_gvt = lanes.has_safe() && plan.tuning.horizon == Horizon::Gvt;
        let has_registers = follows_gvt && plan.gvt == GvtAlgorithm::Gsu;
        let modelled = Modelled {
            machine: machine.clone(),
            pes: plan.pes,
            parts: networks.iter().map(|network| network as &dyn ModelledWires).collect(),
            seed: plan.seed,
            has_bounds: plan.tuning.has_bounds(),
            events_wake: lanes.has_speculative() || has_registers || machine.mailboxes.is_some(),
            has_registers,
            // With mailboxes in hardware, each step tells senders that there may be room.
            all_steps: plan.all_steps || machine.mailboxes.is_some(),
            least_delay,
        };
        driven::run(pes, watch, |pes, watch| modelled::drive(pes, &modelled, watch))
    }

    /// Rings from each PE to each.
    fn ring_ports(&self) -> Vec<RingPort<M::Event>> {
        let Common { plan, local, .. } = self.common;
        let own = local.start as u32..local.end as u32;
        let portable = proof_of_portability::<M>();
        ring_ports(&self.region, portable, (&(0..plan.pes), &own), &self.controls)
    }

    /// Mailboxes of the kind that the plan asks for. Inboxes are for the PEs of one process, which
    /// are all.
    fn mailboxes(&self) -> Vec<AnyPort<M::Event>> {
        let controls = &self.controls;
        match self.common.plan.wires.mailbox {
            Some(Mailbox::Shared) => inbox_ports(controls)
                .into_iter()
                .map(|port| AnyPort::Inbox(Box::new(port)))
                .collect(),
            Some(Mailbox::Cas) => {
                let local = &self.common.local;
                let own = local.start as u32..local.end as u32;
                cas_ports_in(&self.region, proof_of_portability::<M>(), &own, controls)
                    .into_iter()
                    .map(|port| AnyPort::Cas(Box::new(port)))
                    .collect()
            }
            _ => self.ring_ports().into_iter().map(|port| AnyPort::Ring(Box::new(port))).collect(),
        }
    }
}

/// Steps PEs in threads until all of them are done.
fn in_threads<M: Model>(
    pes: Vec<PeOf<'_, M>>,
    watch: LoopMonitor<'_, '_>,
    layout: ThreadLayout,
    all: &AllPes,
    mut communication: CommunicationWork<'_>,
) -> Result<LoopOutcome<M>, Error> {
    let mut outcome = driven::run(pes, watch, |pes, watch| {
        threads::drive(pes, watch, layout, all, &mut communication)
    })?;
    // Ports have noted what they know when they were dropped.
    outcome.driven.couriers = communication.counts();
    Ok(outcome)
}

/// The proof that processes may share events as they lie in memory, if they may.
fn proof_of_portability<M: Model>() -> Option<IsPortable<M::Event>> {
    M::ABILITIES.wire().and_then(|wire| wire.proof())
}
