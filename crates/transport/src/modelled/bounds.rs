//! Bounds that PEs publish, each with the time at which it leaves. Readers find the last one that
//! has reached them.

use std::collections::VecDeque;

use warpline_machine::{Machine, Time};

/// Something published, and when it leaves for PEs of the same node, and for others.
#[derive(Clone, Copy, Debug)]
struct Published<T> {
    near: Time,
    far: Time,
    content: T,
}

/// What a PE has published and others may still read.
#[derive(Debug)]
pub(super) struct Bounds {
    /// Invariant: later ones leave no earlier.
    bounds: VecDeque<Published<u64>>,
    /// Rounds with their bounds: the last three.
    rounds: VecDeque<Published<(u64, u64)>>,
    /// When the last message has left for PEs of the same node, and for others: no bound may
    /// overtake it.
    left: [Time; 2],
}

/// A reader asks for its last round, and others are at most one round ahead.
const ROUNDS: usize = 3;

impl Default for Bounds {
    fn default() -> Self {
        Bounds { bounds: VecDeque::new(), rounds: VecDeque::new(), left: [Time::ZERO; 2] }
    }
}

impl Bounds {
    /// A message has left at this time; later bounds must not overtake it.
    pub(super) fn note_left(&mut self, far: bool, at: Time) {
        let left = &mut self.left[usize::from(far)];
        *left = (*left).max(at);
    }

    /// When what is published now leaves.
    fn leaves<T>(&mut self, content: T) -> Published<T> {
        let [near, far] = self.left;
        Published { near, far, content }
    }

    /// Publishes a bound at a time, after what was sent. What has reached all readers before
    /// `reached` is forgotten.
    pub(super) fn publish(&mut self, bound: u64, reached: Time) {
        let published = self.leaves(bound);
        self.bounds.push_back(published);
        while self.bounds.get(1).is_some_and(|second| second.near.max(second.far) <= reached) {
            self.bounds.pop_front();
        }
    }

    /// Publishes a bound for a round.
    pub(super) fn publish_round(&mut self, round: u64, bound: u64) {
        let published = self.leaves((round, bound));
        self.rounds.push_back(published);
        if self.rounds.len() > ROUNDS {
            self.rounds.pop_front();
        }
    }

    /// The last bound of PE `from` that has reached PE `to` by `now`.
    pub(super) fn read(&self, from: u32, to: u32, now: Time, machine: &Machine) -> u64 {
        let reaches = reaches(from, to, machine);
        let found = self.bounds.iter().rev().find(|bound| reaches(bound) <= now);
        found.map_or(0, |bound| bound.content)
    }

    /// Its bound for a round, if that has.
    pub(super) fn read_round(
        &self,
        (from, to): (u32, u32),
        round: u64,
        now: Time,
        machine: &Machine,
    ) -> Option<u64> {
        let reaches = reaches(from, to, machine);
        let found = self.rounds.iter().find(|published| published.content.0 == round)?;
        (reaches(found) <= now).then_some(found.content.1)
    }

    /// When the next one reaches PE `to`, at `earliest` or later.
    pub(super) fn next(
        &self,
        (from, to): (u32, u32),
        earliest: Time,
        machine: &Machine,
    ) -> Option<Time> {
        let is_due = |at: &Time| *at >= earliest;
        let bound = self.bounds.iter().map(reaches(from, to, machine)).find(is_due);
        let round = self.rounds.iter().map(reaches(from, to, machine)).find(is_due);
        bound.into_iter().chain(round).min()
    }
}

/// When what PE `from` has published reaches PE `to`.
fn reaches<T>(from: u32, to: u32, machine: &Machine) -> impl Fn(&Published<T>) -> Time {
    let latency = machine.latency(from, to);
    let far = machine.is_far(from, to);
    move |published| (if far { published.far } else { published.near }) + latency
}
