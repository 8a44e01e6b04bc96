use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Deferred, ResultTree, Series};
use crate::null::number;

/// What a record of replications says about each run. The results of the record itself are
/// estimates across the runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Replications {
    /// The number of runs executed at a time.
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
    /// Its digest, equal to that of a single run with this seed.
    pub digest: String,
    /// Events executed for good.
    pub committed_events: u64,
    /// Its wall time in seconds. Other runs may have used the machine at the same time.
    #[serde(deserialize_with = "number")]
    pub wall_seconds: f64,
    /// Its results, as a single run would report them.
    pub results: Deferred<ResultTree>,
    /// Its series, as a single run would report them.
    pub series: Deferred<BTreeMap<String, Series>>,
}
