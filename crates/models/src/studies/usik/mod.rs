//! The engine µsik: GVT by messages and by writing into each other's memory. K. Perumalla, A. Park
//! and V. Tipparaju, "Discrete event execution with one-sided and two-sided GVT algorithms on
//! 216,000 processor cores", ACM TOMACS 24(3), 2014.

mod axes;
mod cores;
mod figures;
mod measures;
mod modelled;
mod rcphold;

pub(super) use axes::{GVT, NOISE, STRONG_SCALING};
pub(super) use cores::{ALL_CORES, LOOKAHEAD};
pub(super) use figures::{
    FIGURE_14, FIGURE_15, FIGURE_16, FIGURE_17, FIGURE_18, FIGURE_19, FIGURE_20, FIGURE_21,
};
pub(super) use rcphold::RCPHOLD;

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise nothing happens before the end of a quick run.
    #[test]
    fn quick_runs_end_beyond_the_lookahead() {
        let figures = [
            FIGURE_14, FIGURE_15, FIGURE_16, FIGURE_17, FIGURE_18, FIGURE_19, FIGURE_20, FIGURE_21,
        ];
        let others = [ALL_CORES, LOOKAHEAD, STRONG_SCALING, NOISE, GVT];
        for study in figures.into_iter().chain(others) {
            for condition in (study.conditions)(2) {
                let mut arguments = condition.arguments.iter();
                let lookahead = arguments.find_map(|text| text.strip_prefix("--lookahead="));
                let lookahead: f64 = lookahead.expect("a lookahead").parse().expect("a number");
                assert!(study.ends[1] > lookahead, "{}: {}", study.name, condition.name);
            }
        }
    }
}
