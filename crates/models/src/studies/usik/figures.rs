//! Fig. 14 to 21 of the paper: RCPHOLD on more and more modelled cores.

use warpline::command::{Measured, Study, StudyCase, StudyFigure};

use super::measures::{
    ASYNCHRONOUS, SYNCHRONOUS, best_gains_by_cores, epochs_apart, epochs_over, epochs_under,
    rollbacks,
};
use super::modelled::{DIFFERS, STRUCTURES, modes, rcphold};
use crate::studies::figures::{figure, matching};

/// The paper's numbers of cores in Fig. 14 to 17, as far as they are studied.
const CORES: [u32; 5] = [1008, 4032, 16_128, 64_512, 216_000];
/// `--quick` has no more cores than this, and neither have Fig. 18 to 21.
const QUICK: u32 = 16_128;
/// Cores with 100 LPs each that fit into the memory of a host.
const LARGE: u32 = 64_512;

/// What the paper says in numbers about a figure.
#[derive(Clone, Copy)]
enum Claim {
    /// F by numbers of cores, in (10,1000) and in (100,100).
    Gain([&'static str; 2]),
    /// The most λ of any variant over the least is nearly 1.
    EpochsAlike,
    /// λ of the synchronous variant over that of the others.
    EpochsOver(&'static str),
    /// λ of the asynchronous variants over that of the synchronous one, in one structure.
    EpochsUnder(&'static str, &'static str),
    /// α of the synchronous variant, and of the others.
    Rollbacks([&'static str; 2]),
    /// The greatest ε.
    Rate(&'static str),
}

impl Claim {
    /// The claim beside what was measured.
    fn beside(self, measured: &Measured) -> Vec<StudyFigure> {
        match self {
            Claim::Gain(claims) => {
                let of = |((lps, messages, _), claim)| {
                    let structure = format!("({lps},{messages})");
                    let here = best_gains_by_cores(measured, &[&structure]);
                    figure(
                        &format!("F: asynchronous over synchronous, {structure}"),
                        claim,
                        here.map(|gains| format!("times as fast: {gains}")),
                    )
                };
                STRUCTURES.into_iter().zip(claims).map(of).collect()
            }
            Claim::EpochsAlike => {
                vec![figure("λ: most over least", "nearly 1", epochs_apart(measured, &[]))]
            }
            Claim::EpochsOver(claim) => {
                let here = epochs_over(measured, &[]);
                vec![figure("λ: synchronous over asynchronous", claim, here)]
            }
            Claim::EpochsUnder(structure, claim) => {
                let what = format!("λ: asynchronous over synchronous, {structure}");
                vec![figure(&what, claim, epochs_under(measured, &[structure]))]
            }
            Claim::Rollbacks([synchronous, asynchronous]) => {
                let of = |what, claim, variants: &[usize]| {
                    figure(
                        &format!("α: rollbacks of a PE, {what}"),
                        claim,
                        rollbacks(measured, variants),
                    )
                };
                vec![
                    of("synchronous", synchronous, &[SYNCHRONOUS]),
                    of("asynchronous", asynchronous, &ASYNCHRONOUS),
                ]
            }
            Claim::Rate(claim) => vec![figure("ε at best", claim, best_rate(measured))],
        }
    }
}

/// The greatest ε, and where.
fn best_rate(measured: &Measured) -> Option<String> {
    let best = |condition: usize| {
        let rates = measured.rates.get(condition)?.iter().flatten();
        Some((condition, rates.copied().reduce(f64::max)?))
    };
    let all = matching(measured, &[]).filter_map(best);
    let (condition, rate) = all.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(format!("{:.2} billion events/s with {}", rate / 1e9, measured.conditions[condition]))
}

/// A figure of the paper.
struct PaperFigure {
    sync: &'static str,
    lookahead: &'static str,
    cores_most: u32,
    claims: &'static [Claim],
}

const FIGURES: [PaperFigure; 8] = [
    PaperFigure {
        sync: "conservative",
        lookahead: "0.1",
        cores_most: 216_000,
        claims: &[
            Claim::Gain(["no worse, in nearly all cases", "no worse, and up to 1.5"]),
            Claim::EpochsAlike,
        ],
    },
    PaperFigure {
        sync: "conservative",
        lookahead: "0.5",
        cores_most: 216_000,
        claims: &[
            Claim::Gain([
                "alike on fewer cores",
                "alike on fewer cores, more than 1.5 from 32 000 on",
            ]),
            Claim::Rate("nearly 54 billion events/s, with 216 000 cores, (100,100)"),
        ],
    },
    PaperFigure {
        sync: "optimistic",
        lookahead: "0.1",
        cores_most: 216_000,
        claims: &[
            Claim::Gain(["1.2 to more than 1.5", "at least 1, most on 216 000 cores"]),
            Claim::EpochsOver("more than 1.5 times"),
            Claim::Rollbacks(["none", "some, nearly none on 216 000 cores"]),
        ],
    },
    PaperFigure {
        sync: "optimistic",
        lookahead: "0.5",
        cores_most: 216_000,
        claims: &[
            Claim::Gain(["1.2 to more than 1.5", "at least 1"]),
            Claim::EpochsOver("more than 1.5 times"),
            Claim::Rollbacks(["none", "some"]),
        ],
    },
    PaperFigure {
        sync: "conservative",
        lookahead: "0.01",
        cores_most: QUICK,
        claims: &[
            Claim::Gain(["nearly 1, ahead from 4 032 cores on", "ahead from 8 064 cores on"]),
            Claim::EpochsAlike,
        ],
    },
    PaperFigure {
        sync: "conservative",
        lookahead: "1",
        cores_most: QUICK,
        claims: &[Claim::Gain([
            "ahead in nearly all cases",
            "ahead in nearly all cases, and by more than in the other structure",
        ])],
    },
    PaperFigure {
        sync: "optimistic",
        lookahead: "0.01",
        cores_most: QUICK,
        claims: &[
            Claim::Gain(["less than 1", "slightly more than 1"]),
            Claim::EpochsUnder("(10,1000)", "1.5 to 3 times"),
            Claim::EpochsUnder("(100,100)", "up to nearly 2 times"),
        ],
    },
    PaperFigure {
        sync: "optimistic",
        lookahead: "1",
        cores_most: QUICK,
        claims: &[
            Claim::Gain(["the more, the more cores there are", "at least 1"]),
            Claim::EpochsOver("more than 1.5 times"),
            Claim::Rollbacks(["none", "some"]),
        ],
    },
];

/// The conditions of a figure, by its place.
fn conditions<const FIGURE: usize>(_: u32) -> Vec<StudyCase> {
    let PaperFigure { sync, lookahead, cores_most, .. } = FIGURES[FIGURE];
    let mut all = Vec::new();
    for structure in STRUCTURES {
        let (lps, ..) = structure;
        let most = if lps > 10 { cores_most.min(LARGE) } else { cores_most };
        let cores = CORES.into_iter().filter(|cores| *cores <= most);
        all.extend(cores.map(|cores| {
            let case = rcphold(cores, structure, sync, lookahead);
            if cores > QUICK { case.only_in_full() } else { case }
        }));
    }
    all
}

/// What the paper says of a figure, by its place, beside what was measured.
fn beside<const FIGURE: usize>(measured: &Measured) -> Vec<StudyFigure> {
    FIGURES[FIGURE].claims.iter().flat_map(|claim| claim.beside(measured)).collect()
}

/// A figure as a study.
const fn study<const FIGURE: usize>(
    [name, about, source, claim]: [&'static str; 4],
    ends: [f64; 2],
    seconds: [f64; 2],
) -> Study {
    Study {
        name,
        about,
        source,
        claim,
        differs: DIFFERS,
        model: "phold",
        conditions: conditions::<FIGURE>,
        variants: |_| modes(),
        figures: beside::<FIGURE>,
        ends,
        seconds,
        in_pairs: false,
    }
}

pub(in super::super) const FIGURE_14: Study = study::<0>(
    [
        "usik/figure-14",
        "conservative RCPHOLD on 1 008 to 216 000 modelled cores at a lookahead of 0.1",
        "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 5 and 14",
        "asynchronous GVT is no slower than synchronous GVT in nearly all cases, and up to 1.5 \
         times as fast in (100,100), with nearly the same number of computations",
    ],
    [0.6, 0.3],
    [12.0, 0.9],
);

pub(in super::super) const FIGURE_15: Study = study::<1>(
    [
        "usik/figure-15",
        "conservative RCPHOLD on 1 008 to 216 000 modelled cores at a lookahead of 0.5",
        "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 6 and 15",
        "all are alike on fewer cores; from 32 000 cores on, asynchronous GVT is more than 1.5 \
         times as fast in (100,100); nearly 54 billion events a second at best",
    ],
    [2.0, 0.7],
    [12.0, 0.8],
);

pub(in super::super) const FIGURE_16: Study = study::<2>(
    [
        "usik/figure-16",
        "optimistic RCPHOLD on 1 008 to 216 000 modelled cores at a lookahead of 0.1",
        "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 7 and 16",
        "asynchronous GVT is at least as fast, and often 1.2 to more than 1.5 times as fast, the \
         more so in (10,1000); synchronous GVT takes more than 1.5 times as many computations, and \
         undoes nothing",
    ],
    [1.2, 0.6],
    [17.0, 1.5],
);

pub(in super::super) const FIGURE_17: Study = study::<3>(
    [
        "usik/figure-17",
        "optimistic RCPHOLD on 1 008 to 216 000 modelled cores at a lookahead of 0.5",
        "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 8 and 17",
        "as at a lookahead of 0.1: asynchronous GVT is at least as fast, and often 1.2 to more \
         than 1.5 times as fast; synchronous GVT takes more than 1.5 times as many computations, \
         and undoes nothing",
    ],
    [4.0, 3.6],
    [17.0, 2.5],
);

pub(in super::super) const FIGURE_18: Study = study::<4>(
    [
        "usik/figure-18",
        "conservative RCPHOLD on 1 008 to 16 128 modelled cores at a lookahead of 0.01",
        "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 18",
        "synchronous GVT is nearly as fast in (10,1000), but asynchronous GVT gets ahead from 4 \
         032 cores on, and in (100,100) from 8 064 on, as each computation takes less time; their \
         number stays nearly the same",
    ],
    [0.2, 0.04],
    [2.5, 1.0],
);

pub(in super::super) const FIGURE_19: Study = study::<5>(
    [
        "usik/figure-19",
        "conservative RCPHOLD on 1 008 to 16 128 modelled cores at a lookahead of 1",
        "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 19",
        "asynchronous GVT is ahead in nearly all cases, by more in (100,100), as there is less to \
         do between two computations",
    ],
    [4.0, 1.5],
    [2.5, 0.8],
);

pub(in super::super) const FIGURE_20: Study = study::<6>(
    [
        "usik/figure-20",
        "optimistic RCPHOLD on 1 008 to 16 128 modelled cores at a lookahead of 0.01",
        "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 20",
        "synchronous GVT is ahead in (10,1000), with 1.5 to 3 times fewer computations and hardly \
         more or fewer rollbacks; in (100,100) asynchronous GVT is slightly ahead, though it takes \
         up to nearly twice as many",
    ],
    [0.2, 0.06],
    [2.5, 1.0],
);

pub(in super::super) const FIGURE_21: Study = study::<7>(
    [
        "usik/figure-21",
        "optimistic RCPHOLD on 1 008 to 16 128 modelled cores at a lookahead of 1",
        "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 21",
        "asynchronous GVT is ahead in (10,1000), by more with more cores, as a computation costs \
         more then; synchronous GVT takes more than 1.5 times as many computations, and undoes \
         nothing",
    ],
    [8.0, 7.0],
    [3.0, 2.5],
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Two numbers of cores in each structure, with F of 1.1 and 1.4 on the former and of 1.5 and
    /// 2.0 on the latter.
    fn measured() -> Measured {
        let conditions = STRUCTURES.into_iter().flat_map(|(lps, messages, _)| {
            [1008, 4032].map(|cores| format!("{cores} cores, ({lps},{messages}) optimistic, 0.1"))
        });
        let rows = |few: [f64; 3], many: [f64; 3]| {
            [few, many, few, many].map(|row| row.map(Some).to_vec()).into()
        };
        Measured {
            conditions: conditions.collect(),
            rates: rows([1e8, 1.1e8, 1.4e8], [3e9, 6e9, 4.5e9]),
            gains: rows([1.0, 1.1, 1.4], [1.0, 2.0, 1.5]),
            gvt_epochs: rows([30.0, 10.0, 20.0], [40.0, 20.0, 20.0]),
            rollbacks: rows([0.0, 1.5, 2.0], [0.0, 0.5, 9.0]),
            ..Measured::default()
        }
    }

    fn here(claim: Claim) -> Vec<String> {
        let figures = claim.beside(&measured());
        figures.into_iter().map(|figure| figure.here.unwrap_or_default()).collect()
    }

    #[test]
    fn claims_are_beside_what_was_measured() {
        let gains = "times as fast: 1.40 on 1008, 2.00 on 4032";
        assert_eq!(here(Claim::Gain([""; 2])), [gains, gains]);
        assert_eq!(here(Claim::EpochsAlike), ["2.00 to 3.00 times"]);
        assert_eq!(here(Claim::EpochsOver("")), ["2.00 to 2.00 times"]);
        assert_eq!(here(Claim::EpochsUnder("(10,1000)", "")), ["0.50 to 0.50 times"]);
        assert_eq!(here(Claim::Rollbacks([""; 2])), ["0.0 to 0.0", "0.5 to 9.0"]);
        let [best] = &here(Claim::Rate(""))[..] else { panic!("one figure") };
        assert!(best.starts_with("6.00 billion events/s with 4032 cores, "), "{best}");
    }

    #[test]
    fn quick_runs_leave_out_most_cores_and_no_figure() {
        for place in [conditions::<0>(2), conditions::<7>(2)] {
            let quick: Vec<u32> = place
                .iter()
                .filter(|condition| !condition.only_in_full)
                .map(|condition| condition.pes.expect("a number of cores"))
                .collect();
            assert_eq!(quick, [1008, 4032, 16_128, 1008, 4032, 16_128]);
        }
        let most = |all: Vec<StudyCase>| all.iter().filter_map(|condition| condition.pes).max();
        assert_eq!(
            (most(conditions::<0>(2)), most(conditions::<7>(2))),
            (Some(216_000), Some(QUICK))
        );
    }
}
