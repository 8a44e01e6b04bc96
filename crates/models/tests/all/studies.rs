//! All studies: their conditions, variants and figures.

use std::collections::BTreeSet;

use warpline::command::{Measured, Study, StudyCase};
use warpline::prelude::*;
use warpline::{Payload, Settings, Simulation};
use warpline_models::STUDIES;
use warpline_models::phold::{Phold, PholdParameters};
use warpline_testkit::time_limit;

/// A study without measurements has its figures, and each of its cases has its own name.
#[test]
fn a_study_without_measurements_has_its_figures() {
    for study in STUDIES {
        for pes in [2, 3, 8, 48] {
            let conditions = (study.conditions)(pes);
            let variants = (study.variants)(pes);
            let mut names: Vec<String> = conditions.iter().map(|case| case.name.clone()).collect();
            let nothing = vec![vec![None; variants.len()]; names.len()];
            let [rates, gains, seconds] = [(); 3].map(|()| nothing.clone());
            let measured = Measured {
                conditions: names.clone(),
                rates,
                gains,
                seconds,
                gvt_epochs: nothing.clone(),
                rollbacks: nothing.clone(),
                gvt_shares: nothing.clone(),
                phases: Vec::new(),
            };
            assert!(
                (study.figures)(&measured).iter().all(|figure| figure.here.is_none()),
                "{}",
                study.name
            );
            names.extend(variants.iter().map(|case| case.name.clone()));
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count, "{}", study.name);
        }
    }
}

/// All variants under a condition must give one answer, so a variant changes settings and no
/// parameters of the model.
#[test]
fn variants_differ_in_settings_alone() {
    for study in STUDIES {
        for variant in (study.variants)(2) {
            for argument in &variant.arguments {
                let (name, value) = argument
                    .strip_prefix("--")
                    .and_then(|text| text.split_once('='))
                    .expect("an option with a value");
                let outcome = Settings::default().set(name, value);
                assert!(
                    name == "preset" || outcome.is_ok(),
                    "{}, {}: {argument}: {outcome:?}",
                    study.name,
                    variant.name
                );
            }
        }
    }
}

/// The parameters of PHOLD under a condition.
fn phold_parameters(study: &Study, condition: &StudyCase) -> PholdParameters {
    let mut parameters = PholdParameters::default();
    for argument in &condition.arguments {
        let (name, value) = argument
            .strip_prefix("--")
            .and_then(|text| text.split_once('='))
            .expect("an option with a value");
        if name != "preset" && Settings::default().set(name, value).is_err() {
            parameters
                .set(name, value)
                .unwrap_or_else(|why| panic!("{}, {}: {why}", study.name, condition.name));
        }
    }
    parameters
}

/// The conditions of PHOLD of all studies with this many PEs.
fn phold_conditions(pes: u32) -> impl Iterator<Item = (&'static Study, StudyCase)> {
    let studies = STUDIES.iter().filter(|study| study.model == "phold");
    let all = studies.flat_map(move |study| {
        (study.conditions)(pes).into_iter().map(move |condition| (study, condition))
    });
    all.filter(|(_, condition)| condition.model.is_none())
}

/// All options of a condition that are not settings are parameters of the model, and are
/// possible together.
#[test]
fn conditions_are_possible() {
    for (study, condition) in phold_conditions(2) {
        if let Err(why) = Phold::<Payload>::configure(&phold_parameters(study, &condition)) {
            panic!("{}, {}: {why}", study.name, condition.name);
        }
    }
}

/// Where no message leaves its cluster, none leaves its PE.
#[test]
fn a_cluster_is_a_pe_where_their_numbers_match() {
    const PES_MOST: u32 = 64;
    let _limit = time_limit("studies");
    let mut seen = BTreeSet::new();
    for (study, condition) in [2, 3, 7, 8].into_iter().flat_map(phold_conditions) {
        let parameters = phold_parameters(study, &condition);
        let PholdParameters { lps, clusters, .. } = parameters;
        let pes = condition.pes.unwrap_or(clusters);
        // Thousands of PEs divide LPs by the same rule, and take long.
        let are_few = (2..=PES_MOST).contains(&clusters);
        if !are_few || clusters != pes || !seen.insert((lps, clusters)) {
            continue;
        }
        let alone = PholdParameters {
            population: 1,
            remote: 0.0,
            reach: 0,
            payload: 8,
            epg: 0,
            ..parameters
        };
        let simulation = Simulation::<Phold>::configured(&alone)
            .expect("it is possible")
            .end(0.5)
            .threads(pes)
            .virtual_cluster(1);
        let record = simulation.run().expect("it runs").record;
        let parallel = record.parallel.expect("it is parallel");
        let name = format!("{}, {} with {lps} LPs on {pes} PEs", study.name, condition.name);
        assert_eq!((parallel.remote_events, parallel.rolled_back_events), (0, 0), "{name}");
        assert!(record.committed_events > 0, "{name}");
    }
    assert!(seen.len() > 10, "{seen:?}");
}
