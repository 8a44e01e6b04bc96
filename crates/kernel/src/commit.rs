//! What a new GVT brings: events commit, their memory is reclaimed (fossil collection), mistakes become errors. These are the duties of
//! the global control mechanism in D. Jefferson, "Virtual time", ACM TOPLAS 7(3), 1985; how GVT is found, see [`crate::gvt`].

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use warpline_base::{LpId, Moment, TieBreak, VirtualTime};
use warpline_memory::{Apart, Buffers};
use warpline_model::{Context, Fault, Model, Statistics};

use crate::counts::Counts;
use crate::execute::Keys;
use crate::extras::ExtraId;
use crate::failure::{Failed, Held, event_text, panic_message};
use crate::gvt::{Action, AnyGvt, Local, Verdict, Work};
use crate::history::Fate;
use crate::pe::{Pe, Step};
use crate::pending::{Entry, PendingSet};
use crate::rows::RowsOf;
use crate::trace::{Doing, Level};
use crate::wires::Port;
use crate::{Event, Window};

/// How many events ahead the memory of an event is fetched.
const COMMIT_AHEAD: u64 = 8;

impl<M: Model, Q: PendingSet, P: Port> Pe<'_, M, Q, P> {
    /// Does what there is to do for GVT, after a batch of `executed` events.
    pub(crate) fn advance_gvt(&mut self, executed: u32) {
        self.since_gvt += executed;
        if executed == 0 || self.since_gvt >= self.tuning.gvt_interval {
            self.gvt.wish();
        }
        loop {
            let (gvt, mut standing) = self.standing();
            match gvt.advance(&mut standing) {
                None => return,
                Some(Action::Tell { to, control }) => self.port.tell(to, control),
                // At least one batch comes before the next computation, or a PE might never get to execute anything.
                Some(Action::Adopt(verdict)) => return self.adopt(verdict),
            }
        }
    }

    /// The PE as GVT sees it.
    fn standing(&mut self) -> (&mut AnyGvt, Standing<'_, M::Event, Q>) {
        let standing = Standing {
            next_lp: (!self.made_all()).then(|| LpId(self.ids.start + self.lps.len() as u32)),
            buffers: &mut self.buffers,
            pending: &mut self.pending,
            held: &self.held,
            ties: self.ties,
            end: self.end,
            failure: self.failure.as_ref().map_or(Moment::Never, |failed| failed.moment),
            told: &mut self.told,
            counts: &mut self.counts,
        };
        (&mut self.gvt, standing)
    }

    /// The last GVT.
    pub(crate) fn gvt_moment(&self) -> Moment {
        self.verdict.map_or(Moment::Init(LpId(0)), |verdict| verdict.gvt)
    }

    /// What comes before this time is due at GVT itself.
    pub(crate) fn due(&self) -> VirtualTime {
        Window::least_bound(&self.gvt_moment(), self.end)
    }

    fn adopt(&mut self, verdict: Verdict) {
        self.counts.gvt_epochs += 1;
        self.counts.gvt_trials += u64::from(verdict.trials);
        self.since_gvt = 0;
        let last = self.verdict.replace(verdict).map(|last| last.gvt);
        if verdict.failure != Moment::Never {
            self.over = Some(Step::Failed);
            return;
        }
        self.settled = last;
        self.commit_timed(verdict.gvt);
        // Only the verdict after the last commit tells whether it failed anywhere.
        if self.settled == Some(Moment::Never) {
            // Whatever was sent before the last epoch was closed has arrived, and nothing was sent since.
            let waiting: usize = self.outgoing.iter().map(|Apart(messages)| messages.len()).sum();
            assert_eq!(waiting, 0, "PE {} still has messages to hand over when the run is over", self.me);
            self.over = Some(Step::Finished);
            self.collect_fossils(0);
        }
        if self.history.open_len() >= 2 * self.tuning.history_most {
            self.make_room();
        }
        self.window.adapt(&verdict.gvt, &verdict.work);
        self.bound = self.window.bound(&verdict.gvt, self.end);
        self.gvt_time = verdict.gvt.time(self.end).get();
        self.trace_level();
    }

    fn commit_timed(&mut self, gvt: Moment) {
        let (since, before) = (self.meter.begin_commit(), self.done());
        self.commit(gvt);
        // When there is nothing left to execute, nobody needs them any more.
        if gvt != Moment::Never {
            self.return_surplus();
        }
        let (stretch, after) = (self.meter.end_commit(since), self.done());
        if let Some(trace) = &mut self.trace {
            trace.stretch(stretch, before, after, Doing::Commit { committed: after.committed - before.committed });
        }
    }

    /// How it stands after a commit, if it is traced.
    fn trace_level(&mut self) {
        let gvt = self.gvt_time.min(self.end.get());
        let (window, pending, uncommitted) = (self.window.width(), self.pending.len(), self.history.open_len());
        if let Some(trace) = &mut self.trace {
            trace.level(Level { at: self.meter.now(), gvt, window, pending, uncommitted });
        }
    }

    /// Before this time, nothing can arrive any more from another PE: what an event at or after GVT sends there comes at least the lookahead
    /// later, and all that was sent before has arrived (Perumalla et al., algorithm 1, where lookahead enters the minimum).
    fn horizon_after(&self, gvt: &Moment) -> VirtualTime {
        match (gvt, self.tuning.lookahead) {
            (Moment::Init(_), _) => VirtualTime::ZERO,
            (Moment::Event(key), None) => key.time,
            (Moment::Event(_), Some(_)) if self.partition.pes() == 1 => self.end,
            (Moment::Event(key), Some(lookahead)) => {
                VirtualTime::new(key.time.get() + lookahead).map_or(self.end, |time| time.min(self.end))
            }
            (Moment::Finish(_) | Moment::Never, _) => self.end,
        }
    }

    /// Commits all events before `gvt`, and those before the horizon that nothing pending here comes before, whatever the order in which
    /// they were executed; and reclaims their memory.
    fn commit(&mut self, gvt: Moment) {
        // A failure that is told of from now on comes no earlier than the GVT before this one.
        self.committed.forget_before(self.gvt_time);
        self.raise(gvt);
        self.horizon = self.horizon_after(&gvt);
        let due = self.due();
        // Without lookahead, only what comes before GVT itself is certain.
        let beyond = self.horizon >= due || gvt == Moment::Never;
        loop {
            // A fault found on the way lowers the limit, and what is left is looked through again.
            let least = self.standing().1.least();
            let limit = if beyond { least } else { least.earlier(gvt, self.ties) };
            let limit = self.failure.as_ref().map_or(limit, |failed| failed.moment.earlier(limit, self.ties));
            let outcome = catch_unwind(AssertUnwindSafe(|| self.commit_all_before(limit, due.max(self.horizon))));
            if self.note_commit(outcome) {
                break;
            }
        }
        self.collect_fossils(self.tuning.undoing.lag());
    }

    /// Notes what went wrong in a commit, and returns whether nothing did.
    fn note_commit(&mut self, outcome: thread::Result<Result<(), (Entry, Fault)>>) -> bool {
        match outcome {
            Ok(Ok(())) => return true,
            Ok(Err((entry, fault))) => self.fail(entry, fault),
            Err(panic) => {
                // Without an event at hand, it was the engine that panicked.
                let Some(entry) = self.running.take() else { resume_unwind(panic) };
                self.context.forget();
                self.fail(entry, Fault::Panic(panic_message(panic)));
            }
        }
        false
    }

    /// Commits what a KP has executed and not committed, before an event of the same KP that commits as soon as it is executed. Returns
    /// whether nothing went wrong. All of it is certain, as it comes before that event.
    #[cold]
    pub(crate) fn commit_kp(&mut self, k: usize) -> bool {
        let (mut places, mut place) = (Vec::new(), self.kps[k].last);
        while self.history.is_open(place) {
            places.push(place);
            place = self.history.get(place).before;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut places = places.into_iter().rev();
            if self.trace.is_some() {
                places.try_for_each(|place| self.commit_record::<true>(place))
            } else {
                places.try_for_each(|place| self.commit_record::<false>(place))
            }
        }));
        self.note_commit(outcome)
    }

    /// Reclaims the memory of committed events but for the last `lag` places.
    pub(crate) fn collect_fossils(&mut self, lag: u64) {
        if self.tuning.undoing.lag() == 0 {
            // Their events were released when they committed.
            return self.history.reclaim_closed();
        }
        while let Some(record) = self.history.reclaim(lag) {
            if record.fate == Fate::Committed {
                self.buffers.release(record.event);
            }
        }
    }

    /// Commits what comes before both `limit` and `end`.
    fn commit_all_before(&mut self, limit: Moment, end: VirtualTime) -> Result<(), (Entry, Fault)> {
        if self.trace.is_some() { self.commit_traced(limit, end) } else { self.commit_before::<false>(limit, end) }
    }

    #[cold]
    #[inline(never)]
    fn commit_traced(&mut self, limit: Moment, end: VirtualTime) -> Result<(), (Entry, Fault)> {
        self.commit_before::<true>(limit, end)
    }

    #[inline]
    fn commit_before<const TRACED: bool>(&mut self, limit: Moment, end: VirtualTime) -> Result<(), (Entry, Fault)> {
        let (time, mut closed) = (limit.time(self.end).min(end), self.history.open());
        for place in self.history.open()..self.history.end() {
            if let Some(coming) = self.history.event_at(place + COMMIT_AHEAD) {
                self.buffers.prefetch(coming);
            }
            let record = self.history.get(place);
            if record.fate == Fate::Open {
                let key = self.buffers.get(record.event).key();
                if key.time > time || key.time == time && (time == end || !Moment::Event(key).is_before(&limit, self.ties)) {
                    if place >= self.inversion {
                        break;
                    }
                    continue;
                }
                self.commit_record::<TRACED>(place)?;
            }
            closed += u64::from(closed == place);
        }
        self.history.close(closed);
        Ok(())
    }

    /// Commits the event of an open record.
    #[inline(always)]
    fn commit_record<const TRACED: bool>(&mut self, place: u64) -> Result<(), (Entry, Fault)> {
        let Pe { history, buffers, extras, context, model, running, statistics, rows, committed, counts, trace, .. } = self;
        let record = history.get_mut(place);
        let (handle, event) = (record.event, buffers.get(record.event));
        let (id, key) = (event.receiver, event.key());
        if record.extra != ExtraId::NONE {
            extras.swap_notes(std::mem::replace(&mut record.extra, ExtraId::NONE), context.notes_mut());
        }
        context.visit(id, key.time);
        let entry = Entry::new(key.time, 0, handle);
        *running = Some(entry);
        context.commit(model, &event.payload);
        *running = None;
        if !context.notes_mut().is_empty() {
            let rows = RowsOf { moment: Moment::Event(key), rows };
            observe(context, statistics, rows, id, key.time).map_err(|fault| (entry, fault))?;
        }
        record.fate = Fate::Committed;
        let retained = self.tuning.undoing.lag() > 0;
        let partner = if retained { buffers.partner(handle) } else { buffers.release(handle) };
        counts.remote_committed += u64::from(partner != self.me);
        counts.committed += 1;
        committed.push(key);
        if TRACED && let Some(trace) = trace {
            trace.event(id, &key);
        }
        Ok(())
    }

    /// Lets what LP `id` observed while it was made count.
    pub(crate) fn observe_init(&mut self, id: LpId) -> Result<(), Fault> {
        self.observe(Moment::Init(id), id, VirtualTime::ZERO)
    }

    /// Lets what LP `id` observed count.
    pub(crate) fn observe(&mut self, moment: Moment, id: LpId, time: VirtualTime) -> Result<(), Fault> {
        let rows = RowsOf { moment, rows: &mut self.rows };
        observe(&mut self.context, &mut self.statistics, rows, id, time)
    }

    /// What was held back and turns out to happen becomes a failure.
    fn raise(&mut self, gvt: Moment) {
        let next = LpId(self.ids.start + self.lps.len() as u32);
        if let (Moment::Init(lp), Some(fault)) = (gvt, &self.init_fault)
            && lp == next
        {
            let fault = fault.clone();
            self.failure = Some(Failed { moment: gvt, lp, time: VirtualTime::ZERO, event: None, fault });
        }
        let found = |held: &Held| Moment::Event(held.key) == gvt && !self.buffers.is_cancelled(held.event());
        if let Some(index) = self.held.iter().position(found) {
            let Held { entry, fault, .. } = self.held.swap_remove(index);
            self.fail(entry, fault);
        }
    }

    /// Notes a fault that is certain: it is a failure if GVT has reached it, of which only the earliest counts, and held back otherwise, as
    /// there may be earlier ones elsewhere.
    fn fail(&mut self, entry: Entry, fault: Fault) {
        let event = self.buffers.get(entry.handle());
        let (key, lp, time) = (event.key(), event.receiver, event.time);
        let moment = Moment::Event(key);
        if self.gvt_moment().is_before(&moment, self.ties) {
            self.held.push(Held { entry, key, fault, certain: true });
        } else if self.failure.as_ref().is_none_or(|failed| moment.is_before(&failed.moment, self.ties)) {
            self.failure = Some(Failed { moment, lp, time, event: Some(event_text(&event.payload)), fault });
        }
    }

    /// How many committed events of this PE come before `moment`. The last commit may have gone beyond it, as another PE failed there;
    /// commits before that cannot have.
    pub fn committed_before(&self, moment: &Moment) -> u64 {
        self.counts.committed - self.committed.count_from(moment, self.ties)
    }
}

/// Lets what an LP observed count.
fn observe<M: Model>(
    context: &mut Context<M>,
    statistics: &mut Statistics,
    mut rows: RowsOf<'_>,
    lp: LpId,
    time: VirtualTime,
) -> Result<(), Fault> {
    let notes = context.notes_mut();
    let outcome = statistics.apply(notes, time.get(), lp, &mut rows);
    notes.clear();
    outcome
}

/// What GVT wants to know of a PE.
struct Standing<'a, E, Q> {
    /// The LP that is to be made next, if any.
    next_lp: Option<LpId>,
    buffers: &'a mut Buffers<Event<E>>,
    pending: &'a mut Q,
    held: &'a [Held],
    ties: TieBreak,
    end: VirtualTime,
    /// The failure of this PE, if there is one.
    failure: Moment,
    /// What was done up to the last time.
    told: &'a mut Work,
    counts: &'a mut Counts,
}

impl<E, Q: PendingSet> Local for Standing<'_, E, Q> {
    fn least(&mut self) -> Moment {
        if let Some(lp) = self.next_lp {
            return Moment::Init(lp);
        }
        let held = self.held.iter().filter(|held| !self.buffers.is_cancelled(held.event()));
        let least = held.fold(Moment::Never, |least, held| least.earlier(Moment::Event(held.key), self.ties));
        loop {
            let keys = Keys { buffers: &*self.buffers, ties: self.ties };
            let Some(first) = self.pending.first(&keys).filter(|first| first.time() < self.end) else { return least };
            if !self.buffers.is_cancelled(first.handle()) {
                return least.earlier(Moment::Event(self.buffers.get(first.handle()).key()), self.ties);
            }
            self.pending.pop_before(self.end, &keys);
            self.buffers.release(first.handle());
            self.counts.annihilated += 1;
        }
    }

    fn failure(&self) -> Moment {
        self.failure
    }

    fn take_work(&mut self) -> Work {
        let Counts { processed, rolled_back, steps, idle_steps, .. } = *self.counts;
        let done = Work { processed, rolled_back, steps, idle_steps };
        let told = std::mem::replace(self.told, done);
        Work {
            processed: done.processed - told.processed,
            rolled_back: done.rolled_back - told.rolled_back,
            steps: done.steps - told.steps,
            idle_steps: done.idle_steps - told.idle_steps,
        }
    }
}
