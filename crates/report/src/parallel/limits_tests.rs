//! What limits made-up runs.

use super::*;
use serde_json::json;
use warpline_record::Phases;

/// 1000 events on two PEs with these phases in all, in seconds, half of each on either PE.
fn run(phases: &Phases) -> RunRecord {
    let record = json!({"model": "m", "about": "", "parameters": {}, "seed": 1, "end_time": 1.0, "engine": {}, "committed_events": 1000,
        "digest": "", "wall_seconds": 1.0, "loop_seconds": 1.0, "event_rate": 1000, "peak_rss_bytes": null, "results": {},
        "progress": [], "views": [], "processed_events": 1000, "efficiency": 1.0, "phase_seconds": phases, "pes": [{}, {}]});
    serde_json::from_value(record).unwrap()
}

fn titles(record: &RunRecord) -> Vec<&'static str> {
    limits(record).into_iter().map(|limit| limit.title).collect()
}

#[test]
fn the_greatest_cost_comes_first() {
    let mut record = run(&Phases {
        event_processing: 0.9,
        idle: 0.9,
        gvt: 0.3,
        send: 0.1,
        ..Default::default()
    });
    record.parallel.as_mut().unwrap().remote_events = 900;
    assert_eq!(
        titles(&record),
        ["There is too little to do", "GVT is found often", "Most messages travel"]
    );
    record.parallel.as_mut().unwrap().phase_seconds.send = 0.5;
    assert_eq!(titles(&record)[1], "Most messages travel");
    let costs: Vec<f64> = limits(&record).iter().map(|limit| limit.cost).collect();
    assert!(
        costs.is_sorted_by(|one, other| one >= other) && costs[0] > 0.34 && costs[0] < 0.35,
        "{costs:?}"
    );
    assert_eq!(
        titles(&RunRecord { loop_seconds: 0.05, ..record.clone() }),
        [""; 0],
        "so short a run says nothing"
    );
    record.parallel = None;
    assert_eq!(titles(&record), [""; 0]);
}

/// Nothing is blamed on the model of a run that shared its cores, whatever its other figures
/// say.
#[test]
fn others_that_had_the_cores_come_first() {
    let mut record = run(&Phases {
        event_processing: 0.02,
        pending_set: 0.03,
        idle: 1.5,
        off_core: 0.45,
        ..Default::default()
    });
    record.core_share = Some(0.1);
    assert_eq!(
        (titles(&record), estimated_speedup(&record)),
        (vec!["Others used the cores as well"], None)
    );
    record.core_share = Some(0.9);
    assert_eq!(titles(&record), ["Probably slower than on one core", "There is too little to do"]);
    record.core_share = None;
    let parallel = record.parallel.as_mut().unwrap();
    parallel.oversubscribed = true;
    parallel.phase_samples = Some(3.0);
    record.engine.insert("threads".into(), json!(4));
    assert_eq!(
        titles(&record),
        ["There is too little to do", "There are more threads than cores"],
        "three samples tell no more"
    );
    let text = limits(&record).remove(1).text.replace(['\u{a0}', '\u{202f}'], " ");
    assert!(
        text.contains("for 22 % of their time") && text.contains("Fewer `threads` (now 4)"),
        "{text}"
    );
    record.engine.insert("threads".into(), json!(1));
    assert!(!limits(&record)[0].text.contains("Fewer"), "there cannot be fewer");
}

/// Nobody waits for a PE that is waiting itself.
#[test]
fn a_load_is_uneven_only_if_somebody_is_busy() {
    let pe = |idle: f64| PeRecord {
        phase_seconds: Phases { event_processing: 1.0 - idle, idle, ..Default::default() },
        ..Default::default()
    };
    let mut record = run(&Phases { event_processing: 1.0, idle: 1.0, ..Default::default() });
    record.parallel.as_mut().unwrap().pes = vec![pe(0.3), pe(0.7)];
    assert_eq!(titles(&record), ["There is too little to do"]);
    let text = limits(&record).remove(0).text.replace(['\u{a0}', '\u{202f}'], " ");
    assert!(
        text.starts_with("PEs wait 50 % of their time on average, and even the busiest 30 %"),
        "{text}"
    );
    record.parallel.as_mut().unwrap().pes = vec![pe(0.1), pe(0.7)];
    assert_eq!(titles(&record), ["The load is uneven"]);
}

#[test]
fn a_run_slower_than_one_core_says_so_first() {
    let record = run(&Phases {
        event_processing: 0.02,
        pending_set: 0.03,
        idle: 1.95,
        ..Default::default()
    });
    assert_eq!(titles(&record), ["Probably slower than on one core", "There is too little to do"]);
    let text = limits(&record).remove(0).text.replace(['\u{a0}', '\u{202f}'], " ");
    assert!(
        text.starts_with(
            "One core would probably have taken 50 ms for what took 1 s here, 20 times less"
        ),
        "{text}"
    );
    assert!(text.contains("`sync` sequential"), "{text}");
    let busy =
        run(&Phases { event_processing: 0.9, pending_set: 0.9, idle: 0.2, ..Default::default() });
    assert_eq!(titles(&busy), [""; 0], "it did 1.8 s of work in 1 s");
}

#[test]
fn small_events_are_pointed_out_where_the_engine_takes_longer() {
    let mut record = run(&Phases {
        event_processing: 0.5,
        pending_set: 0.7,
        send: 0.6,
        idle: 0.2,
        ..Default::default()
    });
    assert_eq!(titles(&record), [""; 0], "events of half a millisecond are not small");
    record.committed_events = 10_000_000;
    record.parallel.as_mut().unwrap().processed_events = 10_000_000;
    let [Limit { title: "There is little work per event", text, cost }] = &limits(&record)[..]
    else {
        panic!("{:?}", limits(&record))
    };
    let text = text.replace(['\u{a0}', '\u{202f}'], " ");
    assert!(
        text.starts_with(
            "Executing an event takes 50 ns, and what the engine does around it 130 ns."
        ),
        "{text}"
    );
    assert!((cost - 0.65).abs() < 1e-9);
    record.parallel.as_mut().unwrap().phase_seconds.event_processing = 1.5;
    assert_eq!(titles(&record), [""; 0], "most of the time goes into events");
}
