//! A run of several processes, as one of them sees it. Each tells the first what it has done, and
//! the first puts everything together.

pub(crate) mod control_messages;
mod orders;

use std::collections::VecDeque;

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_base::{Moment, VirtualTime};
use warpline_kernel::{MomentRow, RowContent};
use warpline_transport::{Group, Lost};

use self::control_messages::{ControlMessage, Finished, LoopEnd, Order};
use crate::parallel::acts::KeptActs;
use crate::parallel::any_couriers::AnyCouriers;
use crate::parallel::merge::RowMerge;
use crate::parallel::status::PeStatus;
use crate::{Error, Share};

/// This process and the others of a run.
pub(crate) struct Processes {
    pub(crate) group: Group,
    /// What the others have told this one, if it is the first.
    others: Vec<Other>,
    /// What the LPs of this one have yet to do outside, unless it is the first.
    acts: KeptActs,
    /// It has sent rows with acts, or any rows by MPI, and keeps further ones until the first has
    /// passed on what it can.
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
    /// Control messages that came while the first waited for an answer.
    unread: VecDeque<ControlMessage>,
    /// How many acts it keeps.
    acts: usize,
    /// It has been told that no more acts are performed.
    gave_up_acts: bool,
    /// Whether it keeps rows until it is told to go on.
    waits_with_rows: bool,
}

/// The error of a run in which a process was lost.
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
    /// Makes sure that all processes are about to do the same, which `description` says entry by
    /// entry.
    ///
    /// # Errors
    /// If a process is gone, or is about to do something else.
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
    /// If a process is gone.
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        self.group.meet().map_err(|why| lost(&mut self.group, why))
    }

    /// Tells the first process how far the PEs of this one have come. In the first, reads what the
    /// others have told: their rows go to the merge, and their progress is added to `status` and
    /// `settled`.
    ///
    /// # Errors
    /// If a process is gone.
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
                other.status = status;
                other.settled = settled;
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

    /// Agrees with all processes on how the PEs have ended. The merge of the first process then has
    /// the last rows of all.
    ///
    /// # Errors
    /// If a process is gone.
    pub(crate) fn agree(
        &mut self,
        mut own: LoopEnd,
        merge: &mut RowMerge,
    ) -> Result<LoopEnd, Lost> {
        if !self.group.is_first() {
            let rows = self.without_acts(merge.take());
            self.group.send(&ControlMessage::Rows(rows))?;
            self.group.send(&ControlMessage::End(own))?;
            // No more rows of this part of the run follow.
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

    /// Waits until no message is in flight, here or in other processes.
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

    /// In the first process, receives what all others send, in their order. The others send their
    /// `own`, and get nothing.
    ///
    /// # Errors
    /// If a process is gone.
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

    /// Tells the first process what the LPs of this one have left. This process has then done its
    /// share, which the error says.
    pub(crate) fn send_finished(&mut self, mut finished: Finished, early: bool) -> Error {
        finished.rows = self.without_acts(finished.rows);
        match self.group.send(&finished).and_then(|()| self.perform_rest()) {
            Ok(()) => self.leave(early),
            Err(why) => lost(&mut self.group, why),
        }
    }

    /// What the LPs of the other processes have left.
    ///
    /// # Errors
    /// If a process is gone.
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

    /// Takes leave of the others. This process is not the first, and has done its share of a run
    /// that may have been ended `early`, which the error says.
    pub(crate) fn leave(&mut self, early: bool) -> Error {
        self.group.take_leave();
        self.end(early);
        Error::Share(Share::done())
    }

    /// Waits for the other processes to end, in a run that may have been ended `early`.
    pub(crate) fn end(&mut self, early: bool) {
        if early { self.group.end_early() } else { self.group.end() }
    }
}

impl Other {
    /// Counts the acts among `rows`, which it has sent. Returns whether there are any.
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
