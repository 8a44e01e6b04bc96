//! RCPHOLD on threads.

use warpline::command::{Measured, Study, StudyCase, StudyFigure};

use super::measures::{
    ASYNCHRONOUS, SYNCHRONOUS, best_gains, epochs_apart, epochs_over, epochs_under, rollbacks,
};
use crate::studies::figures::{figure, matching, ratios};

/// §4.3 and §7.1 of the paper.
pub(in super::super) const RCPHOLD: Study = Study {
    name: "usik/rcphold",
    about: "RCPHOLD with synchronous, asynchronous and one-sided GVT, conservative and optimistic, \
            at four lookaheads",
    source: "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 5 to 8 and 18 to 21",
    claim: "asynchronous GVT is as fast as synchronous GVT or up to 1.5 times as fast (1.2 to 1.5 \
            times in optimistic runs), the more so the more cores there are; synchronous GVT is \
            ahead only at a lookahead of 0.01 in optimistic runs of (10,1000)",
    differs: "the paper had 1 008 to 216 000 cores and a network between them; here PEs share \
              memory, and reductions take microseconds, so that there is little to gain",
    model: "phold",
    conditions: rcphold_conditions,
    variants: gvt_variants,
    figures: rcphold_figures,
    ends: [250.0, 4.0],
    seconds: [1.0, 0.03],
    in_pairs: false,
};

/// Structure × synchronisation × lookahead. A cluster is a PE, as in the paper; with more than two,
/// messages go to the neighbouring ones.
fn rcphold_conditions(pes: u32) -> Vec<StudyCase> {
    let mut all = Vec::new();
    for (lps, messages) in [(10, 1000), (100, 100)] {
        for (sync, more) in
            [("conservative", &[][..]), ("optimistic", &["--undo=reverse", "--go-ahead=always"])]
        {
            for lookahead in ["0.01", "0.1", "0.5", "1"] {
                let reach = u32::from(pes > 2);
                let arguments = [
                    format!("--lps={}", lps * pes),
                    format!("--clusters={pes}"),
                    format!("--population={messages}"),
                    format!("--reach={reach}"),
                    format!("--lookahead={lookahead}"),
                    format!("--sync={sync}"),
                ];
                let name = format!("({lps},{messages}) {sync}, {lookahead}");
                all.push(StudyCase::new(
                    name,
                    arguments.into_iter().chain(more.iter().map(|&more| more.to_owned())),
                ));
            }
        }
    }
    all
}

/// What §4.3 and §7.1 say in numbers.
pub(super) fn rcphold_figures(measured: &Measured) -> Vec<StudyFigure> {
    vec![
        figure(
            "F: asynchronous over synchronous, conservative, lookahead 0.1",
            "up to 1.5 times in (100,100), at up to 216 000 cores",
            best_gains(measured, &["(100,100) conservative, 0.1"]),
        ),
        figure(
            "F: the same, lookahead 0.5",
            "more than 1.5 times in (100,100) from 32 000 cores on",
            best_gains(measured, &["(100,100) conservative, 0.5"]),
        ),
        figure(
            "λ: most over least, conservative",
            "nearly 1",
            epochs_apart(measured, &["conservative"]),
        ),
        figure("λ at lookahead 0.1 over λ at 0.5, conservative", "5 times", lookaheads(measured)),
        figure(
            "λ: synchronous over asynchronous, optimistic, lookahead 0.1",
            "more than 1.5 times",
            epochs_over(measured, &["optimistic, 0.1"]),
        ),
        figure(
            "λ: asynchronous over synchronous, optimistic (10,1000), lookahead 0.01",
            "1.5 to 3 times",
            epochs_under(measured, &["(10,1000) optimistic, 0.01"]),
        ),
        figure("α: rollbacks of a PE, synchronous", "none", rollbacks(measured, &[SYNCHRONOUS])),
        figure("α: rollbacks of a PE, asynchronous", "some", rollbacks(measured, &ASYNCHRONOUS)),
    ]
}

/// How many times as many GVT computations conservative runs take at a lookahead of 0.1 as at 0.5.
fn lookaheads(measured: &Measured) -> Option<String> {
    let long = |condition: usize| {
        let name = measured.conditions[condition].strip_suffix("0.1")?;
        matching(measured, &[&format!("{name}0.5")]).next()
    };
    ratios(measured, &["conservative, 0.1"], |condition| {
        let of = |condition: usize| *measured.gvt_epochs.get(condition)?.get(SYNCHRONOUS)?;
        Some(of(condition)? / of(long(condition)?)?)
    })
}

fn gvt_variants(_: u32) -> Vec<StudyCase> {
    ["usik-2s", "usik-2a", "usik-1a", "gsu"]
        .map(|preset| StudyCase::new(preset, [format!("--preset={preset}")]))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_their_conditions() {
        let figures = |all: &[[f64; 3]]| {
            all.iter().map(|variants| variants.iter().copied().map(Some).collect()).collect()
        };
        let names = [
            "(100,100) conservative, 0.1",
            "(100,100) conservative, 0.5",
            "(10,1000) optimistic, 0.01",
        ];
        let measured = Measured {
            conditions: names.map(str::to_owned).into(),
            gains: figures(&[[1.0, 1.2, 1.4], [1.0, 0.9, 0.8], [1.0, 1.0, 1.0]]),
            gvt_epochs: figures(&[[50.0, 50.0, 40.0], [10.0, 10.0, 10.0], [100.0, 150.0, 250.0]]),
            rollbacks: figures(&[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 7.0, 9.0]]),
            ..Measured::default()
        };
        let here: Vec<Option<String>> =
            rcphold_figures(&measured).into_iter().map(|figure| figure.here).collect();
        let expected = [
            Some("1.40 times"),
            Some("0.90 times"),
            Some("1.00 to 1.25 times"),
            Some("5.00 times"),
            None,
            Some("2.00 times"),
            Some("0.0 to 0.0"),
            Some("7.0 to 9.0"),
        ];
        assert_eq!(here, expected.map(|text| text.map(str::to_owned)));
    }
}
