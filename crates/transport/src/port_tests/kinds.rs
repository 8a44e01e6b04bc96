//! The kinds of ports, as the suite makes them.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{
    BoundPort, ControlPort, Message, MessagePort, Port, Sent, TakeValue, UnreadableEvent,
    ValueMessage, ValuePort,
};
use warpline_memory::Region;
use warpline_model::WireFormat;

#[cfg(not(miri))]
use crate::couriers::tests::{BY_PES, BY_THREADS, Process, Way, processes};
use crate::{
    AnyPort, CasPort, Codec, ControlPlan, InboxPort, RingPort, Room, VirtualCluster, VirtualPort,
    cas_ports, inbox_ports, ring_ports,
};
#[cfg(not(miri))]
use crate::{CommunicationRing, Couriers, NodePort};

/// How the ports of a test are made.
#[derive(Clone, Copy)]
pub(super) struct Making {
    pub(super) room: Room,
    /// Whether PEs write into each other's memory for GVT, or send control messages.
    pub(super) one_sided: bool,
}

/// The payloads of the messages in a test.
pub(super) trait Wired: Send + Sized + 'static {
    fn format() -> WireFormat<Self>;
}

impl Wired for u32 {
    fn format() -> WireFormat<u32> {
        WireFormat::portable()
    }
}

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

/// A payload that counts how many of its kind the thread has.
pub(super) struct Counted(());

impl Counted {
    pub(super) fn new() -> Self {
        LIVE.set(LIVE.get() + 1);
        Counted(())
    }

    /// How many there are.
    pub(super) fn live() -> i64 {
        LIVE.get()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        LIVE.set(LIVE.get() - 1);
    }
}

impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| Counted::new())
    }
}

impl Wired for Counted {
    fn format() -> WireFormat<Counted> {
        WireFormat::serde()
    }
}

/// A kind of port.
pub(super) trait Kind {
    type Port<E: Wired>: Port<E> + Send;

    /// Whether a port refuses messages in the end if nobody receives.
    const FILLS_UP: bool = true;
    /// Whether PEs share memory, so that messages can lie in shared buffers.
    const SHARES: bool = true;
    /// Whether messages of a sender arrive in their order, and at once.
    const IN_ORDER: bool = true;

    fn ports<E: Wired>(pes: usize, making: Making) -> Vec<Self::Port<E>>;

    /// Does for a port the work that others do: a communication thread, or whoever steps a PE that
    /// is over.
    fn serve<E: Wired>(_: &mut Self::Port<E>) {}
}

pub(super) struct PerSender;
pub(super) struct Shared;
pub(super) struct Cas;
/// The same among more PEs than there are lists for.
pub(super) struct SharedAmongMany;
pub(super) struct CasAmongMany;
pub(super) struct Chosen;
pub(super) struct Virtual;

fn plan(pes: usize, Making { room, one_sided }: Making) -> ControlPlan {
    let neighbours =
        (0..pes).map(|me| (0..pes as u32).filter(|pe| *pe as usize != me).collect()).collect();
    ControlPlan { neighbours, one_sided, room }
}

/// The same, for many more PEs, of which the test uses the first.
fn plan_of_many(pes: usize, making: Making) -> ControlPlan {
    let mut plan = plan(pes, making);
    plan.neighbours.resize(pes + 64, Vec::new());
    plan
}

impl Kind for PerSender {
    type Port<E: Wired> = RingPort<E>;

    fn ports<E: Wired>(pes: usize, making: Making) -> Vec<RingPort<E>> {
        ring_ports(&Region::own(), None, (&(0..pes as u32), &(0..pes as u32)), &plan(pes, making))
    }
}

impl Kind for Shared {
    type Port<E: Wired> = InboxPort<E>;
    const FILLS_UP: bool = false;

    fn ports<E: Wired>(pes: usize, making: Making) -> Vec<InboxPort<E>> {
        inbox_ports(&plan(pes, making))
    }
}

impl Kind for Cas {
    type Port<E: Wired> = CasPort<E>;

    fn ports<E: Wired>(pes: usize, making: Making) -> Vec<CasPort<E>> {
        cas_ports(&plan(pes, making))
    }
}

impl Kind for SharedAmongMany {
    type Port<E: Wired> = InboxPort<E>;
    const FILLS_UP: bool = false;

    fn ports<E: Wired>(pes: usize, making: Making) -> Vec<InboxPort<E>> {
        inbox_ports(&plan_of_many(pes, making)).into_iter().take(pes).collect()
    }
}

impl Kind for CasAmongMany {
    type Port<E: Wired> = CasPort<E>;

    fn ports<E: Wired>(pes: usize, making: Making) -> Vec<CasPort<E>> {
        cas_ports(&plan_of_many(pes, making)).into_iter().take(pes).collect()
    }
}

/// Rings behind a port whose kind is chosen at run time.
impl Kind for Chosen {
    type Port<E: Wired> = AnyPort<E>;

    fn ports<E: Wired>(pes: usize, making: Making) -> Vec<AnyPort<E>> {
        PerSender::ports(pes, making)
            .into_iter()
            .map(|port| AnyPort::Ring(Box::new(port)))
            .collect()
    }
}

impl Kind for Virtual {
    type Port<E: Wired> = End<VirtualPort<E>, Arc<Mutex<VirtualCluster<E>>>>;
    const FILLS_UP: bool = false;
    const IN_ORDER: bool = false;

    fn ports<E: Wired>(pes: usize, _: Making) -> Vec<Self::Port<E>> {
        let (cluster, ports) = VirtualCluster::new(pes as u32, 5, Some(Codec::new(E::format())));
        let cluster = Arc::new(Mutex::new(cluster));
        ports.into_iter().map(|port| End { port, rest: cluster.clone() }).collect()
    }

    fn serve<E: Wired>(end: &mut Self::Port<E>) {
        end.rest.serve();
    }
}

/// A port, and whatever works for it beside the PE.
pub(super) struct End<P, R> {
    pub(super) port: P,
    rest: R,
}

/// Works for a port each time its PE receives.
pub(super) trait Serve: Send {
    fn serve(&self);
}

/// Time passes.
impl<E: Wired> Serve for Arc<Mutex<VirtualCluster<E>>> {
    fn serve(&self) {
        _ = self.lock().unwrap().next_pe(true);
    }
}

/// The courier of a process that has one PE.
#[cfg(not(miri))]
impl<E: Wired> Serve for Couriers<E> {
    fn serve(&self) {
        self.work(0, true);
    }
}

#[cfg(not(miri))]
fn far_ports<E: Wired>(pes: usize, making: Making, way: Way) -> Vec<End<NodePort<E>, Couriers<E>>> {
    let way = Way { one_sided: making.one_sided, room: making.room, ..way };
    let processes = processes(E::format(), &vec![1; pes], 1, way, 256);
    processes
        .into_iter()
        .map(|Process { mut ports, couriers, .. }| End { port: ports.remove(0), rest: couriers })
        .collect()
}

/// Kinds of ports to PEs that are all far.
#[cfg(not(miri))]
macro_rules! far {
    ($($Kind:ident $fills_up:literal $way:expr;)*) => {$(
        pub(super) struct $Kind;

        impl Kind for $Kind {
            type Port<E: Wired> = End<NodePort<E>, Couriers<E>>;
            const FILLS_UP: bool = $fills_up;
            const SHARES: bool = false;

            fn ports<E: Wired>(pes: usize, making: Making) -> Vec<Self::Port<E>> {
                far_ports(pes, making, $way)
            }

            fn serve<E: Wired>(end: &mut Self::Port<E>) {
                end.rest.serve();
            }
        }
    )*};
}

#[cfg(not(miri))]
far! {
    FarByPes false BY_PES;
    FarByRings true Way { feed: CommunicationRing::PerSender, ..BY_THREADS };
    FarByCas true BY_THREADS;
}

impl<P: MessagePort, R: Serve> MessagePort for End<P, R> {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        self.port.send(to, messages)
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        self.rest.serve();
        self.port.receive(into);
    }
}

impl<E, P: ValuePort<E>, R> ValuePort<E> for End<P, R> {
    fn send_value(&mut self, to: u32, make: impl FnOnce() -> ValueMessage<E>) -> Sent<E> {
        self.port.send_value(to, make)
    }

    fn look_for_values(&mut self) {
        self.port.look_for_values();
    }

    fn receive_values(&mut self, to: &mut impl TakeValue<E>) {
        self.port.receive_values(to);
    }

    fn receive_unreadable(&mut self) -> Option<UnreadableEvent> {
        self.port.receive_unreadable()
    }
}

impl<P: BoundPort, R> BoundPort for End<P, R> {
    fn publish(&mut self, bound: u64) {
        self.port.publish(bound);
    }

    fn bound(&mut self, pe: u32) -> u64 {
        self.port.bound(pe)
    }

    fn publish_round(&mut self, round: u64, bound: u64) {
        self.port.publish_round(round, bound);
    }

    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        self.port.bound_of_round(pe, round)
    }
}

impl<P: ControlPort, R> ControlPort for End<P, R> {
    fn send_control(&mut self, to: u32, control: Control) {
        self.port.send_control(to, control);
    }

    fn receive_control(&mut self) -> Option<Control> {
        self.port.receive_control()
    }

    fn write(&mut self, to: u32, put: Put) {
        self.port.write(to, put);
    }

    fn written(&mut self) -> Option<(u32, Put)> {
        self.port.written()
    }
}

impl<E, P: Port<E>, R: Serve> Port<E> for End<P, R> {
    fn flush(&mut self) {
        self.port.flush();
    }
}
