//! The table of the kinds of statistics.

use serde::{Deserialize, Serialize};

pub use super::counter::Counter;
pub use super::histogram::Histogram;
pub use super::histogram_tally::HistogramTally;
use super::kind::Kind;
pub use super::mean::Mean;
pub use super::time_mean::{Held, TimeMean};
pub use crate::statistics::sums::estimate::Estimate;

/// Passes the table to a macro. A line has the handle type, the type of observations, the method
/// that declares and looks up, the type that look-up returns, and the end of the sentence
/// `Declares a counter, …`.
macro_rules! for_each_kind {
    ($macro:ident) => {
        $macro! {
            Counter(u64) counter -> u64, "counter, with the unit of what it counts";
            Mean(f64) mean -> Estimate, "mean of values in `unit`";
            TimeMean(Held) time_mean -> Estimate, "mean over time of a level in `unit`";
            Histogram(f64) histogram -> &HistogramTally, "histogram of values in `unit`";
        }
    };
}

pub(in crate::statistics) use for_each_kind;

macro_rules! kinds {
    ($($kind:ident($observed:ty) $method:ident -> $outcome:ty, $about:literal;)*) => {
        /// The kind of statistic in a slot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum StatisticKind {
            $(
                #[doc = concat!("See [`", stringify!($kind), "`].")]
                $kind,
            )*
        }

        impl StatisticKind {
            /// The kind in words.
            pub fn name(self) -> &'static str {
                match self {
                    $(StatisticKind::$kind => $kind::NAME,)*
                }
            }

            /// The number of items that stay in the nearest cache.
            pub(in crate::statistics) fn few_items(self) -> u32 {
                match self {
                    $(StatisticKind::$kind => $kind::FEW_ITEMS,)*
                }
            }

            /// The kind of values of a series.
            pub(in crate::statistics) fn series(self) -> warpline_record::SeriesKind {
                match self {
                    $(StatisticKind::$kind => $kind::SERIES,)*
                }
            }
        }
    };
}

for_each_kind!(kinds);
