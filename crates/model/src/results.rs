//! The results that a model makes of a run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::Statistics;

/// The outcome of a run, for [`Model::results`](crate::Model::results) and
/// [`Model::views`](crate::Model::views).
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The statistics of the whole run.
    pub statistics: &'a Statistics,
    /// The end of the run, in model time.
    pub end: f64,
    /// The end of the warm-up, where observation began, in model time.
    pub warmup: f64,
}

/// The results of a run: a JSON object, and lists whose entries are made one by one while they are
/// written.
///
/// A list of millions of entries would take gigabytes as JSON in memory: for all pairs of a
/// network's nodes, ten times as much as the run. A list [added](Self::list) here takes none.
///
/// ```
/// # use warpline_model::{serde_json::json, prelude::*};
/// const SERVED: Counter = Counter::slot(0);
/// # struct Shops { names: Vec<String> }
/// # impl Model for Shops {
/// #     type State = (); type Event = ();
/// #     fn lps(&self) -> u32 { 3 }
/// #     fn init(&self, _: &mut Init<Self>) {}
/// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
/// #     fn declare(&self, declare: &mut Declarations) { declare.counter(SERVED, "served", "customers", "").items(3); }
/// fn results(&self, _: &Outcome) -> Results<Self> {
///     Results::from(json!({ "shops_open": 3 })).list("shops", self.names.len(), |model: &Self, outcome, shop| {
///         json!({ "name": model.names[shop], "served": outcome.statistics.counter(SERVED.at(shop as u32)) })
///     })
/// }
/// # }
/// # let model = Shops { names: ["a", "b", "c"].map(str::to_owned).into() };
/// # let mut declare = Declarations::default();
/// # model.declare(&mut declare);
/// # let statistics = Statistics::new(declare.checked().unwrap(), 2.0, 10.0);
/// # let outcome = Outcome { statistics: &statistics, end: 10.0, warmup: 2.0 };
/// let results = model.results(&outcome).to_value(&model, &outcome);
/// assert_eq!(results["shops"][1], json!({ "name": "b", "served": 0 }));
/// assert_eq!(results["shops_open"], 3);
/// ```
pub struct Results<M> {
    short: Value,
    lists: BTreeMap<String, List<M>>,
}

/// A list whose entries are made on demand.
pub struct List<M> {
    len: usize,
    entry: Entry<M>,
}

/// Makes an entry of a list.
type Entry<M> = Box<dyn Fn(&M, &Outcome<'_>, usize) -> Value + Send + Sync>;

impl<M> Results<M> {
    /// Every declared statistic, as in [`Statistics::to_json`]. Those with several items are lists
    /// whose entries are made one by one.
    pub fn of(statistics: &Statistics) -> Self {
        let single = statistics.names().filter(|(_, _, items)| *items == 1);
        let settled = statistics.settled();
        let short = single.map(|(slot, name, _)| (name.to_owned(), settled.item_json(slot, 0)));
        let several = statistics.names().filter(|(_, _, items)| *items != 1);
        several.fold(
            Results::from(Value::Object(short.collect())),
            |results, (slot, name, items)| {
                results.list(name, items, move |_, outcome, item| {
                    outcome.statistics.item_json(slot, item)
                })
            },
        )
    }

    /// Adds a list of `len` entries under this name. `entry` makes the entry of a given index, from
    /// 0, when it is written.
    #[must_use]
    pub fn list(
        mut self,
        name: impl Into<String>,
        len: usize,
        entry: impl Fn(&M, &Outcome<'_>, usize) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.lists.insert(name.into(), List { len, entry: Box::new(entry) });
        self
    }

    /// Removes the list or value of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.lists.remove(name);
        if let Value::Object(fields) = &mut self.short {
            fields.remove(name);
        }
        self
    }

    /// Sets the value of this name, if the results are an object.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        if let Value::Object(fields) = &mut self.short {
            fields.insert(name.to_owned(), value);
        }
        self
    }

    /// The same results of a model `N` of which `M` is a part.
    #[must_use]
    pub fn of_part<N>(self, part: fn(&N) -> &M) -> Results<N>
    where
        M: 'static,
        N: 'static,
    {
        self.entries_as(|entry| {
            Box::new(move |model, outcome, number| entry(part(model), outcome, number))
        })
    }

    /// The same results of a model `N` that stands for `model`.
    #[must_use]
    pub fn of_another<N>(self, model: M) -> Results<N>
    where
        M: Send + Sync + 'static,
    {
        let model = Arc::new(model);
        self.entries_as(|entry| {
            let model = Arc::clone(&model);
            Box::new(move |_, outcome, number| entry(&model, outcome, number))
        })
    }

    fn entries_as<N>(self, other: impl Fn(Entry<M>) -> Entry<N>) -> Results<N> {
        let list = |List { len, entry }| List { len, entry: other(entry) };
        let lists = self.lists.into_iter().map(|(name, entries)| (name, list(entries)));
        Results { short: self.short, lists: lists.collect() }
    }

    /// The values other than lists, and the lists by name.
    #[doc(hidden)]
    pub fn into_parts(self) -> (Value, BTreeMap<String, List<M>>) {
        (self.short, self.lists)
    }
}

impl<M> Results<M> {
    /// All results as one value in memory, for tests of models.
    pub fn to_value(&self, model: &M, outcome: &Outcome<'_>) -> Value {
        let mut all = self.short.clone();
        for (name, list) in &self.lists {
            all[name] = (0..list.len).map(|number| list.entry(model, outcome, number)).collect();
        }
        all
    }
}

impl<M> List<M> {
    /// The number of entries.
    #[doc(hidden)]
    pub fn entries(&self) -> usize {
        self.len
    }

    /// Makes an entry.
    #[doc(hidden)]
    pub fn entry(&self, model: &M, outcome: &Outcome<'_>, number: usize) -> Value {
        (self.entry)(model, outcome, number)
    }
}

impl<M> From<Value> for Results<M> {
    fn from(short: Value) -> Self {
        Results { short, lists: BTreeMap::new() }
    }
}

impl<M> fmt::Debug for Results<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Results")
            .field("short", &self.short)
            .field("lists", &self.lists.keys())
            .finish()
    }
}

impl<M> fmt::Debug for List<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("len", &self.len).finish_non_exhaustive()
    }
}
