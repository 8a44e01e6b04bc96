//! The sequential engine: the reference for the answer and for every speed-up.

mod trial;

use std::cmp::Ordering;
use std::mem::needs_drop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline_base::{LpId, Sequence, TieBreak, VirtualTime};
use warpline_kernel::pending::{Entry, PendingSet, Ties};
use warpline_kernel::{DROPPED_EVENT, Event, drop_fault};
use warpline_memory::{DropEach, Handle, Pool, PoolFull, prefer_huge_pages, prefetch};
use warpline_model::engine::Outgoing;
use warpline_model::{Context, Fault, Model, Statistics};

use crate::error::{Failure, event_text, panic_message};
use crate::finish::Finishing;
use crate::lp::Lp;
use crate::rows::Rows;
use crate::{Error, Place};

/// How many events ahead the memory of an event, and of the LP that it reaches, is fetched.
const EVENT_AHEAD: usize = 12;
const LP_AHEAD: usize = 6;
/// A working set up to this many bytes stays in the nearest cache without being fetched ahead.
const CACHED_BYTES: usize = 32 << 10;

/// All of a simulation, and the loop over its events.
pub(crate) struct Sequential<'m, M: Model, Q> {
    model: &'m M,
    name: &'m str,
    pub(crate) ties: TieBreak,
    end: VirtualTime,
    pub(crate) lps: DropEach<Lp<M::State>>,
    events: Pool<Event<M::Event>>,
    pending: Q,
    pub(crate) context: Context<M>,
    pub(crate) statistics: Statistics,
    pub(crate) rows: Rows,
    pub(crate) committed: u64,
    sent: u64,
    now: VirtualTime,
    current: Option<Handle>,
    /// Whether the payload of the current event, which is over, is being dropped.
    dropping: bool,
    prefetching: bool,
}

/// Orders entries of equal rank by the keys of their events.
struct Keys<'a, E> {
    events: &'a Pool<Event<E>>,
    ties: &'a TieBreak,
}

impl<E> Ties for Keys<'_, E> {
    #[cold]
    fn order(&self, a: Handle, b: Handle) -> Ordering {
        self.ties.compare(&self.events.get(a).key(), &self.events.get(b).key())
    }
}

/// Whether there is more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Worked,
    Finished,
}

impl<'m, M: Model, Q: PendingSet> Sequential<'m, M, Q> {
    /// An engine whose LPs are still to be made, by [`init`](Self::init).
    ///
    /// # Errors
    /// If the memory for so many LPs cannot be had.
    pub(crate) fn new(
        model: &'m M,
        name: &'m str,
        context: Context<M>,
        ties: TieBreak,
        end: VirtualTime,
        statistics: Statistics,
        rows: Rows,
    ) -> Result<Self, Error> {
        let (mut lps, count) = (Vec::new(), context.limits().lps);
        lps.try_reserve_exact(count as usize).map_err(|_| Error::too_many_lps(count, size_of::<Lp<M::State>>()))?;
        prefer_huge_pages(&mut lps);
        let (lps, events, pending) = (lps.into(), Pool::default(), Q::default());
        let (committed, sent, now, current, dropping, prefetching) = (0, 0, VirtualTime::ZERO, None, false, false);
        Ok(Sequential {
            model,
            name,
            ties,
            end,
            lps,
            events,
            pending,
            context,
            statistics,
            rows,
            committed,
            sent,
            now,
            current,
            dropping,
            prefetching,
        })
    }

    /// Makes all LPs, in the order of their ids, and says now and then that it goes on.
    pub(crate) fn init(&mut self, mut goes_on: impl FnMut()) -> Result<(), Error> {
        for id in (0..self.context.limits().lps).map(LpId) {
            if id.0.is_multiple_of(64) {
                goes_on();
            }
            let place = |_: &Self| Place::Init(id);
            let state = self.guarded(place, |engine| engine.context.init(engine.model, id))?;
            self.lps.push(Lp::new(state));
            let begun = self.fault().and_then(|()| self.observe(id)).and_then(|()| self.deliver(None, id, 0));
            begun.or_else(|stop| self.explain(stop, place))?;
        }
        Ok(())
    }

    /// Executes up to `most` events.
    pub(crate) fn step(&mut self, most: u32) -> Result<Step, Error> {
        let bytes = self.lps.len() * size_of::<Lp<M::State>>() + self.events.places() * size_of::<Event<M::Event>>();
        self.prefetching = bytes > CACHED_BYTES;
        self.guarded(Self::current_place, |engine| engine.execute_batch(most))?.or_else(|stop| self.explain(stop, Self::current_place))
    }

    /// The event loop.
    fn execute_batch(&mut self, most: u32) -> Result<Step, Stop> {
        for _ in 0..most {
            let keys = Keys { events: &self.events, ties: &self.ties };
            let Some(entry) = self.pending.pop_before(self.end, &keys) else { return Ok(Step::Finished) };
            if self.prefetching {
                self.fetch_ahead();
            }
            self.execute(entry)?;
        }
        Ok(Step::Worked)
    }

    #[inline]
    fn execute(&mut self, entry: Entry) -> Result<(), Stop> {
        self.current = Some(entry.handle());
        self.now = entry.time();
        let event = self.events.get(entry.handle());
        let id = event.receiver;
        let lp = &mut self.lps[id.index()];
        let number = lp.events + 1;
        if number >= Sequence::EVENT_LIMIT {
            return Err(Stop::Fault(Fault::TooManyEvents { limit: Sequence::EVENT_LIMIT }));
        }
        self.context.begin(id, number, entry.time(), event.step);
        self.model.handle(&mut lp.state, &event.payload, &mut self.context);
        if self.context.has_fault() {
            return self.fault();
        }
        lp.events = number;
        lp.digest.push(&event.key());
        self.context.commit(self.model, &event.payload);
        self.observe(id)?;
        self.deliver(Some(entry.handle()), id, number)?;
        self.committed += 1;
        Ok(())
    }

    /// Files what LP `sender` sent in its `number`-th event. That event itself, in `spent`, is over: its memory goes to
    /// one that it sent.
    #[inline(always)]
    fn deliver(&mut self, mut spent: Option<Handle>, sender: LpId, number: u64) -> Result<(), Stop> {
        let sequence = Sequence::first_of(number);
        self.sent += self.context.outbox_mut().len() as u64;
        // Last first, which is all the same to the pending set: the place in the order is in the key.
        while let Some(Outgoing { time, to: receiver, step, priority, event: payload }) = self.context.outbox_mut().pop() {
            let index = self.context.outbox_mut().len() as u32;
            let event = Event { time, sequence: sequence.nth(index), sender, receiver, step, priority, payload };
            let tie = self.ties.prefix(&event.key());
            let handle = match spent.take() {
                Some(handle) => {
                    self.set_dropping(true);
                    self.events.replace(handle, event);
                    self.set_dropping(false);
                    handle
                }
                None => self.events.insert(event).map_err(Stop::Full)?,
            };
            self.pending.push(Entry::new(time, tie, handle), &Keys { events: &self.events, ties: &self.ties });
        }
        if let Some(handle) = spent {
            self.current = None;
            self.set_dropping(true);
            self.events.remove(handle);
            self.set_dropping(false);
        }
        Ok(())
    }

    /// What needs no dropping costs nothing here.
    #[inline(always)]
    fn set_dropping(&mut self, dropping: bool) {
        if needs_drop::<M::Event>() {
            self.dropping = dropping;
        }
    }

    #[cold]
    fn fault(&mut self) -> Result<(), Stop> {
        self.context.take_fault().map_or(Ok(()), |fault| Err(Stop::Fault(fault)))
    }

    /// Lets what LP `id` observed at this time count.
    #[inline]
    fn observe(&mut self, id: LpId) -> Result<(), Stop> {
        if self.context.notes_mut().is_empty() { Ok(()) } else { self.apply_notes(id) }
    }

    fn apply_notes(&mut self, id: LpId) -> Result<(), Stop> {
        let notes = self.context.notes_mut();
        let outcome = self.statistics.apply(notes, self.now.get(), id, &mut self.rows);
        notes.clear();
        outcome.map_err(Stop::Fault)
    }

    /// Brings the memory of coming events near, and of the LPs that they reach.
    #[inline]
    fn fetch_ahead(&self) {
        if let Some(handle) = self.pending.upcoming(EVENT_AHEAD) {
            self.events.prefetch(handle);
        }
        if let Some(handle) = self.pending.upcoming(LP_AHEAD) {
            prefetch(&self.lps[self.events.get(handle).receiver.index()]);
        }
    }

    /// Calls `finish` for all LPs, and closes the books.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.now = self.end;
        let Sequential { context, statistics, rows, lps, .. } = self;
        let (model, name, end, committed) = (self.model, self.name, self.end, self.committed);
        Finishing { model, name, context, statistics, rows, end, committed }.finish(lps.iter().map(|lp| &lp.state))?;
        assert_eq!(self.events.len(), self.pending.len(), "every event is pending, or its memory is free");
        assert_eq!(self.sent, self.committed + self.pending.len() as u64, "every event sent is committed or pending");
        Ok(())
    }

    /// How far the run has got.
    pub(crate) fn now(&self) -> VirtualTime {
        self.now
    }

    /// Runs code of the model, and makes an error of a panic.
    fn guarded<T>(&mut self, place: impl Fn(&Self) -> Place, run: impl FnOnce(&mut Self) -> T) -> Result<T, Error> {
        // The engine is not used again after a panic but to say where it happened.
        catch_unwind(AssertUnwindSafe(|| run(self))).or_else(|panic| {
            // What the code did wrong before it panicked comes first.
            let fault = self
                .context
                .take_fault()
                .unwrap_or_else(|| if self.dropping { drop_fault(panic) } else { Fault::Panic(panic_message(panic)) });
            self.explain(Stop::Fault(fault), place)
        })
    }

    fn current_place(&self) -> Place {
        let event = self.current.filter(|_| !self.dropping).map(|handle| self.events.get(handle));
        let text = event.map_or_else(|| DROPPED_EVENT.into(), |event| event_text(&event.payload));
        Place::Event { lp: self.context.id(), time: self.now.get(), event: text }
    }

    #[cold]
    fn explain<T>(&self, stop: Stop, place: impl Fn(&Self) -> Place) -> Result<T, Error> {
        let (time, committed, model) = (self.now.get(), self.committed, self.name.to_owned());
        Err(match (stop, place(self)) {
            (Stop::Fault(fault), place) => Error::Fault(Box::new(Failure { model, place, time, fault, committed })),
            (Stop::Full(why), _) => Error::TooManyPending { lp: self.context.id(), time, pending: self.events.len(), why },
        })
    }
}

/// Why the loop stops early.
#[derive(Debug)]
enum Stop {
    Fault(Fault),
    Full(PoolFull),
}

#[cfg(test)]
mod tests {
    use warpline_kernel::pending::Heap;
    use warpline_model::engine::Limits;
    use warpline_model::{Declarations, Init};

    use super::*;
    use crate::Records;

    struct Clock;

    impl Model for Clock {
        type State = ();
        type Event = ();
        fn lps(&self) -> u32 {
            1
        }
        fn init(&self, lp: &mut Init<Self>) {
            lp.send(0, 1.0, ());
        }
        fn handle(&self, (): &mut (), (): &(), lp: &mut Context<Self>) {
            lp.send(0, 1.0, ());
        }
    }

    #[test]
    fn an_lp_that_can_count_no_further_is_an_error() {
        let statistics = Statistics::new(Declarations::default(), 0.0, 10.0);
        let rows = Rows::new(&Records::Drop, &statistics).unwrap();
        let context = Context::new(&Clock, 1, Limits::ZERO_DELAY_HOPS, false);
        let end = VirtualTime::new(10.0).unwrap();
        let mut engine = Sequential::<_, Heap>::new(&Clock, "clock", context, TieBreak::BySender, end, statistics, rows).unwrap();
        engine.init(|| {}).unwrap();
        engine.lps[0].events = Sequence::EVENT_LIMIT - 3;
        let Err(Error::Fault(failure)) = engine.step(10) else { panic!("the limit was passed") };
        assert_eq!(failure.fault, Fault::TooManyEvents { limit: Sequence::EVENT_LIMIT });
        assert_eq!((failure.committed, failure.time), (2, 3.0));
    }
}
