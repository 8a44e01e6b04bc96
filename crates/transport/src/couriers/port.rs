use std::collections::VecDeque;
use std::ops::Range;

use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{
    BoundPort, ControlPort, Message, MessagePort, Port, Sent, TakeValue, UnreadableEvent,
    ValueMessage, ValuePort,
};
use warpline_memory::{IsPortable, Lines, MakeRoom, Region, drop_each, lines};

use super::carrier::Carrier;
use super::courier::{Courier, Equipment};
use super::courier_report::CourierReport;
use super::feed::{Bounds, Outlet, feed};
use super::inbox::{Arrivals, Inbox};
use super::places::CourierPlan;
use super::records::Record;
use super::service::{Couriers, Service, SharedCourier};
use super::sorter::Sorter;
use crate::{Codec, ControlPlan, RingPort, Room, ring_ports};

/// The name of what ports hold, in error messages.
const UNSENT: &str = "messages that have yet to be sent";

/// A PE's end of the wires where some PEs are far: rings to those near, and a courier for all
/// others.
pub struct NodePort<E> {
    near: RingPort<E>,
    me: u32,
    /// The PEs near this one.
    pes_near: Range<u32>,
    courier: SharedCourier<E>,
    /// `None` if this PE itself works for the courier.
    outlet: Option<Outlet<E>>,
    /// Records that wait for the courier, or for room, and may leave at any time.
    kept: VecDeque<Record<E>>,
    /// Values sent since the last flush. They must not leave before the next one, as GVT may not
    /// know of them.
    unflushed: VecDeque<Record<E>>,
    /// Whether such values also lie in the outlet. The courier does not see them there until the
    /// outlet is published, so nothing else may be.
    fills_outlet: bool,
    is_clogged: bool,
    /// The bound published last. The courier finds it in `bounds` once it has all that was sent
    /// before.
    bound: u64,
    bounds: Bounds,
    /// The place of this PE among the PEs of its courier.
    place: usize,
    /// The bounds that far PEs have published.
    far_bounds: Lines,
    inbox: Inbox<E>,
    arrived: Arrivals<E>,
    report: CourierReport,
}

/// The ends of the wires of a process's PEs, and its couriers.
///
/// # Panics
/// As [`ring_ports`].
pub fn node_ports<E: Send>(
    region: &Region,
    portable: Option<IsPortable<E>>,
    controls: &ControlPlan,
    codec: Codec<E>,
    (plan, service): (&CourierPlan, Service),
    carriers: Vec<Box<dyn Carrier>>,
) -> (Vec<NodePort<E>>, Couriers<E>) {
    let places = &plan.places;
    let near = ring_ports(region, portable, (&places.near, &places.local()), controls);
    let mut near = near.into_iter();
    let report = CourierReport::default();
    let mut ports = Vec::new();
    let mut couriers = Vec::new();
    for (number, carrier) in (0..).zip(carriers) {
        let own: Vec<u32> =
            places.local().filter(|pe| places.courier_of(*pe).courier == number).collect();
        if own.is_empty() {
            continue;
        }
        let (courier, ends) =
            courier_and_ends(number, carrier, &own, codec, (plan, service), controls.room);
        let own_ports = own.iter().zip(near.by_ref()).zip(ends).enumerate();
        ports.extend(own_ports.map(|(place, ((me, near), end))| NodePort {
            near,
            me: *me,
            pes_near: places.near.clone(),
            courier: courier.clone(),
            outlet: end.outlet,
            kept: VecDeque::new(),
            unflushed: VecDeque::new(),
            fills_outlet: false,
            is_clogged: false,
            bound: 0,
            bounds: end.bounds,
            place,
            far_bounds: end.far_bounds,
            inbox: end.inbox,
            arrived: Arrivals::default(),
            report: report.clone(),
        }));
        couriers.push(courier);
    }
    let courier_of = places.local().map(|pe| places.courier_of(pe).courier as usize).collect();
    (ports, Couriers::new(couriers, report, courier_of, service))
}

/// The parts of a PE's port that connect it to its courier.
struct CourierEnd<E> {
    outlet: Option<Outlet<E>>,
    bounds: Bounds,
    far_bounds: Lines,
    inbox: Inbox<E>,
}

/// Courier `number` of this process, and the ends of its PEs, which are `own`.
fn courier_and_ends<E: Send>(
    number: u32,
    carrier: Box<dyn Carrier>,
    own: &[u32],
    codec: Codec<E>,
    (plan, service): (&CourierPlan, Service),
    room: Room,
) -> (SharedCourier<E>, Vec<CourierEnd<E>>) {
    let first_pe = own[0];
    let pes = own.len();
    let bounds = Bounds::new(pes);
    let inboxes: Vec<Inbox<E>> = own.iter().map(|_| Inbox::default()).collect();
    // Bounds of far PEs, which this courier writes; and views of them for its own PEs, which write
    // nothing there.
    let mut far_bounds = lines(&Region::own(), plan.places.pes() + pes as u32);
    let views = far_bounds.split_off(plan.places.pes() as usize);
    // PEs that work for the courier themselves need no outlet.
    let serving = if service == Service::FirstPes { 1 } else { 0 };
    let (outlets, intake) = match pes - serving {
        0 => (Vec::new(), None),
        feeding => {
            let (outlets, intake) = feed(plan.feed, feeding, room);
            (outlets, Some(intake))
        }
    };
    let outlets = (0..serving).map(|_| None).chain(outlets.into_iter().map(Some));
    let sorter = Sorter::new(codec, first_pe, inboxes.clone(), far_bounds);
    let equipment = Equipment { carrier, sorter, first_pe, pes, bounds: bounds.clone(), intake };
    let courier = SharedCourier::new(Courier::new(number, plan.clone(), codec, equipment));
    let ends = outlets.zip(views).zip(inboxes).map(|((outlet, far_bounds), inbox)| CourierEnd {
        outlet,
        bounds: bounds.clone(),
        far_bounds,
        inbox,
    });
    (courier, ends.collect())
}

impl<E: Send> NodePort<E> {
    /// Whether this PE works for the courier.
    fn serves(&self) -> bool {
        self.outlet.is_none()
    }

    /// Hands over what was kept, and, if `works` is set and this PE serves the courier, does the
    /// courier's work.
    fn pass_on(&mut self, works: bool) {
        if self.fills_outlet {
            return;
        }
        if let Some(outlet) = &mut self.outlet {
            while let Some(record) = self.kept.pop_front() {
                if let Err(record) = outlet.put(record) {
                    self.kept.push_front(record);
                    break;
                }
            }
            outlet.publish();
            self.is_clogged = !self.kept.is_empty();
            self.publish_bound();
            return;
        }
        if self.kept.is_empty() && !works {
            return;
        }
        let mut courier = self.courier.lock();
        let posted = self.kept.drain(..).try_for_each(|record| courier.post(record));
        let worked = posted.and_then(|()| if works { courier.work(false) } else { Ok(false) });
        self.is_clogged = courier.is_clogged();
        self.report.note(worked);
    }

    /// Sends a record that must not be refused. It may overtake values that have not been flushed.
    fn send_surely(&mut self, record: Record<E>) {
        self.kept.make_room(1, UNSENT);
        self.kept.push_back(record);
        self.pass_on(false);
    }

    /// Lets the courier find the bound published last, unless something flushed before it is still
    /// kept here.
    fn publish_bound(&mut self) {
        if self.kept.is_empty() {
            self.bounds.write(self.place, self.bound);
        }
    }
}

impl<E: Send> MessagePort for NodePort<E> {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        self.near.send(to, messages)
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        self.near.receive(into);
        if self.serves() || !self.kept.is_empty() {
            self.pass_on(true);
        }
    }
}

impl<E: Send> ValuePort<E> for NodePort<E> {
    #[inline]
    fn send_value(&mut self, to: u32, make: impl FnOnce() -> ValueMessage<E>) -> Sent<E> {
        if self.pes_near.contains(&to) {
            return self.near.send_value(to, make);
        }
        if self.is_clogged {
            return Err(make());
        }
        let message = make();
        match &mut self.outlet {
            Some(outlet) if outlet.keeps_back() && self.kept.is_empty() => {
                outlet.put(Record::Value(to, message)).map_err(|refused| match refused {
                    Record::Value(_, message) => message,
                    _ => unreachable!("it gives back what it was given"),
                })?;
                self.fills_outlet = true;
                Ok(())
            }
            _ => {
                self.unflushed.make_room(1, UNSENT);
                self.unflushed.push_back(Record::Value(to, message));
                Ok(())
            }
        }
    }

    fn look_for_values(&mut self) {
        self.near.look_for_values();
        self.inbox.take(&mut self.arrived);
    }

    fn receive_values(&mut self, to: &mut impl TakeValue<E>) {
        self.near.receive_values(to);
        self.arrived.take_values(|message| to.take(message));
    }

    fn receive_unreadable(&mut self) -> Option<UnreadableEvent> {
        self.arrived.next_unreadable()
    }
}

impl<E: Send> BoundPort for NodePort<E> {
    fn publish(&mut self, bound: u64) {
        self.near.publish(bound);
        self.bound = bound;
        self.publish_bound();
    }

    #[inline]
    fn bound(&mut self, pe: u32) -> u64 {
        if self.pes_near.contains(&pe) { self.near.bound(pe) } else { self.far_bounds.read(pe) }
    }

    fn publish_round(&mut self, round: u64, bound: u64) {
        self.near.publish_round(round, bound);
        self.send_surely(Record::Round { from: self.me, round, bound });
    }

    #[inline]
    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        if self.pes_near.contains(&pe) {
            self.near.bound_of_round(pe, round)
        } else {
            self.far_bounds.read_round(pe, round)
        }
    }
}

impl<E: Send> ControlPort for NodePort<E> {
    fn send_control(&mut self, to: u32, control: Control) {
        if self.pes_near.contains(&to) {
            self.near.send_control(to, control);
        } else {
            self.send_surely(Record::Control(to, Box::new(control)));
        }
    }

    fn receive_control(&mut self) -> Option<Control> {
        self.near.receive_control().or_else(|| {
            self.inbox.take(&mut self.arrived);
            self.arrived.next_control()
        })
    }

    fn write(&mut self, to: u32, put: Put) {
        if self.pes_near.contains(&to) {
            self.near.write(to, put);
        } else {
            self.send_surely(Record::Put { to, from: self.me, put: Box::new(put) });
        }
    }

    fn written(&mut self) -> Option<(u32, Put)> {
        self.near.written().or_else(|| self.arrived.next_put())
    }
}

impl<E: Send> Port<E> for NodePort<E> {
    fn prefetch(&self) {
        self.near.prefetch();
    }

    fn flush(&mut self) {
        self.near.flush();
        if !self.unflushed.is_empty() {
            self.kept.make_room(self.unflushed.len(), UNSENT);
            self.kept.append(&mut self.unflushed);
        }
        self.fills_outlet = false;
        self.pass_on(false);
    }
}

impl<E> Drop for NodePort<E> {
    fn drop(&mut self) {
        drop_each(self.kept.drain(..).chain(self.unflushed.drain(..)));
        if let Some(outlet) = &self.outlet {
            self.report.count(outlet.counts());
        }
    }
}
