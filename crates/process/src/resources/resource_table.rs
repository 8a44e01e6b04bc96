//! A resource as its LP keeps it: who holds it, and who waits.

use std::borrow::Cow;
use std::panic::Location;

use warpline_model::Mean;
use warpline_model::record::Deed;

use super::level::LevelOverTime;
use crate::keys::ProcessKey;
use crate::keys::WaitKey;
use crate::processes::interrupt::Interrupted;
use crate::processes::process::Process;
use crate::queues::wait_queue::WaitQueue;
use crate::running::Surroundings;
use crate::running::tables::Tables;
use crate::running::things::{Thing, ThingKey};
use crate::running::waits::What;

/// What a resource has seen since time 0, whatever the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResourceFigures {
    /// How many requests got what they asked for.
    pub granted: u64,
    /// How many requests were withdrawn before that.
    pub withdrawn: u64,
    /// How many units were taken away from their holders.
    pub preempted: u64,
    /// The mean time from a request to its grant.
    pub mean_wait: f64,
    /// The mean number of requests that waited, over time.
    pub mean_waiting: f64,
    /// The mean number of units held, over time.
    pub mean_in_use: f64,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) priority: i32,
    pub(super) amount: u32,
    /// Whether it takes units away from others.
    pub(super) preempts: bool,
}

/// The answer to a request.
pub(super) enum Grant {
    /// The units are free.
    Now(HolderKey),
    /// They will be granted later.
    Later(WaitKey),
}

/// A holder: its place in the table of the resource, and the generation of that place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HolderKey {
    place: u32,
    generation: u32,
}

impl HolderKey {
    /// Nobody.
    pub(super) const NONE: HolderKey = HolderKey { place: u32::MAX, generation: 0 };

    pub(super) fn is_none(self) -> bool {
        self.place == u32::MAX
    }

    fn to_bits(self) -> u64 {
        u64::from(self.place) << 32 | u64::from(self.generation)
    }

    pub(super) fn from_bits(bits: u64) -> Self {
        HolderKey { place: (bits >> 32) as u32, generation: bits as u32 }
    }
}

/// Who holds units.
#[derive(Debug)]
struct Holder {
    generation: u32,
    process: ProcessKey,
    priority: i32,
    since: f64,
    /// 0 if the place is free.
    amount: u32,
    /// The number of this grant.
    number: u64,
}

/// A resource.
///
/// Invariant: the amounts of all holders add up to `in_use`. Nobody waits whose claim comes first
/// and for whom there is room.
pub(super) struct ResourceTable {
    name: Cow<'static, str>,
    pub(super) capacity: u32,
    pub(super) in_use: u32,
    queue: WaitQueue<Claim>,
    holders: Vec<Holder>,
    free: Vec<u32>,
    pub(super) waiting: LevelOverTime,
    pub(super) used: LevelOverTime,
    pub(super) wait_statistic: Option<Mean>,
    waited: f64,
    granted: u64,
    withdrawn: u64,
    preempted: u64,
}

impl Thing for ResourceTable {
    fn describe(&self) -> String {
        format!("the resource `{}` ({} of {} in use)", self.name, self.in_use, self.capacity)
    }

    fn tells_itself(&self) -> bool {
        true
    }
}

impl ResourceTable {
    pub(super) fn new(name: Cow<'static, str>, capacity: u32, now: f64) -> Self {
        ResourceTable {
            name,
            capacity,
            in_use: 0,
            queue: WaitQueue::default(),
            holders: Vec::new(),
            free: Vec::new(),
            waiting: LevelOverTime::new(0.0, now, None),
            used: LevelOverTime::new(0.0, now, None),
            wait_statistic: None,
            waited: 0.0,
            granted: 0,
            withdrawn: 0,
            preempted: 0,
        }
    }

    /// How many requests wait.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether a unit is free and nobody waits.
    pub(super) fn is_free(&mut self, tables: &Tables) -> bool {
        self.in_use < self.capacity && self.queue.first(tables).is_none()
    }

    /// Whether the holder still has its units.
    pub(super) fn holds(&self, key: HolderKey) -> bool {
        let holder = self.holders.get(key.place as usize);
        holder.is_some_and(|holder| holder.generation == key.generation && holder.amount > 0)
    }

    /// The processes that hold units.
    pub(super) fn holders(&self) -> Vec<Process> {
        let holders = self.holders.iter().filter(|holder| holder.amount > 0);
        holders.map(|holder| Process::new(holder.process)).collect()
    }

    /// The units belong to another process from now on.
    pub(super) fn set_process(&mut self, key: HolderKey, process: ProcessKey) {
        if self.holds(key) {
            self.holders[key.place as usize].process = process;
        }
    }

    fn fits(&self, amount: u32) -> bool {
        self.capacity.checked_sub(self.in_use).is_some_and(|free| free >= amount)
    }

    /// Grants a claim of `process`, or has it wait.
    #[inline]
    pub(super) fn ask(
        &mut self,
        claim: Claim,
        process: ProcessKey,
        key: ThingKey,
        at: &'static Location<'static>,
        around: &mut Surroundings<'_>,
    ) -> Grant {
        let comes_first =
            self.queue.first(around.tables).is_none_or(|first| first.priority > claim.priority);
        if comes_first && self.make_room(claim, process, around) {
            self.note_wait(0.0, around);
            let holder = self.hold(claim, process, around);
            self.note_use(around);
            return Grant::Now(holder);
        }
        self.note_use(around);
        let wait = around.tables.begin_wait(What::Thing(key.place), around.now, at);
        around.tell(process, Deed::Queues, &self.name);
        self.queue.push(claim.priority, wait, claim);
        self.waiting.set(self.queue.len() as f64, around.now, around.lp);
        Grant::Later(wait)
    }

    /// Whether there are free units for a claim, if need be because it takes them away from others.
    #[inline]
    fn make_room(
        &mut self,
        claim: Claim,
        process: ProcessKey,
        around: &mut Surroundings<'_>,
    ) -> bool {
        while !self.fits(claim.amount) {
            if !claim.preempts || !self.preempt(claim.priority, process, around) {
                return false;
            }
        }
        true
    }

    /// Takes the units of the least important holder away, if it is less important than `priority`,
    /// which is that of `by`.
    #[cold]
    fn preempt(&mut self, priority: i32, by: ProcessKey, around: &mut Surroundings<'_>) -> bool {
        let holders = self.holders.iter().enumerate().filter(|(_, holder)| holder.amount > 0);
        let last = holders.max_by_key(|(_, holder)| (holder.priority, holder.number));
        let Some((place, victim)) = last.filter(|(_, holder)| holder.priority > priority) else {
            return false;
        };
        let process = victim.process;
        let since = victim.since;
        self.preempted += 1;
        self.free_place(place as u32, around);
        let lost = format!("loses {} to a more important request", self.name);
        around.tell(process, Deed::Does, &lost);
        around.tables.interrupt(process, Interrupted::preempted(by, self.name.clone(), since));
        true
    }

    /// Gives units to a process.
    #[inline]
    fn hold(
        &mut self,
        claim: Claim,
        process: ProcessKey,
        around: &mut Surroundings<'_>,
    ) -> HolderKey {
        around.tell(process, Deed::Takes, &self.name);
        self.granted += 1;
        self.in_use += claim.amount;
        let Claim { priority, amount, .. } = claim;
        let number = self.granted;
        let since = around.now;
        if let Some(place) = self.free.pop() {
            let holder = &mut self.holders[place as usize];
            let generation = holder.generation;
            *holder = Holder { generation, process, priority, since, amount, number };
            return HolderKey { place, generation };
        }
        self.holders.push(Holder { generation: 0, process, priority, since, amount, number });
        HolderKey { place: self.holders.len() as u32 - 1, generation: 0 }
    }

    #[inline]
    fn free_place(&mut self, place: u32, around: &mut Surroundings<'_>) {
        let holder = &mut self.holders[place as usize];
        around.tell(holder.process, Deed::Gives, &self.name);
        holder.generation = holder.generation.wrapping_add(1);
        self.in_use -= std::mem::take(&mut holder.amount);
        self.free.push(place);
    }

    /// Takes units back, and gives them to whoever comes first. Nothing happens if they were taken
    /// away before.
    #[inline]
    pub(super) fn give_back(&mut self, key: HolderKey, around: &mut Surroundings<'_>) {
        if self.holds(key) {
            self.free_place(key.place, around);
            self.serve(around);
        }
    }

    /// Gives units to those who wait and come first, while there are enough.
    #[inline]
    pub(super) fn serve(&mut self, around: &mut Surroundings<'_>) {
        while self.serve_first(around) {}
        self.note_use(around);
    }

    /// Gives units to who comes first. Returns `false` if nobody waits or there are too few.
    #[inline]
    fn serve_first(&mut self, around: &mut Surroundings<'_>) -> bool {
        let Some(first) = self.queue.first(around.tables) else { return false };
        let wait = first.wait;
        let claim = first.data;
        if !claim.preempts && !self.fits(claim.amount) {
            return false;
        }
        let Some(waiting) = around.tables.waits.get(wait) else { return false };
        let since = waiting.since;
        let process = around.tables.processes.key(waiting.process);
        if !self.make_room(claim, process, around) {
            return false;
        }
        self.queue.pop();
        self.waiting.set(self.queue.len() as f64, around.now, around.lp);
        self.note_wait(around.now - since, around);
        let holder = self.hold(claim, process, around);
        around.tables.finish_wait(wait, holder.to_bits());
        true
    }

    /// Observes how many units are held, when nothing more changes that just now. So a unit that
    /// passes from one process to another counts as held throughout.
    #[inline]
    fn note_use(&mut self, around: &mut Surroundings<'_>) {
        self.used.set(f64::from(self.in_use), around.now, around.lp);
    }

    /// A request that waits has just been removed from the table of waits.
    pub(super) fn withdraw(&mut self, process: ProcessKey, around: &mut Surroundings<'_>) {
        around.tell(process, Deed::Leaves, &self.name);
        self.withdrawn += 1;
        self.queue.withdraw(around.tables);
        self.waiting.set(self.queue.len() as f64, around.now, around.lp);
        // Those behind it may want less.
        self.serve(around);
    }

    #[inline]
    fn note_wait(&mut self, waited: f64, around: &mut Surroundings<'_>) {
        self.waited += waited;
        if let Some(statistic) = self.wait_statistic {
            around.lp.observe(statistic, waited);
        }
    }

    pub(super) fn figures(&self, now: f64) -> ResourceFigures {
        let granted = self.granted;
        ResourceFigures {
            granted,
            withdrawn: self.withdrawn,
            preempted: self.preempted,
            mean_wait: if granted > 0 { self.waited / granted as f64 } else { 0.0 },
            mean_waiting: self.waiting.mean(now),
            mean_in_use: self.used.mean(now),
        }
    }
}
