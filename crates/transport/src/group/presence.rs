//! Whether all processes are there, and what they tell each other in counters that only grow: that
//! one is gone, that all are to stop, and GVT.

use std::sync::atomic::Ordering;

use super::failure_reporter::STOPPED;
use super::{GVT, Group, LOST, Lost, MpiControlChannel};
use crate::Tally;

impl Group {
    /// Tells all processes to end, as this one cannot go on.
    pub fn stop(&self) {
        self.counters.say(STOPPED, 1);
    }

    /// Tells all processes to end, and why this one cannot go on.
    pub fn give_up(&mut self, why: &str) {
        self.failure_reporter().say(why);
        self.stop();
        if let Some(channel) = &mut self.channel {
            channel.say(why);
        }
        self.post();
    }

    /// Whether it has to [exchange](Self::exchange) tallies, as not all processes share memory.
    pub fn passes_on(&self) -> bool {
        self.by_channel
    }

    /// Exchanges the tally of the run, and that of the group, with the other processes.
    pub fn exchange(&mut self, tally: &Tally) {
        if let Some(channel) = &mut self.channel {
            // `check` will find an error, too.
            let _ = channel.work();
        }
        self.exchange_counters(Some(tally));
        if let Some(channel) = &mut self.channel {
            let _ = channel.work();
        }
    }

    /// Exchanges counters with the processes with which this one shares no memory. The first of
    /// those near each other does so for all of them.
    pub(super) fn exchange_counters(&mut self, of_run: Option<&Tally>) {
        if !self.by_channel || self.near.start != self.number {
            return;
        }
        let Some(channel) = &mut self.channel else { return };
        let others = channel.leaders();
        channel.exchange(0, &self.counters, &others);
        if let Some(tally) = of_run {
            channel.exchange(1, tally, &others);
        }
    }

    /// Checks that all processes are there.
    ///
    /// # Errors
    /// If one is gone that has not [taken leave](Self::take_leave), or all are to end.
    pub fn check(&mut self) -> Result<(), Lost> {
        // Makes room for others, who may wait for it while this process waits for them.
        self.ends.take_in();
        self.check_presence()
    }

    /// The same, but does not take in control messages, so that whoever sends more of them than
    /// there is room for has to wait.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_presence(&mut self) -> Result<(), Lost> {
        let worked = self.channel.as_mut().map_or(Ok(()), MpiControlChannel::work);
        self.exchange_counters(None);
        let unreachable =
            worked.err().map(|why| (self.number, format!("cannot reach the others: {why}")));
        let gone = self.gone().or(unreachable);
        // If another process is known as lost already, this one may have ended because of that.
        if let Some((number, how)) = gone.filter(|_| self.first_lost().is_none()) {
            let why = self.failure_of(number).unwrap_or(how);
            self.counters.say(LOST, u64::from(number) + 1);
            self.stop();
            self.exchange_counters(None);
            self.channel.as_mut().map(MpiControlChannel::work);
            self.region.desert_locks();
            return Err(self.lost(number, why));
        }
        if self.counters.read(STOPPED) == 0 {
            return Ok(());
        }
        Err(match self.first_lost() {
            Some(number) => {
                let why = self.failure_of(number).unwrap_or_else(|| "is gone".to_owned());
                self.lost(number, why)
            }
            None => {
                let number = self.first_failed();
                let why = self.failure_of(number).unwrap_or_else(|| "has given up".to_owned());
                self.lost(number, why)
            }
        })
    }

    /// The number of a process that is gone without having taken leave, and how it ended. One that
    /// has taken leave may end before this process has read all its control messages.
    fn gone(&mut self) -> Option<(u32, String)> {
        let Group { left, near, channel, peers, .. } = self;
        peers.gone(|number| {
            if near.contains(&number) {
                left[(number - near.start) as usize].load(Ordering::Acquire) == 1
            } else {
                channel.as_ref().is_some_and(|channel| channel.has_left(number))
            }
        })
    }

    fn lost(&self, number: u32, why: String) -> Lost {
        Lost { number, of: self.processes, why }
    }

    /// The process that is known as lost, if one is.
    fn first_lost(&self) -> Option<u32> {
        (self.counters.read(LOST) as u32).checked_sub(1)
    }

    /// The first process that has said why it ends.
    fn first_failed(&self) -> u32 {
        (0..self.processes).find(|number| self.failure_of(*number).is_some()).unwrap_or_default()
    }

    /// Why the run of a process has failed, if it has said so.
    fn failure_of(&self, number: u32) -> Option<String> {
        let text = if self.near.contains(&number) {
            self.failures.of(number - self.near.start)
        } else {
            self.channel.as_ref()?.failure_of(number).map(str::to_owned)
        };
        text.map(|text| format!("has failed: {text}"))
    }

    /// Whether this process is the one that tells the user of a loss: the first, or, if that is
    /// gone, one of the others.
    pub fn is_to_tell(&self, lost: &Lost) -> bool {
        let is_chosen = || {
            if self.by_channel {
                self.number == 1
            } else {
                // The first of those that share memory to come here.
                self.told.swap(1, Ordering::AcqRel) == 0
            }
        };
        self.is_first() || lost.number == 0 && is_chosen()
    }

    /// Notes the time of GVT, in bits, for the process that tells the user of a loss.
    pub fn note_gvt(&self, bits: u64) {
        self.counters.say(GVT, bits);
    }

    /// The latest GVT noted, in bits.
    pub fn gvt(&self) -> u64 {
        self.counters.read(GVT)
    }
}
