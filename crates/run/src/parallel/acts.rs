//! What LPs of other processes than the first do to the outside world.
//!
//! An act is a closure, which cannot be sent. It stays in the process of its LP, and its row goes
//! to the first process with a number in its place. When the first process passes rows on and comes
//! to such a row, it orders that process to perform all acts up to the next row of another process,
//! and waits for the answer. So all that is done outside has one order. What acts print on stdout
//! is caught in a file in memory (`printed.rs` of the transport crate) and comes back with the
//! answer, as does the message of an act that panics.
//!
//! Processes that keep acts look for orders every millisecond, and more often just after one. On
//! two busy cores, 5 000 to 7 500 orders of one or two acts were carried out per second, and
//! 300 000 acts where many followed each other. A process that has sent rows with acts keeps its
//! next rows until the first has passed on what it may, so that PEs wait for slow acts as they do
//! in one process. A process that waits for the first still carries out orders. While the first
//! waits for one process, others wait until there is room for their control messages.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use warpline_base::LpId;
use warpline_kernel::{MomentRow, RowContent};
use warpline_memory::{Exhausted, MakeRoom, catch_exhausted};
use warpline_model::Act;
use warpline_transport::PrintCatcher;

use crate::outcome::rows::{Rows, perform};

/// What takes memory, for messages.
const ACTS: &str = "acts that wait until they are settled";
/// How often a process looks for orders.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How often just after an order: acts of several processes often take turns.
pub(super) const LOOK_SOON: Duration = Duration::from_micros(20);
/// How long "just after" lasts.
const JUST: Duration = Duration::from_millis(5);

/// The answer of a process that has performed acts for the first.
#[derive(Serialize, Deserialize)]
pub(super) struct Performed {
    /// What they printed.
    printed: Vec<u8>,
    /// Which of them failed, and how. Those after it have not been performed.
    failed: Option<(u32, ActFailure)>,
}

/// How an act failed.
#[derive(Serialize, Deserialize)]
enum ActFailure {
    /// With the message of this panic.
    Panicked(String),
    /// Memory ran out in it.
    OutOfMemory(Exhausted),
}

impl Performed {
    /// Notes what became of the acts of these LPs at these times. If memory ran out in one, it
    /// [unwinds](Exhausted::unwind), as if the act had been performed here.
    pub(super) fn note(self, acts: &[(LpId, f64)], rows: &mut Rows) {
        let written =
            if self.printed.is_empty() { Ok(()) } else { io::stdout().write_all(&self.printed) };
        if let Err(cause) = written {
            // It is not known which act would have failed.
            rows.fail(acts[0].0, acts[0].1, format!("failed printing to stdout: {cause}"));
            return;
        }
        match self.failed {
            None => {}
            Some((index, ActFailure::Panicked(why))) => {
                let (lp, time) = acts[index as usize];
                rows.fail(lp, time, why);
            }
            Some((_, ActFailure::OutOfMemory(why))) => why.unwind(),
        }
    }
}

/// The acts of a process other than the first.
#[derive(Default)]
pub(super) struct KeptActs {
    /// From number `first` on; `None` once performed.
    acts: VecDeque<Option<Act>>,
    first: u64,
    /// One has panicked, so that no more are performed.
    are_over: bool,
    printing: Printing,
    /// When the last order was carried out.
    performed: Option<Instant>,
}

/// Where the output of acts goes.
#[derive(Default)]
enum Printing {
    /// None has been performed.
    #[default]
    Unknown,
    /// To the first process.
    Caught(PrintCatcher),
    /// To the stdout of this process, as the system refuses a file in memory.
    Own,
}

impl KeptActs {
    /// Keeps the acts among rows that `process` is about to send. Returns whether there were any.
    pub(super) fn keep(&mut self, process: u32, rows: &mut Vec<MomentRow>) -> bool {
        let mut any = false;
        rows.retain_mut(|row| {
            let RowContent::Act(act) = &row.content else { return true };
            if self.are_over {
                return false;
            }
            any = true;
            let number = self.first + self.acts.len() as u64;
            self.acts.make_room(1, ACTS);
            self.acts.push_back(Some(act.clone()));
            row.content = RowContent::ActElsewhere { process, number };
            true
        });
        any
    }

    /// Whether no act waits.
    pub(super) fn is_empty(&self) -> bool {
        self.acts.is_empty()
    }

    /// How long the process may wait before it looks for orders, if it has acts or `waits` for
    /// others to be performed.
    pub(super) fn patience(&self, waits: bool) -> Option<Duration> {
        let just = || self.performed.is_some_and(|when| when.elapsed() < JUST);
        (waits || !self.is_empty()).then(|| if just() { LOOK_SOON } else { LOOK_EVERY })
    }

    /// Performs the acts with these numbers, one after the other.
    pub(super) fn perform(&mut self, numbers: &[u64]) -> Performed {
        if let Printing::Unknown = self.printing {
            self.printing = PrintCatcher::new().map_or(Printing::Own, Printing::Caught);
        }
        let acts: Vec<Act> = numbers.iter().map(|number| self.take(*number)).collect();
        let failure = |act| match catch_exhausted(|| perform(act)) {
            Ok(performed) => performed.err().map(ActFailure::Panicked),
            Err(why) => Some(ActFailure::OutOfMemory(why)),
        };
        let in_turn = || (0..).zip(&acts).find_map(|(index, act)| Some((index, failure(act)?)));
        let (failed, printed) = match &mut self.printing {
            Printing::Caught(catcher) => catcher.catch(in_turn),
            _ => (in_turn(), Vec::new()),
        };
        self.performed = Some(Instant::now());
        Performed { printed, failed }
    }

    fn take(&mut self, number: u64) -> Act {
        let act =
            self.acts[(number - self.first) as usize].take().expect("an act is performed once");
        while let Some(None) = self.acts.front() {
            self.acts.pop_front();
            self.first += 1;
        }
        act
    }

    /// No more acts are performed.
    pub(super) fn give_up(&mut self) {
        self.first += self.acts.len() as u64;
        self.acts.clear();
        self.are_over = true;
    }
}
