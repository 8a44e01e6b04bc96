//! What keeps modelled runs from being fast, from records by hand.

use serde_json::json;
use warpline_record::{MachineRecord, MachineShares, RunRecord};

use super::losses::{Loss, losses};
use crate::limits;

/// 1000 committed events on 10 PEs in a second, found by 20 GVTs, with these shares.
fn run(shares: MachineShares, efficiency: f64) -> RunRecord {
    let mut record: RunRecord = serde_json::from_value(json!({
        "model": "m", "about": "", "parameters": {}, "seed": 1, "end_time": 1.0, "engine": {},
        "committed_events": 1000, "digest": "", "wall_seconds": 0.01, "loop_seconds": 0.01,
        "event_rate": 1e5, "peak_rss_bytes": null, "results": {}, "progress": [], "views": [],
        "processed_events": 1000, "gvt_epochs": 20, "time_unit": "s",
    }))
    .unwrap();
    let parallel = record.parallel.as_mut().unwrap();
    parallel.machine = Some(MachineRecord {
        pes: 10,
        seconds: 1.0,
        event_rate: 1000.0,
        efficiency,
        shares,
        gvt_latency: Some(0.0),
        ..MachineRecord::default()
    });
    record
}

fn machine(record: &mut RunRecord) -> &mut MachineRecord {
    record.parallel.as_mut().unwrap().machine.as_mut().unwrap()
}

/// The greatest limit: name, share in percent, and what is said.
fn worst(record: &RunRecord) -> (&'static str, i32, String) {
    let limit = limits(record).into_iter().next().expect("a limit");
    let text = limit.text.replace(['\u{a0}', '\u{202f}'], " ");
    (limit.title, (100.0 * limit.cost).round() as i32, text)
}

#[test]
fn time_that_no_pe_is_spared_is_latency_of_gvt() {
    let shares =
        MachineShares { computing: 0.3, gvt: 0.1, waiting: 0.6, ..MachineShares::default() };
    let mut record = run(shares, 0.3);
    machine(&mut record).gvt_latency = Some(0.6);
    machine(&mut record).least_delay = Some(0.01);
    let (name, share, text) = worst(&record);
    assert_eq!((name, share), ("GVT's latency", 60));
    // 1000 events on 10 PEs between 20 GVTs, of which each takes 60 % of 50 ms.
    let why = "as a PE commits 5 events between one GVT and the next with a lookahead of 10 ms, \
               and each GVT takes 30 ms of its time";
    assert!(text.contains(why), "{text}");
}

#[test]
fn waiting_for_each_other_is_uneven_load() {
    let shares = MachineShares { computing: 0.3, waiting: 0.7, ..MachineShares::default() };
    let mut record = run(shares, 0.3);
    machine(&mut record).gvt_latency = Some(0.2);
    machine(&mut record).committed_events.max = 250.0;
    machine(&mut record).waiting.max = 0.9;
    let (name, share, text) = worst(&record);
    assert_eq!((name, share), ("Uneven load", 50));
    let why = "has 2.5 times the average, and PEs wait for 0 % to 90 % of the time";
    assert!(text.contains(why), "{text}");
}

#[test]
fn waiting_whose_cause_is_unknown_is_called_so() {
    let shares = MachineShares { computing: 0.3, waiting: 0.7, ..MachineShares::default() };
    let mut record = run(shares, 0.3);
    machine(&mut record).gvt_latency = None;
    let (name, share, _) = worst(&record);
    assert_eq!((name, share), ("Waiting", 70));
}

#[test]
fn messages_are_told_with_where_they_go() {
    let shares = MachineShares { computing: 0.4, messages: 0.6, ..MachineShares::default() };
    let mut record = run(shares, 0.4);
    machine(&mut record).near_messages = 200;
    machine(&mut record).far_messages = 600;
    let (name, share, text) = worst(&record);
    assert_eq!((name, share), ("Messages", 60));
    let why = "as PEs send 0.8 messages for each committed event, 75 % of them to other nodes";
    assert!(text.contains(why), "{text}");
}

#[test]
fn undone_work_is_what_was_executed_in_vain_and_what_undoing_takes() {
    let shares = MachineShares { computing: 0.8, undo: 0.2, ..MachineShares::default() };
    let mut record = run(shares, 0.4);
    let parallel = record.parallel.as_mut().unwrap();
    (parallel.processed_events, parallel.rolled_back_events) = (2000, 1000);
    let (name, share, text) = worst(&record);
    assert_eq!((name, share), ("Undone work", 60));
    assert!(text.contains("as 50 % of the executed events are undone"), "{text}");
}

#[test]
fn slow_cores_are_noise() {
    let shares = MachineShares { computing: 0.7, noise: 0.3, ..MachineShares::default() };
    let (name, share, text) = worst(&run(shares, 0.5));
    assert_eq!((name, share), ("Noise", 50));
    let why = "the system has a core for 30 % of the time, and slow cores take 20 % longer";
    assert!(text.contains(why), "{text}");
}

#[test]
fn losses_and_efficiency_are_all_time() {
    let shares = MachineShares {
        computing: 0.4,
        messages: 0.1,
        gvt: 0.1,
        undo: 0.05,
        waiting: 0.3,
        noise: 0.05,
    };
    for undone in [0, 500] {
        let mut record = run(shares, 0.3);
        let parallel = record.parallel.as_mut().unwrap();
        (parallel.processed_events, parallel.rolled_back_events) = (1000 + undone, undone);
        machine(&mut record).gvt_latency = Some(0.12);
        let lost: f64 = losses(&record).unwrap().iter().map(|loss: &Loss| loss.share).sum();
        assert!((lost + 0.3 - 1.0).abs() < 1e-12, "{lost}");
    }
}

#[test]
fn runs_that_are_fast_or_not_on_a_machine_have_no_limits() {
    let shares = MachineShares { computing: 0.98, messages: 0.02, ..MachineShares::default() };
    assert!(limits(&run(shares, 0.98)).is_empty());
    let mut record = run(shares, 0.98);
    record.parallel.as_mut().unwrap().machine = None;
    assert!(losses(&record).is_none());
}
