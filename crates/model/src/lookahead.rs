//! Lookahead: what a model declares about the delays between its LPs, read once before a run.
//!
//! The declarations go into one table, against which the contexts of all engines check sends. So a
//! model that breaks its promise fails in the same way in every engine, the sequential one
//! included. The table determines the partition and the least delay between any two PEs. If all LPs
//! are alike, there is no table, and a send costs one comparison.

use std::sync::Arc;

use warpline_base::LpId;

/// A link: an LP may send to another, with a least delay. [`Model::links`](crate::Model::links)
/// returns links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The LP that events go to.
    pub to: LpId,
    /// The least delay of any event on this link, in model time: finite, zero or more.
    pub lookahead: f64,
}

/// Why the declared delays were refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LookaheadError {
    /// The lookahead of the model is not a valid delay.
    #[error("declares the lookahead {0}: it must be a finite number, zero or more")]
    Model(f64),
    /// The lookahead of an LP is not a valid delay.
    #[error("declares the lookahead {lookahead} of {lp}: it must be a finite number, zero or more")]
    Lp {
        /// The LP.
        lp: LpId,
        /// What it declares.
        lookahead: f64,
    },
    /// The lookahead of a link is not a valid delay.
    #[error(
        "declares the lookahead {lookahead} of the link from {from} to {to}: it must be a finite number, zero or more"
    )]
    Link {
        /// The sender.
        from: LpId,
        /// The receiver.
        to: LpId,
        /// What the link declares.
        lookahead: f64,
    },
    /// A link leads to an LP that does not exist.
    #[error("declares a link from {from} to {to}, but has only LPs 0 to {last}; see Model::lps", last = lps - 1)]
    UnknownLp {
        /// The sender.
        from: LpId,
        /// The receiver as given.
        to: LpId,
        /// The number of LPs.
        lps: u32,
    },
    /// There are too many LPs or links for this machine.
    #[error(
        "declares links or lookahead of more LPs than fit into memory, which ends at {0}; declare less, or use a larger machine"
    )]
    Memory(LpId),
}

/// The least delay between any two LPs of a model, as it declares them. Clones share their data.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookahead {
    /// The least delay between any two LPs.
    least: f64,
    /// What each LP declares; `None` if any LP may send to any other with the same lookahead.
    table: Option<Arc<LinkTable>>,
}

/// The LPs that an LP may send to, and the least delays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach<'a> {
    /// To any other LP, with this least delay.
    Any(f64),
    /// Along its links.
    Links {
        /// The receivers, in ascending order.
        to: &'a [LpId],
        /// The lookahead of each.
        lookahead: &'a [f64],
    },
}

/// What a model declares about an LP.
pub(crate) enum Declared {
    /// Where it sends.
    Links(Vec<Link>),
    /// The least delay of what it sends to any other LP.
    Least(f64),
}

#[derive(Debug, Default, PartialEq)]
struct LinkTable {
    /// By LP.
    rows: Vec<ReachRow>,
    /// The receivers of all links: LP by LP, each in ascending order.
    to: Vec<LpId>,
    /// By link.
    lookahead: Vec<f64>,
}

/// What one LP declares.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ReachRow {
    Any(f64),
    /// The range of its links, and the greatest lookahead among them: a delay of at least that is
    /// allowed on all of them.
    Links {
        first: usize,
        count: u32,
        most: f64,
    },
}

/// Rows up to this length are searched linearly.
const SHORT: usize = 8;

impl Lookahead {
    /// The lookahead of `lps` LPs with the lookahead `common`, unless `declared` says otherwise.
    /// `declared` is called once per LP.
    ///
    /// # Errors
    /// For the first lookahead that is negative or not finite, the first link to an LP that does
    /// not exist, or if there is not enough memory.
    pub(crate) fn declared(
        lps: u32,
        common: f64,
        mut declared: impl FnMut(LpId) -> Declared,
    ) -> Result<Self, LookaheadError> {
        if !is_delay(common) {
            return Err(LookaheadError::Model(common));
        }
        let mut table: Option<LinkTable> = None;
        for lp in (0..lps).map(LpId) {
            let (links, lookahead) = match declared(lp) {
                Declared::Links(links) => (Some(links), common),
                Declared::Least(lookahead) => (None, lookahead),
            };
            if !is_delay(lookahead) {
                return Err(LookaheadError::Lp { lp, lookahead });
            }
            let table = match &mut table {
                None if links.is_none() && lookahead == common => continue,
                None => table.insert(LinkTable::begin(lp, lps, common)?),
                Some(table) => table,
            };
            let row = links
                .map_or(Ok(ReachRow::Any(lookahead)), |links| table.add_links(lp, lps, links))?;
            table.rows.push(row);
        }
        Ok(match table {
            None => Lookahead::uniform(common),
            // All LPs declare the same lookahead, but not that of the model.
            Some(LinkTable { rows, .. })
                if matches!(rows[0], ReachRow::Any(_))
                    && rows.iter().all(|row| *row == rows[0]) =>
            {
                let ReachRow::Any(lookahead) = rows[0] else { unreachable!("it was looked at") };
                Lookahead::uniform(lookahead)
            }
            Some(table) => Lookahead { least: table.least(), table: Some(Arc::new(table)) },
        })
    }

    /// The lookahead of a model in which any LP may send to any other with this least delay.
    pub fn uniform(least: f64) -> Self {
        Lookahead { least, table: None }
    }

    /// The least delay between any two LPs, in model time; infinite if no LP may send to another.
    #[inline]
    pub fn least(&self) -> f64 {
        self.least
    }

    /// Whether any LP may send to any other with the same least delay.
    pub fn is_uniform(&self) -> bool {
        self.table.is_none()
    }

    /// The LPs that `lp` may send to, and the least delays.
    pub fn reach(&self, lp: LpId) -> Reach<'_> {
        match &self.table {
            None => Reach::Any(self.least),
            Some(table) => table.reach(lp),
        }
    }

    /// The least delay from one LP to another, in model time; `None` if there is no link.
    pub fn between(&self, from: LpId, to: LpId) -> Option<f64> {
        match self.reach(from) {
            _ if from == to => Some(0.0),
            Reach::Any(lookahead) => Some(lookahead),
            Reach::Links { to: ends, lookahead } => place(ends, to).map(|place| lookahead[place]),
        }
    }

    /// Whether LP `from` may send to LP `to` with this delay, which must be at least
    /// [`least`](Self::least), unless `to` is `from`.
    #[inline]
    pub(crate) fn allows(&self, from: LpId, to: LpId, delay: f64) -> bool {
        self.table.as_ref().is_none_or(|table| from == to || table.allows(from, to, delay))
    }
}

impl LinkTable {
    /// A table in which the LPs before `first` have the lookahead `common`.
    fn begin(first: LpId, lps: u32, common: f64) -> Result<Self, LookaheadError> {
        let mut rows = Vec::new();
        rows.try_reserve_exact(lps as usize).map_err(|_| LookaheadError::Memory(first))?;
        rows.resize(first.index(), ReachRow::Any(common));
        Ok(LinkTable { rows, ..LinkTable::default() })
    }

    /// Adds the links of the next LP.
    fn add_links(
        &mut self,
        from: LpId,
        lps: u32,
        mut links: Vec<Link>,
    ) -> Result<ReachRow, LookaheadError> {
        for &Link { to, lookahead } in &links {
            if to.0 >= lps {
                return Err(LookaheadError::UnknownLp { from, to, lps });
            }
            if !is_delay(lookahead) {
                return Err(LookaheadError::Link { from, to, lookahead });
            }
        }
        links.retain(|link| link.to != from);
        links.sort_unstable_by(|a, b| a.to.cmp(&b.to).then(a.lookahead.total_cmp(&b.lookahead)));
        links.dedup_by_key(|link| link.to);
        let reserved =
            self.to.try_reserve(links.len()).and_then(|()| self.lookahead.try_reserve(links.len()));
        reserved.map_err(|_| LookaheadError::Memory(from))?;
        let first = self.to.len();
        let count = links.len() as u32;
        let most = links.iter().map(|link| link.lookahead).fold(0.0, f64::max);
        self.to.extend(links.iter().map(|link| link.to));
        self.lookahead.extend(links.iter().map(|link| link.lookahead));
        Ok(ReachRow::Links { first, count, most })
    }

    fn least(&self) -> f64 {
        let any = self.rows.iter().filter_map(|row| {
            if let ReachRow::Any(lookahead) = row { Some(*lookahead) } else { None }
        });
        any.chain(self.lookahead.iter().copied()).fold(f64::INFINITY, f64::min)
    }

    fn reach(&self, lp: LpId) -> Reach<'_> {
        match self.rows[lp.index()] {
            ReachRow::Any(lookahead) => Reach::Any(lookahead),
            ReachRow::Links { first, count, .. } => {
                let row = first..first + count as usize;
                Reach::Links { to: &self.to[row.clone()], lookahead: &self.lookahead[row] }
            }
        }
    }

    /// Whether `from` may send to `to`, another LP, with this delay.
    fn allows(&self, from: LpId, to: LpId, delay: f64) -> bool {
        match self.rows[from.index()] {
            ReachRow::Any(lookahead) => delay >= lookahead,
            ReachRow::Links { first, count, most } => {
                place(&self.to[first..first + count as usize], to)
                    .is_some_and(|place| delay >= most || delay >= self.lookahead[first + place])
            }
        }
    }
}

fn is_delay(lookahead: f64) -> bool {
    (0.0..f64::INFINITY).contains(&lookahead)
}

/// The index of `to` among the ends of links.
#[inline]
fn place(ends: &[LpId], to: LpId) -> Option<usize> {
    if ends.len() <= SHORT {
        ends.iter().position(|end| *end == to)
    } else {
        ends.binary_search(&to).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::Executor;
    use crate::engine::Limits;
    use crate::{Context, Fault, Init, Model};

    /// What a model declares.
    #[derive(Clone, Debug, Default)]
    struct Declared {
        lookahead: f64,
        of: Vec<Option<f64>>,
        links: Vec<Option<Vec<(u32, f64)>>>,
    }

    impl Declared {
        /// Declares these links for one of four LPs, another of which has a lookahead of its own.
        fn four(links: &[(u32, f64)]) -> Self {
            let links = vec![None, Some(links.to_vec()), None, Some(Vec::new())];
            Declared { lookahead: 0.5, of: vec![None, Some(9.0), Some(0.25), None], links }
        }

        fn lookahead(&self) -> Result<Lookahead, LookaheadError> {
            Lookahead::of(self, self.lps())
        }
    }

    impl Model for Declared {
        type State = ();
        type Event = ();
        fn lps(&self) -> u32 {
            self.of.len() as u32
        }
        fn lookahead(&self) -> f64 {
            self.lookahead
        }
        fn lookahead_of(&self, lp: LpId) -> Option<f64> {
            self.of[lp.index()]
        }
        fn links(&self, lp: LpId) -> Option<Vec<Link>> {
            let links = self.links.get(lp.index())?.as_ref()?;
            Some(links.iter().map(|&(to, lookahead)| Link { to: LpId(to), lookahead }).collect())
        }
        fn init(&self, _: &mut Init<Self>) {}
        fn handle(&self, (): &mut (), (): &(), _: &mut Context<Self>) {}
    }

    #[test]
    fn the_most_specific_declaration_counts() {
        let lookahead =
            Declared::four(&[(3, 2.0), (0, 0.125)]).lookahead().expect("it makes sense");
        let all =
            [0, 1, 2, 3].map(|from| [0, 1, 2, 3].map(|to| lookahead.between(LpId(from), LpId(to))));
        let expected = [
            [Some(0.0), Some(0.5), Some(0.5), Some(0.5)],
            [Some(0.125), Some(0.0), None, Some(2.0)],
            [Some(0.25), Some(0.25), Some(0.0), Some(0.25)],
            [None, None, None, Some(0.0)],
        ];
        assert_eq!((all, lookahead.least(), lookahead.is_uniform()), (expected, 0.125, false));
        assert_eq!(
            lookahead.reach(LpId(1)),
            Reach::Links { to: &[LpId(0), LpId(3)], lookahead: &[0.125, 2.0] }
        );
        assert_eq!(lookahead.reach(LpId(2)), Reach::Any(0.25));
    }

    #[test]
    fn there_is_no_table_where_all_lps_are_alike() {
        for (common, of, expected) in [
            (0.5, None, 0.5),
            (0.5, Some(0.5), 0.5),
            (0.5, Some(2.0), 2.0),
            (0.0, Some(f64::MAX), f64::MAX),
        ] {
            let lookahead = Declared { lookahead: common, of: vec![of; 3], links: Vec::new() }
                .lookahead()
                .expect("it makes sense");
            assert!(lookahead.is_uniform());
            assert_eq!(
                (lookahead.least(), lookahead.between(LpId(0), LpId(2))),
                (expected, Some(expected))
            );
        }
        let silent =
            Declared { links: vec![Some(Vec::new()); 3], of: vec![None; 3], lookahead: 0.5 }
                .lookahead()
                .expect("it makes sense");
        assert_eq!((silent.is_uniform(), silent.least()), (false, f64::INFINITY));
    }

    #[test]
    fn of_an_lp_named_twice_the_lesser_lookahead_counts_and_itself_is_left_out() {
        let lookahead = Declared::four(&[(2, 3.0), (1, 7.0), (0, 1.0), (2, 0.75), (2, 4.0)])
            .lookahead()
            .expect("it makes sense");
        assert_eq!(
            lookahead.reach(LpId(1)),
            Reach::Links { to: &[LpId(0), LpId(2)], lookahead: &[1.0, 0.75] }
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let refused = |declared: Declared| {
                declared.lookahead().expect_err("it makes no sense").to_string()
            };
            let text = refused(Declared { lookahead: wrong, ..Declared::four(&[]) });
            assert_eq!(
                text,
                format!("declares the lookahead {wrong}: it must be a finite number, zero or more")
            );
            let text = refused(Declared {
                of: vec![None, None, Some(wrong), None],
                ..Declared::four(&[])
            });
            assert_eq!(
                text,
                format!(
                    "declares the lookahead {wrong} of LP 2: it must be a finite number, zero or more"
                )
            );
            // Links from an LP to itself must be valid as well.
            for to in [1, 2] {
                let text = refused(Declared::four(&[(0, 1.0), (to, wrong)]));
                let expected = "declares the lookahead WRONG of the link from LP 1 to LP TO: it must be a finite number, zero or more";
                assert_eq!(
                    text,
                    expected.replace("WRONG", &wrong.to_string()).replace("TO", &to.to_string())
                );
            }
        }
        let text = Declared::four(&[(0, 1.0), (4, 1.0)])
            .lookahead()
            .expect_err("there is no LP 4")
            .to_string();
        assert_eq!(
            text,
            "declares a link from LP 1 to LP 4, but has only LPs 0 to 3; see Model::lps"
        );
    }

    /// The outcome of a send from LP 1 at time 2.5.
    fn sent(declared: &Declared, to: u32, delay: f64) -> Option<Fault> {
        let mut executor = Executor::new(declared, 1, Limits::ZERO_DELAY_HOPS, false);
        executor.begin(LpId(1), 1, 2.5.try_into().expect("it is a time"), 0);
        executor.lp().send(to, delay, ());
        let fault = executor.take_fault();
        assert_eq!(executor.outbox_mut().len(), usize::from(fault.is_none()));
        fault
    }

    #[test]
    fn sends_are_held_to_links() {
        let declared = Declared::four(&[(0, 0.125), (3, 2.0)]);
        for (to, delay) in
            [(0, 0.125), (0, 7.0), (3, 2.0), (3, 2.0f64.next_up()), (1, 0.0), (1, 0.01)]
        {
            assert_eq!(sent(&declared, to, delay), None, "to LP {to} with delay {delay}");
        }
        let to = |to, delay, lookahead| Some(Fault::Lookahead { to: LpId(to), delay, lookahead });
        let below = 2.0f64.next_down();
        assert_eq!(sent(&declared, 3, below), to(3, below, 2.0));
        assert_eq!(sent(&declared, 0, 0.0), to(0, 0.0, 0.125));
        assert_eq!(
            [0.0, 5.0].map(|delay| sent(&declared, 2, delay)),
            [Some(Fault::NoLink { to: LpId(2) }), Some(Fault::NoLink { to: LpId(2) })]
        );
        // Other mistakes take precedence.
        assert_eq!(sent(&declared, 2, -1.0), Some(Fault::Delay { to: LpId(2), delay: -1.0 }));
        assert_eq!(sent(&declared, 9, 1.0), Some(Fault::UnknownLp { to: LpId(9), lps: 4 }));
        assert_eq!(sent(&declared, 2, f64::MAX), Some(Fault::NoLink { to: LpId(2) }));
        let text = Fault::NoLink { to: LpId(2) }.to_string();
        assert!(text.contains("to LP 2") && text.contains("Model::links"), "{text}");
    }

    #[test]
    fn sends_are_held_to_the_lookahead_of_their_lp() {
        let declared = Declared { of: vec![None, Some(4.0)], lookahead: 0.5, links: Vec::new() };
        assert_eq!(sent(&declared, 0, 4.0), None);
        assert_eq!(sent(&declared, 1, 0.25), None);
        assert_eq!(
            sent(&declared, 0, 0.5),
            Some(Fault::Lookahead { to: LpId(0), delay: 0.5, lookahead: 4.0 })
        );
    }

    proptest! {
        /// Whatever the length of a row.
        #[test]
        fn links_are_found(links in prop::collection::vec((0u32..40, 0u32..4), 0..40), to in 0u32..40, delay in 0u32..5) {
            let links: Vec<_> = links.into_iter().map(|(to, lookahead)| (to, f64::from(lookahead))).collect();
            let delay = f64::from(delay);
            let mut all = vec![None; 40];
            all[1] = Some(links.clone());
            let declared = Declared { lookahead: 0.0, of: vec![None; 40], links: all };
            let least = links.iter().filter(|link| link.0 == to).map(|link| link.1).reduce(f64::min);
            let expected = match least {
                _ if to == 1 => None,
                None => Some(Fault::NoLink { to: LpId(to) }),
                Some(lookahead) => (delay < lookahead).then_some(Fault::Lookahead { to: LpId(to), delay, lookahead }),
            };
            prop_assert_eq!(sent(&declared, to, delay), expected);
        }
    }
}
