//! The cluster of µsik's study, modelled: RCPHOLD on up to 216 000 cores.

use warpline::command::{Measured, Study, StudyCase, StudyFigure, Way};

use super::figures::{figure, range, ratios};
use super::usik::{ASYNCHRONOUS, SYNCHRONOUS};

/// Cores of the paper's, with four to eight times as many from one to the next.
const CORES: [u32; 4] = [1008, 8064, 64_512, 216_000];
/// LPs of a core and messages of an LP: the paper's, and how many messages LPs have here.
const STRUCTURES: [(u32, u32, u32); 2] = [(10, 1000, 10), (100, 100, 1)];
/// With more LPs than this in all, a structure is left out.
const LPS_MOST: u32 = 7_000_000;

const DIFFERS: &str = "the machine is modelled, and most figures of `cray-xt5` are assumed, as its file says; LPs have a hundredth of the messages, and \
                       runs end at 2, not at 1 000, so that PEs have far less to do between two computations of GVT, and GVT matters more";

/// Fig. 6, 8 and 12.
pub(super) const CORES_STUDY: Study = Study {
    name: "usik/cores",
    about: "RCPHOLD on 1 008 to 216 000 modelled cores, with synchronous, asynchronous and one-sided GVT, at a lookahead of 0.5",
    source: "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 6, 8 and 12a",
    claim: "all are alike on few cores; from 32 000 cores on, asynchronous GVT gets ahead in conservative runs, by more than 1.5 times in (100,100); \
            the number of GVT computations is nearly the same; on 216 000 cores, the best run is 170 600 times as fast as one core, measured from \
            1 008 cores on",
    differs: DIFFERS,
    model: "phold",
    conditions: |_| {
        let mut all = Vec::new();
        for sync in ["conservative", "optimistic"] {
            for structure in STRUCTURES {
                let fits = |cores: &u32| cores * structure.0 <= LPS_MOST;
                let cores = CORES.into_iter().filter(fits);
                all.extend(cores.map(|cores| rcphold(cores, structure, sync, "0.5")));
            }
        }
        all
    },
    variants: |_| variants(),
    figures: cores_figures,
    ends: [2.0, 0.1],
    seconds: [10.0, 1.0],
    in_pairs: false,
};

/// Fig. 5 to 8 and 18 to 21, where they have few cores.
pub(super) const LOOKAHEAD: Study = Study {
    name: "usik/lookahead",
    about: "RCPHOLD on 1 008 and 4 032 modelled cores, with synchronous, asynchronous and one-sided GVT, at four lookaheads",
    source: "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 5 to 8 and 18 to 21",
    claim: "conservative runs take nearly the same number of GVT computations whatever the algorithm, and a fifth of it at a lookahead of 0.5 instead of \
            0.1; asynchronous GVT is no slower, and at 0.1 up to 1.5 times as fast in (100,100); optimistic runs with synchronous GVT take more than 1.5 \
            times as many computations and undo nothing, except at 0.01 in (10,1000), where they take 1.5 to 3 times fewer and are ahead",
    differs: DIFFERS,
    model: "phold",
    conditions: |_| {
        let mut all = Vec::new();
        for cores in [1008, 4032] {
            for structure in STRUCTURES {
                for sync in ["conservative", "optimistic"] {
                    let cases = ["0.01", "0.1", "0.5", "1"];
                    all.extend(cases.map(|lookahead| rcphold(cores, structure, sync, lookahead)));
                }
            }
        }
        all
    },
    variants: |_| variants(),
    figures: super::usik::rcphold_figures,
    ends: [2.0, 0.2],
    seconds: [3.0, 0.4],
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
    let [first, .., last] = CORES;
    let best = |words: &[&str]| {
        ratios(measured, words, |condition| {
            let gain = |variant: usize| measured.gain(condition, variant, SYNCHRONOUS);
            ASYNCHRONOUS.into_iter().filter_map(gain).reduce(f64::max)
        })
    };
    let few = format!("{first} cores");
    let many = format!("{last} cores");
    let rate = |cores: &str, variant| {
        let words = [cores, "(10,1000) conservative"];
        Some(range(measured, &measured.rates, &words, &[variant])?[1])
    };
    let [_, one_sided] = ASYNCHRONOUS;
    let speed_up = |variant| {
        let times = rate(&many, variant)? / rate(&few, variant)?;
        Some(format!("{:.0}", times * f64::from(first)))
    };
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
            "self-relative speed-up on 216 000 cores, 1A, conservative (10,1000)",
            "170 600 at best, in (100,100)",
            speed_up(one_sided),
        ),
        figure("the same, 2S", "less", speed_up(SYNCHRONOUS)),
        figure(
            "ε on 216 000 cores, 1A, conservative (10,1000)",
            "54 billion events/s at best",
            rate(&many, one_sided).map(|rate| format!("{:.2} billion events/s", rate / 1e9)),
        ),
        figure(
            "F: asynchronous over synchronous, conservative, 1 008 cores",
            "nearly 1",
            best(&[&few, "conservative"]),
        ),
        figure(
            "F: the same on 64 512 cores, (100,100)",
            "more than 1.5 times",
            best(&["64512 cores", "(100,100) conservative"]),
        ),
        figure(
            "F: the same on 216 000 cores",
            "more than 1.5 times in (100,100)",
            best(&[&many, "conservative"]),
        ),
        figure("F: optimistic, 216 000 cores", "1.2 to 1.5 times", best(&[&many, "optimistic"])),
        figure("λ: most over least, conservative", "nearly 1", alike),
        figure("α: rollbacks of a PE, synchronous", "none", undone(&[SYNCHRONOUS])),
        figure("α: rollbacks of a PE, asynchronous", "some", undone(&ASYNCHRONOUS)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_up_counts_from_the_least_cores() {
        let rates = |least: f64, most: f64| vec![vec![Some(least); 3], vec![Some(most); 3]];
        let names = ["1008 cores", "216000 cores"];
        let measured = Measured {
            conditions: names.map(|cores| format!("{cores}, (10,1000) conservative, 0.5")).into(),
            rates: rates(2e8, 3e10),
            gains: vec![
                vec![Some(1.0), Some(1.1), Some(1.2)],
                vec![Some(1.0), Some(1.5), Some(1.4)],
            ],
            gvt_epochs: vec![vec![Some(4.0), Some(5.0), Some(4.0)]; 2],
            ..Measured::default()
        };
        let figures = cores_figures(&measured);
        let here: Vec<&str> =
            figures.iter().map(|figure| figure.here.as_deref().unwrap_or("none")).collect();
        assert_eq!(
            here,
            [
                "151200",
                "151200",
                "30.00 billion events/s",
                "1.20 times",
                "none",
                "1.50 times",
                "none",
                "1.25 to 1.25 times",
                "none",
                "none"
            ]
        );
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let names: Vec<String> =
            (CORES_STUDY.conditions)(2).into_iter().map(|case| case.name).collect();
        assert!(names.contains(&"64512 cores, (100,100) optimistic, 0.5".to_owned()), "{names:?}");
        assert!(!names.contains(&"216000 cores, (100,100) optimistic, 0.5".to_owned()));
        assert_eq!(names.len(), 14);
    }
}
