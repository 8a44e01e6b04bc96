use std::sync::atomic::{AtomicU64, Ordering};

use warpline_base::{LpId, Moment, TieBreak, VirtualTime};
use warpline_memory::{
    Apart, Common, Region, Registers, SpinLock, registers, registers_with_comparators,
};
use warpline_model::Portable;
use warpline_model::engine::Shareable;

use super::algorithm::GvtAlgorithm;
use super::messages::{Control, Tag, Verdict, Work};
use super::protocol::{Action, Gvt, Local};
use super::reduction::check_advance;

/// The most steps that a PE makes before it sets its registers again, where bounds drive PEs.
const SETTLE_EVERY: u32 = 16;

/// GVT from the registers of a Global Synchronization Unit in software: E. Lynch and G. Riley,
/// "Hardware supported time synchronization in multi-core architectures", PADS 2009. No PE sends a
/// message for it, and none has to stop.
///
/// Each PE has three kinds of [register](Registers). MOE, the minimum outstanding event, is its
/// least moment. TMC, the transient message count, says how many messages are on their way to it,
/// and MOM, the minimum outstanding message, the least of their moments. A PE announces what it
/// sends in the receivers' registers before it hands anything over, and sets its own MOE after
/// that. So whatever has yet to happen is covered by some register all the time, and the least of
/// all registers at one instant, LBTS, is a lower bound for it.
///
/// Anybody can read LBTS from the registers alone. For what PEs must agree on, such as failures,
/// one of them turns LBTS into a verdict: an epoch is closed once all PEs have adopted the verdict
/// before and have set their registers since some PE asked for GVT.
#[derive(Debug)]
pub struct Gsu {
    me: u32,
    ties: TieBreak,
    registers: Registers<Moment>,
    agreement: Common<Agreement>,
    /// By PE.
    parts: Common<[Apart<SpinLock<Part>>]>,
    /// What was sent and not announced yet: each receiver has a place, which it shares with others
    /// if there are many PEs.
    sent: Box<[Unannounced]>,
    /// The places in use.
    places: Vec<u32>,
    /// By bank: messages received since MOE was set last.
    received: [u64; 2],
    /// Steps since then.
    since_settled: u32,
    /// The most steps until then.
    settle_every: u32,
    /// Epochs of which this PE has adopted the verdict.
    epoch: u64,
    /// It has set its registers since some PE asked for the verdict on this epoch.
    joined: bool,
    gvt: Option<Moment>,
    /// Accesses to registers that nobody has taken account of yet.
    accesses: RegisterAccesses,
}

/// How often a PE has used the registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterAccesses {
    /// LBTS was read, for a verdict.
    pub reads: u64,
    /// Registers of one PE were written, its own or another's.
    pub writes: u64,
}

/// With more PEs than this, receivers share places: their number is a power of two.
const PLACES_MOST: u32 = 64;

/// Messages to a PE that have not been announced.
#[derive(Clone, Copy, Debug)]
struct Unannounced {
    to: u32,
    /// The bank in which they are announced.
    bank: u8,
    count: u64,
    /// The time of the least one: most are later, and need not be looked at more closely.
    time: VirtualTime,
    least: Moment,
}

impl Unannounced {
    /// None, of those that will be announced in a bank.
    fn none(to: u32, bank: u8) -> Self {
        // Messages that bring nothing to do must arrive, too, before the run is over.
        let least = Moment::Finish(LpId(u32::MAX));
        Unannounced { to, bank, count: 0, time: VirtualTime::MAX, least }
    }

    #[inline(always)]
    fn add(&mut self, at: Moment, ties: TieBreak) {
        self.count += 1;
        let time = at.time(VirtualTime::MAX);
        if time < self.time {
            self.time = time;
            self.least = at;
        } else if time == self.time {
            self.add_tied(at, ties);
        }
    }

    #[cold]
    fn add_tied(&mut self, at: Moment, ties: TieBreak) {
        self.least = self.least.earlier(at, ties);
    }
}

/// What turns LBTS into a verdict that all PEs adopt.
#[derive(Debug, Default, Shareable)]
struct Agreement {
    /// Some PE has asked to close all epochs below this.
    asked: AtomicU64,
    /// How often PEs have joined epochs.
    joined: AtomicU64,
    /// Epochs that are closed.
    closed: AtomicU64,
    /// The verdict on the last epoch.
    verdict: SpinLock<Option<Verdict>>,
}

/// What a PE adds to a verdict besides its registers.
#[derive(Clone, Copy, Debug, Portable)]
struct Part {
    failure: Moment,
    work: Work,
}

impl Gsu {
    /// The parts of this many PEs, one after the other, with their registers in a region.
    pub fn each(region: &Region, pes: u32, ties: TieBreak) -> impl Iterator<Item = Self> + use<> {
        // Nothing comes before the first LP is initialised.
        let registers = registers(region, pes, Moment::Init(LpId(0)), Moment::Never);
        Gsu::with(region, registers, ties)
    }

    /// The same for many PEs in one thread: with [comparators](registers_with_comparators).
    pub fn each_compared(
        region: &Region,
        pes: u32,
        ties: TieBreak,
    ) -> impl Iterator<Item = Self> + use<> {
        let first = Moment::Init(LpId(0));
        let registers = registers_with_comparators(region, pes, first, Moment::Never);
        Gsu::with(region, registers, ties)
    }

    fn with(
        region: &Region,
        registers: Vec<Registers<Moment>>,
        ties: TieBreak,
    ) -> impl Iterator<Item = Self> + use<> {
        let pes = registers.len() as u32;
        let part = |_| Apart(SpinLock::new(Part { failure: Moment::Never, work: Work::default() }));
        let agreement = region.place(Agreement::default());
        let parts = region.place_list(pes as usize, part);
        let gsu = move |(me, registers)| Gsu {
            me,
            ties,
            registers,
            agreement: agreement.clone(),
            parts: parts.clone(),
            sent: (0..pes.min(PLACES_MOST)).map(|to| Unannounced::none(to, 0)).collect(),
            places: Vec::new(),
            received: [0; 2],
            since_settled: 0,
            settle_every: SETTLE_EVERY,
            epoch: 0,
            joined: false,
            gvt: None,
            accesses: RegisterAccesses::default(),
        };
        (0..).zip(registers).map(gsu)
    }

    /// LBTS, from the registers as they are now. `None` if some register fell while they were being
    /// read; then it is worth trying again.
    pub fn lbts(&self) -> Option<Moment> {
        self.read().map(|(event, message)| event.earlier(message, self.ties))
    }

    #[inline]
    pub(super) fn count_received(&mut self, tag: Tag) {
        self.received[tag.index()] += 1;
    }

    /// Sets this PE's registers.
    fn settle(&mut self, least: Moment) {
        let ties = self.ties;
        self.since_settled = 0;
        self.accesses.writes += 1;
        self.registers
            .settle(std::mem::take(&mut self.received), least, |a, b| a.is_before(b, ties));
    }

    fn announce_all(&mut self) {
        let mut places = std::mem::take(&mut self.places);
        places.drain(..).for_each(|place| self.announce_at(place));
        // Its memory is used again.
        self.places = places;
    }

    fn announce_at(&mut self, place: u32) {
        let ties = self.ties;
        self.accesses.writes += 1;
        let sent = &mut self.sent[place as usize];
        let Unannounced { to, bank, count, least, .. } = *sent;
        let bank = self.registers.announce(to, bank, count, least, |a, b| a.is_before(b, ties));
        *sent = Unannounced::none(to, bank);
    }

    /// Gives a place to another receiver, after announcing what was there: announcing it early does
    /// no harm.
    #[cold]
    fn give_place(&mut self, place: u32, to: u32) {
        if self.sent[place as usize].count > 0 {
            self.announce_at(place);
            self.places.retain(|used| *used != place);
        }
        self.sent[place as usize] = Unannounced::none(to, self.registers.open_bank(to));
    }

    /// A number that changes when an epoch is closed, or a PE asks for it: both counts only grow.
    pub(super) fn shared_word(&self) -> u64 {
        // Relaxed: it publishes nothing.
        let asked = self.agreement.asked.load(Ordering::Relaxed);
        asked.wrapping_add(self.agreement.closed.load(Ordering::Relaxed))
    }

    /// Takes the accesses to registers since the last call.
    #[inline]
    pub(super) fn take_accesses(&mut self) -> RegisterAccesses {
        std::mem::take(&mut self.accesses)
    }

    /// Joins the epoch: the registers are up to date.
    fn join(&mut self, local: &mut dyn Local) {
        let part = &mut *self.parts[self.me as usize].0.lock();
        part.failure = local.failure();
        part.work = part.work + local.take_work();
        // Release pairs with the Acquire of `all_joined`.
        self.agreement.joined.fetch_add(1, Ordering::Release);
        self.joined = true;
    }

    /// Whether all PEs have joined the epoch. None of them joins the next before it is closed.
    fn all_joined(&self) -> bool {
        self.agreement.joined.load(Ordering::Acquire) >= (self.epoch + 1) * self.parts.len() as u64
    }

    /// Closes the epoch, which all PEs have joined, if LBTS can be read. Only one PE at a time
    /// tries.
    fn close(&self) {
        let Some(mut verdict) = self.agreement.verdict.try_lock() else { return };
        // Another PE may have closed it just now. Relaxed: the lock has shown all that it did.
        if self.agreement.closed.load(Ordering::Relaxed) > self.epoch {
            return;
        }
        let Some((event, in_transit)) = self.read() else { return };
        let gvt = event.earlier(in_transit, self.ties);
        let mut failure = Moment::Never;
        let mut work = Work::default();
        for part in self.parts.iter() {
            let part = &mut *part.0.lock();
            failure = failure.earlier(part.failure, self.ties);
            work = work + std::mem::take(&mut part.work);
        }
        *verdict = Some(Verdict { epoch: self.epoch, rounds: 1, gvt, in_transit, failure, work });
        // Release pairs with the Acquire of `adopt`.
        self.agreement.closed.store(self.epoch + 1, Ordering::Release);
    }

    /// The verdict on this PE's epoch, if there is one.
    fn adopt(&mut self) -> Option<Verdict> {
        if self.agreement.closed.load(Ordering::Acquire) <= self.epoch {
            return None;
        }
        // There is no later one, as this PE has not joined the next epoch.
        let verdict = (*self.agreement.verdict.lock())?;
        assert_eq!(verdict.epoch, self.epoch, "PE {} missed a verdict", self.me);
        check_advance(&mut self.gvt, &verdict, self.ties);
        self.epoch += 1;
        self.joined = false;
        // Until it sets its registers again, the PE may undo whatever comes at or after GVT.
        self.settle(verdict.gvt);
        Some(verdict)
    }

    #[inline]
    fn is_called(&self) -> bool {
        // Relaxed: it publishes nothing else.
        self.agreement.asked.load(Ordering::Relaxed) > self.epoch
    }
}

impl Gvt for Gsu {
    fn algorithm(&self) -> GvtAlgorithm {
        GvtAlgorithm::Gsu
    }

    #[inline(always)]
    fn sent(&mut self, to: u32, at: impl FnOnce() -> Moment) -> Tag {
        let place = to % PLACES_MOST;
        if self.sent[place as usize].to != to {
            self.give_place(place, to);
        }
        let sent = &mut self.sent[place as usize];
        if sent.count == 0 {
            self.places.push(place);
        }
        sent.add(at(), self.ties);
        Tag::from_bits(sent.bank)
    }

    #[inline]
    fn announce(&mut self) {
        if !self.places.is_empty() {
            self.announce_all();
        }
    }

    #[inline]
    fn received(&mut self, tag: Tag, _: impl FnOnce() -> Moment) {
        self.count_received(tag);
    }

    /// Registers are set at every step then.
    fn drive(&mut self) {
        self.settle_every = 1;
    }

    /// The least MOE and the least MOM; `None` if some register fell while they were being read.
    fn read(&self) -> Option<(Moment, Moment)> {
        self.registers.least(|a, b| a.is_before(b, self.ties))
    }

    fn neighbours(&self) -> Vec<u32> {
        Vec::new()
    }

    fn wish(&mut self) {
        if !self.joined {
            // Relaxed: it publishes nothing else.
            self.agreement.asked.fetch_max(self.epoch + 1, Ordering::Relaxed);
        }
    }

    fn receive_control(&mut self, control: Control) {
        panic!("a control message where registers tell GVT: {control:?}");
    }

    fn advance(&mut self, local: &mut dyn Local) -> Option<Action> {
        self.announce();
        let called = self.is_called();
        self.since_settled += 1;
        let joins = called && !self.joined;
        if joins || self.since_settled >= self.settle_every {
            self.settle(local.least());
        }
        if joins {
            self.join(local);
        }
        if called && self.all_joined() {
            self.accesses.reads += 1;
            self.close();
        }
        if called { self.adopt().map(Action::Adopt) } else { None }
    }

    #[inline]
    fn is_paused(&self) -> bool {
        false
    }

    #[inline]
    fn is_on(&self) -> bool {
        self.joined
    }

    #[inline]
    fn epoch(&self) -> u64 {
        self.epoch + u64::from(self.joined)
    }
}
