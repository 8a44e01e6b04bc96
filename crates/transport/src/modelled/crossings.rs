//! What goes from PEs of one part of a machine to those of another. A thread of the host steps each
//! part, and nothing crosses sooner than a message takes between nodes.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpline_kernel::ValueMessage;
use warpline_kernel::gvt::{Control, Put};
use warpline_machine::{Machine, Time};

use super::arrivals::Origin;

/// The PEs of each part if the nodes of so many PEs are divided into parts, at most one for each
/// node.
pub fn parts_of_machine(machine: &Machine, pes: u32, parts: u32) -> Vec<Range<u32>> {
    let nodes = machine.nodes(pes);
    let parts = parts.clamp(1, nodes);
    let first = |part: u32| {
        let node = u64::from(nodes) * u64::from(part) / u64::from(parts);
        (node as u32).saturating_mul(machine.cores).min(pes)
    };
    (0..parts).map(|part| first(part)..first(part + 1)).collect()
}

/// Something that has left one part, and arrives in another.
#[derive(Debug)]
pub(super) struct Crossing<E> {
    pub(super) to: u32,
    pub(super) at: Time,
    pub(super) origin: Origin,
    pub(super) content: Crossed<E>,
}

/// What it is.
#[derive(Debug)]
pub(super) enum Crossed<E> {
    Value(ValueMessage<E>),
    Control(Control),
    Write(Put),
}

/// The parts of a machine, each of which has some of its nodes, and what is on its way between them.
#[derive(Debug)]
pub(super) struct Crossings<E> {
    /// The first PE of each part, and the number of PEs.
    firsts: Arc<[u32]>,
    /// By part: what others have handed over to it.
    waiting: Arc<[Mutex<Vec<Crossing<E>>>]>,
}

impl<E> Clone for Crossings<E> {
    fn clone(&self) -> Self {
        Crossings { firsts: self.firsts.clone(), waiting: self.waiting.clone() }
    }
}

impl<E> Crossings<E> {
    pub(super) fn new(parts: &[Range<u32>]) -> Self {
        let end = parts.last().map(|last| last.end);
        Crossings {
            firsts: parts.iter().map(|part| part.start).chain(end).collect(),
            waiting: parts.iter().map(|_| Mutex::default()).collect(),
        }
    }

    pub(super) fn parts(&self) -> usize {
        self.waiting.len()
    }

    /// The PEs of a part.
    fn pes(&self, part: usize) -> Range<u32> {
        self.firsts[part]..self.firsts[part + 1]
    }

    /// The part of a PE.
    pub(super) fn part_of(&self, pe: u32) -> usize {
        self.firsts.partition_point(|first| *first <= pe) - 1
    }

    fn waiting(&self, part: usize) -> MutexGuard<'_, Vec<Crossing<E>>> {
        self.waiting[part].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a part exchanges with the others.
#[derive(Debug)]
pub(super) struct Border<E> {
    crossings: Crossings<E>,
    part: usize,
    /// The PEs of the part.
    own: Range<u32>,
    /// By part: what has left for it.
    leaving: Vec<Vec<Crossing<E>>>,
    /// When the first of that arrives.
    first: Option<Time>,
    /// The list of what came last, emptied.
    emptied: Vec<Crossing<E>>,
}

impl<E> Border<E> {
    pub(super) fn new(crossings: &Crossings<E>, part: usize) -> Self {
        Border {
            crossings: crossings.clone(),
            part,
            own: crossings.pes(part),
            leaving: (0..crossings.parts()).map(|_| Vec::new()).collect(),
            first: None,
            emptied: Vec::new(),
        }
    }

    /// How many PEs all parts have.
    pub(super) fn pes(&self) -> u32 {
        self.crossings.firsts[self.crossings.parts()]
    }

    /// The PEs of the part.
    pub(super) fn own(&self) -> Range<u32> {
        self.own.clone()
    }

    /// The place of a PE among those of the part.
    #[inline(always)]
    pub(super) fn index(&self, pe: u32) -> usize {
        (pe - self.own.start) as usize
    }

    /// Whether a PE belongs to the part.
    #[inline(always)]
    pub(super) fn has(&self, pe: u32) -> bool {
        self.own.contains(&pe)
    }

    /// Something leaves for a PE of another part.
    pub(super) fn leave(&mut self, crossing: Crossing<E>) {
        self.first = Some(self.first.map_or(crossing.at, |first| first.min(crossing.at)));
        self.leaving[self.crossings.part_of(crossing.to)].push(crossing);
    }

    /// Hands over what has left for other parts. Returns when the first of it arrives.
    pub(super) fn hand_over(&mut self) -> Option<Time> {
        for (part, leaving) in self.leaving.iter_mut().enumerate() {
            if !leaving.is_empty() {
                self.crossings.waiting(part).append(leaving);
            }
        }
        self.first.take()
    }

    /// Takes what other parts have handed over; the list is to be [given back](Self::give_back). What
    /// comes from one PE is in the order in which it was sent.
    pub(super) fn take(&mut self) -> Vec<Crossing<E>> {
        let empty = std::mem::take(&mut self.emptied);
        std::mem::replace(&mut *self.crossings.waiting(self.part), empty)
    }

    /// Takes back the list, emptied.
    pub(super) fn give_back(&mut self, emptied: Vec<Crossing<E>>) {
        self.emptied = emptied;
    }

    /// All that has not been received.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Crossing<E>> {
        let arrived = self.take();
        self.leaving.drain(..).flatten().chain(arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_nodes_and_have_all_pes() {
        let machine = warpline_machine::open("cray-xt5").expect("a profile");
        assert_eq!(parts_of_machine(&machine, 60, 2), [0..24, 24..60]);
        assert_eq!(parts_of_machine(&machine, 29, 7), [0..12, 12..24, 24..29]);
        assert_eq!(parts_of_machine(&machine, 12, 2).len(), 1, "a node is not divided");
        let crossings = Crossings::<()>::new(&parts_of_machine(&machine, 60, 2));
        assert_eq!([0, 23, 24, 59].map(|pe| crossings.part_of(pe)), [0, 0, 1, 1]);
        let border = Border::new(&crossings, 1);
        assert_eq!((border.pes(), border.own(), border.index(24)), (60, 24..60, 0));
        assert_eq!([23, 24, 59, 60].map(|pe| border.has(pe)), [false, true, true, false]);
    }
}
