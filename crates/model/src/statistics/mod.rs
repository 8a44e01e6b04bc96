//! Statistics that appear only on commit and do not depend on the order in which LPs are visited.
//!
//! A handle is a constant with a slot number: `const WAIT: Mean = Mean::slot(0);`. The slots of a model are
//! numbered from 0 over all kinds and declared in [`Model::declare`](crate::Model::declare). A slot may have many
//! items, such as one per link: `DELAY.at(link)`.

mod declarations;
mod estimate;
mod exact_sum;
mod histogram;
mod means;
mod notes;
mod totals;

pub use declarations::{Declaration, Declarations, Kind, TableDeclaration};
pub use estimate::{BATCHES, Estimate};
pub use exact_sum::ExactSum;
pub use histogram::HistogramTally;
pub use notes::{Note, Notes, Observe};
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
            /// The statistic in this slot, as declared.
            pub const fn slot(slot: u16) -> Self {
                $name { slot, item: 0 }
            }

            /// One item of a statistic that has many.
            #[inline]
            pub const fn at(self, item: u32) -> Self {
                $name { slot: self.slot, item }
            }
        }
    };
}

handle! {
    /// Counts things: [`Observe::count`].
    Counter
}
handle! {
    /// The mean of observed values, with a confidence interval: [`Observe::observe`].
    Mean
}
handle! {
    /// The mean over time of a quantity that holds its value between events: [`Observe::span`], or [`Level`](crate::Level).
    TimeMean
}
handle! {
    /// The distribution of observed values, with percentiles: [`Observe::sample`].
    Histogram
}
