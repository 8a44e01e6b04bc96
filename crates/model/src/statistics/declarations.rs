use serde::{Deserialize, Serialize};
use warpline_record::ResultNote;

use super::kinds::table::*;
use super::series::SeriesSlices;
use crate::tables::Table;

/// The maximum number of slices of a series: more than any screen shows.
pub(super) const MOST_SLICES: u32 = 10_000;

/// A declared statistic. By default it has one item.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Declaration {
    pub(crate) slot: u16,
    pub(crate) kind: StatisticKind,
    /// Its name in results and the report.
    pub name: String,
    /// The unit of its values; empty for a pure number.
    pub unit: String,
    /// What it means.
    pub meaning: String,
    pub(crate) items: u32,
    pub(crate) series: Option<SeriesSlices>,
}

impl Declaration {
    /// Gives the statistic this many items, at `at(0)`, `at(1)`, … Its result is a list then.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// # let mut declare = Declarations::default();
    /// const LOST: Counter = Counter::slot(0);
    /// declare.counter(LOST, "lost", "packets", "packets lost on each link").items(3);
    /// # let statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// assert_eq!(statistics.to_json()["lost"].as_array().unwrap().len(), 3);
    /// ```
    pub fn items(&mut self, items: u32) -> &mut Self {
        self.items = items;
        self
    }

    /// Keeps a *series* as well: the statistic over virtual time, in slices of the run. The model's
    /// observations stay the same, and also make the series.
    ///
    /// There are 65 to 128 slices. Their length is a power of 2; the last is shorter if the run
    /// ends within it. So slices depend only on how far the run came: a run that is stopped early
    /// has the slices of a run to that time. [`slices`](Self::slices) sets another number.
    ///
    /// The value of a slice is the count for a counter, the mean of the observed values for a mean
    /// or a histogram, and the mean level for a mean over time. Several [items](Self::items) share
    /// one series: of all their counts or values, or of the sum of their levels. A series begins at
    /// time 0, not after the warm-up, so it shows how long the warm-up has to be.
    ///
    /// The report plots it over virtual time, and JSON contains it under `series`.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Observations, Row, RowSink}};
    /// # struct Lp(Observations);
    /// # impl Observe for Lp { fn observations(&mut self) -> &mut Observations { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, _: Row<'_>) {} }
    /// # let mut lp = Lp(Observations::default());
    /// # let mut declare = Declarations::default();
    /// const SERVED: Counter = Counter::slot(0);
    /// const QUEUE: TimeMean = TimeMean::slot(1);
    ///
    /// // In Model::declare:
    /// declare.counter(SERVED, "served", "customers", "customers who were served").series();
    /// declare.time_mean(QUEUE, "queue", "customers", "customers who wait").slices(4);
    ///
    /// // In Model::handle, at time 7.5: a customer who has waited since 5.
    /// lp.count(SERVED, 1);
    /// lp.span(QUEUE, 5.0, 7.5, 1.0);
    ///
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 20.0);
    /// # statistics.apply(&lp.0, 7.5, LpId(0), &mut Lp(Observations::default())).unwrap();
    /// // After a run to time 20:
    /// let series = statistics.series();
    /// assert_eq!(series["served"].slices().nth(30), Some((7.5, 7.75, Some(1.0))));
    /// assert_eq!(series["queue"].edges, [0.0, 5.0, 10.0, 15.0, 20.0]);
    /// assert_eq!(series["queue"].values, [0.0, 0.5, 0.0, 0.0].map(Some));
    /// ```
    pub fn series(&mut self) -> &mut Self {
        self.series = Some(SeriesSlices::Automatic);
        self
    }

    /// Keeps a [series](Self::series) of this many slices of equal length, from 1 to 10000, such as
    /// the 24 hours of a day. A run that is stopped early keeps the slices of the requested run.
    pub fn slices(&mut self, slices: u32) -> &mut Self {
        self.series = Some(SeriesSlices::Given(slices));
        self
    }
}

/// A declared table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableDeclaration {
    pub(crate) slot: u16,
    /// Its name, and that of its file.
    pub name: String,
    /// Its columns after time and LP, as (name, unit).
    pub columns: Vec<(String, String)>,
}

/// The statistics and tables of a model: the argument of [`Model::declare`](crate::Model::declare).
///
/// A statistic is declared by its handle, its name in results and the report, the unit of its
/// values (empty for a pure number) and its meaning. Names must be unique, and slots numbered
/// without gaps; [`checked`](Self::checked) reports errors.
///
/// ```
/// # use warpline_model::prelude::*;
/// const SERVED: Counter = Counter::slot(0);
/// const WAIT: Mean = Mean::slot(1);
/// const BUSY: TimeMean = TimeMean::slot(2);
/// const STAY: Histogram = Histogram::slot(3);
/// const TRIPS: Table = Table(0);
///
/// # let mut declare = Declarations::default();
/// // In Model::declare:
/// declare.counter(SERVED, "served", "customers", "customers who were served");
/// declare.mean(WAIT, "wait", "min", "time from arrival to service");
/// declare.time_mean(BUSY, "busy", "", "share of time that each server works").items(4);
/// declare.histogram(STAY, "stay", "min", "time from arrival to departure");
/// declare.table(TRIPS, "trips", &[("way", "km"), ("by", "")]);
/// assert!(declare.clone().checked().is_ok());
///
/// declare.counter(Counter::slot(5), "lost", "", "");
/// assert!(declare.checked().unwrap_err().contains("the next free slot is 4"));
/// ```
///
/// The handle decides the kind of statistic:
/// ```compile_fail,E0308
/// # use warpline_model::prelude::*;
/// # let mut declare = Declarations::default();
/// const WAIT: Mean = Mean::slot(0);
/// declare.counter(WAIT, "wait", "min", ""); // error: mismatched types: expected `Counter`, found `Mean`
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Declarations {
    pub(crate) statistics: Vec<Declaration>,
    pub(crate) tables: Vec<TableDeclaration>,
    /// Results by name, with their units and meanings.
    pub(crate) results: Vec<(String, ResultNote)>,
    /// The results with which a report leads.
    headlines: Vec<String>,
}

/// So many statistics a report leads with if the model does not say which.
const LEADING: usize = 4;

impl Declarations {
    /// Declares a table with its columns, as (name, unit). Every table has columns for time and LP
    /// in front.
    ///
    /// The name becomes a file name. It consists of letters, digits, `-` and `_`.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// # let mut declare = Declarations::default();
    /// declare.table(Table(0), "all trips", &[("way", "km")]);
    /// assert!(declare.checked().unwrap_err().starts_with("a table cannot be called `all trips`"));
    /// ```
    pub fn table(&mut self, table: Table, name: &str, columns: &[(&str, &str)]) {
        let columns =
            columns.iter().map(|(name, unit)| (name.to_string(), unit.to_string())).collect();
        self.tables.push(TableDeclaration { slot: table.0, name: name.into(), columns });
    }

    /// Declares a result that the model makes in its own [`Model::results`](crate::Model::results):
    /// its unit (empty for a pure number or a word) and its meaning, which are shown together with
    /// it. A result with the name of a statistic has that statistic's unit and meaning, unless it
    /// is declared here too.
    ///
    /// A dot separates fields: `links.load` is the field `load` of `links`, or of all its entries
    /// if it is a list. Names that are not among the results are ignored.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// # use serde_json::json;
    /// # let mut declare = Declarations::default();
    /// // In Model::declare:
    /// declare.result("utilisation", "", "share of time that a server is busy");
    /// declare.result("links.length", "km", "length of the fibre");
    /// // In Model::results:
    /// let results = json!({ "utilisation": 0.7, "links": [{ "length": 25 }, { "length": 40 }] });
    /// # let statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// // In the record of the run:
    /// assert_eq!(statistics.result_notes(&results)["links.length"].unit, "km");
    /// ```
    pub fn result(&mut self, name: &str, unit: &str, meaning: &str) {
        self.results.push((
            name.into(),
            ResultNote { unit: unit.into(), meaning: meaning.into(), label: false },
        ));
    }

    /// Declares a [result](Self::result) that is a label, such as the number of a node. Where a
    /// list is shown, labels name its entries and are never averaged. If some labels end in `name`,
    /// those are shown.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// # use serde_json::json;
    /// # let mut declare = Declarations::default();
    /// // In Model::declare:
    /// declare.label("links.from", "the node where the link begins");
    /// // In Model::results:
    /// let results = json!({ "links": [{ "from": 5, "load": 0.25 }, { "from": 6, "load": 0.75 }] });
    /// # let statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// assert!(statistics.result_notes(&results)["links.from"].label);
    /// ```
    pub fn label(&mut self, name: &str, meaning: &str) {
        self.results.push((
            name.into(),
            ResultNote { unit: String::new(), meaning: meaning.into(), label: true },
        ));
    }

    /// Declares the results with which a report leads: what the model is run for, the first first.
    /// Four are plenty.
    ///
    /// Each is the name of a statistic or of a [result](Self::result). A mean is shown with its
    /// confidence interval; one of its other figures can be named after a dot, such as `stay.p99`,
    /// and so can the `min` or `max` of a list. What is not among the results is left out. A model
    /// that declares none leads with its first statistics of a single item.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// # const STAY: Histogram = Histogram::slot(0);
    /// # let mut declare = Declarations::default();
    /// // In Model::declare:
    /// declare.histogram(STAY, "stay", "min", "time from arrival to departure");
    /// declare.headlines(&["stay", "stay.p99", "links.load.max"]);
    /// # let statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # assert_eq!(statistics.headlines()[1], "stay.p99");
    /// ```
    pub fn headlines(&mut self, results: &[&str]) {
        self.headlines.extend(results.iter().map(|name| name.to_string()));
    }

    /// The results with which a report leads.
    pub(crate) fn leading(&self) -> Vec<String> {
        if !self.headlines.is_empty() {
            return self.headlines.clone();
        }
        let single = self.statistics.iter().filter(|declared| declared.items == 1);
        single.take(LEADING).map(|declared| declared.name.clone()).collect()
    }

    fn add(
        &mut self,
        slot: u16,
        kind: StatisticKind,
        name: &str,
        unit: &str,
        meaning: &str,
    ) -> &mut Declaration {
        let name = name.into();
        let unit = unit.into();
        let meaning = meaning.into();
        let index = self.statistics.len();
        self.statistics.push(Declaration {
            slot,
            kind,
            name,
            unit,
            meaning,
            items: 1,
            series: None,
        });
        &mut self.statistics[index]
    }

    /// Sorts declarations by slot and checks them.
    ///
    /// # Errors
    /// If slots are not numbered 0, 1, 2, … without gaps or repetition, if two statistics, two
    /// tables or two results have the same name, if a table's name cannot be a file name, or if a
    /// series has no slices or too many.
    pub fn checked(mut self) -> Result<Self, String> {
        self.statistics.sort_by_key(|d| d.slot);
        self.tables.sort_by_key(|t| t.slot);
        if let Some(table) = self.tables.iter().find(|table| !is_file_name(&table.name)) {
            return Err(format!(
                "a table cannot be called `{}`: its name becomes that of a file; use letters, \
                 digits, - and _",
                table.name
            ));
        }
        for Declaration { name, series, .. } in &self.statistics {
            if let Some(SeriesSlices::Given(slices)) = series
                && !(1..=MOST_SLICES).contains(slices)
            {
                return Err(format!(
                    "the series of `{name}` cannot have {slices} slices; choose 1 to {MOST_SLICES}"
                ));
            }
        }
        check("statistic", self.statistics.iter().map(|d| (d.slot, &d.name)))?;
        check("table", self.tables.iter().map(|t| (t.slot, &t.name)))?;
        check("result", (0..).zip(self.results.iter().map(|(name, _)| name)))?;
        Ok(self)
    }
}

macro_rules! declare {
    ($($kind:ident($said:ty) $method:ident -> $outcome:ty, $about:literal;)*) => {
        /// Each kind of statistic is declared by a method, all of which are [alike](Declarations).
        impl Declarations {
            $(
                #[doc = concat!("Declares a ", $about, ". [All kinds](Declarations) are declared \
                    alike.")]
                pub fn $method(&mut self, handle: $kind, name: &str, unit: &str, meaning: &str) -> &mut Declaration {
                    self.add(handle.slot, StatisticKind::$kind, name, unit, meaning)
                }
            )*
        }
    };
}

for_each_kind!(declare);

/// Whether a name consists of letters, digits, `-` and `_`.
fn is_file_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Checks that slots are numbered without gaps, and names unique.
fn check<'a>(what: &str, slots: impl Iterator<Item = (u16, &'a String)>) -> Result<(), String> {
    let mut names = std::collections::BTreeSet::new();
    for (expected, (slot, name)) in slots.enumerate() {
        if usize::from(slot) != expected {
            return Err(format!(
                "{what} `{name}` is declared in slot {slot}, but the next free slot is {expected}; \
                 number the slots 0, 1, 2, …"
            ));
        }
        if !names.insert(name) {
            return Err(format!("two {what}s are called `{name}`; give each its own name"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_must_be_dense_and_names_distinct() {
        let declared = |pairs: &[(u16, &str)]| {
            let mut declare = Declarations::default();
            for (slot, name) in pairs {
                declare.counter(Counter::slot(*slot), name, "", "");
            }
            declare.checked().map(|d| d.statistics.len())
        };
        assert_eq!(declared(&[(1, "b"), (0, "a")]), Ok(2));
        assert!(declared(&[(0, "a"), (2, "b")]).unwrap_err().contains("next free slot is 1"));
        assert!(declared(&[(0, "a"), (0, "b")]).unwrap_err().contains("slot 0"));
        assert!(declared(&[(0, "a"), (1, "a")]).unwrap_err().contains("called `a`"));
    }

    #[test]
    fn a_report_leads_with_what_is_declared_or_comes_first() {
        let mut declare = Declarations::default();
        for slot in 0..6 {
            let items = if slot == 1 { 3 } else { 1 };
            declare.counter(Counter::slot(slot), &format!("s{slot}"), "", "").items(items);
        }
        assert_eq!(declare.leading(), ["s0", "s2", "s3", "s4"]);
        declare.headlines(&["s5"]);
        declare.headlines(&["s1.max"]);
        assert_eq!(declare.leading(), ["s5", "s1.max"]);
    }

    #[test]
    fn a_result_is_declared_once() {
        let declared = |names: &[&str]| {
            let mut declare = Declarations::default();
            declare.counter(Counter::slot(0), "served", "", "");
            names.iter().for_each(|name| declare.result(name, "", ""));
            declare.checked().map(|d| d.results.len())
        };
        assert_eq!(
            declared(&["load", "served"]),
            Ok(2),
            "a statistic may be declared again, as a result"
        );
        assert_eq!(
            declared(&["load", "idle", "load"]),
            Err("two results are called `load`; give each its own name".into())
        );
    }

    #[test]
    fn tables_stay_in_their_directory() {
        for name in ["../escaped", "", "a.b", "/etc/passwd"] {
            let mut declare = Declarations::default();
            declare.table(Table(0), name, &[]);
            assert!(
                declare.checked().unwrap_err().contains("name becomes that of a file"),
                "{name}"
            );
        }
    }
}
