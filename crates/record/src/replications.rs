use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Deferred, ResultTree, Series, number};

/// What a record of replications says about each of the runs; its results are estimates across
/// them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Replications {
    /// How many runs were under way at a time.
    pub at_once: u32,
    /// The runs, by seed.
    pub runs: Vec<Replication>,
}

/// One of several runs that differ only in the seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Replication {
    /// Its seed.
    pub seed: u64,
    /// Its digest, which is that of a run of this seed alone.
    pub digest: String,
    /// Events executed for good.
    pub committed_events: u64,
    /// Its wall time in seconds, while others ran beside it.
    #[serde(deserialize_with = "number")]
    pub wall_seconds: f64,
    /// Its results, as it would have reported them alone.
    pub results: Deferred<ResultTree>,
    /// Its statistics over virtual time, likewise.
    pub series: Deferred<BTreeMap<String, Series>>,
}
