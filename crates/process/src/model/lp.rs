use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use warpline_base::LpId;
use warpline_model::engine::{context_of, limits_of};
use warpline_model::record::Stuck;
use warpline_model::{Context, HasEvent, Init, Observe};

use crate::event::ProcessEvent;
use crate::model::ProcessModel;
use crate::queues::shelf::Shelf;
use crate::running::Running;
use crate::running::executor::run_ready;
use crate::running::tables::Tables;
use crate::running::things::Things;
use crate::running::waits::What;
use crate::running::wakeups;
use crate::sim::{Sim, Valued};

/// The state of an LP of processes: its processes, what they wait for, and what they share.
pub struct ProcessLp<T: 'static> {
    tables: Tables,
    things: Things,
    mailbox: Shelf<T>,
}

impl<T> Default for ProcessLp<T> {
    fn default() -> Self {
        ProcessLp {
            tables: Tables::default(),
            things: Things::default(),
            mailbox: Shelf::default(),
        }
    }
}

/// Coroutines cannot be copied. Engines know, and never copy such a state.
impl<T> Clone for ProcessLp<T> {
    fn clone(&self) -> Self {
        panic!("the state of an LP of processes cannot be copied, as coroutines cannot")
    }
}

impl<T: fmt::Debug> fmt::Debug for ProcessLp<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessLp")
            .field("started", &self.tables.processes.started())
            .field("processes", &self.processes())
            .field("waits", &self.waits())
            .field("things", &self.things.len())
            .field("unread", &self.mailbox.items().collect::<Vec<_>>())
            .finish()
    }
}

impl<T: Send + 'static> ProcessLp<T> {
    /// Makes an LP of processes: starts the first one, and polls it.
    pub(crate) fn begin<P, M>(model: &Arc<P>, lp: &mut Init<'_, M>) -> Self
    where
        P: ProcessModel<Message = T>,
        M: HasEvent<Event = ProcessEvent<T>>,
    {
        let mut state = ProcessLp::default();
        let run = Valued::new(Arc::clone(model).run(Sim::new()));
        let processes = &mut state.tables.processes;
        let key = processes.add(run, Some("run".into()), Location::caller());
        state.go_on(Some(key.place), context_of(lp));
        state
    }

    /// A wake-up or a message has arrived.
    #[inline]
    pub(crate) fn handle<M>(&mut self, event: &ProcessEvent<T>, lp: &mut Context<M>)
    where
        M: HasEvent<Event = ProcessEvent<T>>,
        T: Clone,
    {
        match event {
            ProcessEvent::Wake(wait) => {
                if let Some(process) = wakeups::arrive(&mut self.tables, *wait) {
                    self.go_on(Some(process), lp);
                }
            }
            ProcessEvent::Message(message) => {
                self.mailbox.put(message.clone(), &mut self.tables);
                self.go_on(None, lp);
            }
        }
    }

    /// Polls the process in the place `first`, if that is one, and then all that are ready.
    #[inline]
    fn go_on<M>(&mut self, first: Option<u32>, lp: &mut Context<M>)
    where
        M: HasEvent<Event = ProcessEvent<T>>,
    {
        self.tables.begin_event(lp.may_tell());
        let mut running = Running {
            now: lp.now(),
            id: lp.id(),
            most_steps: limits_of(lp).zero_delay_hops,
            tables: &mut self.tables,
            things: &mut self.things,
            mailbox: &mut self.mailbox,
            lp,
        };
        run_ready(&mut running, first);
    }
}

impl<T> ProcessLp<T> {
    /// The run has ended.
    pub(crate) fn end(&self, lp: LpId, now: f64, observe: &mut dyn Observe) {
        self.things.end(lp, now, observe);
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.tables.processes.len()
    }

    /// How many waits there are.
    pub fn waits(&self) -> usize {
        self.tables.waits.len() as usize
    }

    /// Who waits for what can no longer come in LP `lp` of a model of so many, if no event is left:
    /// the first `most` of them in words.
    pub(crate) fn stuck_in(&self, lps: u32, lp: LpId, most: usize) -> Stuck {
        let (waits, lines) = self.stuck(most);
        let place = |line| if lps > 1 { format!("{lp}: {line}") } else { line };
        Stuck { waits, lines: lines.into_iter().map(place).collect() }
    }

    /// Who waits for what can no longer come, if no event of this LP is pending: how many waits
    /// there are apart from sleeps, and the first `most` of them in words.
    pub fn stuck(&self, most: usize) -> (u64, Vec<String>) {
        let stuck = || {
            let waits = self.tables.waits.iter();
            waits.filter(|wait| {
                !wait.is_over && !matches!(wait.what, What::Time(_) | What::Alarm(..))
            })
        };
        let words = stuck().take(most).map(|wait| {
            let who = self.tables.processes.describe(wait.process);
            let what = self.tables.describe(wait.what, &self.things);
            let at = wait.at;
            format!("{who} waits for {what} since {}, at {}:{}", wait.since, at.file(), at.line())
        });
        (stuck().count() as u64, words.collect())
    }
}
