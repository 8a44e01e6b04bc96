use super::{about, refusal, results, steady};
use crate::estimates::near;
use warpline::serde_json::json;
use warpline_models::processes::hospital::Hospital;

/// The probability of waiting in M/M/c (Erlang C), for an offered load of `load` servers.
pub(super) fn erlang_c(servers: u32, load: f64) -> f64 {
    let mut blocking = 1.0;
    for number in 1..=servers {
        blocking = load * blocking / (f64::from(number) + load * blocking);
    }
    let share = load / f64::from(servers);
    blocking / (1.0 - share * (1.0 - blocking))
}

/// Who is more urgent waits less: M/M/c with priorities (Cobham 1954).
#[test]
fn patients_wait_by_urgency_as_in_theory() {
    let doctors = 4;
    let hospital = Hospital {
        gap: 7.5,
        nurses: 100,
        day_doctors: doctors,
        night_doctors: doctors,
        ..Hospital::default()
    };
    let found = steady::<Hospital>(&hospital, 8_000_000.0);
    let load = hospital.treatment / hospital.gap;
    let all = f64::from(doctors);
    let first = erlang_c(doctors, load) * hospital.treatment / all;
    let mut above = 0.0;
    for (urgency, share) in [0.1, 0.3, 0.6].into_iter().enumerate() {
        let with = above + share * load / all;
        let name = format!("urgency {urgency}");
        let wait = json!({ &name: found["wait"][urgency] });
        near(&wait, &name, first / ((1.0 - above) * (1.0 - with)));
        above = with;
    }
    near(&found, "busy", load);
}

/// So many patients come that all doctors are always busy.
#[test]
fn there_are_fewer_doctors_at_night() {
    let hospital = Hospital {
        gap: 1.0,
        triage: 0.0,
        treatment: 4.0,
        day_doctors: 2,
        night_doctors: 1,
        ..Hospital::default()
    };
    let found = results::<Hospital>(&hospital, 20.0 * hospital.shift);
    // A doctor finishes after the shift.
    let late = hospital.treatment / hospital.shift / 2.0;
    let busy = found["busy"]["mean"].as_f64().unwrap();
    assert!((busy - 1.5 - late).abs() < 0.01, "{busy}");
    about(&found, "treated", 20.0 * hospital.shift * 1.5 / 4.0, 0.06);
}

#[test]
fn shares_of_patients_cannot_exceed_all() {
    let why = refusal::<Hospital>(&Hospital { serious: 0.95, ..Hospital::default() });
    assert!(why.contains("`serious` (0.95)"), "{why}");
}
