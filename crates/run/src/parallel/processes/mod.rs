//! A run of several processes, as one of them sees it: what it tells the first process, which puts
//! everything together.

pub(crate) mod control_messages;

use std::collections::VecDeque;
use std::thread::sleep;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_base::{Moment, VirtualTime};
use warpline_kernel::{MomentRow, RowContent};
use warpline_transport::{Group, Lost};

use self::control_messages::{ControlMessage, Finished, LoopEnd, Order};
use crate::outcome::rows::Rows;
use crate::parallel::acts::{KeptActs, LOOK_SOON, Performed};
use crate::parallel::any_couriers::AnyCouriers;
use crate::parallel::merge::RowMerge;
use crate::parallel::status::PeStatus;
use crate::{Error, Share};

/// How often a process that waits for the first looks whether it is to do something.
const LOOK_EVERY: Duration = Duration::from_micros(200);
/// The most acts that a process performs before it says so.
const ACTS_AT_ONCE: usize = 1024;

/// This process and the others of a run.
pub(crate) struct Processes {
    pub(crate) group: Group,
    /// What the others have told the first; empty in the others.
    others: Vec<Other>,
    /// What the LPs of this one do outside, unless it is the first.
    acts: KeptActs,
    /// It has sent rows with acts, or any by MPI, and waits with others until those that can be
    /// passed on have been.
    waits_with_rows: bool,
    /// How the PEs of all have ended, as the first has told this one.
    end: Option<LoopEnd>,
}

/// What is known of another process.
#[derive(Default)]
struct Other {
    status: PeStatus,
    settled: Option<Moment>,
    end: Option<LoopEnd>,
    /// Control messages that have come while the first waited for an answer.
    unread: VecDeque<ControlMessage>,
    /// How many acts it keeps.
    acts: usize,
    /// It has been told that no more are performed.
    gave_up_acts: bool,
    /// Whether it waits with rows.
    waits_with_rows: bool,
}

/// The end of a run in which a process was lost.
pub(crate) fn lost(group: &mut Group, lost: Lost) -> Error {
    let error =
        Error::Process { gvt: VirtualTime::from_bits(group.gvt()).get(), lost: lost.clone() };
    if group.is_first() {
        return error;
    }
    let is_to_tell = group.is_to_tell(&lost);
    group.abandon();
    Error::Share(Share::lost(error.to_string(), is_to_tell))
}

impl Processes {
    /// Makes sure that all are about to do the same, which `description` says entry by entry.
    ///
    /// # Errors
    /// If one is gone, or is about to do something else.
    pub(crate) fn new(mut group: Group, description: &[(String, String)]) -> Result<Self, Error> {
        let others = if group.is_first() {
            (1..group.processes()).map(|_| Other::default()).collect()
        } else {
            Vec::new()
        };
        let introduced = group.introduce(description);
        introduced.map_err(|why| lost(&mut group, why))?;
        Ok(Processes {
            group,
            others,
            acts: KeptActs::default(),
            waits_with_rows: false,
            end: None,
        })
    }

    /// Waits until all processes have placed what they share.
    ///
    /// # Errors
    /// If one is gone.
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        self.group.meet().map_err(|why| lost(&mut self.group, why))
    }

    /// Tells the first process how far the PEs of this one have come; or, in the first, hears of
    /// the others, whose rows go to the merge. Adds what is known of all processes to `status` and
    /// `settled`.
    pub(crate) fn exchange(
        &mut self,
        status: &mut PeStatus,
        settled: &mut Option<Moment>,
        merge: &mut RowMerge,
    ) -> Result<(), Lost> {
        self.group.note_gvt(VirtualTime::new(status.gvt).map_or(0, VirtualTime::bits));
        self.group.check()?;
        if !self.group.is_first() {
            let rows = self.without_acts(merge.take());
            return self.group.send(&ControlMessage::Progress {
                status: *status,
                settled: *settled,
                rows,
            });
        }
        for index in 0..self.others.len() {
            while self.others[index].end.is_none()
                && let Some(message) = self.next_message(index)
            {
                self.read(index, message, merge);
            }
            let other = &self.others[index];
            *status = status.and(other.status);
            *settled = settled.zip(other.settled).map(|(a, b)| merge.earlier(a, b));
        }
        Ok(())
    }

    fn next_message(&mut self, index: usize) -> Option<ControlMessage> {
        self.others[index].unread.pop_front().or_else(|| self.group.next_message(index as u32 + 1))
    }

    fn read(&mut self, index: usize, message: ControlMessage, merge: &mut RowMerge) {
        let other = &mut self.others[index];
        match message {
            ControlMessage::Progress { status, settled, rows } => {
                (other.status, other.settled) = (status, settled);
                other.waits_with_rows |=
                    other.count_acts(&rows) || self.group.passes_on() && !rows.is_empty();
                merge.add(rows);
            }
            ControlMessage::Rows(rows) => {
                other.count_acts(&rows);
                merge.add(rows);
            }
            ControlMessage::End(end) => other.end = Some(end),
            ControlMessage::Performed(_) => unreachable!("an answer is waited for"),
        }
    }

    /// All processes agree on how the PEs have ended. Their last rows are in the merge of the first
    /// process then.
    pub(crate) fn agree(
        &mut self,
        mut own: LoopEnd,
        merge: &mut RowMerge,
    ) -> Result<LoopEnd, Lost> {
        if !self.group.is_first() {
            let rows = self.without_acts(merge.take());
            self.group.send(&ControlMessage::Rows(rows))?;
            self.group.send(&ControlMessage::End(own))?;
            // These are the last rows of this part of the run: none is to follow.
            self.waits_with_rows = false;
            return self.obey_until(|all| all.end.take());
        }
        for index in 0..self.others.len() {
            let end = loop {
                if let Some(end) = self.others[index].end {
                    break end;
                }
                let message = match self.others[index].unread.pop_front() {
                    Some(message) => message,
                    None => self.group.receive_from(index as u32 + 1)?,
                };
                self.read(index, message, merge);
            };
            own.failure = merge.earlier(own.failure, end.failure);
            own.full = own.full.or(end.full);
        }
        self.group.send(&Order::End(own))?;
        Ok(own)
    }

    /// Waits until no message is on its way any more, here or in other processes.
    ///
    /// # Errors
    /// If a process is gone, or messages cannot be sent or read.
    pub(crate) fn close(&mut self, couriers: &dyn AnyCouriers) -> Result<(), Error> {
        loop {
            match couriers.close() {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(why) => self.group.give_up(&why),
            }
            if let Err(why) = self.obey() {
                return Err(lost(&mut self.group, why));
            }
            std::thread::yield_now();
        }
    }

    /// The first process gets what all others have sent, in their order; the others send it, and
    /// get nothing.
    pub(crate) fn gather<T: Serialize + DeserializeOwned>(
        &mut self,
        own: &T,
    ) -> Result<Vec<T>, Lost> {
        if !self.group.is_first() {
            self.group.send(own)?;
            return Ok(Vec::new());
        }
        self.gather_from_others()
    }

    /// Tells the first process what the LPs of this one have left. It has done its share then.
    pub(crate) fn send_finished(&mut self, mut finished: Finished, early: bool) -> Error {
        finished.rows = self.without_acts(finished.rows);
        match self.group.send(&finished).and_then(|()| self.perform_rest()) {
            Ok(()) => self.leave(early),
            Err(why) => lost(&mut self.group, why),
        }
    }

    /// What the LPs of the other processes have left.
    pub(crate) fn gather_finished(&mut self) -> Result<Vec<Finished>, Lost> {
        let all: Vec<Finished> = self.gather_from_others()?;
        self.others
            .iter_mut()
            .zip(&all)
            .for_each(|(other, finished)| _ = other.count_acts(&finished.rows));
        Ok(all)
    }

    fn gather_from_others<T: DeserializeOwned>(&mut self) -> Result<Vec<T>, Lost> {
        (1..self.group.processes()).map(|number| self.group.receive_from(number)).collect()
    }

    /// This process, which is not the first, has done its share of a run that may have been ended
    /// early.
    pub(crate) fn leave(&mut self, early: bool) -> Error {
        self.group.take_leave();
        self.end(early);
        Error::Share(Share::done())
    }

    /// Waits for the other processes, in a run that may have been ended early.
    pub(crate) fn end(&mut self, early: bool) {
        if early { self.group.end_early() } else { self.group.end() }
    }
}

/// What LPs do to the outside world, in the order of all rows. The first process orders, and the
/// others obey.
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
            let (mut numbers, mut acts) = (vec![number], vec![(row.lp, row.time)]);
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

    /// Passes on the last rows of a part of the run. In other processes than the first: waits until
    /// their acts have had their turn.
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

    /// Waits until a process has performed what it was to perform. There is no limit, as for what
    /// this process performs itself.
    fn receive_performed(&mut self, process: u32) -> Result<Performed, Lost> {
        loop {
            match self.group.next_message(process) {
                Some(ControlMessage::Performed(performed)) => return Ok(performed),
                Some(message) => self.others[process as usize - 1].unread.push_back(message),
                None => {
                    // Others may wait until there is room for their rows: what waits here would
                    // grow and grow.
                    self.group.check_presence()?;
                    sleep(LOOK_SOON);
                }
            }
        }
    }

    /// Tells those who wait with rows to go on, as all rows that can be passed on have been.
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

    /// No more acts are performed. Tells those who keep some.
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

    /// Rows to be sent to the first process. Acts stay here. Where control messages go by MPI,
    /// which takes any number of them, no more follow until the first process has passed these on:
    /// it may have to wait for a slow reader.
    fn without_acts(&mut self, mut rows: Vec<MomentRow>) -> Vec<MomentRow> {
        let acts = self.acts.keep(self.group.number(), &mut rows);
        self.waits_with_rows = acts || self.group.passes_on() && !rows.is_empty();
        rows
    }

    /// How long this process may wait before it [obeys](Self::obey), if the first may want
    /// something of it.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.acts.patience(self.waits_with_rows)
    }

    /// Whether the next rows are to stay where they are, so that no more of them wait than in a run
    /// of one process.
    pub(crate) fn waits_with_rows(&self) -> bool {
        self.waits_with_rows
    }

    /// Looks whether all processes are there, and does what the first has ordered.
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

    /// Obeys until there is what it waits for.
    fn obey_until<T>(&mut self, mut done: impl FnMut(&mut Self) -> Option<T>) -> Result<T, Lost> {
        loop {
            self.obey()?;
            if let Some(done) = done(self) {
                return Ok(done);
            }
            sleep(self.patience().map_or(LOOK_EVERY, |patience| patience.min(LOOK_EVERY)));
        }
    }

    /// Waits until all acts that this process keeps have been performed, or are not to be.
    fn perform_rest(&mut self) -> Result<(), Lost> {
        self.obey_until(|all| all.acts.is_empty().then_some(()))
    }
}

impl Other {
    /// Counts the acts among rows that it has sent, and returns whether there are any.
    fn count_acts(&mut self, rows: &[MomentRow]) -> bool {
        let acts = rows
            .iter()
            .filter(|row| matches!(row.content, RowContent::ActElsewhere { .. }))
            .count();
        if !self.gave_up_acts {
            self.acts += acts;
        }
        acts > 0
    }
}
