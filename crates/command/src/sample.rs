//! Made-up records of runs, for tests.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use warpline_record::{ParallelRecord, Phases, Provenance, Rollbacks, RunRecord};
use warpline_run::{BusiestPe, CoreFindings, LpId};

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Findings for two cores.
pub(crate) fn cores() -> CoreFindings {
    let busiest = BusiestPe { pe: 0, first: LpId(0), last: LpId(1), work: 1 };
    CoreFindings {
        cores: 2,
        pes: 2,
        any_engine: 2.0,
        these_blocks: 2.0,
        in_order: 2.0,
        declared: 2.0,
        declared_delay: 1.0,
        seen: None,
        seen_delay: None,
        messages: 0,
        busiest,
    }
}

/// A run of the sequential engine at this rate.
pub(crate) fn sequential(event_rate: f64) -> RunRecord {
    RunRecord {
        model: "clock".into(),
        about: "a clock".into(),
        parameters: map(json!({ "period": 0.01 })),
        seed: 1,
        end_time: 10.0,
        engine: map(json!({ "sync": "sequential", "threads": 1 })),
        settings: Vec::new(),
        time_unit: "s".into(),
        committed_events: 1000,
        digest: "00000000000000aa".into(),
        state_digest: None,
        wall_seconds: 0.5,
        loop_seconds: 0.25,
        event_rate,
        core_share: Some(1.0),
        peak_rss_bytes: Some(20_000_000),
        parallel: None,
        kinds: Vec::new(),
        results: json!({ "ticks": 1000 }).into(),
        result_notes: BTreeMap::new(),
        headlines: Vec::new(),
        series: BTreeMap::new(),
        provenance: Provenance::default(),
        tables: Vec::new(),
        engines: Vec::new(),
        progress: Vec::new(),
        views: Vec::new(),
        told: Vec::new(),
        lost_delays: None,
        ran_out: false,
        stuck: None,
        partial: None,
        replications: None,
    }
}

/// A run of the optimistic engine at this rate.
pub(crate) fn optimistic(event_rate: f64) -> RunRecord {
    let causes = Rollbacks { primary: 40, secondary: 2, ..Rollbacks::default() };
    let parallel = ParallelRecord {
        processed_events: 1250,
        certain_events: 600,
        ahead_events: 650,
        rolled_back_events: 250,
        efficiency: 0.8,
        rollbacks: Rollbacks { max_per_pe: 30, mean_per_pe: 21.0, lengths: vec![20, 22], ..causes },
        anti_messages: 3,
        gvt_epochs: 17,
        remote_events: 250,
        phase_seconds: Phases {
            event_processing: 1.0,
            pending_set: 0.2,
            rollback: 0.26,
            gvt: 0.04,
            idle: 0.5,
            ..Phases::default()
        },
        ..ParallelRecord::default()
    };
    RunRecord {
        engine: map(json!({ "sync": "optimistic", "threads": 2 })),
        peak_rss_bytes: Some(50_000_000),
        parallel: Some(parallel),
        ..sequential(event_rate)
    }
}
