//! Whether all processes are there, and what they tell each other in counters that only grow: that one
//! is gone, that all are to stop, GVT.

use std::sync::atomic::Ordering;

use super::failure_reporter::STOPPED;
use super::{GVT, Group, LOST, Lost, MpiControlChannel};
use crate::Tally;

impl Group {
    /// Has all processes end, as this one cannot go on.
    pub fn stop(&self) {
        self.counters.say(STOPPED, 1);
    }

    /// Says why this one cannot go on, and has all processes end.
    pub fn give_up(&mut self, why: &str) {
        self.failure_report().say(why);
        self.stop();
        if let Some(channel) = &mut self.channel {
            channel.say(why);
        }
        self.post();
    }

    /// Whether it has to [pass on](Self::exchange) what is said in tallies, as not all processes
    /// share memory.
    pub fn passes_on(&self) -> bool {
        self.by_channel
    }

    /// Passes on what has been said in the tally of the run, and in that of the group.
    pub fn exchange(&mut self, tally: &Tally) {
        if let Some(channel) = &mut self.channel {
            // Whatever fails is found by `check`.
            let _ = channel.work();
        }
        self.exchange_counters(Some(tally));
        if let Some(channel) = &mut self.channel {
            let _ = channel.work();
        }
    }

    /// Passes counters on to those with which this process shares no memory, and takes theirs over. Of
    /// those near each other one does so.
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

    /// Looks whether all processes are there.
    ///
    /// # Errors
    /// If one is gone that has not [taken leave](Self::take_leave), or all are to end.
    pub fn check(&mut self) -> Result<(), Lost> {
        // Whoever waits for room may be waited for.
        self.ends.take_in();
        self.check_presence()
    }

    /// The same, but leaves control messages where they are: those who send more than there is room
    /// for wait.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_presence(&mut self) -> Result<(), Lost> {
        let of = self.processes;
        let lost = |number, why: String| Lost { number, of, why };
        let worked = self.channel.as_mut().map_or(Ok(()), MpiControlChannel::work);
        self.exchange_counters(None);
        // One that has taken leave may end before this process has read all its control messages.
        let (left, near, channel) = (&self.left, &self.near, &self.channel);
        let may = |number: u32| match near.contains(&number) {
            true => left[(number - near.start) as usize].load(Ordering::Acquire) == 1,
            false => channel.as_ref().is_some_and(|channel| channel.has_left(number)),
        };
        let gone = self
            .peers
            .gone(may)
            .or(worked.err().map(|why| (self.number, format!("cannot reach the others: {why}"))));
        // One that is gone may have ended because of another one, and said so.
        if let Some((number, how)) = gone.filter(|_| self.counters.read(LOST) == 0) {
            let why = self.words_of(number).unwrap_or(how);
            self.counters.say(LOST, u64::from(number) + 1);
            self.stop();
            self.exchange_counters(None);
            self.channel.as_mut().map(MpiControlChannel::work);
            self.region.desert_locks();
            return Err(lost(number, why));
        }
        if self.counters.read(STOPPED) == 1 {
            let number = (self.counters.read(LOST) as u32).checked_sub(1);
            return Err(match number {
                Some(number) => {
                    lost(number, self.words_of(number).unwrap_or_else(|| "is gone".to_owned()))
                }
                None => lost(
                    self.speaker(),
                    self.words_of(self.speaker()).unwrap_or_else(|| "has given up".to_owned()),
                ),
            });
        }
        Ok(())
    }

    /// The first process that has said why it ends.
    fn speaker(&self) -> u32 {
        (0..self.processes).find(|number| self.words_of(*number).is_some()).unwrap_or_default()
    }

    fn words_of(&self, number: u32) -> Option<String> {
        if !self.near.contains(&number) {
            return self
                .channel
                .as_ref()?
                .failure_reporter(number)
                .map(|text| format!("has failed: {text}"));
        }
        self.failure_reporter.of(number - self.near.start).map(|text| format!("has failed: {text}"))
    }

    /// Whether this process is the one that tells of a loss: the first, or, if that is gone, one of
    /// the others.
    pub fn is_to_tell(&self, lost: &Lost) -> bool {
        // Those that share memory agree on one of them.
        let chosen = || {
            if self.by_channel {
                self.number == 1
            } else {
                self.told.swap(1, Ordering::AcqRel) == 0
            }
        };
        self.is_first() || lost.number == 0 && chosen()
    }

    /// Notes the time of GVT, in bits, for those who have to tell of a loss.
    pub fn note_gvt(&self, bits: u64) {
        self.counters.say(GVT, bits);
    }

    /// The latest GVT noted, in bits.
    pub fn gvt(&self) -> u64 {
        self.counters.read(GVT)
    }
}
