/// Ranks of the world, in an order.
///
/// Invariant: `by_rank` holds all places of `members`, ordered by the members there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    members: Vec<u32>,
    by_rank: Vec<u32>,
}

impl Group {
    /// # Panics
    /// If a rank is listed twice.
    pub(crate) fn of(members: Vec<u32>) -> Self {
        let mut by_rank: Vec<u32> = (0..members.len() as u32).collect();
        by_rank.sort_unstable_by_key(|place| members[*place as usize]);
        let member = |place: u32| members[place as usize];
        if let Some(pair) = by_rank.windows(2).find(|pair| member(pair[0]) == member(pair[1])) {
            panic!("rank {} of the world is listed twice for a communicator", member(pair[0]));
        }
        Group { members, by_rank }
    }

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
