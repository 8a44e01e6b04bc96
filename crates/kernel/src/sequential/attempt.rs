//! Code of the model that a sequential engine runs outside of its loop: `verify` tries each event
//! out before it is executed.

use warpline_memory::Pool;
use warpline_model::Model;
use warpline_model::engine::Executor;
use warpline_model::statistics::RowSink;

use super::Sequential;
use crate::agenda::key_order::KeyOrder;
use crate::agenda::pending::PendingSet;
use crate::sequential::outcome::Stop;
use crate::sequential::watcher::Unwatched;
use crate::{Event, Lp};

/// An event that is to be tried out before it is executed, its LP, and the context in which its
/// code runs.
pub struct Attempt<'e, M: Model> {
    /// The model.
    pub model: &'e M,
    /// The event.
    pub event: &'e Event<M::Event>,
    /// All events, which have the payloads of timers.
    pub events: &'e Pool<Event<M::Event>>,
    /// Its LP, which must be left as it was.
    pub lp: &'e mut Lp<M::State>,
    /// The context, which must be left empty.
    pub executor: &'e mut Executor<M>,
}

impl<M: Model, Q: PendingSet, R: RowSink> Sequential<'_, M, Q, R> {
    /// Runs code of the model outside of events, and turns a panic into a fault.
    ///
    /// # Errors
    /// If it panics.
    pub fn try_model<T>(&mut self, run: impl FnOnce(&M, &mut Executor<M>) -> T) -> Result<T, Stop> {
        self.guarded(|engine| run(engine.model, &mut engine.executor))
    }

    /// Offers the next event to `attempt`, and then executes it unless the attempt refuses. Returns
    /// `None` if there is no next event.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn step_after<T>(
        &mut self,
        attempt: impl FnOnce(Attempt<'_, M>) -> Result<(), T>,
    ) -> Result<Option<Result<(), T>>, Stop> {
        let entry = loop {
            let order = KeyOrder { events: &self.events, ties: &self.ties };
            let Some(entry) = self.pending.pop_before(self.end, &order) else { return Ok(None) };
            if !self.drops(entry.handle()) {
                break entry;
            }
        };
        self.current = Some(entry.handle());
        let tried = self.guarded(|engine| {
            let event = engine.events.get(entry.handle());
            engine.executor.visit(event.receiver, entry.time());
            let lp = &mut engine.lps[event.receiver.index()];
            attempt(Attempt {
                model: engine.model,
                event,
                events: &engine.events,
                lp,
                executor: &mut engine.executor,
            })
        })?;
        if tried.is_ok() {
            self.guarded(|engine| engine.execute(entry, &mut Unwatched))??;
        }
        Ok(Some(tried))
    }
}
