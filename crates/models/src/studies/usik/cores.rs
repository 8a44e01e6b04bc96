//! RCPHOLD on all of the paper's cores, and on few at all of its lookaheads.

use warpline::command::{Measured, Study, StudyFigure};

use super::measures::{ASYNCHRONOUS, SYNCHRONOUS, best_gains};
use super::modelled::{DIFFERS, STRUCTURES, modes, rcphold};
use crate::studies::figures::{figure, range};

/// The least and the most of them.
const ENDS: [u32; 2] = [1008, 216_000];
/// The paper's title, and Fig. 12a.
pub(in super::super) const ALL_CORES: Study = Study {
    name: "usik/216000",
    about: "RCPHOLD on 216 000 modelled cores, with synchronous, asynchronous and one-sided GVT, \
            beside 1 008",
    source: "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 6 and 12a",
    claim: "216 000 cores execute 54 billion events a second at best, and are up to 170 600 times \
            as fast as one, measured from 1 008 on; asynchronous GVT is more than 1.5 times as \
            fast in (100,100)",
    differs: DIFFERS,
    model: "phold",
    conditions: |_| ENDS.map(|cores| rcphold(cores, STRUCTURES[0], "conservative", "0.5")).into(),
    variants: |_| modes(),
    figures: all_cores_figures,
    ends: [2.0, 0.7],
    seconds: [30.0, 11.0],
    in_pairs: false,
};

/// Fig. 5 to 8 and 18 to 21, where they have few cores.
pub(in super::super) const LOOKAHEAD: Study = Study {
    name: "usik/lookahead",
    about: "RCPHOLD on 1 008 modelled cores, with synchronous, asynchronous and one-sided GVT, at \
            four lookaheads",
    source: "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 5 to 8 and 18 to 21",
    claim: "conservative runs take nearly the same number of GVT computations whatever the \
            algorithm, and a fifth of it at a lookahead of 0.5 instead of 0.1; asynchronous GVT is \
            no slower, and at 0.1 up to 1.5 times as fast in (100,100); optimistic runs with \
            synchronous GVT take more than 1.5 times as many computations and undo nothing, except \
            at 0.01 in (10,1000), where they take 1.5 to 3 times fewer and are ahead",
    differs: DIFFERS,
    model: "phold",
    conditions: |_| {
        let mut all = Vec::new();
        let [cores, _] = ENDS;
        for structure in STRUCTURES {
            for sync in ["conservative", "optimistic"] {
                let cases = ["0.01", "0.1", "0.5", "1"];
                all.extend(cases.map(|lookahead| rcphold(cores, structure, sync, lookahead)));
            }
        }
        all
    },
    variants: |_| modes(),
    figures: super::rcphold::rcphold_figures,
    ends: [6.0, 1.5],
    seconds: [3.0, 0.8],
    in_pairs: false,
};

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
}
