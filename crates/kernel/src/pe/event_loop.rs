//! The event loop of a PE: what it does in one step.

use warpline_memory::{Allocator, Exhausted, catch_exhausted};

use super::Pe;
use crate::pe::types::PeTypes;
use crate::step::Step;

impl<T: PeTypes> Pe<'_, T> {
    /// Takes one turn of the event loop: receives messages, executes a batch, files what was
    /// received, commits what has become certain, publishes how far the PE has come, and takes part
    /// in GVT. When the run is over, a step only hands over what is left.
    ///
    /// # Errors
    /// If memory runs out. The run cannot go on then; [`position`](Self::position) says where it
    /// was.
    ///
    /// # Panics
    /// If the engine detects an error of its own. Panics of the model are caught.
    pub fn step(&mut self) -> Result<Step, Exhausted> {
        if let Some(over) = self.frontier.over() {
            self.mail.hand_over_rest(&mut self.gvt);
            return Ok(over);
        }
        Allocator::check()?;
        self.executor.beat().begin_step();
        let stepped = catch_exhausted(|| self.execute_step());
        self.executor.beat().end_step();
        stepped
    }

    fn execute_step(&mut self) -> Step {
        let watched = self.gauge.begin_step();
        self.receive_control();
        if self.still_waits() && !watched {
            return self.wait_for_gvt();
        }
        self.receive();
        let executed = self.execute(watched);
        self.file_received();
        self.raise_horizon(executed);
        self.publish(executed);
        self.take_part_in_gvt(executed);
        self.count_register_accesses();
        self.note_waiting();
        let over = self.frontier.over();
        self.gauge.end_step(executed == 0, watched, over.is_some());
        over.unwrap_or(if executed > 0 { Step::Worked } else { Step::Idle })
    }
}
