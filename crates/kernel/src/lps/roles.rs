use serde::{Deserialize, Serialize};
use std::sync::Arc;

use warpline_base::LpId;

/// The kind of an LP, and whether it is conservative, in one small number, as each LP has a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role(u16);

impl Role {
    /// The role of all LPs where they do not differ: optimistic, and of the first kind.
    const COMMON: Role = Role(0);
    /// The most kinds.
    pub const KINDS_MOST: usize = 1 << 15;

    /// The role of LPs of the kind with this number.
    ///
    /// # Panics
    /// If the number is not less than [`KINDS_MOST`](Self::KINDS_MOST).
    pub fn new(kind: usize, conservative: bool) -> Self {
        assert!(kind < Self::KINDS_MOST, "there are no more than {} kinds", Self::KINDS_MOST);
        Role((kind << 1) as u16 | u16::from(conservative))
    }

    /// The number of its kind.
    pub fn kind(self) -> usize {
        usize::from(self.0 >> 1)
    }

    /// Whether its LPs execute only certain events, and so never roll back.
    #[inline(always)]
    pub fn is_conservative(self) -> bool {
        self.0 & 1 == 1
    }

    /// Its place in a list of all roles.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The role at a place in a list of all roles.
    pub fn from_index(index: usize) -> Self {
        Role::new(index >> 1, index & 1 == 1)
    }
}

/// The roles of all LPs.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    /// By LP; empty if all have the [common](Role::COMMON) one.
    by_lp: Arc<Vec<Role>>,
    /// How many roles there may be.
    count: usize,
    /// Whether any LP is conservative.
    any_conservative: bool,
}

impl Roles {
    /// The roles of LPs, by id; an empty list if all are optimistic and of one kind.
    pub fn new(by_lp: Vec<Role>) -> Self {
        let count = by_lp.iter().map(|role| role.index() + 1).max().unwrap_or_default();
        let any_conservative = by_lp.iter().any(|role| role.is_conservative());
        Roles { by_lp: Arc::new(by_lp), count, any_conservative }
    }

    /// Whether any LP is conservative.
    #[inline(always)]
    pub(crate) fn any_conservative(&self) -> bool {
        self.any_conservative
    }

    /// The role of an LP.
    #[inline]
    pub fn of(&self, lp: LpId) -> Role {
        self.by_lp.get(lp.index()).copied().unwrap_or(Role::COMMON)
    }

    /// How many places a list of all roles needs.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// What the LPs of one role have done on a PE, beside their commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleCounts {
    /// Events undone.
    pub rolled_back: u64,
    /// Events that were set aside until they were certain.
    pub set_aside: u64,
}
