//! All runs together: what their results and series have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use warpline_record::{Replication, ResultList, ResultNote, ResultTree, RunRecord, Series};

use super::estimates::across;
use super::kept::KeptRun;
use super::series;
use super::spool::Spool;

/// The runs that have ended.
pub(super) struct Finished {
    /// The record of the first, without its results.
    pub(super) first: RunRecord,
    /// By seed.
    pub(super) runs: Vec<KeptRun>,
    pub(super) spool: Arc<Spool>,
}

impl Finished {
    /// The results across the runs. At any time, one field of each run or one entry of a list is in
    /// memory.
    pub(super) fn results(&self) -> ResultTree {
        let Finished { first, runs, spool } = self;
        let notes = &first.result_notes;
        let fields = |run: &KeptRun| match run.short(spool) {
            Value::Object(fields) => fields.into_iter().map(|(name, _)| name).collect(),
            _ => Vec::new(),
        };
        let names: BTreeSet<String> = runs.iter().flat_map(fields).collect();
        let short = if names.is_empty() || names.contains("mean") && names.contains("ci95") {
            together(runs.iter().map(|run| run.short(spool)), "", notes)
        } else {
            let of_run = |run: &KeptRun, name: &str| {
                run.short(spool).get_mut(name).map(Value::take).unwrap_or_default()
            };
            let field = |name: &String| {
                (name.clone(), together(runs.iter().map(|run| of_run(run, name)), name, notes))
            };
            Value::Object(names.iter().map(field).collect())
        };
        let list = |name: &String| {
            let lists =
                runs.iter().map(|run| run.lists.get(name).copied()).collect::<Option<Vec<_>>>()?;
            let len = lists.first()?.len;
            if lists.iter().any(|list| list.len != len) {
                return None;
            }
            let spool = spool.clone();
            let notes = notes.clone();
            let path = name.clone();
            let entry = move |entry| {
                together(lists.iter().map(|list| list.entry(entry, &spool)), &path, &notes)
            };
            Some((name.clone(), ResultList::new(len, entry)))
        };
        let lists = runs.first().into_iter().flat_map(|run| run.lists.keys());
        ResultTree::new(short, lists.filter_map(list).collect())
    }

    /// The series across the runs, one after the other.
    pub(super) fn series(&self) -> BTreeMap<String, Series> {
        let Some(first) = self.runs.first() else { return BTreeMap::new() };
        let of_all = |name: String| {
            let one = |run: &KeptRun| {
                let series: BTreeMap<String, Series> =
                    run.series(&self.spool).remove_entry(&name).into_iter().collect();
                Replication { series: series.into(), ..Replication::default() }
            };
            series::across(&self.runs.iter().map(one).collect::<Vec<_>>())
        };
        first.series(&self.spool).into_keys().flat_map(of_all).collect()
    }
}

/// The estimate across the values of all runs at `path`.
fn together(
    values: impl Iterator<Item = Value>,
    path: &str,
    notes: &BTreeMap<String, ResultNote>,
) -> Value {
    let values: Vec<Value> = values.collect();
    across(&values.iter().collect::<Vec<_>>(), path, notes)
}
