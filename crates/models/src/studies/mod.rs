//! Experiments from the literature, for `warpline study`.

mod defaults;
mod figures;
mod gsu;
mod gsu_hardware;
mod gtw;
mod knl;
mod mupi;
mod ross_mt;
mod usik;

use warpline::command::Study;

/// All studies.
pub const STUDIES: &[Study] = &[
    usik::RCPHOLD,
    usik::LOOKAHEAD,
    usik::ALL_CORES,
    usik::FIGURE_14,
    usik::FIGURE_15,
    usik::FIGURE_16,
    usik::FIGURE_17,
    usik::FIGURE_18,
    usik::FIGURE_19,
    usik::FIGURE_20,
    usik::FIGURE_21,
    usik::STRONG_SCALING,
    usik::NOISE,
    usik::GVT,
    mupi::BARRIER,
    mupi::PING,
    gsu::MESSAGE_SIZE,
    gsu::LPS,
    gsu::NETWORK,
    gsu_hardware::HARDWARE,
    gsu_hardware::SIMPLESIM,
    ross_mt::PROCESSES_AND_THREADS,
    ross_mt::OPTIMISATIONS,
    ross_mt::BREAKDOWN,
    ross_mt::MESSAGE_SIZE,
    ross_mt::SPEED_UP,
    gtw::SEND_TIME,
    gtw::RATE,
    gtw::NEIGHBOURS,
    gtw::MEMORY,
    gtw::HYPERCUBE,
    gtw::PCS,
    knl::VARIANTS,
    knl::CAS,
    knl::THREADS_PER_COMMUNICATOR,
    knl::GVT_INTERVAL,
    defaults::DEFAULTS,
];

#[cfg(test)]
mod tests {
    use warpline::Settings;
    use warpline::command::{Measured, StudyCase};
    use warpline::prelude::*;

    use super::figures::*;
    use super::*;
    use crate::phold::{Phold, PholdParameters};

    fn measured(conditions: &[&str], rates: &[[f64; 2]]) -> Measured {
        let some = |of: fn(f64) -> f64| {
            rates.iter().map(|rates| rates.iter().map(|rate| Some(of(*rate))).collect()).collect()
        };
        let conditions = conditions.iter().map(|&name| name.to_owned()).collect();
        let gains = rates
            .iter()
            .map(|rates| rates.iter().map(|rate| Some(rate / rates[0])).collect())
            .collect();
        Measured {
            conditions,
            rates: some(|rate| rate),
            gains,
            seconds: some(|rate| 1.0 / rate),
            gvt_epochs: some(|rate| rate),
            rollbacks: some(|rate| rate),
            gvt_shares: Vec::new(),
            phases: Vec::new(),
        }
    }

    #[test]
    fn gains_are_those_of_the_conditions_meant() {
        let measured = measured(
            &["8 bytes, a", "8 bytes, b", "500 bytes"],
            &[[2.0, 1.0], [3.0, 1.0], [8.0, 1.0]],
        );
        assert_eq!(gains(&measured, "8 bytes", 0, 1).as_deref(), Some("2.00 to 3.00 times"));
        assert_eq!(gains(&measured, "500", 0, 1).as_deref(), Some("8.00 times"));
        assert_eq!((gains(&measured, "none", 0, 1), gains(&measured, "500", 0, 2)), (None, None));
    }

    #[test]
    fn the_fastest_and_the_slowest_of_others_are_found() {
        let measured = measured(&["a", "b"], &[[2.0, 4.0], [3.0, 1.0]]);
        let of = |pick| gains_over(&measured, 0, &[0, 1], pick);
        assert_eq!(
            (of(f64::min).unwrap(), of(f64::max).unwrap()),
            ("0.50 to 1.00 times".to_owned(), "1.00 to 3.00 times".to_owned())
        );
        assert_eq!(gains_over(&measured, 0, &[2], f64::min), None);
    }

    /// A study without measurements has its figures, and each of its cases has its own name.
    #[test]
    fn a_study_without_measurements_has_its_figures() {
        for study in STUDIES {
            for pes in [2, 3, 8, 48] {
                let conditions = (study.conditions)(pes);
                let variants = (study.variants)(pes);
                let mut names: Vec<String> =
                    conditions.iter().map(|case| case.name.clone()).collect();
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
        let _limit = warpline_testkit::time_limit("studies");
        let mut seen = std::collections::BTreeSet::new();
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

    #[test]
    fn the_size_from_which_copies_lose_is_found() {
        let names = ["500 bytes", "3000 bytes", "7000 bytes"];
        let from = |rates: &[[f64; 2]]| gsu::ahead_from(&measured(&names, rates), 0, 1).unwrap();
        assert_eq!(from(&[[1.0, 2.0], [2.0, 1.0], [3.0, 1.0]]), "from 3000 bytes on");
        assert_eq!(from(&[[2.0, 1.0], [2.0, 1.0], [3.0, 1.0]]), "at all sizes measured");
        assert_eq!(from(&[[2.0, 1.0], [2.0, 1.0], [1.0, 3.0]]), "not at the largest size");
    }
}
