//! A finished run while others go on: its figures in memory, its results in a [`Spool`].

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use warpline_record::{
    Deferred, LostDelays, Replication, ResultList, ResultTree, RunRecord, Series, StateDigestRecord,
};

use super::packed::{pack, unpack};
use super::spool::{Place, Spool};

/// A finished run.
#[derive(Clone, Debug)]
pub(super) struct KeptRun {
    pub(super) seed: u64,
    pub(super) digest: String,
    pub(super) state_digest: Option<StateDigestRecord>,
    pub(super) lost_delays: Option<LostDelays>,
    pub(super) committed_events: u64,
    pub(super) wall_seconds: f64,
    /// Its results without their lists.
    short: Place,
    pub(super) lists: Arc<BTreeMap<String, KeptList>>,
    /// An object of all series.
    series: Place,
}

/// A list of results.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptList {
    pub(super) len: usize,
    /// Where each entry begins, and its length: two words.
    places: Place,
}

impl KeptRun {
    /// Keeps the results of a run.
    ///
    /// # Errors
    /// If they do not fit on the disk.
    pub(super) fn new(record: &RunRecord, spool: &Spool) -> io::Result<Self> {
        let mut lists = BTreeMap::new();
        for (name, list) in record.results.lists() {
            let mut places = Vec::with_capacity(16 * list.len());
            let mut bytes = Vec::new();
            for entry in list.entries() {
                let Place { start, len } = keep(&entry, spool, &mut bytes)?;
                places.extend([start, len].map(u64::to_le_bytes).as_flattened());
            }
            lists.insert(name.clone(), KeptList { len: list.len(), places: spool.keep(&places)? });
        }
        let mut bytes = Vec::new();
        Ok(KeptRun {
            seed: record.seed,
            digest: record.digest.clone(),
            state_digest: record.state_digest.clone(),
            lost_delays: record.lost_delays,
            committed_events: record.committed_events,
            wall_seconds: record.wall_seconds,
            short: keep(record.results.short(), spool, &mut bytes)?,
            lists: Arc::new(lists),
            series: keep(&json!(record.series), spool, &mut bytes)?,
        })
    }

    /// Its results without their lists.
    pub(super) fn short(&self, spool: &Spool) -> Value {
        read(self.short, spool)
    }

    pub(super) fn series(&self, spool: &Spool) -> BTreeMap<String, Series> {
        serde_json::from_value(read(self.series, spool)).unwrap_or_default()
    }

    /// All its results.
    pub(super) fn results(&self, spool: &Arc<Spool>) -> ResultTree {
        let list = |(name, list): (&String, &KeptList)| {
            let list = *list;
            let spool = spool.clone();
            (name.clone(), ResultList::new(list.len, move |entry| list.entry(entry, &spool)))
        };
        ResultTree::new(self.short(spool), self.lists.iter().map(list).collect())
    }

    /// What the record of all runs says about it.
    pub(super) fn replication(&self, spool: &Arc<Spool>) -> Replication {
        let [results_of, series_of] = [(); 2].map(|()| (self.clone(), spool.clone()));
        Replication {
            seed: self.seed,
            digest: self.digest.clone(),
            committed_events: self.committed_events,
            wall_seconds: self.wall_seconds,
            results: Deferred::new(move || results_of.0.results(&results_of.1)),
            series: Deferred::new(move || series_of.0.series(&series_of.1)),
        }
    }
}

impl KeptList {
    /// An entry, read from the spool.
    pub(super) fn entry(&self, number: usize, spool: &Spool) -> Value {
        let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        match spool.read(Place { start: self.places.start + 16 * number as u64, len: 16 }) {
            Ok(place) => read(Place { start: word(&place), len: word(&place[8..]) }, spool),
            Err(cause) => unreadable(&cause),
        }
    }
}

fn keep(value: &Value, spool: &Spool, bytes: &mut Vec<u8>) -> io::Result<Place> {
    bytes.clear();
    pack(value, bytes);
    spool.keep(bytes)
}

fn read(place: Place, spool: &Spool) -> Value {
    match spool.read(place) {
        Ok(bytes) => unpack(&mut &bytes[..]).unwrap_or_else(|| unreachable!("it was packed here")),
        Err(cause) => unreadable(&cause),
    }
}

/// Takes the place of a result that was on disk and cannot be read again.
fn unreadable(cause: &io::Error) -> Value {
    json!({ "error": format!("cannot be read again: {cause}") })
}
