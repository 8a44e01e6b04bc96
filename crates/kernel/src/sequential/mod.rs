//! The sequential engine: the reference for the answer and for every speed-up. It shares LPs,
//! events, the order of keys and fetching ahead with [`Pe`](crate::Pe), and has a loop of its own,
//! in which nothing is undone and nothing arrives from elsewhere.

pub(crate) mod attempt;
pub(crate) mod outcome;
mod progress;
mod timers;
pub(crate) mod watcher;

use std::mem::needs_drop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline_base::{EventKind, LpId, Sequence, TieBreak, VirtualTime};
use warpline_memory::{
    Account, Allocator, DropEach, Exhausted, Handle, Pool, list_for, prefer_huge_pages, prefetch,
    try_drop,
};
use warpline_model::engine::Executor;
use warpline_model::statistics::RowSink;
use warpline_model::{Fault, Model, Statistics};

use crate::agenda::fetch::{self, fetch_ahead, fetch_payload};
use crate::agenda::handle_set::HandleSet;
use crate::agenda::key_order::KeyOrder;
use crate::agenda::pending::{Entry, PendingSet};
use crate::faults::failure::drop_fault;
use crate::faults::panics::panic_message;
use crate::lps::STATES;
use crate::lps::handler::{run_handler, take_last};
use crate::sequential::outcome::Stop;
use crate::sequential::watcher::{Unwatched, Watcher};
use crate::{Event, Lp, Step};

/// A whole simulation, and the loop over its events.
///
/// Invariant: every event that was sent is either pending, or committed with its memory freed,
/// except for the one that is being executed.
pub struct Sequential<'m, M: Model, Q, R> {
    model: &'m M,
    ties: TieBreak,
    end: VirtualTime,
    lps: DropEach<Lp<M::State>>,
    events: Pool<Event<M::Event>>,
    pending: Q,
    executor: Executor<M>,
    statistics: Statistics,
    rows: R,
    committed: u64,
    sent: u64,
    /// Pending timers that were cancelled and have yet to be dropped.
    cancelled: HandleSet,
    current: Option<Handle>,
    /// Whether the payload of the current event, which has been executed, is being dropped.
    dropping: bool,
    prefetching: bool,
    /// What the engine has drawn on the memory budget of its machine, if there is one.
    account: Option<Account>,
}

impl<'m, M: Model, Q: PendingSet, R: RowSink> Sequential<'m, M, Q, R> {
    /// An engine whose LPs have yet to be initialised.
    ///
    /// # Panics
    /// If there is no memory for its LPs, it [unwinds](Exhausted::unwind).
    pub fn new(
        model: &'m M,
        executor: Executor<M>,
        ties: TieBreak,
        end: VirtualTime,
        statistics: Statistics,
        rows: R,
        pending: Q,
    ) -> Self {
        let mut lps = list_for(executor.limits().lps as usize, STATES);
        prefer_huge_pages(&mut lps);
        Sequential {
            model,
            ties,
            end,
            lps: lps.into(),
            events: Pool::default(),
            pending,
            executor,
            statistics,
            rows,
            committed: 0,
            sent: 0,
            cancelled: HandleSet::default(),
            current: None,
            dropping: false,
            prefetching: false,
            account: None,
        }
    }

    /// Charges this account for all memory that the engine takes. Call it before anything is
    /// simulated.
    pub fn draw_on(&mut self, account: Account) {
        self.account = Some(account);
    }

    /// Takes over initialised LPs, by id, and their pending events from another engine, which has
    /// committed `committed` events. Call it before anything is simulated.
    ///
    /// # Panics
    /// If there is no memory for the events, it [unwinds](Exhausted::unwind).
    pub fn take_over(
        &mut self,
        lps: DropEach<Lp<M::State>>,
        pending: impl IntoIterator<Item = Event<M::Event>>,
        committed: u64,
    ) {
        self.lps = lps;
        self.committed = committed;
        for event in pending {
            let time = event.time;
            let tie = self.ties.prefix(&event.key());
            let timer = event.is_timer().then_some((event.receiver, event.sequence));
            let handle = self.events.insert(event);
            if let Some((lp, sequence)) = timer {
                self.executor.timers_mut().push(lp.index(), sequence, handle);
            }
            self.pending.push(
                Entry::new(time, tie, handle),
                &KeyOrder { events: &self.events, ties: &self.ties },
            );
        }
        self.executor.timers_mut().sort();
        self.sent = committed + self.events.len() as u64;
    }

    /// The LP to be initialised next, or the one whose initialisation failed; `None` once all are
    /// initialised.
    pub fn next_lp(&self) -> Option<LpId> {
        let next = LpId(self.lps.len() as u32);
        (next.0 < self.executor.limits().lps).then_some(next)
    }

    /// Initialises the next LP, if there is one.
    ///
    /// # Errors
    /// If the model made a mistake, or there is no memory for what it sent.
    pub fn initialise_next(&mut self) -> Result<(), Stop> {
        self.initialise_next_watched(&mut Unwatched)
    }

    /// The same under the eyes of `watcher`.
    ///
    /// # Errors
    /// The same.
    pub fn initialise_next_watched(&mut self, watcher: &mut impl Watcher) -> Result<(), Stop> {
        let Some(id) = self.next_lp() else { return Ok(()) };
        Allocator::check().map_err(Stop::Exhausted)?;
        let state = self.guarded(|engine| engine.executor.init(engine.model, id))?;
        self.guarded(|engine| {
            engine.lps.push(Lp::new(state));
            engine.fault()?;
            engine.observe(id)?;
            if engine.executor.has_timers() {
                engine.deliver_with_timers(None, id, 0, watcher);
            } else {
                engine.deliver::<false>(None, id, 0, watcher);
            }
            Ok(())
        })??;
        self.account_memory()
    }

    /// Executes up to `most` events.
    ///
    /// # Errors
    /// If the model made a mistake, or there is no memory for what it sent.
    /// [`running`](Self::running) says where.
    pub fn step(&mut self, most: u32) -> Result<Step, Stop> {
        self.step_watched(most, &mut Unwatched)
    }

    /// The same under the eyes of `watcher`.
    ///
    /// # Errors
    /// The same.
    pub fn step_watched(&mut self, most: u32, watcher: &mut impl Watcher) -> Result<Step, Stop> {
        let bytes = self.lps.len() * size_of::<Lp<M::State>>()
            + self.events.places() * size_of::<Event<M::Event>>();
        self.prefetching = fetch::pays(bytes);
        Allocator::check().map_err(Stop::Exhausted)?;
        // Panics are caught once per batch, not per event.
        let step = self.guarded(|engine| engine.execute_batch(most, watcher))??;
        self.account_memory()?;
        Ok(step)
    }

    /// Notes how much memory the engine has.
    ///
    /// # Errors
    /// If that exceeds the budget.
    fn account_memory(&mut self) -> Result<(), Stop> {
        let Some(account) = &mut self.account else { return Ok(()) };
        let bytes = self.lps.capacity() * size_of::<Lp<M::State>>()
            + self.events.bytes()
            + self.pending.bytes()
            + self.executor.timers().bytes()
            + self.cancelled.bytes();
        let needed = account.settle(bytes as u64);
        if needed > account.budget().limit() {
            Err(Stop::Exhausted(account.budget().exceeded(needed)))
        } else {
            Ok(())
        }
    }

    /// Ends the run early, and returns its end: just after the time of the next event, as another
    /// event at that time may have been executed.
    pub fn end_soon(&mut self) -> VirtualTime {
        let order = KeyOrder { events: &self.events, ties: &self.ties };
        let next =
            self.pending.first(&order).map(|entry| VirtualTime::from_bits(entry.time().bits() + 1));
        self.end = next.map_or(self.end, |next| next.min(self.end));
        self.end
    }

    /// The event loop.
    fn execute_batch(&mut self, most: u32, watcher: &mut impl Watcher) -> Result<Step, Stop> {
        for _ in 0..most {
            let order = KeyOrder { events: &self.events, ties: &self.ties };
            let Some(entry) = self.pending.pop_before(self.end, &order) else {
                return Ok(Step::Finished);
            };
            if self.prefetching {
                self.fetch_ahead();
            }
            self.execute(entry, watcher)?;
        }
        Ok(Step::Worked)
    }

    #[inline]
    fn execute(&mut self, entry: Entry, watcher: &mut impl Watcher) -> Result<(), Stop> {
        self.current = Some(entry.handle());
        let mut event = self.events.get(entry.handle());
        let id = event.receiver;
        if self.executor.any_timers() {
            if !self.begin_with_timers(entry) {
                return Ok(());
            }
            // Looked up again only here, so that models without timers pay nothing for it.
            event = self.events.get(entry.handle());
        }
        let lp = &mut self.lps[id.index()];
        let number = lp.events + 1;
        if number >= Sequence::EVENT_LIMIT {
            self.executor.begin(id, number, entry.time(), event.step);
            return Err(Stop::Fault(Fault::TooManyEvents { limit: Sequence::EVENT_LIMIT }));
        }
        watcher.begins();
        run_handler(self.model, &mut self.executor, lp, event, entry.time(), number);
        if self.executor.forwards() {
            self.executor
                .copy_forwards_but_last(&event.payload, |timer| &self.events.get(timer).payload);
        }
        if self.executor.has_fault() {
            return self.fault();
        }
        lp.count(number, &event.key());
        self.executor.commit(self.model, &event.payload);
        watcher.executed(entry.handle(), id, entry.time());
        self.observe(id)?;
        if self.executor.has_timers() {
            self.deliver_with_timers(Some(entry.handle()), id, number, watcher);
        } else if self.executor.forwards() {
            self.forward(entry.handle(), id, number, watcher);
        } else {
            self.deliver::<false>(Some(entry.handle()), id, number, watcher);
        }
        self.committed += 1;
        Ok(())
    }

    /// As [`deliver`](Self::deliver), for an event that forwards its payload.
    #[cold]
    #[inline(never)]
    fn forward(&mut self, spent: Handle, sender: LpId, number: u64, watcher: &mut impl Watcher) {
        self.current = None;
        let event = self.events.remove(spent);
        self.executor.move_forward(event.payload);
        self.deliver::<false>(None, sender, number, watcher);
    }

    /// Puts what LP `sender` sent in its `number`-th event into the pending set. That event itself,
    /// at `spent`, is finished: its memory goes to one that it sent. `TIMERS`: the LP has timers.
    #[inline(always)]
    fn deliver<const TIMERS: bool>(
        &mut self,
        mut spent: Option<Handle>,
        sender: LpId,
        number: u64,
        watcher: &mut impl Watcher,
    ) {
        let first = Sequence::first_of(number);
        self.sent += self.executor.outbox_mut().len() as u64;
        while let Some(event) = take_last(&mut self.executor, sender, first) {
            if TIMERS && event.kind == EventKind::CancelledTimer {
                self.sent -= 1;
                _ = try_drop(event);
                continue;
            }
            let timer = event.as_timer().filter(|_| TIMERS);
            let time = event.time;
            let receiver = event.receiver;
            let tie = self.ties.prefix(&event.key());
            let handle = match spent.take() {
                Some(handle) => {
                    self.set_dropping(true);
                    self.events.replace(handle, event);
                    self.set_dropping(false);
                    handle
                }
                None => self.events.insert(event),
            };
            self.pending.push(
                Entry::new(time, tie, handle),
                &KeyOrder { events: &self.events, ties: &self.ties },
            );
            if let Some(timer) = timer {
                self.executor.note_timer(timer, handle);
            }
            watcher.sent(handle, sender, receiver, time);
        }
        if let Some(handle) = spent {
            self.current = None;
            self.set_dropping(true);
            self.events.remove(handle);
            self.set_dropping(false);
        }
    }

    /// Types that need no dropping cost nothing here.
    #[inline(always)]
    fn set_dropping(&mut self, dropping: bool) {
        if needs_drop::<M::Event>() {
            self.dropping = dropping;
        }
    }

    #[cold]
    fn fault(&mut self) -> Result<(), Stop> {
        self.executor.take_fault().map_or(Ok(()), |fault| Err(Stop::Fault(fault)))
    }

    /// Adds what LP `id` observed at this time to the statistics.
    #[inline]
    fn observe(&mut self, id: LpId) -> Result<(), Stop> {
        if self.executor.observations_mut().is_empty() {
            Ok(())
        } else {
            self.apply_observations(id)
        }
    }

    fn apply_observations(&mut self, id: LpId) -> Result<(), Stop> {
        let now = self.executor.now();
        let observations = self.executor.observations_mut();
        let outcome = self.statistics.apply(observations, now, id, &mut self.rows);
        observations.clear();
        outcome.map_err(Stop::Fault)
    }

    /// Prefetches coming events, and the LPs, payloads and timers of nearer ones.
    #[inline(always)]
    fn fetch_ahead(&self) {
        fetch_ahead(
            |distance| self.pending.upcoming(distance),
            |event| self.events.prefetch(event),
            |event| {
                let event = self.events.get(event);
                prefetch(&self.lps[event.receiver.index()]);
                fetch_payload::<M>(&event.payload);
            },
        );
        if self.executor.any_timers() {
            self.fetch_timers_ahead();
        }
    }

    /// Runs code of the model, and turns a panic into a fault.
    fn guarded<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> Result<T, Stop> {
        self.executor.beat().begin_step();
        // After a panic the engine is only used to say where it happened.
        let ran = catch_unwind(AssertUnwindSafe(|| run(self)));
        self.executor.beat().end_step();
        ran.map_err(|panic| match Exhausted::from_panic(panic) {
            Ok(why) => Stop::Exhausted(why),
            Err(panic) => {
                // A fault before the panic takes precedence.
                let fault = || {
                    if self.dropping {
                        drop_fault(panic)
                    } else {
                        Fault::Panic(panic_message(panic))
                    }
                };
                Stop::Fault(self.executor.take_fault().unwrap_or_else(fault))
            }
        })
    }
}

#[cfg(test)]
mod tests;
