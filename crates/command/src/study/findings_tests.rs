//! Findings of made-up runs.

use serde_json::json;
use warpline_record::{MachineRecord, MachineShares};

use super::*;
use crate::process::ways::Way;
use crate::sample;
use crate::study::text::TOO_SHORT;

pub(in super::super) const STUDY: Study = Study {
    name: "clocks/speed",
    about: "clocks",
    source: "Huygens, 1657",
    claim: "pendulums are twice as fast",
    differs: "there is no pendulum",
    model: "clock",
    conditions: |pes| {
        (0..pes).map(|number| StudyCase::new(format!("room {number}"), ["--room"])).collect()
    },
    variants: |_| {
        ["spring", "pendulum"].map(|name| StudyCase::new(name, [format!("--by={name}")])).into()
    },
    figures: |measured| {
        let here = measured.gains(1, 0).map(|[least, most]| format!("{least} to {most} times"));
        vec![StudyFigure {
            what: "how much faster pendulums are".into(),
            source: "2 times".into(),
            here,
        }]
    },
    ends: [100.0, 1.0],
    seconds: [2.0, 0.1],
    in_pairs: false,
};

/// Three runs of each kind: springs at 1 to 3 million events per second, pendulums twice as fast in
/// the first room and equally fast in the second.
fn findings() -> Findings<'static> {
    let mut findings = Findings::of(&STUDY, 2, false, None);
    for rate in [1e6, 3e6, 2e6] {
        let run = |condition: &StudyCase, variant: &StudyCase, placement: Placement| {
            let faster =
                if variant.name == "pendulum" && condition.name == "room 0" { 2.0 } else { 1.0 };
            Ok(sample::optimistic(if placement.pes() == 1 { 0.5 } else { faster } * rate))
        };
        findings.each(run).unwrap();
    }
    findings
}

#[test]
fn medians_are_compared() {
    let findings = findings();
    assert_eq!(
        (findings.gain(0, 1), findings.gain(1, 1), findings.gain(0, 0)),
        (Some(2.0), Some(1.0), Some(1.0))
    );
    assert_eq!(findings.gains(1), [1.0, 2.0]);
    assert_eq!((findings.speedup(0, 1), findings.speedup(1, 0)), (Some(4.0), Some(2.0)));
    assert_eq!(
        findings.sentences(),
        ["pendulum was 1.5 times as fast as spring in the median over 2 conditions, 1 to 2 times."]
    );
    let text = findings.text(false, 2);
    for words in [
        "clocks/speed, 2 PEs",
        "room 1",
        "pendulums are twice",
        "(Huygens, 1657)",
        "there is no pendulum",
        "17",
        "30",
        "21",
    ] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    assert!(!text.contains(TOO_SHORT) && findings.text(true, 2).contains(TOO_SHORT));
}

/// Pairs are not affected by changes of the machine's speed between them, here after every fourth
/// run.
#[test]
fn pairs_are_compared_run_by_run() {
    const PAIRS: Study = Study { in_pairs: true, ..STUDY };
    let mut findings = Findings::of(&PAIRS, 2, false, None);
    let mut count = 0;
    for _ in 0..4 {
        let run = |_: &StudyCase, variant: &StudyCase, placement: Placement| {
            let speed = if count / 4 % 2 == 0 { 1e6 } else { 3e6 };
            count += 1;
            let faster = if variant.name == "pendulum" && placement.pes() > 1 { 1.5 } else { 1.0 };
            Ok(sample::optimistic(speed * faster))
        };
        findings.each(run).unwrap();
    }
    assert_eq!(count, PAIRS.runs(2, 4, false));
    assert_eq!([0, 1].map(|condition| findings.gain(condition, 1)), [Some(1.5); 2]);
    findings.before[0][1][1].digest = "00000000000000bb".into();
    assert!(findings.failure().is_some());
}

#[test]
fn programs_read_all_figures() {
    let json = findings().json(false, 2);
    let first = &json["cases"][1];
    assert_eq!((&first["condition"], &first["variant"]), (&"room 0".into(), &"pendulum".into()));
    assert_eq!((&first["gain"], &first["speedup"]), (&2.0.into(), &4.0.into()));
    assert_eq!(first["event_rates"], json!([2e6, 6e6, 4e6]));
    assert_eq!(
        (&first["gvt_epochs"], &first["rollbacks_most_per_pe"], &first["rollbacks_mean_per_pe"]),
        (&17.0.into(), &30.0.into(), &21.0.into())
    );
    assert_eq!((json["cases"].as_array().unwrap().len(), &json["pes"]), (4, &2.into()));
}

/// A study stands or falls with its answers.
#[test]
fn another_answer_is_a_failure() {
    let mut findings = findings();
    assert_eq!(findings.failure(), None);
    findings.runs[1][1][2].digest = "00000000000000bb".into();
    let failure = findings.failure().unwrap();
    assert_eq!(
        (failure.message.as_str(), failure.code),
        ("runs under the condition `room 1` gave different answers", 1)
    );
}

/// Figures of the source stand beside those of this machine.
#[test]
fn figures_are_compared() {
    let findings = findings();
    let expected = "how much faster pendulums are: 2 times; here 1 to 2 times.";
    assert!(findings.text(false, 2).contains(expected), "{}", findings.text(false, 2));
    assert_eq!(findings.json(false, 2)["figures"][0]["here"], "1 to 2 times");
}

/// Without a launcher, what takes one is left out with a note, and the rest is done.
#[test]
fn cases_that_take_a_launcher_are_left_out_without_one() {
    let study = Study {
        variants: |_| {
            vec![
                StudyCase::new("spring", ["--a"]),
                StudyCase::new("pendulum", ["--b"]).by(Way::Mpi),
            ]
        },
        ..STUDY
    };
    let mut findings = Findings::of(&study, 3, false, Some("there is no launcher"));
    let mut placements = Vec::new();
    let run = |_: &StudyCase, _: &StudyCase, placement: Placement| {
        placements.push(placement.name());
        Ok(sample::optimistic(1e6))
    };
    assert_eq!(findings.nothing_left(), None);
    findings.each(run).unwrap();
    assert_eq!(placements, ["1 thread", "3 threads"].repeat(3));
    assert_eq!(
        (findings.failure(), findings.gain(0, 1), findings.gain(0, 0)),
        (None, None, Some(1.0))
    );
    let notes = findings.notes(2);
    assert_eq!(notes[0], "Left out: pendulum; there is no launcher.");
    assert!(notes[1].starts_with("Up to 3 PEs share 2 cores here."), "{notes:?}");
    assert_eq!(findings.notes(3).len(), 1);
    let text = findings.text(false, 2);
    assert!(text.contains("here left out.") && text.contains("Left out: pendulum"), "{text}");
    let json = findings.json(false, 2);
    assert_eq!(
        (&json["notes"][0], &json["cases"][1]["way"]),
        (&notes[0].clone().into(), &"mpi".into())
    );
    assert!(json["cases"][1]["event_rate"].is_null());
    let page =
        warpline_report::render_study(&findings.record(json, None, Default::default(), false, 2));
    let ranks = Study {
        variants: |_| vec![StudyCase::new("pendulum", ["--b"]).by(Way::MpiCopies)],
        ..STUDY
    };
    assert_eq!(
        Findings::of(&ranks, 3, false, Some("there is no launcher")).nothing_left(),
        Some("there is no launcher")
    );
    assert_eq!(Findings::of(&ranks, 3, false, None).nothing_left(), None);
    assert!(
        page.contains("Left out: pendulum") && page.contains("Run time"),
        "the report lacks something"
    );
}

/// On modelled machines, rates and shares are those of machine time, each kind of run is made once,
/// and PEs do not share cores.
#[test]
fn studies_on_modelled_machines_are_in_machine_time() {
    let study = Study {
        variants: |_| {
            ["spring", "pendulum"]
                .map(|name| StudyCase::new(name, ["--machine=tower"]).by(Way::Modelled))
                .into()
        },
        ..STUDY
    };
    assert_eq!((study.times(2, 3), STUDY.times(2, 3)), (1, 3));
    assert_eq!(study.runs(2, 3, false), study.runs(2, 1, false));
    let mut findings = Findings::of(&study, 4, false, None);
    let mut placements = Vec::new();
    let run = |_: &StudyCase, variant: &StudyCase, placement: Placement| {
        placements.push(placement.arguments().join(" "));
        let mut run = sample::optimistic(1e6);
        let event_rate = if variant.name == "pendulum" { 30.0 } else { 10.0 };
        let shares = MachineShares { gvt: 0.25, ..MachineShares::default() };
        let machine = MachineRecord { event_rate, seconds: 2.0, shares, ..Default::default() };
        run.parallel.as_mut().unwrap().machine = Some(machine);
        Ok(run)
    };
    findings.each(run).unwrap();
    assert_eq!(placements, ["--pes=1", "--pes=4", "--pes=4"].repeat(4));
    assert_eq!((findings.gain(0, 1), findings.speedup(0, 1)), (Some(3.0), Some(3.0)));
    let json = findings.json(false, 2);
    let case = &json["cases"][0];
    assert_eq!(
        (&case["event_rate"], &case["loop_seconds"], &case["gvt_share"]),
        (&10.0.into(), &2.0.into(), &0.25.into())
    );
    let notes = findings.notes(2);
    assert!(notes.len() == 1 && notes[0].contains("modelled machines"), "{notes:?}");
}

/// The report has a picture of each figure, and claim and measurement in words.
#[test]
fn a_report_shows_what_was_found() {
    let findings = findings();
    let record = findings.record(findings.json(true, 2), None, Default::default(), true, 2);
    let page = warpline_report::render_study(&record);
    for words in [
        "pendulums are twice as fast",
        "too short to say",
        "Committed event rate",
        "GVT epochs",
        "rollbacks",
        "room 1",
        "Gain of pendulum",
        "Self-relative speed-up",
    ] {
        assert!(page.contains(words), "no `{words}`");
    }
    assert_eq!(
        (record.settings["end"].as_f64(), record.settings["runs"].as_u64()),
        (Some(1.0), Some(3))
    );
}
