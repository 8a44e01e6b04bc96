//! Scaling curves from runs by hand.

use serde_json::json;
use warpline_record::{MachineRecord, MachineShares, Partial, RunRecord};

use super::*;
use crate::sample;

/// A run on so many PEs with this rate and efficiency; the rest is waiting for GVT.
fn run(pes: u64, event_rate: f64, efficiency: f64) -> RunRecord {
    let mut run = sample::optimistic(1e6);
    let parallel = run.parallel.as_mut().unwrap();
    parallel.gvt_epochs = 10;
    parallel.rolled_back_events = 0;
    let waiting = 1.0 - efficiency;
    parallel.machine = Some(MachineRecord {
        name: "toy".to_owned(),
        pes,
        nodes: pes.div_ceil(12),
        seconds: 2.0,
        event_rate,
        efficiency,
        shares: MachineShares { computing: efficiency, waiting, ..MachineShares::default() },
        gvt_latency: Some(waiting),
        ..MachineRecord::default()
    });
    run
}

fn ended_early(mut run: RunRecord) -> RunRecord {
    run.partial = Some(Partial { wanted_end: 99.0, wanted_runs: 1 });
    run.digest = "00000000000000ff".to_owned();
    run
}

#[test]
fn a_curve_has_rate_speed_up_and_limits_of_each_number() {
    let curve = Curve::of(vec![run(64, 1e6, 0.9), run(256, 2e6, 0.45)]);
    let text = curve.text();
    let line = |start: &str| text.lines().find(|line| line.trim().starts_with(start)).unwrap();
    for wanted in ["2.00 M events/s", "45.0 %", "55.0 %"] {
        assert!(line("256 ").contains(wanted), "{text}");
    }
    let said = "On all of 64 to 256 PEs, most is lost to GVT's latency: 55 % of all PEs' time on";
    assert!(text.contains(said), "{text}");
    let object = curve.json(&["a note".to_owned()]);
    let point = &object["scaling"][1];
    assert_eq!(
        [&point["pes"], &point["speed_up"], &point["ideal_speed_up"]],
        [&json!(256), &json!(2.0), &json!(4.0)]
    );
    let latency = point["limits"]["gvt_latency"].as_f64().unwrap();
    assert!((latency - 0.55).abs() < 1e-12);
    assert_eq!(object["notes"], json!(["a note"]));
}

#[test]
fn answers_that_differ_are_wrong_unless_a_run_was_ended_early() {
    let mut other = run(256, 2e6, 0.45);
    other.digest = "00000000000000bb".to_owned();
    let curve = Curve::of(vec![run(64, 1e6, 0.9), other]);
    assert!(curve.disagreement().unwrap().starts_with("WRONG ANSWER"));
    let curve = Curve::of(vec![run(64, 1e6, 0.9), ended_early(run(256, 2e6, 0.45))]);
    assert_eq!(curve.disagreement(), None);
    assert!(curve.text().contains("256 (ended early)"), "{}", curve.text());
    assert_eq!(curve.json(&[])["scaling"][1]["partial"], json!(true));
}

#[test]
fn a_run_that_is_ended_early_or_fails_is_the_last() {
    let tried = |early: u32, failing: u32| {
        one_by_one(&[2, 4, 8], |pes| {
            if pes == failing {
                return Err(Failure::failed("oh no"));
            }
            let run = run(u64::from(pes), 1e6, 0.9);
            let ended = (pes == early).then(|| Failure::failed("ended early"));
            Ok((if pes == early { ended_early(run) } else { run }, ended))
        })
    };
    let told = |runs: Runs| (runs.0.len(), runs.1.map(|failure| failure.message));
    assert_eq!(told(tried(0, 0).unwrap()), (3, None));
    assert_eq!(told(tried(4, 0).unwrap()), (2, Some("ended early".to_owned())));
    assert_eq!(told(tried(0, 8).unwrap()), (2, Some("on 8 PEs: oh no".to_owned())));
    assert_eq!(tried(0, 2).unwrap_err().message, "oh no");
}

#[test]
fn settings_that_leave_no_choice_of_pes_are_refused() {
    let refused = |words: &[(&str, &str)]| check(&Settings::typed(words)).unwrap_err();
    let machine = ("machine", "cray-xt5");
    assert!(refused(&[]).contains("needs a machine"));
    assert!(refused(&[machine, ("pes", "8")]).contains("`pes` is 8"));
    assert!(refused(&[machine, ("replications", "2")]).contains("leave `replications` out"));
    assert!(check(&Settings::typed(&[machine])).is_ok());
    let several = Settings::typed(&[machine, (SCALING, "256, 64,64")]);
    assert_eq!(several.command.scaling.as_ref().unwrap().0, [64, 256]);
    let one = with_pes(&several, 64).unwrap();
    assert_eq!((one.simulation.pes, one.command.scaling), (Some(64), None));
    assert!(with_pes(&several, u32::MAX).is_err(), "as many as a machine may have");
}

#[test]
fn a_report_has_the_curve_its_limits_and_the_table() {
    let curve = Curve::of(vec![run(64, 1e6, 0.9), run(256, 2e6, 0.45), run(1024, 2e6, 0.2)]);
    let study = curve.study(json!({}), None, Default::default());
    assert_eq!((study.views.len(), study.facts.len(), study.advice.len()), (3, 3, 1));
    let page = warpline_report::render_study(&study);
    assert!(page.contains("speed-up against 64 PEs") && page.contains("GVT&#39;s latency"));
}
