/// Ranks of the world, in an order.
///
/// Invariant: `by_rank` holds all places of `members`, ordered by the members there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    members: Vec<u32>,
    by_rank: Vec<u32>,
}

impl Group {
    /// The rank in this place, as a rank of the world.
    #[inline]
    pub(crate) fn in_world(&self, place: u32) -> u32 {
        self.members[place as usize]
    }

    /// The place of a rank of the world.
    pub(crate) fn place_of(&self, rank: u32) -> Option<u32> {
        let member = |place: &u32| self.members[*place as usize];
        let found = self.by_rank.binary_search_by_key(&rank, member).ok()?;
        Some(self.by_rank[found])
    }
}
