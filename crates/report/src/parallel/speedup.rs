//! Estimates how much faster a parallel run was than one core would have been, from the time that
//! its PEs spent on executing, choosing and sending per event. The estimate is accurate to a factor
//! of two at best, so only clear slowdowns are reported.

use super::shares::{
    CHOOSING, EXECUTING, OFF_CORE, SENDING, WAITING, all_seconds, is_sampled, share,
    taken_by_others,
};
use warpline_record::RunRecord;

/// The time that one core would probably have taken for the events of a parallel run, over the time
/// that the run took. `None` for a sequential run, for one that chose its engines, ran on a virtual
/// cluster or a modelled machine, or shared its cores, and if too little was measured.
///
/// One core executes every event once, chooses it from one pending set, and makes what it sends; it
/// neither waits nor undoes. It would spend on these phases what PEs spent per executed event,
/// except for messages between PEs, which cost it nothing extra. It also saves no states, and may
/// have less cache.
pub fn estimated_speedup(record: &RunRecord) -> Option<f64> {
    let parallel = record
        .parallel
        .as_ref()
        .filter(|parallel| parallel.processed_events > 0 && is_sampled(record, parallel))?;
    // With others on its cores, a run takes longer than it needs. A run that chose its engines has
    // compared them.
    if taken_by_others(record).is_some()
        || !record.engines.is_empty()
        || parallel.machine.is_some()
        || record.engine.get("transport").is_some_and(|transport| transport == "virtual")
    {
        return None;
    }
    let seconds = all_seconds(parallel);
    let busy = seconds.iter().sum::<f64>() - seconds[WAITING] - seconds[OFF_CORE];
    let available =
        record.provenance.cores.map_or(f64::INFINITY, |cores| cores as f64 * record.loop_seconds);
    // An older record does not separate the time for which the thread of a busy PE had no core.
    let on_cores = if busy > available { available / busy } else { 1.0 };
    let local = 1.0
        - share(parallel.remote_events as f64, record.committed_events as f64).unwrap_or_default();
    let work = seconds[EXECUTING] + seconds[CHOOSING] + seconds[SENDING] * local;
    let once = record.committed_events as f64 / parallel.processed_events as f64;
    let speedup = work * once * on_cores / record.loop_seconds;
    (busy > 0.0 && speedup.is_finite() && speedup > 0.0).then_some(speedup)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// 1000 events in one second on four PEs, with these fields besides.
    fn speedup(more: Value) -> Option<f64> {
        let mut all = json!({"model": "m", "about": "", "parameters": {}, "seed": 1, "end_time": 1.0, "engine": {}, "committed_events": 1000,
            "digest": "", "wall_seconds": 1.0, "loop_seconds": 1.0, "event_rate": 1000, "peak_rss_bytes": null, "results": {},
            "progress": [], "views": [], "processed_events": 1000,
            "phase_seconds": { "event_processing": 2.0, "pending_set": 0.5, "send": 0.4, "gvt": 0.1, "idle": 1.0 }});
        let (Value::Object(fields), Value::Object(more)) = (&mut all, more) else {
            panic!("objects")
        };
        fields.extend(more);
        estimated_speedup(&serde_json::from_value(all).unwrap())
            .map(|speedup| (speedup * 1e6).round() / 1e6)
    }

    #[test]
    fn one_core_executes_every_event_once_and_never_waits() {
        assert_eq!(speedup(json!({})), Some(2.9));
        assert_eq!(
            speedup(json!({ "remote_events": 500 })),
            Some(2.7),
            "half of the messages would not travel"
        );
        assert_eq!(
            speedup(json!({ "processed_events": 2000 })),
            Some(1.45),
            "half of the work was undone"
        );
        assert_eq!(
            speedup(json!({ "provenance": { "cores": 2 } })),
            Some(1.933_333),
            "three busy seconds in two of the cores'"
        );
        assert_eq!(speedup(json!({ "provenance": { "cores": 8 } })), Some(2.9));
    }

    #[test]
    fn nothing_is_estimated_without_events_or_time() {
        assert_eq!(speedup(json!({ "processed_events": 0 })), None);
        assert_eq!(speedup(json!({ "phase_seconds": { "idle": 3.0 } })), None);
        assert_eq!([0.0, 0.09].map(|short| speedup(json!({ "loop_seconds": short }))), [None; 2]);
        assert!(speedup(json!({ "loop_seconds": 0.1 })).is_some());
        assert_eq!(speedup(json!({ "loop_seconds": null })), None);
        assert_eq!(speedup(json!({ "engine": { "transport": "virtual" } })), None);
        assert_eq!(speedup(json!({ "machine": { "pes": 4 } })), None);
    }
}
