pub(crate) mod handler;
pub(crate) mod roles;

use std::ops::Range;

use warpline_base::{HistoryDigest, LpId, RunDigest};
use warpline_memory::{DropEach, list_for, prefer_huge_pages, prefetch, try_drop};

use crate::lps::roles::{Role, Roles};

/// How messages to users call the LPs.
pub(crate) const STATES: &str = "the states of LPs";

/// So many LPs are few.
const FEW: usize = 64;

/// An LP in an engine: its state, and the 16 bytes that the engine keeps for it. The positions of
/// its random streams and its sequence numbers follow from its event count.
#[derive(Debug)]
pub struct Lp<S> {
    /// Events executed and not undone.
    pub events: u64,
    /// The digest of these events, in their order.
    pub digest: HistoryDigest,
    /// Its state.
    pub state: S,
}

// A million LPs are walked at random: what they take decides how many cache lines are fetched.
const _: () = assert!(size_of::<Lp<u64>>() == 16 + size_of::<u64>());

impl<S> Lp<S> {
    /// An LP that has just been initialised.
    pub fn new(state: S) -> Self {
        Lp { events: 0, digest: HistoryDigest::default(), state }
    }

    /// Adds consecutive LPs, of which the first has the id `first`, to the digest of a run.
    pub fn add_digests(lps: &[Self], first: u32, digest: &mut RunDigest) {
        for (id, lp) in (first..).zip(lps) {
            digest.add(LpId(id), lp.events, lp.digest);
        }
    }

    /// Restores an earlier state. The current one belongs to events that were undone, so a panic on
    /// dropping it is ignored.
    pub(crate) fn bring_back(&mut self, state: S) {
        _ = try_drop(std::mem::replace(&mut self.state, state));
    }
}

/// The LPs of a PE.
///
/// Invariant: they have consecutive ids, and are initialised in that order.
#[derive(Debug)]
pub(crate) struct Lps<S> {
    initialised: DropEach<Lp<S>>,
    first: u32,
    count: u32,
    roles: Roles,
}

impl<S> Lps<S> {
    /// The LPs with these ids, none of them initialised. `roles` has the roles of all LPs.
    pub(crate) fn new(ids: Range<u32>, roles: Roles) -> Self {
        let mut initialised = list_for(ids.len(), STATES);
        prefer_huge_pages(&mut initialised);
        Lps { initialised: initialised.into(), first: ids.start, count: ids.len() as u32, roles }
    }

    /// How many have been initialised.
    pub(crate) fn initialised(&self) -> usize {
        self.initialised.len()
    }

    /// Whether all have been initialised.
    #[inline]
    pub(crate) fn all_initialised(&self) -> bool {
        self.initialised.len() == self.count as usize
    }

    /// The LP to be initialised next, or the one whose initialisation failed.
    pub(crate) fn next(&self) -> LpId {
        LpId(self.first + self.initialised.len() as u32)
    }

    /// Takes over all of them from another engine, initialised.
    pub(crate) fn take_over(&mut self, lps: DropEach<Lp<S>>) {
        assert_eq!(
            (self.initialised.len(), lps.len()),
            (0, self.count as usize),
            "the LPs of a PE are taken over together"
        );
        self.initialised = lps;
    }

    /// Adds the next LP, which has been initialised to this state. Returns its index.
    pub(crate) fn push(&mut self, state: S) -> usize {
        self.initialised.push(Lp::new(state));
        self.initialised.len() - 1
    }

    /// The index of an LP in the table.
    #[inline(always)]
    pub(crate) fn index(&self, id: LpId) -> usize {
        (id.0 - self.first) as usize
    }

    /// Whether an LP belongs to this PE.
    #[inline(always)]
    pub(crate) fn contain(&self, id: LpId) -> bool {
        id.0.wrapping_sub(self.first) < self.count
    }

    /// The id of the LP with this index.
    #[inline]
    pub(crate) fn id(&self, index: usize) -> LpId {
        LpId(self.first + index as u32)
    }

    /// Whether any LP is conservative, here or elsewhere.
    #[inline(always)]
    pub(crate) fn any_conservative(&self) -> bool {
        self.roles.any_conservative()
    }

    /// The role of an LP of this PE.
    #[inline]
    pub(crate) fn role(&self, id: LpId) -> Role {
        self.roles.of(id)
    }

    pub(crate) fn get(&self, index: usize) -> &Lp<S> {
        &self.initialised[index]
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, index: usize) -> &mut Lp<S> {
        &mut self.initialised[index]
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.initialised[index]);
    }

    /// Prefetches the first of them: all, where PEs have few.
    pub(crate) fn prefetch_few(&self) {
        self.initialised.iter().take(FEW).for_each(prefetch);
    }

    /// How much memory the initialised ones take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.initialised.len() * size_of::<Lp<S>>()
    }

    /// How much memory is set aside for all of them, in bytes.
    pub(crate) fn bytes_held(&self) -> usize {
        self.count as usize * size_of::<Lp<S>>()
    }

    /// The first id, and the LPs.
    pub(crate) fn into_parts(self) -> (u32, DropEach<Lp<S>>) {
        (self.first, self.initialised)
    }
}
