use std::collections::VecDeque;
use std::ops::Range;

use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{
    BoundPort, ControlPort, Message, MessagePort, Port, UnreadableEvent, ValueMessage, ValuePort,
};
use warpline_memory::{IsPortable, Lines, MakeRoom, Region, drop_each, lines};

use super::carrier::Carrier;
use super::courier::{Courier, Equipment};
use super::feed::{Bounds, Outlet, feed};
use super::inbox::{Arrivals, Inbox};
use super::notes::Notes;
use super::places::CourierPlan;
use super::records::Record;
use super::service::{Couriers, Service, SharedCourier};
use super::sorter::Sorter;
use crate::{Codec, ControlPlan, RingPort, ring_ports};

/// What ports hold, as error messages put it.
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
    /// What waits for the courier, or for room, and may leave at any time.
    kept: VecDeque<Record<E>>,
    /// Values sent since the last flush, which must not leave before the next, whatever else does:
    /// GVT may not know of them.
    unflushed: VecDeque<Record<E>>,
    /// Whether such values lie in the outlet, too, where the courier does not see them yet.
    /// Whatever is published there shows them to it.
    fills_outlet: bool,
    is_clogged: bool,
    /// The bound published last, for the courier to find in `bounds` when it has all that was sent
    /// before.
    bound: u64,
    bounds: Bounds,
    /// Its place among the PEs of its courier.
    place: usize,
    /// What far PEs have published.
    far_bounds: Lines,
    inbox: Inbox<E>,
    arrived: Arrivals<E>,
    notes: Notes,
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
    let mut near =
        ring_ports(region, portable, (&places.near, &places.local()), controls).into_iter();
    let (mut ports, mut couriers, notes) = (Vec::new(), Vec::new(), Notes::default());
    for (number, carrier) in (0..).zip(carriers) {
        let own: Vec<u32> =
            places.local().filter(|pe| places.courier_of(*pe).courier == number).collect();
        let Some(&first_pe) = own.first() else { continue };
        let bounds = Bounds::new(own.len());
        let inboxes: Vec<Inbox<E>> = own.iter().map(|_| Inbox::default()).collect();
        // Bounds of far PEs, which this courier writes; and views of them for its own PEs, which
        // write nothing there.
        let mut far_bounds = lines(&Region::own(), places.pes() + own.len() as u32);
        let mut views = far_bounds.split_off(places.pes() as usize).into_iter();
        let outside = if service == Service::FirstPes { &own[1..] } else { &own[..] };
        let (outlets, intake) = match outside {
            [] => (Vec::new(), None),
            pes => {
                let (outlets, intake) = feed(plan.feed, pes.len(), controls.room);
                (outlets, Some(intake))
            }
        };
        let sorter = Sorter::new(codec, first_pe, inboxes.clone(), far_bounds);
        let equipment =
            Equipment { carrier, sorter, first_pe, pes: own.len(), bounds: bounds.clone(), intake };
        let courier = SharedCourier::new(Courier::new(number, plan.clone(), codec, equipment));
        let mut outlets = outlets.into_iter();
        for ((place, me), inbox) in own.iter().enumerate().zip(inboxes) {
            let (Some(near), Some(far_bounds)) = (near.next(), views.next()) else { break };
            let outlet = if outside.contains(me) { outlets.next() } else { None };
            let arrived = Arrivals::default();
            let (bounds, courier, notes) = (bounds.clone(), courier.clone(), notes.clone());
            ports.push(NodePort {
                near,
                me: *me,
                pes_near: places.near.clone(),
                courier,
                outlet,
                kept: VecDeque::new(),
                unflushed: VecDeque::new(),
                fills_outlet: false,
                is_clogged: false,
                bound: 0,
                bounds,
                place,
                far_bounds,
                inbox,
                arrived,
                notes,
            });
        }
        couriers.push(courier);
    }
    let courier_of = places.local().map(|pe| places.courier_of(pe).courier as usize).collect();
    (ports, Couriers::new(couriers, notes, courier_of, service))
}

impl<E: Send> NodePort<E> {
    /// Whether this PE works for the courier.
    fn serves(&self) -> bool {
        self.outlet.is_none()
    }

    /// Hands over what was kept. If this PE serves the courier, also does the courier's work if
    /// `works` is set.
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
            self.publish_word();
            return;
        }
        if self.kept.is_empty() && !works {
            return;
        }
        let mut courier = self.courier.lock();
        let posted = self.kept.drain(..).try_for_each(|record| courier.post(record));
        let worked = posted.and_then(|()| if works { courier.work(false) } else { Ok(false) });
        self.is_clogged = courier.is_clogged();
        self.notes.note(worked);
    }

    /// Sends a record that must not be refused. It may overtake values that have not been flushed.
    fn send_surely(&mut self, record: Record<E>) {
        self.kept.make_room(1, UNSENT);
        self.kept.push_back(record);
        self.pass_on(false);
    }

    /// Lets the courier find the bound published last, unless something flushed before it is still
    /// kept here.
    fn publish_word(&mut self) {
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
    fn send_value(&mut self, to: u32, message: ValueMessage<E>) -> Result<(), ValueMessage<E>> {
        if self.pes_near.contains(&to) {
            return self.near.send_value(to, message);
        }
        if self.is_clogged {
            return Err(message);
        }
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

    fn receive_values(&mut self, take: &mut impl FnMut(ValueMessage<E>)) {
        self.near.receive_values(take);
        self.arrived.take_values(take);
    }

    fn receive_unreadable(&mut self) -> Option<UnreadableEvent> {
        self.arrived.next_unreadable()
    }
}

impl<E: Send> BoundPort for NodePort<E> {
    fn publish(&mut self, bound: u64) {
        self.near.publish(bound);
        self.bound = bound;
        self.publish_word();
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
            self.notes.count(outlet.counts());
        }
    }
}
