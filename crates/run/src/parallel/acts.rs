//! What LPs of other processes than the first do to the outside world. An act cannot be sent: it
//! stays where its LP is, and its row goes to the first process with a number in its place. When
//! its turn comes among all rows, the first process has it performed, and waits.
//!
//! Closures cannot be sent. When the first process passes rows on and comes to such a row, it has
//! the process perform all acts up to the next row of another process, and waits for the answer. So
//! there is one order of all that is done outside. What acts print on stdout is caught in a file in
//! memory (`printed.rs` of the transport crate) and comes back with the answer, as does the message
//! of an act that panics.
//!
//! Processes that keep acts look for such orders every millisecond, and more often just after one.
//! On two busy cores, 5 000 to 7 500 orders a second were carried out where each was for two acts
//! or one, and 300 000 acts where many followed each other. A process that has sent rows with acts
//! keeps its next ones until those that may be passed on have been, so that PEs wait for slow acts
//! as they do in one process. Nobody waits for the first process without carrying out orders. While
//! it waits for one process, others wait until there is room for their control messages.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use warpline_base::LpId;
use warpline_kernel::{MomentRow, RowContent};
use warpline_memory::MakeRoom;
use warpline_model::Act;
use warpline_transport::PrintCatcher;

use crate::outcome::rows::{Rows, perform};

/// What memory is needed for.
const ACTS: &str = "acts that wait until they are settled";
/// How often a process looks whether it is to perform some of its acts.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How often when it has just done so: acts of several processes often take turns.
pub(super) const LOOK_SOON: Duration = Duration::from_micros(20);
/// How long that is.
const JUST: Duration = Duration::from_millis(5);

/// What becomes of the acts of a process that has performed some for the first.
#[derive(Serialize, Deserialize)]
pub(super) struct Performed {
    /// What they printed.
    printed: Vec<u8>,
    /// Which of them panicked, and how. Those after it have not been performed.
    failed: Option<(u32, String)>,
}

impl Performed {
    /// Notes what became of the acts of these LPs at these times.
    pub(super) fn note(self, acts: &[(LpId, f64)], rows: &mut Rows) {
        let written =
            if self.printed.is_empty() { Ok(()) } else { io::stdout().write_all(&self.printed) };
        if let Err(cause) = written {
            // Which of them would have failed is not known.
            rows.fail(acts[0].0, acts[0].1, format!("failed printing to stdout: {cause}"));
        } else if let Some((index, why)) = self.failed {
            let (lp, time) = acts[index as usize];
            rows.fail(lp, time, why);
        }
    }
}

/// The acts of a process other than the first.
#[derive(Default)]
pub(super) struct KeptActs {
    /// Those from number `first` on that still wait.
    acts: VecDeque<Option<Act>>,
    first: u64,
    /// One has panicked, so that no more are performed.
    are_over: bool,
    printing: Printing,
    /// When some of them were performed last.
    performed: Option<Instant>,
}

/// Where what acts print goes.
#[derive(Default)]
enum Printing {
    /// None has been performed.
    #[default]
    Unknown,
    /// To the first process.
    Caught(PrintCatcher),
    /// To the stdout of this process, as the system refuses all else.
    Own,
}

impl KeptActs {
    /// Keeps the acts among the rows of process `process`, which are about to be sent without them.
    /// Returns whether there were any.
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

    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.acts.is_empty()
    }

    /// How long the process may wait before it looks whether it is to perform some, if it has any
    /// or `waits` for others to be performed.
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
        let in_turn =
            || (0..).zip(&acts).find_map(|(index, act)| Some((index, perform(act).err()?)));
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
