//! Statistics that change only on commit, and do not depend on the order of LPs.
//!
//! A handle is a constant with a slot number: `const WAIT: Mean = Mean::slot(0);`. The slots of a
//! model are numbered from 0 over all kinds, and declared in
//! [`Model::declare`](crate::Model::declare). A slot may have many items, such as one per link:
//! `DELAY.at(link)`.
//!
//! ```
//! # use warpline_model::{prelude::*, statistics::{Observations, Row, RowSink}};
//! # struct Lp(Observations);
//! # impl Observe for Lp { fn observations(&mut self) -> &mut Observations { &mut self.0 } }
//! # impl RowSink for Lp { fn row(&mut self, _: Row<'_>) {} }
//! # let mut lp = Lp(Observations::default());
//! # let mut declare = Declarations::default();
//! const PACKETS: Counter = Counter::slot(0);
//! const DELAY: Mean = Mean::slot(1); // of three links
//!
//! // In Model::declare:
//! declare.counter(PACKETS, "packets", "packets", "packets delivered");
//! declare.mean(DELAY, "delay", "ms", "delay on each link").items(3);
//!
//! // In Model::handle:
//! lp.count(PACKETS, 1);
//! lp.observe(DELAY.at(2), 7.5);
//!
//! # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
//! # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Observations::default())).unwrap();
//! // In Model::results, or after the run:
//! assert_eq!(statistics.counter(PACKETS), 1);
//! assert_eq!(statistics.mean(DELAY.at(2)).mean, Some(7.5));
//! assert_eq!(statistics.mean(DELAY.at(0)).mean, None); // nothing was observed there
//! ```
//!
//! Every statistic can also be kept as a *series* over virtual time: [`Declaration::series`].

mod declarations;
mod kinds;
mod meanings;
mod observations;
mod observe;
mod rows;
mod series;
mod sums;
mod tallies;
mod totals;

/// What the memory is for, in error messages.
const STATISTICS: &str = "statistics";

pub use declarations::{Declaration, Declarations, TableDeclaration};
pub use kinds::table::*;
pub use observations::{Observation, Observations};
pub use observe::Observe;
pub use rows::{Row, RowSink};
pub use sums::estimate::{BATCHES, SumOf};
pub use sums::exact_sum::ExactSum;
pub use sums::spread::mean_and_deviation;
pub use totals::Statistics;
