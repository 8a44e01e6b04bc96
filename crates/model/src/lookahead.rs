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
        "declares the lookahead {lookahead} of the link from {from} to {to}: it must be a finite \
         number, zero or more"
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
        "declares links or lookahead of more LPs than fit into memory, which ends at {0}; declare \
         less, or use a larger machine"
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
            match declared(lp) {
                Declared::Least(lookahead) if !is_delay(lookahead) => {
                    return Err(LookaheadError::Lp { lp, lookahead });
                }
                Declared::Least(lookahead) if lookahead == common && table.is_none() => {}
                declared => {
                    let table = match &mut table {
                        None => table.insert(LinkTable::begin(lp, lps, common)?),
                        Some(table) => table,
                    };
                    table.add(lp, lps, declared)?;
                }
            }
        }
        let Some(table) = table else { return Ok(Lookahead::uniform(common)) };
        // All LPs may declare the same lookahead, but not that of the model.
        if let Some(lookahead) = table.common() {
            return Ok(Lookahead::uniform(lookahead));
        }
        Ok(Lookahead { least: table.least(), table: Some(Arc::new(table)) })
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

    /// Adds what the next LP declares.
    fn add(&mut self, lp: LpId, lps: u32, declared: Declared) -> Result<(), LookaheadError> {
        let row = match declared {
            Declared::Least(lookahead) => ReachRow::Any(lookahead),
            Declared::Links(links) => self.add_links(lp, lps, links)?,
        };
        self.rows.push(row);
        Ok(())
    }

    /// Adds links of an LP, and returns its row.
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

    /// The lookahead of all LPs, if it is the same and none has links.
    fn common(&self) -> Option<f64> {
        let first = self.rows.first()?;
        let ReachRow::Any(lookahead) = first else { return None };
        self.rows.iter().all(|row| row == first).then_some(*lookahead)
    }

    /// The least lookahead of any LP or link.
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
#[path = "lookahead_tests.rs"]
mod tests;
