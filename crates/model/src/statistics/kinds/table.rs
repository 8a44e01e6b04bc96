//! The table of kinds.

use serde::{Deserialize, Serialize};

use super::counter::Counter;
use super::histogram::Histogram;
use super::kind::Kind;
use super::mean::Mean;
use super::time_mean::TimeMean;

/// Hands the table to a macro. A line has the type of the handles, what events say, the method that declares and looks up, what it
/// returns, and the rest of the sentence `Declares a counter, …`.
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

            /// How many items stay in the nearest cache.
            pub(in crate::statistics) fn few_items(self) -> u32 {
                match self {
                    $(StatisticKind::$kind => $kind::FEW_ITEMS,)*
                }
            }

            /// What slices of a series have.
            pub(in crate::statistics) fn series(self) -> warpline_record::SeriesKind {
                match self {
                    $(StatisticKind::$kind => $kind::SERIES,)*
                }
            }
        }
    };
}

for_each_kind!(kinds);
