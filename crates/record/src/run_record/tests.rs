use serde_json::json;

use super::*;
use crate::*;

/// A record with these fields beside those of a sequential run.
fn record(more: Value) -> Result<RunRecord, String> {
    let mut all = json!({
        "model": "m", "about": "", "parameters": {}, "seed": 1, "end_time": 10.0, "engine": {}, "committed_events": 4, "digest": "0",
        "wall_seconds": 1.0, "loop_seconds": 1.0, "event_rate": 4.0, "peak_rss_bytes": 9, "results": {}, "progress": [], "views": [],
    });
    let (Value::Object(fields), Value::Object(more)) = (&mut all, more) else { panic!("objects") };
    fields.extend(more);
    serde_json::from_str(&all.to_string()).map_err(|error| error.to_string())
}

#[test]
fn a_summary_lacks_what_only_the_report_needs() {
    let record =
        record(json!({ "processed_events": 6, "certain_events": 2, "ahead_events": 4 })).unwrap();
    let summary = record.summary();
    let Value::Object(mut all) = serde_json::to_value(&record).unwrap() else {
        panic!("an object")
    };
    assert!(["settings", "progress", "views"].iter().all(|name| all.remove(*name).is_some()));
    assert_eq!(summary, all);
    assert_eq!(
        (&summary["committed_events"], &summary["processed_events"]),
        (&4.into(), &6.into())
    );
    assert_eq!((&summary["certain_events"], &summary["ahead_events"]), (&2.into(), &4.into()));
}

/// Older records have neither notes nor provenance.
#[test]
fn notes_and_provenance_are_kept_and_may_be_missing() {
    let older = record(json!({})).unwrap();
    assert_eq!((older.result_notes.len(), &older.provenance), (0, &Provenance::default()));
    let provenance =
        json!({ "command_line": ["warpline", "run"], "cores": 4, "commit": null, "unheard_of": 1 });
    let newer =
        record(json!({ "result_notes": { "stay": { "unit": "h" } }, "provenance": provenance }))
            .unwrap();
    assert_eq!(
        (newer.result_notes["stay"].unit.as_str(), newer.result_notes["stay"].meaning.as_str()),
        ("h", "")
    );
    assert_eq!(
        (&newer.provenance.command_line[1], newer.provenance.cores, newer.provenance.pes),
        (&"run".to_owned(), Some(4), 0)
    );
    assert_eq!(
        serde_json::from_str::<RunRecord>(&serde_json::to_string(&newer).unwrap()).unwrap(),
        newer
    );
    assert!(["result_notes", "provenance"].iter().all(|name| newer.summary().contains_key(*name)));
}

#[test]
fn a_sequential_record_has_no_parallel_part() {
    for more in [json!({}), json!({ "gvt_epochs": 3, "unheard_of": [1] })] {
        let record = record(more).unwrap();
        assert_eq!(record.parallel, None);
        assert_eq!(
            serde_json::from_str::<RunRecord>(&serde_json::to_string(&record).unwrap()).unwrap(),
            record
        );
    }
}

#[test]
fn a_parallel_record_reads_back_as_it_was() {
    let pe = PeRecord {
        first_lp: 1,
        lps: 2,
        mailbox_depth_mean: 0.5,
        phase_seconds: Phases { idle: 0.1, ..Phases::default() },
        ..PeRecord::default()
    };
    let rollbacks =
        Rollbacks { primary: 3, mean_per_pe: 1.5, lengths: vec![2, 1], ..Rollbacks::default() };
    let part = ParallelRecord {
        processed_events: 6,
        certain_events: 1,
        ahead_events: 5,
        efficiency: 2.0 / 3.0,
        rollbacks,
        pes: vec![pe.clone(), pe],
        ..ParallelRecord::default()
    };
    let settings =
        vec![SettingNote { name: "batch".into(), unit: "events".into(), ..SettingNote::default() }];
    let record = RunRecord { parallel: Some(part), settings, ..record(json!({})).unwrap() };
    assert_eq!(
        serde_json::from_str::<RunRecord>(&serde_json::to_string(&record).unwrap()).unwrap(),
        record
    );
}

#[test]
fn missing_and_null_fields_leave_the_others_intact() {
    let more = json!({
        "processed_events": 6, "efficiency": null, "unheard_of": true, "rollbacks": { "primary": 3, "mean_per_pe": null },
        "phase_seconds": { "idle": null, "send": 0.5 }, "pes": [{ "lps": 7, "mailbox_depth_mean": null, "phase_seconds": {} }, {}],
    });
    let part = record(more).unwrap().parallel.unwrap();
    assert_eq!((part.processed_events, part.gvt_epochs, part.rollbacks.primary), (6, 0, 3));
    assert_eq!((part.certain_events, part.ahead_events), (0, 0));
    assert!(
        part.efficiency.is_nan()
            && part.rollbacks.mean_per_pe.is_nan()
            && part.phase_seconds.idle.is_nan()
    );
    assert_eq!(
        (part.phase_seconds.send, part.pes[0].lps, &part.pes[1]),
        (0.5, 7, &PeRecord::default())
    );
    assert!(part.pes[0].mailbox_depth_mean.is_nan());
    assert_eq!(
        record(json!({ "processed_events": 0 })).unwrap().parallel,
        Some(ParallelRecord::default())
    );
}

#[test]
fn views_keep_null_numbers() {
    let views = json!([
        { "view": "histogram", "title": "t", "quantity": "delay", "unit": "s", "counted": "links",
            "bars": [{ "low": null, "high": 2.0, "count": 3 }], "marks": [["p50", 1.5], ["p99", null]] },
        { "view": "lines", "title": "t", "x": "time", "y": "share", "lines": [["one", [[1.0, null], [2.0, 3.0]]]] },
    ]);
    let record = record(json!({ "views": views })).unwrap();
    assert_eq!(serde_json::to_value(&record.views).unwrap(), views);
}

#[test]
fn a_sample_of_speculation_may_lack_any_field() {
    let sample = |speculation: Value| {
        let sample = json!({ "wall_seconds": 1.0, "virtual_time": 2.0, "committed_events": 3, "speculation": speculation });
        record(json!({ "progress": [sample] })).unwrap().progress[0].speculation
    };
    let some = json!({ "processed_events": 7, "window": null, "unheard_of": 1 });
    let read = sample(some).unwrap();
    assert_eq!((read.processed_events, read.gvt_epochs, read.mailbox_depth), (7, 0, 0.0));
    assert!(read.window.is_nan());
    assert_eq!(
        (sample(json!({})), sample(json!(null))),
        (Some(SpeculationSample::default()), None)
    );
}

#[test]
fn an_invalid_parallel_part_is_an_error() {
    let error = record(json!({ "processed_events": "many" })).unwrap_err();
    assert!(error.contains("many"), "{error}");
}
