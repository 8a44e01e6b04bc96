//! PEs that move between threads while the run goes on.

use std::time::Instant;

use super::balance::Balance;
use super::gathering::Gathering;
use super::layout::ThreadLayout;
use super::shared::Threads;
use super::worker::SteppedPes;
use crate::parallel::status::PeStatus;

/// PEs may be moved at every so many looks.
const LOOKS_PER_MOVE: u32 = 2;

/// Moves PEs between threads.
pub(super) struct Moving {
    layout: ThreadLayout,
    /// Whether single PEs move.
    moves: bool,
    /// Whether all PEs may be given one thread.
    gathers: bool,
    balance: Balance,
    gathering: Gathering,
    looks: u32,
}

impl Moving {
    pub(super) fn new(assignment: &SteppedPes<'_>, layout: ThreadLayout) -> Self {
        let threads = assignment.threads();
        Moving {
            layout,
            moves: assignment.may_move() && (layout.moves || layout.migrate_at_random.is_some()),
            gathers: threads > 1 && layout.moves && layout.migrate_at_random.is_none(),
            balance: Balance::new(assignment.pes(), threads),
            gathering: Gathering::new(),
            looks: 0,
        }
    }

    pub(super) fn moves_single_pes(&self) -> bool {
        self.moves
    }

    pub(super) fn are_on(&self) -> bool {
        self.moves || self.gathers
    }

    /// Moves PEs where that helps.
    pub(super) fn look(&mut self, threads: &Threads, assignment: &SteppedPes<'_>) {
        self.looks += 1;
        if self.gathers
            && let Some(status) = threads.statuses().into_iter().reduce(PeStatus::and)
        {
            self.gathering.look(Instant::now(), status, assignment);
        }
        if self.moves
            && self.layout.moves
            && !assignment.are_gathered()
            && self.looks.is_multiple_of(LOOKS_PER_MOVE)
        {
            let times = threads.clocks.iter().map(|clock| clock.0.time()).collect();
            self.balance.even_out(assignment, threads.statuses(), times);
        }
    }

    /// How often a PE was given to another thread.
    pub(super) fn moved(&self) -> u64 {
        self.balance.moved + self.gathering.moved
    }
}
