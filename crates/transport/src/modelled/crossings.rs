//! What goes from PEs of one part of a machine to those of another. A thread of the host steps each
//! part, and nothing crosses sooner than a message takes between nodes.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use warpline_kernel::ValueMessage;
use warpline_kernel::gvt::{Control, Put};
use warpline_machine::{Machine, Time};

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
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) at: Time,
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
    pub(super) fn pes(&self, part: usize) -> Range<u32> {
        self.firsts[part]..self.firsts[part + 1]
    }

    /// The part of a PE.
    pub(super) fn part_of(&self, pe: u32) -> usize {
        self.firsts.partition_point(|first| *first <= pe) - 1
    }

    /// Hands over to a part what was sent there. The list is left empty.
    pub(super) fn hand_over(&self, part: usize, leaving: &mut Vec<Crossing<E>>) {
        if !leaving.is_empty() {
            let mut waiting = self.waiting[part].lock().unwrap_or_else(PoisonError::into_inner);
            waiting.append(leaving);
        }
    }

    /// Takes what was handed over to a part, and leaves an empty list there. What comes from one PE is
    /// in the order in which it was sent.
    pub(super) fn take(&self, part: usize, empty: Vec<Crossing<E>>) -> Vec<Crossing<E>> {
        let mut waiting = self.waiting[part].lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut waiting, empty)
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
        assert_eq!((crossings.parts(), crossings.pes(1)), (2, 24..60));
    }
}
