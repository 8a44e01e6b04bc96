//! Traces: what is in them, and how large they get.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use warpline::prelude::*;
use warpline::{Run, Synchronisation};
use warpline_testkit::{Story, time_limit};

/// LPs that send each other events, some of which come too early. Every LP fails at its event of
/// this number, if any.
fn hopping(lps: u32, fails: Option<u64>) -> Story {
    Story::new(lps)
        .init(|lp| {
            lp.send(lp.id(), 1.0, 0);
            0
        })
        .handle(move |seen, _, lp| {
            *seen += 1;
            let to = lp.random().below(lps);
            let delay = lp.random().exponential(1.0);
            lp.send(to, delay, 0);
            if fails == Some(*seen) {
                lp.fail("enough");
            }
        })
}

fn hops(lps: u32) -> Simulation<'static, Story> {
    Simulation::new(hopping(lps, None))
        .sync(Synchronisation::Optimistic)
        .threads(3)
        .gvt_interval(50)
        .batch(8)
}

/// A run, its trace, and the size of the trace in bytes.
fn traced(simulation: Simulation<'_, Story>) -> (Result<Run<Story>, Error>, Value, usize) {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let path = directory.path().join("trace.json");
    let _limit = time_limit("a run with a trace");
    let run = simulation.trace(&path).run();
    let text = fs::read_to_string(path).expect("it was written");
    let trace: Value = serde_json::from_str(&text).expect("it is JSON");
    (run, trace, text.len())
}

/// The entries of each track, by group and track.
fn tracks(trace: &Value) -> BTreeMap<(u64, u64), Vec<&Value>> {
    let mut tracks = BTreeMap::<_, Vec<_>>::new();
    for entry in trace["traceEvents"].as_array().expect("it has entries") {
        if ["X", "i"].contains(&entry["ph"].as_str().expect("each has a kind")) {
            let track =
                (entry["pid"].as_u64().expect("a group"), entry["tid"].as_u64().expect("a track"));
            tracks.entry(track).or_default().push(entry);
        }
    }
    tracks
}

/// The name of each track.
fn names(trace: &Value) -> BTreeMap<(u64, u64), String> {
    let entries = trace["traceEvents"].as_array().expect("it has entries").iter();
    let named = entries.filter(|entry| entry["name"] == "thread_name");
    let name = |entry: &Value| entry["args"]["name"].as_str().expect("a name").to_owned();
    named
        .map(|entry| {
            ((entry["pid"].as_u64().unwrap(), entry["tid"].as_u64().unwrap()), name(entry))
        })
        .collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("it is a number")
}

/// Checks what holds for every trace of a run that committed this many events.
fn check(trace: &Value, committed: u64) {
    let tracks = tracks(trace);
    let names = names(trace);
    assert!(tracks.keys().all(|track| names.contains_key(track)), "{names:?}");
    let mut sums = BTreeMap::<&str, u64>::new();
    for (_, spans) in tracks.iter().filter(|((group, _), _)| *group == 1) {
        let mut until = 0.0;
        for span in spans {
            let since = number(&span["ts"]);
            assert!(since >= until - 1e-3, "{span} begins before {until}");
            until = since + number(&span["dur"]);
            for key in ["executed", "committed", "length"] {
                *sums.entry(key).or_default() += span["args"][key].as_u64().unwrap_or_default();
            }
        }
    }
    // What was left out is summed up.
    assert_eq!(sums["committed"], committed);
    assert_eq!(sums["executed"], committed + sums["length"]);
    for (_, events) in tracks.iter().filter(|((group, _), _)| *group == 2) {
        assert!(events.windows(2).all(|pair| number(&pair[0]["ts"]) <= number(&pair[1]["ts"])));
        assert!(events.iter().all(|event| (0.0..=1e6).contains(&number(&event["ts"]))));
    }
}

/// How many events are shown for each LP.
fn shown(trace: &Value) -> BTreeMap<u64, u64> {
    let events = tracks(trace).into_iter().filter(|((group, _), _)| *group == 2);
    events.map(|((_, track), events)| (track - 1, events.len() as u64)).collect()
}

#[test]
fn a_trace_shows_everything_that_happened() {
    for cluster in [None, Some(1), Some(2)] {
        let simulation = cluster.into_iter().fold(hops(30).end(40.0), Simulation::virtual_cluster);
        let (run, trace, _) = traced(simulation);
        let run = run.expect("it runs");
        check(&trace, run.record.committed_events);
        let names = names(&trace);
        assert!(
            (1..=3).all(|pe| names[&(1, pe)] == format!("PE {}", pe - 1))
                && names[&(2, 30)] == "LP 29",
            "{names:?}"
        );
        let expected: BTreeMap<u64, u64> =
            (0..).zip(run.states).filter(|(_, events)| *events > 0).collect();
        assert_eq!(shown(&trace), expected);
        for counter in ["GVT", "window", "PE 0: pending events", "PE 2: uncommitted events"] {
            let entries = trace["traceEvents"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|entry| entry["name"] == counter);
            let values: Vec<f64> = entries.map(|entry| number(&entry["args"]["value"])).collect();
            assert!(
                !values.is_empty() && values.iter().all(|value| *value >= 0.0),
                "{counter}: {values:?}"
            );
            assert!(counter != "GVT" || values.is_sorted(), "{values:?}");
        }
    }
}

/// Virtual time is the same under every schedule.
#[test]
fn committed_events_are_the_same_in_every_trace() {
    let virtual_time = |simulation| {
        let entries = traced(simulation).1["traceEvents"].as_array().unwrap().clone();
        entries.into_iter().filter(|entry| entry["pid"] == 2).collect::<Vec<_>>()
    };
    let expected = virtual_time(hops(30).end(20.0));
    assert!(expected.len() > 300);
    for seed in 0..3 {
        assert_eq!(virtual_time(hops(30).end(20.0).threads(5).virtual_cluster(seed)), expected);
    }
}

#[test]
fn a_failed_run_has_a_trace_up_to_the_failure() {
    for cluster in [None, Some(3)] {
        let failing = Simulation::new(hopping(30, Some(20))).end(1e3);
        let failing =
            failing.sync(Synchronisation::Optimistic).threads(3).gvt_interval(50).batch(8);
        let (run, trace, _) =
            traced(cluster.into_iter().fold(failing, Simulation::virtual_cluster));
        let Err(Error::Fault(failure)) = run else { panic!("it fails") };
        assert_eq!(shown(&trace).values().sum::<u64>(), failure.committed);
    }
}

/// Many spans and events, and many LPs.
#[test]
fn a_trace_stays_within_bounds() {
    for (limit, most) in [(None, 20_000_000), (Some(4), 4_000_000)] {
        let simulation = hops(3).end(150_000.0).threads(1).batch(1).gvt_interval(2);
        let (run, trace, bytes) =
            traced(limit.into_iter().fold(simulation, Simulation::trace_limit));
        let run = run.expect("it runs");
        check(&trace, run.record.committed_events);
        let shown = shown(&trace);
        let left_out = trace["otherData"]["events of LPs left out"].as_u64().unwrap();
        assert!(shown.values().sum::<u64>() <= 100_000 && shown.len() == 3, "{shown:?}");
        assert_eq!(shown.values().sum::<u64>() + left_out, run.record.committed_events);
        assert!(bytes < most && bytes > most / 4, "{bytes} bytes");
        // The file says what it lacks, and so does the run.
        let sums = trace["traceEvents"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|entry| entry["name"] == "left out");
        let in_sums = sums.map(|sum| sum["args"]["spans"].as_u64().unwrap()).sum::<u64>();
        let summary = run.trace.expect("there is a trace");
        assert_eq!(
            (summary.spans_left_out, summary.events_left_out, summary.bytes),
            (in_sums, left_out, bytes as u64)
        );
        assert!(
            in_sums > 0 && trace["otherData"]["note"] == summary.to_string(),
            "{}",
            trace["otherData"]
        );
    }
    let many = || hops(2500).end(3.0);
    // How many spans threads fill with waiting depends on what else the machine does.
    for (simulation, is_whole) in [(many(), false), (many().virtual_cluster(1), true)] {
        let (run, trace, _) = traced(simulation);
        let run = run.expect("it runs");
        check(&trace, run.record.committed_events);
        let lps = lps_shown(&trace);
        assert!(lps.len() <= 1000 && lps.iter().all(|lp| lp.is_multiple_of(3)), "{lps:?}");
        let note = trace["otherData"].get("note");
        let summary = run.trace.expect("there is a trace");
        assert_eq!(note.is_some(), summary.is_thinned(), "{note:?}");
        assert!(!is_whole || note.is_none(), "{note:?}");
    }
}

fn lps_shown(trace: &Value) -> Vec<u64> {
    shown(trace).into_keys().collect()
}

#[test]
fn a_trace_needs_pes_and_a_file_that_can_be_written() {
    let sequential = Simulation::new(hopping(3, None)).trace("/no/such/place");
    assert!(sequential.run().unwrap_err().to_string().contains("--sync optimistic"));
    assert!(
        hops(3)
            .trace_limit(5)
            .run()
            .unwrap_err()
            .to_string()
            .starts_with("`trace-limit` limits a trace, and there is none")
    );
    let error = hops(3).trace("/no/such/place").run().unwrap_err();
    assert!(
        matches!(&error, Error::Trace { path, .. } if path.ends_with("place"))
            && error.to_string().contains("/no/such/place")
    );
}

/// The phases of each PE add up to no more than the time of the loop.
#[test]
fn phases_are_the_time_of_the_loop() {
    let _limit = time_limit("two threads");
    let run = hops(300).end(200.0).threads(2).run().expect("it runs");
    let seconds = run.record.loop_seconds;
    let parallel = run.record.parallel.expect("it was parallel");
    for pe in &parallel.pes {
        let phases = pe.phase_seconds.list();
        assert!(phases.iter().all(|(_, seconds)| *seconds >= 0.0), "{phases:?}");
        let sum: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
        assert!(sum > 0.0 && sum <= seconds * (1.0 + 1e-6), "{sum} of {seconds}: {phases:?}");
        assert!(
            pe.phase_seconds.event_processing > 0.0 && pe.phase_seconds.fossil_collection > 0.0,
            "{phases:?}"
        );
    }
    let all: f64 = parallel.phase_seconds.list().iter().map(|(_, seconds)| seconds).sum();
    assert!(all <= 2.0 * seconds * (1.0 + 1e-6));
}
