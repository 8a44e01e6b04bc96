//! The cluster of µsik's study, modelled: RCPHOLD on up to 216 000 cores.

use warpline::command::{Measured, Study, StudyCase, StudyFigure, Way};

use super::figures::{figure, range, ratios};
use super::usik::{ASYNCHRONOUS, SYNCHRONOUS, best_gains};

/// Some of the paper's numbers of cores.
const CORES: [u32; 3] = [1008, 4032, 32_256];
/// The least and the most of them.
const ENDS: [u32; 2] = [1008, 216_000];
/// LPs of a core and messages of an LP: the paper's, and how many messages LPs have here.
const STRUCTURES: [(u32, u32, u32); 2] = [(10, 1000, 10), (100, 100, 1)];

const DIFFERS: &str = "the machine is modelled, and most figures of `cray-xt5` are assumed, as its file says; LPs have a hundredth of the messages, and \
                       runs end at 2 to 6, not at 1 000, so that PEs have far less to do between two computations of GVT, and GVT matters more";

/// Fig. 6, 8 and 12.
pub(super) const CORES_STUDY: Study = Study {
    name: "usik/cores",
    about: "RCPHOLD on 1 008 to 32 256 modelled cores, with synchronous, asynchronous and one-sided GVT, at a lookahead of 0.5",
    source: "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 6 and 8",
    claim: "all are alike on few cores; from 32 000 cores on, asynchronous GVT gets ahead in conservative runs, by more than 1.5 times in (100,100); \
            the number of GVT computations is nearly the same",
    differs: DIFFERS,
    model: "phold",
    conditions: |_| {
        let mut all = Vec::new();
        for sync in ["conservative", "optimistic"] {
            for structure in STRUCTURES {
                all.extend(CORES.map(|cores| rcphold(cores, structure, sync, "0.5")));
            }
        }
        all
    },
    variants: |_| variants(),
    figures: cores_figures,
    ends: [3.0, 0.7],
    seconds: [6.0, 1.0],
    in_pairs: false,
};

/// The paper's title, and Fig. 12a.
pub(super) const ALL_CORES: Study = Study {
    name: "usik/216000",
    about: "RCPHOLD on 216 000 modelled cores, with synchronous, asynchronous and one-sided GVT, beside 1 008",
    source: "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 6 and 12a",
    claim: "216 000 cores execute 54 billion events a second at best, and are up to 170 600 times as fast as one, measured from 1 008 on; \
            asynchronous GVT is more than 1.5 times as fast in (100,100)",
    differs: DIFFERS,
    model: "phold",
    conditions: |_| ENDS.map(|cores| rcphold(cores, STRUCTURES[0], "conservative", "0.5")).into(),
    variants: |_| variants(),
    figures: all_cores_figures,
    ends: [2.0, 0.7],
    seconds: [30.0, 11.0],
    in_pairs: false,
};

/// Fig. 5 to 8 and 18 to 21, where they have few cores.
pub(super) const LOOKAHEAD: Study = Study {
    name: "usik/lookahead",
    about: "RCPHOLD on 1 008 modelled cores, with synchronous, asynchronous and one-sided GVT, at four lookaheads",
    source: "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 5 to 8 and 18 to 21",
    claim: "conservative runs take nearly the same number of GVT computations whatever the algorithm, and a fifth of it at a lookahead of 0.5 instead of \
            0.1; asynchronous GVT is no slower, and at 0.1 up to 1.5 times as fast in (100,100); optimistic runs with synchronous GVT take more than 1.5 \
            times as many computations and undo nothing, except at 0.01 in (10,1000), where they take 1.5 to 3 times fewer and are ahead",
    differs: DIFFERS,
    model: "phold",
    conditions: |_| {
        let mut all = Vec::new();
        let [cores, ..] = CORES;
        for structure in STRUCTURES {
            for sync in ["conservative", "optimistic"] {
                let cases = ["0.01", "0.1", "0.5", "1"];
                all.extend(cases.map(|lookahead| rcphold(cores, structure, sync, lookahead)));
            }
        }
        all
    },
    variants: |_| variants(),
    figures: super::usik::rcphold_figures,
    ends: [6.0, 1.5],
    seconds: [3.0, 0.8],
    in_pairs: false,
};

/// RCPHOLD on so many cores. A cluster is a core, and messages go to the neighbouring ones.
fn rcphold(
    cores: u32,
    (lps, messages, here): (u32, u32, u32),
    sync: &str,
    lookahead: &str,
) -> StudyCase {
    let mut arguments = vec![
        format!("--lps={}", lps * cores),
        format!("--clusters={cores}"),
        format!("--population={here}"),
        "--reach=1".to_owned(),
        format!("--lookahead={lookahead}"),
        format!("--sync={sync}"),
    ];
    if sync == "optimistic" {
        arguments.extend(["--undo=reverse", "--go-ahead=always"].map(str::to_owned));
    }
    let name = format!("{cores} cores, ({lps},{messages}) {sync}, {lookahead}");
    StudyCase::new(name, arguments).pes(cores)
}

fn variants() -> Vec<StudyCase> {
    ["usik-2s", "usik-2a", "usik-1a"]
        .map(|preset| {
            let arguments = [format!("--preset={preset}"), "--machine=cray-xt5".to_owned()];
            StudyCase::new(preset, arguments).by(Way::Modelled)
        })
        .into()
}

fn cores_figures(measured: &Measured) -> Vec<StudyFigure> {
    let [few, .., many] = CORES.map(|cores| format!("{cores} cores"));
    let alike = ratios(measured, &["conservative"], |condition| {
        let of = |variant: &usize| *measured.gvt_epochs.get(condition)?.get(*variant)?;
        let all: Option<Vec<f64>> = [SYNCHRONOUS].iter().chain(&ASYNCHRONOUS).map(of).collect();
        let all = all?;
        Some(all.iter().copied().reduce(f64::max)? / all.iter().copied().reduce(f64::min)?)
    });
    let undone = |variants: &[usize]| {
        let [least, most] = range(measured, &measured.rollbacks, &["optimistic"], variants)?;
        Some(format!("{least:.1} to {most:.1}"))
    };
    vec![
        figure(
            "F: asynchronous over synchronous, conservative, 1 008 cores",
            "nearly 1",
            best_gains(measured, &[&few, "conservative"]),
        ),
        figure(
            "F: the same on 32 256 cores, (100,100)",
            "more than 1.5 times",
            best_gains(measured, &[&many, "(100,100) conservative"]),
        ),
        figure(
            "F: optimistic, 32 256 cores",
            "1.2 to 1.5 times",
            best_gains(measured, &[&many, "optimistic"]),
        ),
        figure("λ: most over least, conservative", "nearly 1", alike),
        figure("α: rollbacks of a PE, synchronous", "none", undone(&[SYNCHRONOUS])),
        figure("α: rollbacks of a PE, asynchronous", "some", undone(&ASYNCHRONOUS)),
    ]
}

fn all_cores_figures(measured: &Measured) -> Vec<StudyFigure> {
    let [few, many] = ENDS.map(|cores| format!("{cores} cores"));
    let [.., one_sided] = ASYNCHRONOUS;
    let rate =
        |cores: &str, variant| Some(range(measured, &measured.rates, &[cores], &[variant])?[1]);
    let speed_up = |variant| {
        let times = rate(&many, variant)? / rate(&few, variant)?;
        Some(format!("{:.0}", times * f64::from(ENDS[0])))
    };
    vec![
        figure(
            "self-relative speed-up on 216 000 cores, 1A",
            "170 600 at best, in (100,100)",
            speed_up(one_sided),
        ),
        figure("the same, 2S", "less", speed_up(SYNCHRONOUS)),
        figure(
            "ε on 216 000 cores, 1A",
            "54 billion events/s at best",
            rate(&many, one_sided).map(|rate| format!("{:.2} billion events/s", rate / 1e9)),
        ),
        figure(
            "F: asynchronous over synchronous, 216 000 cores",
            "more than 1.5 times in (100,100)",
            best_gains(measured, &[&many]),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(figures: &[StudyFigure]) -> Vec<&str> {
        figures.iter().map(|figure| figure.here.as_deref().unwrap_or("none")).collect()
    }

    fn measured(cores: [u32; 2], rates: [f64; 2], gains: [[f64; 3]; 2]) -> Measured {
        Measured {
            conditions: cores
                .map(|cores| format!("{cores} cores, (10,1000) conservative, 0.5"))
                .into(),
            rates: rates.map(|rate| vec![Some(rate); 3]).into(),
            gains: gains.map(|gains| gains.map(Some).into()).into(),
            gvt_epochs: vec![vec![Some(4.0), Some(5.0), Some(4.0)]; 2],
            ..Measured::default()
        }
    }

    #[test]
    fn speed_up_counts_from_the_least_cores() {
        let measured = measured(ENDS, [2e8, 3e10], [[1.0, 1.1, 1.2], [1.0, 1.5, 1.4]]);
        let figures = all_cores_figures(&measured);
        assert_eq!(here(&figures), ["151200", "151200", "30.00 billion events/s", "1.50 times"]);
    }

    #[test]
    fn gains_are_those_of_few_and_of_many_cores() {
        let cores = [CORES[0], CORES[2]];
        let measured = measured(cores, [1.0; 2], [[1.0, 1.1, 1.2], [1.0, 1.5, 1.4]]);
        let figures = cores_figures(&measured);
        let expected = ["1.20 times", "none", "none", "1.25 to 1.25 times", "none", "none"];
        assert_eq!(here(&figures), expected);
    }

    /// Otherwise nothing happens before the end of a quick run.
    #[test]
    fn quick_runs_end_beyond_the_lookahead() {
        for study in [CORES_STUDY, ALL_CORES, LOOKAHEAD] {
            for condition in (study.conditions)(2) {
                let (_, lookahead) = condition.name.rsplit_once(", ").expect("it ends in it");
                let lookahead: f64 = lookahead.parse().expect("a number");
                assert!(study.ends[1] > lookahead, "{}: {}", study.name, condition.name);
            }
        }
    }
}
