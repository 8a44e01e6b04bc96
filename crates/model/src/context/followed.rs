//! Which LPs tell what goes on within them.

use std::sync::Arc;

use warpline_base::LpId;

use crate::tables::Table;

/// Which LPs tell what their processes do, and how much.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Followed {
    /// By LP; `None` if nobody is followed.
    lps: Option<Arc<[bool]>>,
    /// The most that an LP tells.
    most: u32,
}

impl Followed {
    /// The LPs for which `lps` is true tell at most `most` deeds each.
    pub fn new(lps: impl Iterator<Item = bool>, most: u32) -> Self {
        let lps: Arc<[bool]> = lps.collect();
        Followed { lps: lps.contains(&true).then_some(lps), most }
    }

    /// How much this LP may tell.
    #[inline]
    pub fn most(&self, lp: LpId) -> u32 {
        let follows = self.lps.as_ref().is_some_and(|lps| lps.get(lp.index()) == Some(&true));
        if follows { self.most } else { 0 }
    }

    /// Whether this is the table into which LPs tell.
    pub fn is_table(table: u16) -> bool {
        table == Table::TOLD.0
    }
}
