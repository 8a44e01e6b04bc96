//! Statistics that change only on commit and do not depend on the order in which LPs are visited.
//!
//! A handle is a constant with a slot number: `const WAIT: Mean = Mean::slot(0);`. The slots of a model are
//! numbered from 0 over all kinds and declared in [`Model::declare`](crate::Model::declare). A slot may have many
//! items, such as one per link: `DELAY.at(link)`.
//!
//! ```
//! # use warpline_model::{prelude::*, statistics::{Notes, Row, RowSink}};
//! # struct Lp(Notes);
//! # impl Observe for Lp { fn notes(&mut self) -> &mut Notes { &mut self.0 } }
//! # impl RowSink for Lp { fn row(&mut self, _: Row<'_>) {} }
//! # let (mut lp, mut declare) = (Lp(Notes::default()), Declarations::default());
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
//! # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Notes::default())).unwrap();
//! // In Model::results, or after the run:
//! assert_eq!(statistics.counter(PACKETS), 1);
//! assert_eq!(statistics.mean(DELAY.at(2)).mean, Some(7.5));
//! assert_eq!(statistics.mean(DELAY.at(0)).mean, None); // nothing was observed there
//! ```
//!
//! Any of them can be kept as a *series* as well, over virtual time: [`Declaration::series`].

mod counters;
mod declarations;
mod estimate;
mod exact_sum;
mod future;
mod histogram;
mod horizon;
mod items;
mod meanings;
mod means;
mod notes;
mod open_levels;
mod series;
mod spread;
mod stretches;
mod totals;

/// What all of it is to whoever runs a model.
const STATISTICS: &str = "statistics";

pub use declarations::{Declaration, Declarations, StatisticKind, TableDeclaration};
pub use estimate::{BATCHES, Estimate, SumOf};
pub use exact_sum::ExactSum;
pub use histogram::HistogramTally;
pub use notes::{Note, Notes, Observe};
pub use spread::mean_and_deviation;
pub use totals::{Row, RowSink, Statistics};

macro_rules! handle {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            pub(crate) slot: u16,
            pub(crate) item: u32,
        }

        impl $name {
            /// The statistic in this slot, as declared; its item 0, if it has several.
            pub const fn slot(slot: u16) -> Self {
                $name { slot, item: 0 }
            }

            /// One item of a statistic that has [many](crate::statistics::Declaration::items), from 0.
            ///
            /// An item that was not declared is a [`Fault::Statistic`](crate::Fault::Statistic) when it is written, and a panic when it is
            /// looked up.
            ///
            /// ```
            /// # use warpline_model::*;
            #[doc = concat!("const LINKS: ", stringify!($name), " = ", stringify!($name), "::slot(4);")]
            /// assert_eq!(LINKS, LINKS.at(0));
            /// assert_ne!(LINKS.at(1), LINKS.at(2));
            /// ```
            #[inline]
            pub const fn at(self, item: u32) -> Self {
                $name { slot: self.slot, item }
            }
        }
    };
}

handle! {
    /// Counts things: [`Observe::count`], which has an example.
    Counter
}
handle! {
    /// The mean of observed values, with a confidence interval: [`Observe::observe`], which has an example.
    Mean
}
handle! {
    /// The mean over time of a quantity that holds its value between events: [`Observe::span`], or [`Level`](crate::Level), which
    /// have examples.
    ///
    /// Levels of several LPs in one item add up: the mean is that of their sum. Give each LP an item of its own for a mean of each. What
    /// nobody sets is 0.
    TimeMean
}
handle! {
    /// The distribution of observed values, with percentiles: [`Observe::sample`], which has an example.
    Histogram
}
