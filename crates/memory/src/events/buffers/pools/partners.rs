//! Which PEs count as one partner.

/// Up to so many PEs, what one PE keeps for each of the others is kept apart. Among more, it is kept
/// in one place for all others: places for all pairs would take more memory than what is in them.
pub const APART_MOST: u32 = if cfg!(any(miri, loom)) { 4 } else { 64 };

/// A PE's partners, by the numbers of the lists that it keeps for them. It is one of them itself.
#[derive(Clone, Copy, Debug)]
pub(in crate::events::buffers) struct Partners {
    me: u32,
    own: u32,
    /// What of a partner's number is the number of its list.
    mask: u32,
    pes: u32,
}

impl Partners {
    pub(in crate::events::buffers) fn of(me: u32, pes: u32) -> Self {
        if pes <= APART_MOST {
            Partners { me, own: me, mask: u32::MAX, pes }
        } else {
            Partners { me, own: 1, mask: 0, pes }
        }
    }

    /// How many lists there are.
    pub(in crate::events::buffers) fn lists(&self) -> usize {
        if self.are_together() { 2 } else { self.pes as usize }
    }

    /// The list of a partner.
    #[inline(always)]
    pub(in crate::events::buffers) fn list(&self, partner: u32) -> usize {
        (if partner == self.me { self.own } else { partner & self.mask }) as usize
    }

    /// The list of the PE itself.
    #[inline(always)]
    pub(in crate::events::buffers) fn own(&self) -> usize {
        self.own as usize
    }

    /// Whether all other PEs have one list.
    pub(in crate::events::buffers) fn are_together(&self) -> bool {
        self.mask == 0
    }

    /// How many other PEs a list is for, if it is not the PE's own.
    pub(super) fn per_list(&self) -> u32 {
        if self.are_together() { self.pes - 1 } else { 1 }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn few_partners_are_apart_and_many_are_one() {
        let few = Partners::of(1, APART_MOST);
        assert_eq!((few.lists(), few.own(), few.per_list()), (APART_MOST as usize, 1, 1));
        assert!((0..APART_MOST).all(|partner| few.list(partner) == partner as usize));
        let many = Partners::of(70_000, 100_000);
        assert_eq!((many.lists(), many.own(), many.per_list()), (2, 1, 99_999));
        assert_eq!([0, 1, 70_000, 99_999].map(|partner| many.list(partner)), [0, 0, 1, 0]);
    }
}
