//! Ranks on a grid.

use std::ops::Deref;

use crate::call::{Call, Name};
use crate::comm::Comm;

/// A communicator whose ranks lie on a grid, the last dimension first: `MPI_Cart_create` without
/// reordering. All calls of [`Comm`] are its calls, too.
#[derive(Clone, Debug)]
pub struct Cartesian {
    comm: Comm,
    sides: Vec<u32>,
    /// Whether a dimension closes to a ring.
    is_periodic: Vec<bool>,
}

impl Comm {
    /// A grid of the first ranks, with this many along each dimension. Others get `None`.
    ///
    /// # Panics
    /// If the sides and `is_periodic` differ in number, or the grid has more ranks than there are,
    /// or none.
    #[track_caller]
    pub fn cartesian(
        &self,
        sides: &[u32],
        is_periodic: &[bool],
    ) -> impl Future<Output = Option<Cartesian>> + Send {
        let call = Call::here(Name::CartCreate);
        let ranks: u64 = sides.iter().map(|side| u64::from(*side)).product();
        assert!(
            sides.len() == is_periodic.len() && (1..=u64::from(self.size())).contains(&ranks),
            "a grid of {sides:?}, periodic {is_periodic:?}, does not fit {} ranks",
            self.size()
        );
        let (sides, is_periodic) = (sides.to_vec(), is_periodic.to_vec());
        async move {
            let number = self.agree(call).await;
            let comm = self.with_members(number, (0..ranks as u32).collect())?;
            Some(Cartesian { comm, sides, is_periodic })
        }
    }

    /// The most equal sides of a grid of this many ranks, the greatest first: `MPI_Dims_create`.
    ///
    /// ```
    /// # use warpline_ranks::Comm;
    /// assert_eq!(Comm::sides(12, 2), [4, 3]);
    /// assert_eq!(Comm::sides(64, 3), [4, 4, 4]);
    /// assert_eq!(Comm::sides(7, 2), [7, 1]);
    /// ```
    pub fn sides(ranks: u32, dimensions: usize) -> Vec<u32> {
        let mut sides = vec![1; dimensions];
        let mut rest = ranks;
        for side in (0..dimensions).rev() {
            // The greatest divisor that leaves as much for each of the others.
            let root = (f64::from(rest)).powf(1.0 / (side + 1) as f64).round() as u32;
            let fits = |candidate: &u32| rest.is_multiple_of(*candidate);
            sides[side] = if side == 0 { rest } else { (1..=root).rev().find(fits).unwrap_or(1) };
            rest /= sides[side];
        }
        sides.sort_unstable_by(|a, b| b.cmp(a));
        sides
    }
}

impl Cartesian {
    /// The ranks along each dimension.
    pub fn grid(&self) -> &[u32] {
        &self.sides
    }

    /// Where a rank lies: `MPI_Cart_coords`.
    pub fn coordinates(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut all: Vec<u32> = (self.sides.iter().rev())
            .map(|side| {
                let at = rest % side;
                rest /= side;
                at
            })
            .collect();
        all.reverse();
        all
    }

    /// The rank that lies there, round the ring where the dimension is periodic: `MPI_Cart_rank`.
    /// `None` outside of the grid.
    ///
    /// # Panics
    /// If there are not as many coordinates as dimensions.
    pub fn rank_at(&self, coordinates: &[i64]) -> Option<u32> {
        assert_eq!(coordinates.len(), self.sides.len(), "coordinates of the grid {:?}", self.sides);
        let mut rank = 0;
        for ((at, side), is_periodic) in coordinates.iter().zip(&self.sides).zip(&self.is_periodic)
        {
            let side = i64::from(*side);
            let at = if *is_periodic { at.rem_euclid(side) } else { *at };
            if !(0..side).contains(&at) {
                return None;
            }
            rank = rank * side + at;
        }
        Some(rank as u32)
    }

    /// The ranks from which this rank receives, and to which it sends, if all shift so many steps
    /// along a dimension: `MPI_Cart_shift`. `None` beyond the border, which sends and receives take
    /// as nobody.
    ///
    /// # Panics
    /// If there is no such dimension.
    pub fn shift(&self, dimension: usize, steps: i64) -> (Option<u32>, Option<u32>) {
        let mut at: Vec<i64> = self.coordinates(self.id()).into_iter().map(i64::from).collect();
        let mut neighbour = |by: i64| {
            at[dimension] += by;
            let rank = self.rank_at(&at);
            at[dimension] -= by;
            rank
        };
        (neighbour(-steps), neighbour(steps))
    }
}

impl Deref for Cartesian {
    type Target = Comm;

    fn deref(&self) -> &Comm {
        &self.comm
    }
}
