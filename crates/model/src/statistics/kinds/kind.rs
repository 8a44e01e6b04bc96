//! The interface of a kind of statistic.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use warpline_base::LpId;
use warpline_record::{SeriesKind, View};

use super::open_levels::OpenLevel;
use crate::statistics::series::SeriesTally;
use crate::statistics::sums::horizon::Horizon;

/// A kind of statistic: the type of its handles.
///
/// Calls are resolved at compile time: the [table](super::table) lists all kinds, so there are no
/// dynamic calls.
pub(in crate::statistics) trait Kind: Copy + Debug {
    /// The kind in words.
    const NAME: &'static str;
    /// The kind of values of its series.
    const SERIES: SeriesKind;
    /// The number of items that stay in the nearest cache. With more, [prefetching](Self::fetch)
    /// pays.
    const FEW_ITEMS: u32;

    /// An observation of an item.
    type Observed: Copy;
    /// The sums of all items.
    type Tallies: Clone + Debug + Serialize + DeserializeOwned;
    /// The outcome of an item.
    type Outcome<'a>;

    /// This many items without observations.
    fn tallies(items: u32) -> Self::Tallies;

    /// Adds an observation of an item by `event`; `None` if there is no such item, or the
    /// observation is invalid.
    fn add(
        tallies: &mut Self::Tallies,
        series: Option<&mut SeriesTally>,
        event: &Moment<'_>,
        item: u32,
        said: Self::Observed,
    ) -> Option<()>;

    /// Adds the sums of another part of the run.
    fn merge(mine: &mut Self::Tallies, theirs: &Self::Tallies);

    /// The series of all items from the end of the warm-up on, in stretches of the run, if it
    /// follows from their sums.
    fn series(tallies: &Self::Tallies, horizon: &Horizon) -> Option<SeriesTally> {
        let _ = (tallies, horizon);
        None
    }

    /// The outcome of an item, which must exist.
    fn outcome<'a>(tallies: &'a Self::Tallies, horizon: &Horizon, item: u32) -> Self::Outcome<'a>;

    /// The outcome of an item as JSON, for results.
    fn json(tallies: &Self::Tallies, horizon: &Horizon, item: u32) -> Value;

    /// The values of an observation at `time`, all of which must be finite.
    fn values(said: Self::Observed, time: f64) -> impl Iterator<Item = f64>;

    /// The beginning and end of the observed span, if it has one.
    fn span(said: Self::Observed, time: f64) -> Option<(f64, f64)> {
        let _ = (said, time);
        None
    }

    /// Prefetches the memory that adding to an item will need.
    #[inline(always)]
    fn fetch(tallies: &Self::Tallies, item: u32, said: Self::Observed) {
        let _ = (tallies, item, said);
    }

    /// Whether something waits to be added until the run has come further.
    fn waits(tallies: &Self::Tallies) -> bool {
        let _ = tallies;
        false
    }

    /// Adds what waits, as if the run ended now.
    fn settle(tallies: &mut Self::Tallies, series: Option<&mut SeriesTally>, horizon: &Horizon) {
        let _ = (tallies, series, horizon);
    }

    /// Adds everything that waits or lasts until the run ends, at the end.
    fn close(
        tallies: &mut Self::Tallies,
        series: Option<&mut SeriesTally>,
        horizon: &Horizon,
        end: f64,
    ) {
        let _ = (tallies, series, horizon, end);
    }

    /// Takes out the open levels of LPs, each with its item.
    fn take_levels(tallies: &mut Self::Tallies) -> Vec<(u32, OpenLevel)> {
        let _ = tallies;
        Vec::new()
    }

    /// Puts in an open level of an LP.
    fn put_level(tallies: &mut Self::Tallies, item: u32, level: OpenLevel) {
        let _ = (tallies, item, level);
    }

    /// Whether the total of an item exceeds `u64::MAX`.
    fn overflows(tallies: &Self::Tallies) -> bool {
        let _ = tallies;
        false
    }

    /// A picture for the report, with this title, of this quantity in this unit.
    fn view(tallies: &Self::Tallies, title: &str, quantity: &str, unit: &str) -> Option<View> {
        let _ = (tallies, title, quantity, unit);
        None
    }
}

/// The event that observes.
pub(in crate::statistics) struct Moment<'a> {
    pub(in crate::statistics) horizon: &'a Horizon,
    pub(in crate::statistics) time: f64,
    pub(in crate::statistics) lp: LpId,
}

impl Moment<'_> {
    /// Whether the warm-up is over, so that observations count.
    #[inline(always)]
    pub(super) fn is_observed(&self) -> bool {
        self.time >= self.horizon.start
    }
}

/// Declares the handle type of a kind.
macro_rules! handle {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            pub(in crate::statistics) slot: u16,
            pub(in crate::statistics) item: u32,
        }

        impl $name {
            /// The statistic in this slot, as declared; item 0 if it has several.
            pub const fn slot(slot: u16) -> Self {
                $name { slot, item: 0 }
            }

            /// One item of a statistic that has [many](crate::statistics::Declaration::items), from 0.
            ///
            /// An item that was not declared is a [`Fault::Statistic`](crate::Fault::Statistic)
            /// when it is written, and a panic when it is looked up.
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

pub(super) use handle;
