use std::sync::Arc;

use warpline_base::LpId;
use warpline_model::engine::{Lookahead, Reach};

use crate::Partition;
use crate::partition::pair_delays::{DelaysHere, Links, PairDelays};

/// The least delay of anything that one PE sends another: lookahead, as it applies between PEs.
/// Infinite where there is no link.
#[derive(Clone, Debug)]
pub struct Delays(Arc<PairDelays>);

/// The two LPs that decide the least delay between PEs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortest {
    /// The sender.
    pub from: LpId,
    /// The receiver; `None` if it may be any LP.
    pub to: Option<LpId>,
    /// The delay, in model time.
    pub delay: f64,
}

impl Delays {
    /// The same delay between any two of so many PEs.
    pub fn uniform(pes: u32, delay: f64) -> Self {
        Delays(Arc::new(PairDelays::uniform(pes, delay)))
    }

    /// The delays that `lookahead` implies between the PEs of `partition`.
    pub fn of(lookahead: &Lookahead, partition: &Partition) -> Self {
        let pes = partition.pes();
        if lookahead.is_uniform() {
            return Self::uniform(pes, lookahead.least());
        }
        let mut links = Links::none(pes);
        for pe in 0..pes {
            for lp in partition.lps(pe) {
                match lookahead.reach(LpId(lp)) {
                    Reach::Any(delay) => links.add_to_all(pe, delay),
                    Reach::Links { to, lookahead } => {
                        to.iter()
                            .zip(lookahead)
                            .for_each(|(to, delay)| links.add(pe, partition.pe(*to), *delay));
                    }
                }
            }
        }
        Delays(Arc::new(links.delays()))
    }

    /// The least delays to a PE.
    #[inline]
    pub(crate) fn to(&self, pe: u32) -> DelaysHere<'_> {
        self.0.to(pe)
    }

    /// The least delay from one PE to another.
    pub fn between(&self, from: u32, to: u32) -> f64 {
        self.0.between(from, to)
    }

    /// Whether the least delays between any two PEs are all the same.
    pub fn are_equal(&self) -> bool {
        self.0.are_equal()
    }

    /// The least delay between any two PEs.
    pub fn least(&self) -> f64 {
        self.0.least()
    }
}

impl Shortest {
    /// The first link between PEs of `partition` whose lookahead is the least; `None` if PEs send
    /// each other nothing.
    pub fn of(lookahead: &Lookahead, partition: &Partition) -> Option<Self> {
        let mut shortest: Option<Shortest> = None;
        let mut consider = |from, to, delay| {
            if shortest.is_none_or(|shortest| delay < shortest.delay) {
                shortest = Some(Shortest { from, to, delay });
            }
        };
        if partition.pes() == 1 {
            return None;
        }
        for (pe, from) in
            (0..partition.pes()).flat_map(|pe| partition.lps(pe).map(move |lp| (pe, LpId(lp))))
        {
            match lookahead.reach(from) {
                Reach::Any(delay) => consider(from, None, delay),
                Reach::Links { to, lookahead } => {
                    let away = to.iter().zip(lookahead).filter(|(to, _)| partition.pe(**to) != pe);
                    away.for_each(|(to, delay)| consider(from, Some(*to), *delay));
                }
            }
        }
        shortest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::test_lookahead::{Declared, lookahead};

    /// Delays between three PEs, by sender and receiver.
    type Table = [[f64; 3]; 3];

    /// All delays between three PEs of two LPs each, and the shortest.
    fn delays(lps: [Declared<'_>; 6]) -> (Table, Option<(u32, Option<u32>)>) {
        let lookahead = lookahead(&lps);
        let partition = Partition::new(6, 3);
        let delays = Delays::of(&lookahead, &partition);
        let shortest = Shortest::of(&lookahead, &partition);
        let all = [0, 1, 2].map(|from| {
            [0, 1, 2].map(|to| if from == to { 0.0 } else { delays.between(from, to) })
        });
        assert_eq!(shortest.map_or(f64::INFINITY, |shortest| shortest.delay), delays.least());
        let between = (0..3)
            .flat_map(|from| (0..3).filter(move |to| *to != from).map(move |to| all[from][to]));
        assert_eq!(
            delays.are_equal(),
            between.clone().fold(f64::INFINITY, f64::min) == between.fold(0.0, f64::max)
        );
        (all, shortest.map(|shortest| (shortest.from.0, shortest.to.map(|to| to.0))))
    }

    #[test]
    fn links_between_pes_make_delays_and_others_do_not() {
        const NEVER: f64 = f64::INFINITY;
        assert_eq!(
            delays([Err(&[]); 6]),
            ([[0.0, NEVER, NEVER], [NEVER, 0.0, NEVER], [NEVER, NEVER, 0.0]], None)
        );
        // LP 0 to LP 1 and LP 5 to LP 4 are links within a PE.
        let linked = delays([
            Err(&[(1, 0.0), (2, 3.0)]),
            Err(&[(3, 2.0)]),
            Err(&[(0, 7.0)]),
            Err(&[]),
            Err(&[(1, f64::MAX)]),
            Err(&[(4, 0.0)]),
        ]);
        assert_eq!(
            linked,
            ([[0.0, 2.0, NEVER], [7.0, 0.0, NEVER], [f64::MAX, NEVER, 0.0]], Some((1, Some(3))))
        );
        let mixed =
            delays([Err(&[(2, 3.0)]), Err(&[]), Err(&[(0, 0.5)]), Ok(4.0), Err(&[]), Err(&[])]);
        assert_eq!(
            mixed,
            ([[0.0, 3.0, NEVER], [0.5, 0.0, 4.0], [NEVER, NEVER, 0.0]], Some((2, Some(0))))
        );
        let broad = delays([Ok(5.0), Ok(4.0), Ok(6.0), Ok(7.0), Ok(9.0), Ok(8.0)]);
        assert_eq!(broad, ([[0.0, 4.0, 4.0], [6.0, 0.0, 6.0], [8.0, 8.0, 0.0]], Some((1, None))));
        let alike = delays([Ok(2.5); 6]);
        assert_eq!((alike.0[0][1], alike.1), (2.5, Some((0, None))));
        // The same delays, found one by one.
        let each = [[(2, 1.5), (4, 1.5)], [(0, 1.5), (4, 1.5)], [(0, 1.5), (2, 1.5)]];
        assert_eq!(
            delays([Err(&each[0]), Err(&[]), Err(&each[1]), Err(&[]), Err(&each[2]), Err(&[])]).0
                [2][1],
            1.5
        );
        // Of two links between the same PEs the shorter counts, whichever comes first.
        assert_eq!(
            delays([
                Err(&[(2, 2.0), (3, 3.0)]),
                Err(&[(2, 4.0)]),
                Err(&[]),
                Err(&[]),
                Err(&[]),
                Err(&[])
            ])
            .0[0][1],
            2.0
        );
    }

    #[test]
    fn a_single_pe_sends_nowhere() {
        let lookahead = lookahead(&[Ok(0.0), Err(&[(0, 0.0)])]);
        let one = Partition::new(2, 1);
        assert_eq!(
            (Delays::of(&lookahead, &one).least(), Shortest::of(&lookahead, &one)),
            (f64::INFINITY, None)
        );
    }
}
