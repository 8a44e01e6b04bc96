//! How PEs that share memory exchange control messages for GVT: in rings between neighbours, or by
//! writing into each other's memory.

use std::collections::VecDeque;
use std::ops::Range;

use warpline_kernel::ControlPort;
use warpline_kernel::gvt::{BLOCK_WORDS, Control, Put};
use warpline_memory::{
    BlockReader, BlockWriter, Consumer, IsPortable, MakeRoom, Producer, Region, blocks, ring_in,
};

use crate::Room;

/// How many control messages a ring between neighbours holds.
const CONTROLS: usize = 8;
/// How many blocks a neighbour may write.
const BLOCKS: usize = 4;

/// A PE's ends of the wires for GVT. It has few neighbours, so they are found by linear search.
pub(crate) struct ControlWires {
    to: Vec<(u32, Producer<Control>)>,
    from: Vec<Consumer<Control>>,
    /// Control messages that found no room, with their receivers.
    late: VecDeque<(u32, Control)>,
    /// Control messages that have arrived, the first one last.
    arrived: Vec<Control>,
    /// Memory of neighbours, for this PE to write.
    theirs: Vec<(u32, BlockWriter<BLOCK_WORDS>)>,
    /// This PE's memory, for neighbours to write.
    mine: Vec<(u32, BlockReader<BLOCK_WORDS>)>,
    /// What neighbours have written there, to be taken from the end.
    found: Vec<(u32, Put)>,
}

/// Which PEs exchange control messages, and how; and how much room there is for messages of all
/// kinds.
#[derive(Clone, Debug)]
pub struct ControlPlan {
    /// By PE: its neighbours, as given by the GVT algorithm.
    pub neighbours: Vec<Vec<u32>>,
    /// Whether they write into each other's memory instead of sending messages.
    pub one_sided: bool,
    /// How much rings hold.
    pub room: Room,
}

/// The ends of all PEs. Those of the PEs in `near` share rings and memory in the region.
pub(crate) fn control_wires(
    region: &Region,
    near: &Range<usize>,
    plan: &ControlPlan,
) -> Vec<ControlWires> {
    let none = || ControlWires {
        to: Vec::new(),
        from: Vec::new(),
        late: VecDeque::new(),
        arrived: Vec::new(),
        theirs: Vec::new(),
        mine: Vec::new(),
        found: Vec::new(),
    };
    let mut wires: Vec<ControlWires> = plan.neighbours.iter().map(|_| none()).collect();
    for (sender, neighbours) in (0..).zip(&plan.neighbours) {
        for &receiver in neighbours.iter().filter(|receiver| {
            near.contains(&(sender as usize)) && near.contains(&(**receiver as usize))
        }) {
            if plan.one_sided {
                let (writer, reader) = blocks(region);
                wires[sender as usize].theirs.push((receiver, writer));
                wires[receiver as usize].mine.push((sender, reader));
            } else {
                let (producer, consumer) =
                    ring_in(region, Some(IsPortable::PROOF), plan.room.places(CONTROLS));
                wires[sender as usize].to.push((receiver, producer));
                wires[receiver as usize].from.push(consumer);
            }
        }
    }
    wires
}

impl ControlWires {
    pub(crate) fn prefetch(&self) {
        self.from.iter().for_each(Consumer::prefetch);
    }

    fn push(&mut self, to: u32, control: Control) -> bool {
        let wire = self.to.iter_mut().find(|(neighbour, _)| *neighbour == to);
        let Some((_, wire)) = wire else {
            panic!("PE {to} is no neighbour: GVT sends it no control messages")
        };
        wire.push(control)
    }

    /// Sends control messages that found no room, as far as there is room now.
    #[inline]
    pub(crate) fn flush(&mut self) {
        if !self.late.is_empty() {
            self.send_late();
        }
    }

    #[cold]
    fn send_late(&mut self) {
        while let Some(&(to, control)) = self.late.front() {
            if !self.push(to, control) {
                return;
            }
            self.late.pop_front();
        }
    }
}

impl ControlPort for ControlWires {
    fn send_control(&mut self, to: u32, control: Control) {
        if !self.late.is_empty() || !self.push(to, control) {
            self.late.make_room(1, "control messages");
            self.late.push_back((to, control));
        }
    }

    #[inline]
    fn receive_control(&mut self) -> Option<Control> {
        self.flush();
        if self.arrived.is_empty() {
            for wire in &mut self.from {
                wire.drain_into(&mut self.arrived, usize::MAX);
            }
            self.arrived.reverse();
        }
        self.arrived.pop()
    }

    fn write(&mut self, to: u32, put: Put) {
        let memory = self.theirs.iter_mut().find(|(neighbour, _)| *neighbour == to);
        let Some((_, memory)) = memory else {
            panic!("PE {to} is no neighbour: GVT writes nothing there")
        };
        match put {
            Put::JumpStart(word) => memory.jump_start(word),
            Put::Block { place, words } => memory.write(place, &words),
        }
    }

    #[inline]
    fn written(&mut self) -> Option<(u32, Put)> {
        if self.found.is_empty() {
            for (from, memory) in &mut self.mine {
                if memory.has_news() {
                    let blocks = (0..BLOCKS)
                        .filter_map(|place| Some(Put::Block { place, words: memory.take(place)? }));
                    self.found.extend(blocks.map(|put| (*from, put)));
                    self.found
                        .extend(memory.jump_started().map(|word| (*from, Put::JumpStart(word))));
                }
            }
        }
        self.found.pop()
    }
}

/// Implements `ControlPort` by the field `controls` and, if it is named, `BoundPort` by the field
/// `bounds`, for ports that share memory with all others.
macro_rules! by_shared_memory {
    ($Port:ident: controls) => {
        impl<E: Send> warpline_kernel::ControlPort for $Port<E> {
            fn send_control(&mut self, to: u32, control: warpline_kernel::gvt::Control) {
                warpline_kernel::ControlPort::send_control(&mut self.controls, to, control);
            }

            #[inline]
            fn receive_control(&mut self) -> Option<warpline_kernel::gvt::Control> {
                warpline_kernel::ControlPort::receive_control(&mut self.controls)
            }

            fn write(&mut self, to: u32, put: warpline_kernel::gvt::Put) {
                warpline_kernel::ControlPort::write(&mut self.controls, to, put);
            }

            #[inline]
            fn written(&mut self) -> Option<(u32, warpline_kernel::gvt::Put)> {
                warpline_kernel::ControlPort::written(&mut self.controls)
            }
        }
    };
    ($Port:ident: bounds, controls) => {
        crate::controls::by_shared_memory!($Port: controls);

        impl<E: Send> warpline_kernel::BoundPort for $Port<E> {
            #[inline]
            fn publish(&mut self, bound: u64) {
                warpline_kernel::BoundPort::publish(&mut self.bounds, bound);
            }

            #[inline]
            fn bound(&mut self, pe: u32) -> u64 {
                warpline_kernel::BoundPort::bound(&mut self.bounds, pe)
            }

            #[inline]
            fn publish_round(&mut self, round: u64, bound: u64) {
                warpline_kernel::BoundPort::publish_round(&mut self.bounds, round, bound);
            }

            #[inline]
            fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
                warpline_kernel::BoundPort::bound_of_round(&mut self.bounds, pe, round)
            }
        }
    };
}

pub(crate) use by_shared_memory;
