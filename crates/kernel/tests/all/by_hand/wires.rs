//! Wires on which messages arrive when the test says so.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{
    BoundPort, ControlPort, Message, MessagePort, Port, Sent, TakeValue, ValueMessage, ValuePort,
};

/// The messages on the wires, by receiver.
pub(super) struct Network {
    pub(super) under_way: Vec<Vec<Message>>,
    pub(super) arrived: Vec<Vec<Message>>,
    pub(super) values_under_way: Vec<Vec<ValueMessage<&'static str>>>,
    pub(super) values_arrived: Vec<Vec<ValueMessage<&'static str>>>,
    /// For how many more messages there is room.
    pub(super) room: usize,
    /// By PE: how many messages it has handed over.
    pub(super) handed_over: Vec<usize>,
    /// By PE: how often it has flushed.
    pub(super) flushes: Vec<usize>,
    /// By PE: the last bound published, and how many messages had been handed over by then.
    pub(super) published: Vec<(u64, usize)>,
    /// By PE and round: the bound published, and how many messages had been handed over by then.
    pub(super) rounds: Vec<Vec<(u64, usize)>>,
    /// Whether PEs receive the bounds of others.
    pub(super) bounds_arrive: bool,
    pub(super) controls: Vec<VecDeque<Control>>,
}

pub(crate) struct Wire {
    pub(super) me: u32,
    pub(super) network: Rc<RefCell<Network>>,
    /// Messages by value that have not been flushed, and their receivers.
    pub(super) kept: Vec<(u32, ValueMessage<&'static str>)>,
}

impl MessagePort for Wire {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        let network = &mut *self.network.borrow_mut();
        let taken = messages.len().min(network.room);
        network.under_way[to as usize].extend_from_slice(&messages[..taken]);
        network.handed_over[self.me as usize] += taken;
        network.room -= taken;
        taken
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        into.append(&mut self.network.borrow_mut().arrived[self.me as usize]);
    }
}

impl ValuePort<&'static str> for Wire {
    fn send_value(
        &mut self,
        to: u32,
        make: impl FnOnce() -> ValueMessage<&'static str>,
    ) -> Sent<&'static str> {
        let room = &mut self.network.borrow_mut().room;
        if *room == 0 {
            return Err(make());
        }
        *room -= 1;
        self.kept.push((to, make()));
        Ok(())
    }

    fn receive_values(&mut self, to: &mut impl TakeValue<&'static str>) {
        let arrived =
            std::mem::take(&mut self.network.borrow_mut().values_arrived[self.me as usize]);
        arrived.into_iter().for_each(|message| to.take(message));
    }
}

impl BoundPort for Wire {
    fn publish(&mut self, bound: u64) {
        let network = &mut *self.network.borrow_mut();
        network.published[self.me as usize] = (bound, network.handed_over[self.me as usize]);
    }

    /// As long as no bounds arrive, GVT alone determines the horizon.
    fn bound(&mut self, pe: u32) -> u64 {
        let Network { published, bounds_arrive, .. } = &*self.network.borrow();
        if *bounds_arrive { published[pe as usize].0 } else { 0 }
    }

    fn publish_round(&mut self, round: u64, bound: u64) {
        let network = &mut *self.network.borrow_mut();
        let me = self.me as usize;
        let handed_over = network.handed_over[self.me as usize];
        network.rounds[me].push((bound, handed_over));
        assert_eq!(network.rounds[me].len() as u64, round, "rounds are numbered without gaps");
    }

    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        let Network { rounds, bounds_arrive, .. } = &*self.network.borrow();
        assert_eq!(
            rounds[self.me as usize].len() as u64,
            round,
            "PEs ask only for the last round that they have published for"
        );
        rounds[pe as usize]
            .get(round as usize - 1)
            .filter(|_| *bounds_arrive)
            .map(|(bound, _)| *bound)
    }
}

impl ControlPort for Wire {
    fn send_control(&mut self, to: u32, control: Control) {
        self.network.borrow_mut().controls[to as usize].push_back(control);
    }

    fn receive_control(&mut self) -> Option<Control> {
        self.network.borrow_mut().controls[self.me as usize].pop_front()
    }

    fn write(&mut self, to: u32, put: Put) {
        self.send_control(to, put.read(self.me));
    }

    fn written(&mut self) -> Option<(u32, Put)> {
        None
    }
}

impl Port<&'static str> for Wire {
    fn flush(&mut self) {
        let network = &mut *self.network.borrow_mut();
        network.handed_over[self.me as usize] += self.kept.len();
        network.flushes[self.me as usize] += 1;
        self.kept
            .drain(..)
            .for_each(|(to, message)| network.values_under_way[to as usize].push(message));
    }
}
