//! A statistic of any kind.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use warpline_record::{LostDelays, Series, View};

use super::declarations::Declaration;
use super::kinds::kind::{Kind, Moment};
use super::kinds::open_levels::OpenLevel;
use super::kinds::table::*;
use super::observations::Observation;
use super::series::{SeriesSlices, SeriesTally};
use super::sums::horizon::Horizon;

/// One statistic.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Slot {
    pub(super) tallies: Tallies,
    /// Sums for the series, if one is declared and does not follow from the tallies. The batches of
    /// means are the stretches of an automatic series, unless a warm-up makes them begin later.
    pub(super) series: Option<Box<SeriesTally>>,
}

impl Slot {
    /// An empty statistic as declared, in a run with this horizon.
    pub(super) fn new(declaration: &Declaration, horizon: &Horizon) -> Self {
        let tallies = Tallies::new(declaration.kind, declaration.items);
        let own = |slices: &SeriesSlices| {
            let follows = matches!(slices, SeriesSlices::Automatic)
                && horizon.start == 0.0
                && tallies.series(horizon).is_some();
            !follows
        };
        let series = declaration.series.filter(own).map(|slices| {
            Box::new(SeriesTally::new(slices, declaration.kind.series(), horizon.reached))
        });
        Slot { tallies, series }
    }

    /// The series, if one is declared.
    pub(super) fn series(&self, declaration: &Declaration, horizon: &Horizon) -> Option<Series> {
        declaration.series?;
        let series = |tally: &SeriesTally| tally.series(&declaration.unit, &declaration.meaning);
        match &self.series {
            Some(own) => Some(series(own)),
            None => self.tallies.series(horizon).as_ref().map(series),
        }
    }
}

macro_rules! tallies {
    ($($kind:ident($said:ty) $method:ident -> $outcome:ty, $about:literal;)*) => {
        /// The items of one slot.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Tallies {
            $($kind(<$kind as Kind>::Tallies),)*
        }

        /// Adds an observation; `None` if it does not fit a declared statistic, or its value is
        /// invalid. A send whose delay is lost goes to `lose`.
        #[inline(always)]
        pub(super) fn add(slots: &mut [Slot], observation: &Observation, event: &Moment<'_>, lose: impl FnOnce(&LostDelays)) -> Option<()> {
            match *observation {
                $(Observation::$kind(handle, said) => {
                    let Slot { tallies: Tallies::$kind(tallies), series } = slots.get_mut(usize::from(handle.slot))? else { return None };
                    $kind::add(tallies, series.as_deref_mut(), event, handle.item, said)
                })*
                Observation::LostDelay { to, event: number, delay } => {
                    lose(&LostDelays::one(event.lp, number, event.time, to, delay));
                    Some(())
                }
                Observation::Row { .. } | Observation::Act => None,
            }
        }

        /// Prefetches the memory that adding an observation will need, if its statistic is large.
        #[inline(always)]
        pub(super) fn fetch(slots: &[Slot], observation: &Observation, is_large: impl Fn(u16) -> bool) {
            match *observation {
                $(Observation::$kind(handle, said) if is_large(handle.slot) => {
                    if let Some(Slot { tallies: Tallies::$kind(tallies), .. }) = slots.get(usize::from(handle.slot)) {
                        $kind::fetch(tallies, handle.item, said);
                    }
                })*
                _ => {}
            }
        }

        impl Tallies {
            fn new(kind: StatisticKind, items: u32) -> Self {
                match kind {
                    $(StatisticKind::$kind => Tallies::$kind($kind::tallies(items)),)*
                }
            }

            pub(super) fn merge(&mut self, other: &Tallies) {
                match (self, other) {
                    $((Tallies::$kind(mine), Tallies::$kind(theirs)) => $kind::merge(mine, theirs),)*
                    _ => unreachable!("{ONE_DECLARATION}"),
                }
            }

            fn series(&self, horizon: &Horizon) -> Option<SeriesTally> {
                match self {
                    $(Tallies::$kind(tallies) => $kind::series(tallies, horizon),)*
                }
            }

            pub(super) fn json(&self, horizon: &Horizon, item: u32) -> Value {
                match self {
                    $(Tallies::$kind(tallies) => $kind::json(tallies, horizon, item),)*
                }
            }

            pub(super) fn waits(&self) -> bool {
                match self {
                    $(Tallies::$kind(tallies) => $kind::waits(tallies),)*
                }
            }

            pub(super) fn take_levels(&mut self) -> Vec<(u32, OpenLevel)> {
                match self {
                    $(Tallies::$kind(tallies) => $kind::take_levels(tallies),)*
                }
            }

            pub(super) fn put_level(&mut self, item: u32, level: OpenLevel) {
                match self {
                    $(Tallies::$kind(tallies) => $kind::put_level(tallies, item, level),)*
                }
            }

            pub(super) fn overflows(&self) -> bool {
                match self {
                    $(Tallies::$kind(tallies) => $kind::overflows(tallies),)*
                }
            }

            pub(super) fn view(&self, title: &str, quantity: &str, unit: &str) -> Option<View> {
                match self {
                    $(Tallies::$kind(tallies) => $kind::view(tallies, title, quantity, unit),)*
                }
            }
        }

        impl Slot {
            /// Adds the spans that wait, as if the run ended now.
            pub(super) fn settle(&mut self, horizon: &Horizon) {
                match &mut self.tallies {
                    $(Tallies::$kind(tallies) => $kind::settle(tallies, self.series.as_deref_mut(), horizon),)*
                }
            }

            /// Adds the spans and levels that last until the run ends.
            pub(super) fn close(&mut self, horizon: &Horizon, end: f64) {
                match &mut self.tallies {
                    $(Tallies::$kind(tallies) => $kind::close(tallies, self.series.as_deref_mut(), horizon, end),)*
                }
            }
        }
    };
}

for_each_kind!(tallies);

pub(super) const ONE_DECLARATION: &str = "parts of one run have one declaration";
