use warpline_base::random::Random;
use warpline_base::{LpId, Priority, SEND_LIMIT, VirtualTime};

use crate::engine::{Limits, Outgoing, Streams};
use crate::statistics::Notes;
use crate::{Fault, Model, Observe, Saved};

/// What an event sees of the simulation, and what it may do: the second hand of [`Model::handle`].
///
/// Nothing done here takes effect before the event commits: engines may execute an event that later turns out
/// not to happen, and undo it.
#[derive(Debug)]
pub struct Context<M: Model> {
    pub(crate) now: f64,
    pub(crate) id: LpId,
    pub(crate) step: u32,
    pub(crate) limits: Limits,
    pub(crate) streams: Streams,
    pub(crate) outbox: Vec<Outgoing<M::Event>>,
    pub(crate) notes: Notes,
    pub(crate) saved: Vec<u64>,
    pub(crate) saving: bool,
    pub(crate) fault: Option<Box<Fault>>,
}

impl<M: Model> Context<M> {
    /// The time of the event, in model units.
    #[inline]
    pub fn now(&self) -> f64 {
        self.now
    }

    /// The LP that the event reached.
    #[inline]
    pub fn id(&self) -> LpId {
        self.id
    }

    /// How many LPs the model has.
    #[inline]
    pub fn lps(&self) -> u32 {
        self.limits.lps
    }

    /// The LP's random numbers. Which ones an event draws depends on the seed, the LP and how many events the LP
    /// has executed, and on nothing else.
    #[inline]
    pub fn random(&mut self) -> &mut Random {
        &mut self.streams.main
    }

    /// A further stream of the LP, independent of [`random`](Self::random) (which is stream 0) and of the others:
    /// give each source of chance its own to compare scenarios under equal luck.
    #[inline]
    pub fn stream(&mut self, number: u8) -> &mut Random {
        self.streams.get(number)
    }

    /// Sends an event that reaches LP `to` after `delay` units of model time; 0 means later at this instant.
    ///
    /// The delay must be finite and, towards another LP, not below [`Model::lookahead`]. What is not so ends the
    /// run with a [`Fault`], if this event commits.
    #[inline]
    pub fn send(&mut self, to: impl Into<LpId>, delay: f64, event: M::Event) {
        self.post(to.into(), delay, Priority::NORMAL, event);
    }

    /// Like [`send`](Self::send), with a priority among events of the same time: lower goes first, `-127..=127`,
    /// normally 0.
    #[inline]
    pub fn send_with_priority(&mut self, to: impl Into<LpId>, delay: f64, priority: i8, event: M::Event) {
        self.post(to.into(), delay, Priority::new(priority), event);
    }

    /// Keeps a value for [`Reverse::restore`](crate::Reverse::restore): what the event is about to overwrite and reverse code cannot work
    /// out. Costs nothing where no reverse code runs.
    #[inline]
    pub fn save(&mut self, value: impl Saved) {
        if self.saving {
            self.saved.push(value.to_word());
        }
    }

    /// Ends the run with an error that names this LP, event and time, if this event commits.
    #[cold]
    pub fn fail(&mut self, why: impl Into<String>) {
        self.set_fault(Fault::Failed(why.into()));
    }

    #[inline]
    fn post(&mut self, to: LpId, delay: f64, priority: Priority, event: M::Event) {
        let time = self.now + delay;
        let least = if to == self.id { 0.0 } else { self.limits.lookahead };
        // Written so that NaN fails.
        let valid = delay >= least && time < f64::INFINITY && to.0 < self.limits.lps;
        let step = if time > self.now { 0 } else { self.step + 1 };
        if valid && step <= self.limits.zero_delay_hops && self.outbox.len() < SEND_LIMIT as usize {
            self.outbox.push(Outgoing { time: VirtualTime::from_bits(time.to_bits()), to, step, priority, event });
        } else {
            self.refuse(to, delay, valid);
        }
    }

    #[cold]
    fn refuse(&mut self, to: LpId, delay: f64, valid: bool) {
        let Limits { lps, lookahead, zero_delay_hops } = self.limits;
        self.set_fault(if !(0.0..f64::INFINITY).contains(&delay) {
            Fault::Delay { to, delay }
        } else if to.0 >= lps {
            Fault::UnknownLp { to, lps }
        } else if self.now + delay == f64::INFINITY {
            Fault::EndOfTime { to, delay }
        } else if !valid {
            Fault::Lookahead { to, delay, lookahead }
        } else if self.outbox.len() >= SEND_LIMIT as usize {
            Fault::TooManySends
        } else {
            Fault::ZeroDelayLoop { limit: zero_delay_hops }
        });
    }

    /// Keeps the first fault of an event.
    pub(crate) fn set_fault(&mut self, fault: Fault) {
        self.fault.get_or_insert_with(|| Box::new(fault));
    }
}

impl<M: Model> Observe for Context<M> {
    #[inline]
    fn notes(&mut self) -> &mut Notes {
        &mut self.notes
    }
}
