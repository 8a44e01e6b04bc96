//! The results of a run: a tree of values whose long lists are made entry by entry while they are
//! written.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The results of a run.
///
/// They deref to a JSON value, which holds all lists in memory. Serialising them, or going through
/// [`lists`](Self::lists), makes one entry at a time instead.
///
/// ```
/// use serde_json::{Value, json};
/// use warpline_record::{ResultList, ResultTree};
/// let squares = ResultList::new(1_000, |entry| Value::from(entry * entry));
/// let results = ResultTree::new(json!({ "sent": 7 }), [("squares".to_owned(), squares)].into());
/// assert_eq!(results.lists()["squares"].entry(9), Some(json!(81)));
/// assert!(serde_json::to_string(&results)?.starts_with(r#"{"sent":7,"squares":[0,1,4,"#));
/// // As a value, with all of its entries in memory:
/// assert_eq!((&results["sent"], &results["squares"][9]), (&json!(7), &json!(81)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Default)]
pub struct ResultTree {
    /// All but the lists.
    short: Value,
    lists: BTreeMap<String, ResultList>,
    /// The whole value, once it was needed.
    whole: OnceLock<Value>,
}

/// A field of [results](ResultTree).
#[derive(Clone, Copy, Debug)]
pub enum ResultField<'a> {
    /// A value in memory.
    Value(&'a Value),
    /// A list whose entries are made one by one.
    List(&'a ResultList),
}

/// A list of results that holds no entry in memory.
#[derive(Clone)]
pub struct ResultList {
    len: usize,
    entry: Arc<dyn Fn(usize) -> Value + Send + Sync>,
}

impl ResultList {
    /// A list of this many entries, each of which `entry` makes when it is needed.
    pub fn new(len: usize, entry: impl Fn(usize) -> Value + Send + Sync + 'static) -> Self {
        ResultList { len, entry: Arc::new(entry) }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entries, made one by one.
    pub fn entries(&self) -> impl Iterator<Item = Value> {
        (0..self.len).map(|number| (self.entry)(number))
    }

    /// The entry with this number, from 0, if there is one.
    pub fn entry(&self, number: usize) -> Option<Value> {
        (number < self.len).then(|| (self.entry)(number))
    }
}

impl Serialize for ResultField<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ResultField::Value(value) => value.serialize(serializer),
            ResultField::List(list) => list.serialize(serializer),
        }
    }
}

impl fmt::Debug for ResultList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries()).finish()
    }
}

impl PartialEq for ResultList {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.entries().eq(other.entries())
    }
}

impl Serialize for ResultList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.entries())
    }
}

impl ResultTree {
    /// The fields of `short`, which is an object or null, and these lists. A list replaces a field
    /// of the same name.
    pub fn new(short: Value, lists: BTreeMap<String, ResultList>) -> Self {
        ResultTree { short, lists, whole: OnceLock::new() }
    }

    /// All but the [lists](Self::lists).
    pub fn short(&self) -> &Value {
        &self.short
    }

    /// The lists whose entries are made when they are needed, by name.
    pub fn lists(&self) -> &BTreeMap<String, ResultList> {
        &self.lists
    }

    /// All fields in the order of their names, if the results are an object.
    pub fn fields(&self) -> impl Iterator<Item = (&str, ResultField<'_>)> {
        let short = self
            .short
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str(), ResultField::Value(value)));
        let lists = self.lists.iter().map(|(name, list)| (name.as_str(), ResultField::List(list)));
        short.chain(lists).collect::<BTreeMap<_, _>>().into_iter()
    }

    /// The results as a value, with only the first entry of each list: entries are alike.
    pub fn shape(&self) -> Value {
        self.to_value(1)
    }

    /// The results as a value, with at most `entries` entries of each list.
    fn to_value(&self, entries: usize) -> Value {
        if self.lists.is_empty() {
            return self.short.clone();
        }
        let value = |field| match field {
            ResultField::Value(value) => value.clone(),
            ResultField::List(list) => list.entries().take(entries).collect(),
        };
        Value::Object(
            self.fields()
                .map(|(name, field)| (name.to_owned(), value(field)))
                .collect::<Map<_, _>>(),
        )
    }
}

impl Deref for ResultTree {
    type Target = Value;

    fn deref(&self) -> &Value {
        if self.lists.is_empty() {
            &self.short
        } else {
            self.whole.get_or_init(|| self.to_value(usize::MAX))
        }
    }
}

impl DerefMut for ResultTree {
    /// Brings everything into memory, because the caller may change it.
    fn deref_mut(&mut self) -> &mut Value {
        if !self.lists.is_empty() {
            *self = ResultTree::from(self.to_value(usize::MAX));
        }
        &mut self.short
    }
}

impl From<Value> for ResultTree {
    fn from(value: Value) -> Self {
        ResultTree::new(value, BTreeMap::new())
    }
}

impl From<ResultTree> for Value {
    fn from(results: ResultTree) -> Self {
        results.to_value(usize::MAX)
    }
}

impl Clone for ResultTree {
    fn clone(&self) -> Self {
        ResultTree::new(self.short.clone(), self.lists.clone())
    }
}

impl fmt::Debug for ResultTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for ResultTree {
    /// As JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl PartialEq for ResultTree {
    fn eq(&self, other: &Self) -> bool {
        if self.lists.keys().eq(other.lists.keys()) {
            self.short == other.short && self.lists == other.lists
        } else {
            **self == **other
        }
    }
}

impl PartialEq<Value> for ResultTree {
    fn eq(&self, other: &Value) -> bool {
        **self == *other
    }
}

impl Serialize for ResultTree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.lists.is_empty() {
            return self.short.serialize(serializer);
        }
        serializer.collect_map(self.fields())
    }
}

impl<'de> Deserialize<'de> for ResultTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(ResultTree::from)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;

    use super::*;

    fn tree(made: &Arc<AtomicUsize>) -> ResultTree {
        let made = made.clone();
        let list = ResultList::new(3, move |entry| {
            made.fetch_add(1, Ordering::Relaxed);
            json!({ "n": entry })
        });
        ResultTree::new(json!({ "a": 1, "m": "hidden", "z": 2 }), [("m".to_owned(), list)].into())
    }

    /// No entry is made before it is written, and none is kept.
    #[test]
    fn a_list_is_made_while_it_is_written() {
        let made = Arc::new(AtomicUsize::new(0));
        let results = tree(&made);
        let copy = results.clone();
        assert_eq!(made.load(Ordering::Relaxed), 0);
        assert_eq!(
            serde_json::to_string(&results).unwrap(),
            r#"{"a":1,"m":[{"n":0},{"n":1},{"n":2}],"z":2}"#
        );
        assert_eq!((made.load(Ordering::Relaxed), results.whole.get()), (3, None));
        assert_eq!(results, copy);
        assert_eq!((results.whole.get(), copy.whole.get()), (None, None));
    }

    #[test]
    fn it_is_the_value_that_it_is_written_as() {
        let results = tree(&Arc::default());
        let value = json!({ "a": 1, "m": [{ "n": 0 }, { "n": 1 }, { "n": 2 }], "z": 2 });
        assert_eq!(results, value);
        assert_eq!(serde_json::from_value::<ResultTree>(value.clone()).unwrap(), results);
        assert_eq!(
            (results["m"][2]["n"].as_u64(), results.as_object().unwrap().len()),
            (Some(2), 3)
        );
        assert_eq!(format!("{results:?}").matches("Number(1)").count(), 2, "{results:?}");
        let plain = ResultTree::from(json!(4));
        assert_eq!(
            (serde_json::to_string(&plain).unwrap().as_str(), plain.short()),
            ("4", &json!(4))
        );
        assert_ne!(plain, results);
        let mut changed = results.clone();
        changed["m"][1] = json!(7);
        assert_eq!(
            (&changed["m"][1], changed.lists().len(), &changed["z"]),
            (&json!(7), 0, &json!(2))
        );
        let nothing = ResultTree::new(Value::Null, results.lists().clone());
        assert_eq!(nothing.as_object().map(Map::len), Some(1));
    }
}
