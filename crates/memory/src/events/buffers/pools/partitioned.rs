use std::ops::Range;

use super::chain::{Chain, LockedChain};
use super::free_list::FreeList;
use super::fresh::{Fresh, RUN};
use super::partners::Partners;
use super::sizes::Sizes;
use super::slots::{FreeSlot, PoolOrder, Redistributed, SubPool};
use crate::alloc::Exhausted;
use crate::events::buffers::arena::Arena;
use crate::{ApartList, Common, Region};

/// With more free local slots than this, some of them are used for other PEs.
pub(in crate::events::buffers) const PLENTY: usize = if cfg!(any(miri, loom)) { 16 } else { 8192 };
/// How many free slots a PE keeps for itself where memory is short.
pub(in crate::events::buffers) const KEPT: usize = if cfg!(any(miri, loom)) { 4 } else { 512 };

/// The partitioned pool: one list for each PE that slots go to and come from, their partner. A slot
/// that was made for messages between two PEs keeps going back and forth between them, so a PE
/// touches only its own memory and that of its partners, and no lock is needed.
///
/// Where memory is short, free slots go to a pool that all share, as with [sender
/// pools](super::sender), so that a PE with little to do does not keep what others need.
///
/// Fujimoto and Panesar give every sub-pool a size, which limits how far a sender can run ahead of
/// its receivers. Here that is a setting, and without it sub-pools grow. The sub-pool of a PE's
/// messages to itself always grows: those take nobody else's memory.
///
/// Among many PEs all others count as [one partner](Partners), and surplus goes to the pool that all
/// share, whether memory is short or not.
pub(in crate::events::buffers) struct Partitioned {
    partners: Partners,
    /// By partner.
    free: ApartList<FreeList>,
    /// How many slots this PE has added to those that it exchanges with each partner. It never
    /// sends these back as surplus.
    made: Box<[u32]>,
    sizes: Option<Sizes>,
    common: Common<LockedChain>,
    /// Whether a slot that is free for one partner, or with another PE, is used before a new one is
    /// made.
    saves_memory: bool,
    fresh: Fresh,
    redistributed: Redistributed,
}

impl Partitioned {
    pub(super) fn of(
        region: &Region,
        (pes, mine): (u32, Range<u32>),
        size: SubPool,
        order: PoolOrder,
    ) -> Vec<Self> {
        let common = region.place(Chain::locked());
        let pool = |me| {
            let partners = Partners::of(me, pes);
            Partitioned {
                partners,
                free: ApartList::from_fn(partners.lists(), |_| FreeList::new(order)),
                made: vec![0; partners.lists()].into_boxed_slice(),
                sizes: Sizes::new(partners, size),
                common: common.clone(),
                saves_memory: false,
                fresh: Fresh::default(),
                redistributed: Redistributed::default(),
            }
        };
        mine.map(pool).collect()
    }

    pub(super) fn partners(&self) -> Partners {
        self.partners
    }

    #[inline(always)]
    pub(super) fn take(&mut self, to: u32) -> Option<FreeSlot> {
        self.free[self.partners.list(to)].pop()
    }

    #[inline(always)]
    pub(super) fn give(&mut self, partner: u32, slot: FreeSlot) {
        self.give_to(self.partners.list(partner), slot);
    }

    /// Takes back a slot for a list.
    #[inline(always)]
    pub(super) fn give_to(&mut self, list: usize, slot: FreeSlot) {
        self.free[list].push(slot);
    }

    /// A slot for messages to `partner` when none is free: a new one. Cores fetch lines of memory
    /// in pairs, so a slot that goes back and forth between two PEs would drag its neighbour along.
    /// So only one of a pair is exchanged, and the other is for local messages. But if more local
    /// slots are free than caches hold, or the size has been reached, saving memory matters more,
    /// and one of them is used.
    pub(super) fn grow<T>(&mut self, partner: u32, arena: &Arena<T>) -> FreeSlot {
        let partner = self.partners.list(partner);
        let me = self.partners.own();
        if self.saves_memory
            && let Some(slot) = self.take_from_another(partner, arena)
        {
            return slot;
        }
        if self.partners.are_together()
            && let Some(slot) = self.withdraw(partner, arena)
        {
            return slot;
        }
        let room = self
            .sizes
            .as_ref()
            .map_or(u32::MAX, |sizes| sizes.of(partner).saturating_sub(self.made[partner]));
        if (self.free[me].len() > PLENTY || room == 0)
            && let Some(slot) = self.free[me].pop()
        {
            self.made[partner] += 1;
            return slot;
        }
        // A message that cannot wait gets a slot beyond the size.
        let mut left = room.max(1);
        for slot in self.fresh.run(RUN, arena) {
            let to = if slot.is_even() && left > 0 { partner } else { me };
            left = left.saturating_sub(u32::from(to == partner));
            self.free[to].push(slot);
            self.made[to] += 1;
        }
        self.free[partner].pop().unwrap_or_else(|| Exhausted::Numbers.unwind())
    }

    /// Notes that a local slot is used for another partner from now on.
    pub(super) fn count_for(&mut self, partner: u32) {
        self.made[self.partners.list(partner)] += 1;
    }

    /// A slot that is free for another partner, or one that another PE had no use for.
    #[cold]
    fn take_from_another<T>(&mut self, partner: usize, arena: &Arena<T>) -> Option<FreeSlot> {
        let other = (0..self.made.len()).max_by_key(|other| self.free[*other].len())?;
        if let Some(slot) = self.free[other].pop() {
            self.made[other] = self.made[other].saturating_sub(1);
            self.made[partner] += 1;
            return Some(slot);
        }
        self.withdraw(partner, arena)
    }

    /// A slot that another PE had no use for.
    fn withdraw<T>(&mut self, partner: usize, arena: &Arena<T>) -> Option<FreeSlot> {
        let mut common = self.common.0.lock();
        for slot in std::iter::from_fn(|| common.pop(arena)).take(RUN as usize) {
            self.free[partner].push(slot);
            // Among many PEs these come back to the pool that all share, and not to this PE.
            self.made[partner] += u32::from(!self.partners.are_together());
            self.redistributed.note_withdrawn();
        }
        self.free[partner].pop()
    }

    /// Gives all free slots but a few to the pool that all share.
    #[cold]
    fn give_to_all<T>(&mut self, arena: &Arena<T>) {
        let kept = KEPT.div_ceil(self.made.len());
        let mut common = self.common.0.lock();
        for (list, made) in self.free.iter_mut().zip(&mut self.made) {
            while list.len() > kept
                && let Some(slot) = list.pop()
            {
                common.push(slot, PoolOrder::Lifo, arena);
                *made = made.saturating_sub(1);
                self.redistributed.note_deposited();
            }
        }
    }

    /// Gives the pool that all share what is free for other PEs beyond what this one has made for
    /// them.
    fn deposit_surplus<T>(&mut self, arena: &Arena<T>) {
        let other = 1 - self.partners.own();
        let most = (self.made[other] + RUN) as usize;
        if self.free[other].len() <= most {
            return;
        }
        let mut common = self.common.0.lock();
        while self.free[other].len() > most
            && let Some(slot) = self.free[other].pop()
        {
            common.push(slot, PoolOrder::Lifo, arena);
            self.redistributed.note_deposited();
        }
    }

    /// A slot to send back, if there are more than `most` beyond those that this PE has made, or,
    /// where sizes are limited, if a quarter of the size is less, more than that: so free slots do
    /// not go back and forth.
    pub(super) fn surplus(&mut self, partner: u32, most: usize) -> Option<FreeSlot> {
        // The slot freed first is the least likely to be in the cache, but taking the last one is
        // cheaper.
        let list = self.partners.list(partner);
        if self.has_surplus(partner, most, 0) { self.free[list].pop() } else { None }
    }

    /// Whether there would be such a slot if so many more were free.
    pub(super) fn has_surplus(&self, partner: u32, most: usize, more: usize) -> bool {
        let own = self.partners.own();
        if self.partners.list(partner) == own || self.partners.are_together() {
            return false;
        }
        let partner = self.partners.list(partner);
        let most =
            self.sizes.as_ref().map_or(most, |sizes| most.min(sizes.of(partner) as usize / 4));
        self.free[partner].len() + more > most + self.made[partner] as usize
    }

    pub(super) fn has_room(&self, to: u32, messages: u32) -> bool {
        let to = self.partners.list(to);
        let own = self.partners.own();
        let Some(sizes) = self.sizes.as_ref().filter(|_| to != own) else { return true };
        let own = self.free[to].len() + sizes.of(to).saturating_sub(self.made[to]) as usize;
        let enough = |slots: usize| slots >= messages as usize;
        enough(own)
            || self.partners.are_together() && enough(own + self.common.0.lock().len() as usize)
    }

    pub(super) fn want(&mut self, to: u32, messages: u32) {
        let to = self.partners.list(to);
        self.sizes.iter_mut().for_each(|sizes| sizes.want(to, messages));
    }

    pub(super) fn is_bounded(&self) -> bool {
        self.sizes.is_some()
    }

    /// Slots made beyond the size, because something could not wait or because the size has shrunk
    /// since, become local when they are back.
    pub(super) fn tidy<T>(&mut self, arena: &Arena<T>) {
        if self.saves_memory {
            self.give_to_all(arena);
        } else if self.partners.are_together() {
            self.deposit_surplus(arena);
        }
        let own = self.partners.own();
        let Some(sizes) = &mut self.sizes else { return };
        sizes.adapt();
        for partner in (0..self.made.len()).filter(|partner| *partner != own) {
            while self.made[partner] > sizes.of(partner)
                && let Some(slot) = self.free[partner].pop()
            {
                self.made[partner] -= 1;
                self.free[own].push(slot);
            }
        }
    }

    pub(super) fn available(&self) -> u64 {
        let common = if self.saves_memory || self.partners.are_together() {
            self.common.0.lock().len()
        } else {
            0
        };
        self.free() + u64::from(common)
    }

    /// The slots that this PE has made.
    pub(super) fn fresh(&self) -> &Fresh {
        &self.fresh
    }

    pub(super) fn redistributed(&self) -> Redistributed {
        self.redistributed
    }

    pub(super) fn save_memory(&mut self, saves: bool) {
        self.saves_memory = saves;
    }

    pub(super) fn free(&self) -> u64 {
        self.free.iter().map(|list| list.len() as u64).sum()
    }
}
