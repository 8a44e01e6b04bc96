//! What LPs do to the outside world, in the order of all rows: the first process orders, and the
//! others obey.

use std::thread::sleep;
use std::time::Duration;

use warpline_kernel::{MomentRow, RowContent};
use warpline_transport::Lost;

use super::Processes;
use super::control_messages::{ControlMessage, Order};
use crate::outcome::rows::Rows;
use crate::parallel::acts::{LOOK_SOON, Performed};

/// How often a process that waits for the first looks whether it is to do something.
const LOOK_EVERY: Duration = Duration::from_micros(200);
/// The most acts that a process performs before it says so.
const ACTS_AT_ONCE: usize = 1024;

impl Processes {
    /// Passes rows on in their order, and has other processes perform their acts in between.
    ///
    /// # Errors
    /// If a process is gone.
    pub(crate) fn pass_on(
        &mut self,
        rows: impl Iterator<Item = MomentRow>,
        to: &mut Rows,
    ) -> Result<(), Lost> {
        let mut rows = rows.peekable();
        while let Some(row) = rows.next() {
            let RowContent::ActElsewhere { process, number } = row.content else {
                to.add(row);
                continue;
            };
            let mut numbers = vec![number];
            let mut acts = vec![(row.lp, row.time)];
            let mut next = || {
                rows.next_if(|next| matches!(next.content, RowContent::ActElsewhere { process: of, .. } if of == process))
            };
            while numbers.len() < ACTS_AT_ONCE
                && let Some(MomentRow {
                    content: RowContent::ActElsewhere { number, .. },
                    lp,
                    time,
                    ..
                }) = next()
            {
                numbers.push(number);
                acts.push((lp, time));
            }
            if to.performs() {
                self.others[process as usize - 1].acts -= numbers.len();
                self.group.send_to(process, &Order::Perform(numbers))?;
                self.receive_performed(process)?.note(&acts, to);
            }
        }
        Ok(())
    }

    /// Passes on the last rows of a part of the run. A process other than the first waits until its
    /// acts have had their turn.
    ///
    /// # Errors
    /// If a process is gone.
    pub(crate) fn pass_on_last(
        &mut self,
        rows: impl Iterator<Item = MomentRow>,
        to: &mut Rows,
    ) -> Result<(), Lost> {
        if !self.group.is_first() {
            return self.perform_rest();
        }
        self.pass_on(rows, to)?;
        self.give_up_acts()
    }

    /// Waits until a process has performed what it was ordered to. There is no time limit, as there
    /// is none for acts of this process.
    fn receive_performed(&mut self, process: u32) -> Result<Performed, Lost> {
        loop {
            match self.group.next_message(process) {
                Some(ControlMessage::Performed(performed)) => return Ok(performed),
                Some(message) => self.others[process as usize - 1].unread.push_back(message),
                None => {
                    // Nothing more is read from the others meanwhile: they wait until there is
                    // room for their rows, as what is kept here would grow without limit.
                    self.group.check_presence()?;
                    sleep(LOOK_SOON);
                }
            }
        }
    }

    /// Tells processes that keep rows to go on, as all rows that can be passed on have been.
    ///
    /// # Errors
    /// If a process is gone.
    pub(crate) fn go_on(&mut self, rows: &Rows) -> Result<(), Lost> {
        if !rows.performs() {
            self.give_up_acts()?;
        }
        for (other, number) in self.others.iter_mut().zip(1..) {
            if std::mem::take(&mut other.waits_with_rows) {
                self.group.send_to(number, &Order::GoOn)?;
            }
        }
        Ok(())
    }

    /// Tells processes that keep acts that no more are performed.
    ///
    /// # Errors
    /// If a process is gone.
    pub(crate) fn give_up_acts(&mut self) -> Result<(), Lost> {
        for (other, number) in self.others.iter_mut().zip(1..) {
            if std::mem::take(&mut other.acts) > 0 {
                other.gave_up_acts = true;
                self.group.send_to(number, &Order::GiveUpActs)?;
            }
        }
        Ok(())
    }

    /// Rows as they are sent to the first process, while acts stay here. Where control messages go
    /// by MPI, which takes any number of them, no more rows follow until the first process has
    /// passed these on: it may have to wait for a slow reader.
    pub(super) fn without_acts(&mut self, mut rows: Vec<MomentRow>) -> Vec<MomentRow> {
        let acts = self.acts.keep(self.group.number(), &mut rows);
        self.waits_with_rows = acts || self.group.passes_on() && !rows.is_empty();
        rows
    }

    /// How long this process may wait before it looks for orders, if the first may have some.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.acts.patience(self.waits_with_rows)
    }

    /// Whether the next rows are to stay on the boards, so that no more rows wait than in a run of
    /// one process.
    pub(crate) fn waits_with_rows(&self) -> bool {
        self.waits_with_rows
    }

    /// Checks that all processes are there, and does what the first has ordered.
    ///
    /// # Errors
    /// If a process is gone.
    pub(crate) fn obey(&mut self) -> Result<(), Lost> {
        self.group.check()?;
        while !self.group.is_first()
            && let Some(order) = self.group.next_message(0)
        {
            match order {
                Order::Perform(numbers) => {
                    let performed = self.acts.perform(&numbers);
                    self.group.send(&ControlMessage::Performed(performed))?;
                }
                Order::GoOn => self.waits_with_rows = false,
                Order::GiveUpActs => self.acts.give_up(),
                Order::End(end) => self.end = Some(end),
            }
        }
        Ok(())
    }

    /// Obeys until `done` returns something.
    pub(super) fn obey_until<T>(
        &mut self,
        mut done: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<T, Lost> {
        loop {
            self.obey()?;
            if let Some(done) = done(self) {
                return Ok(done);
            }
            sleep(self.patience().map_or(LOOK_EVERY, |patience| patience.min(LOOK_EVERY)));
        }
    }

    /// Waits until all acts that this process keeps have been performed or given up.
    pub(super) fn perform_rest(&mut self) -> Result<(), Lost> {
        self.obey_until(|all| all.acts.is_empty().then_some(()))
    }
}
