//! What a study has found: the runs of each variant under each condition, and what follows.

use super::experiment::{Measured, Study, StudyCase, StudyFigure};
use super::figures::{epochs, gvt_share, phases, rate, rollbacks_mean, seconds};
use crate::failure::Failure;
use crate::median::median;
use crate::output::format;
use crate::process::ways::Placement;
use warpline_record::RunRecord;

/// The runs of a variant under a condition.
type Runs = Vec<RunRecord>;

/// What a study has found.
pub(crate) struct Findings<'s> {
    pub(super) study: &'s Study,
    pub(super) pes: u32,
    pub(super) conditions: Vec<StudyCase>,
    pub(super) variants: Vec<StudyCase>,
    /// By condition and variant.
    pub(super) runs: Vec<Vec<Runs>>,
    /// By condition, the runs of the first variant on one PE.
    pub(super) alone: Vec<Runs>,
    /// By condition and variant, if the study is in pairs: the runs of the first variant just before
    /// those of this one.
    before: Vec<Vec<Runs>>,
    /// Why there is no launcher, if there is none. Cases that need one have no runs.
    no_launcher: Option<String>,
}

impl<'s> Findings<'s> {
    /// Findings without any runs. `no_launcher` says why cases that need a launcher will have none.
    pub(super) fn of(study: &'s Study, pes: u32, quick: bool, no_launcher: Option<&str>) -> Self {
        let conditions = study.conditions_if(pes, quick);
        let variants = (study.variants)(pes);
        let runs: Vec<Vec<Runs>> =
            conditions.iter().map(|_| variants.iter().map(|_| Vec::new()).collect()).collect();
        let alone = conditions.iter().map(|_| Vec::new()).collect();
        let before = runs.clone();
        Findings {
            study,
            pes,
            conditions,
            variants,
            runs,
            alone,
            before,
            no_launcher: no_launcher.map(str::to_owned),
        }
    }

    pub(super) fn placement(&self, condition: usize, variant: usize) -> Placement {
        self.variants[variant].placement(&self.conditions[condition], self.pes)
    }

    /// Measures each variant once under each condition, in turn, and before them the first variant
    /// on one PE. If the study is in pairs, the first variant is run again before each other one.
    /// `run` gets the condition, the variant, and where the PEs are.
    pub(super) fn each(
        &mut self,
        mut run: impl FnMut(&StudyCase, &StudyCase, Placement) -> Result<RunRecord, Failure>,
    ) -> Result<(), Failure> {
        let first = &self.variants[0];
        for (at, condition) in self.conditions.iter().enumerate() {
            let one = first.placement(condition, self.pes).one_pe();
            self.alone[at].push(run(condition, first, one)?);
            for (number, variant) in self.variants.iter().enumerate() {
                let placement = variant.placement(condition, self.pes);
                if placement.way.takes_launcher() && self.no_launcher.is_some() {
                    continue;
                }
                if self.study.in_pairs && number > 0 {
                    let placement = first.placement(condition, self.pes);
                    self.before[at][number].push(run(condition, first, placement)?);
                }
                self.runs[at][number].push(run(condition, variant, placement)?);
            }
        }
        Ok(())
    }

    /// Why nothing at all can be measured, if all cases need a launcher and there is none.
    pub(super) fn nothing_left(&self) -> Option<&str> {
        let all = self
            .cases()
            .all(|(condition, variant)| self.placement(condition, variant).way.takes_launcher());
        self.no_launcher.as_deref().filter(|_| all)
    }

    /// Which variants are left out, and why, in a sentence.
    pub(super) fn skipped(&self) -> Option<String> {
        let why = self.no_launcher.as_ref()?;
        let launched = |variant: usize| {
            (0..self.conditions.len())
                .any(|condition| self.placement(condition, variant).way.takes_launcher())
        };
        let names: Vec<&str> = (0..self.variants.len())
            .filter(|variant| launched(*variant))
            .map(|variant| self.variants[variant].name.as_str())
            .collect();
        (!names.is_empty()).then(|| format!("Left out: {}; {why}.", names.join(", ")))
    }

    /// The least and the greatest number of PEs.
    pub(super) fn pes(&self) -> [u32; 2] {
        let all =
            || self.cases().map(|(condition, variant)| self.placement(condition, variant).pes());
        [all().min().unwrap_or(self.pes), all().max().unwrap_or(self.pes)]
    }

    /// What a reader of the figures has to know.
    pub(super) fn notes(&self, cores: usize) -> Vec<String> {
        let [_, pes] = self.pes();
        let is_modelled = self.study.is_modelled(self.pes);
        let oversubscribed = (pes as usize > cores && !is_modelled).then(|| {
            let cores = format::counted(cores, "core", "cores");
            format!(
                "Up to {pes} PEs share {cores} here. Processes take turns then, and wait for each \
                 other's turns, so that these figures say how well they bear that, and not what \
                 they would do with a core each."
            )
        });
        let modelled = is_modelled.then(|| {
            "Rates and times are those of modelled machines, which are the same on every host. \
             They are no better than the figures of the machines, most of which are assumed."
                .to_owned()
        });
        self.skipped().into_iter().chain(oversubscribed).chain(modelled).collect()
    }

    /// Figures of the source beside those of this machine.
    pub(super) fn figures(&self) -> Vec<StudyFigure> {
        let of = |figure: fn(&RunRecord) -> f64| {
            let by_variant = |condition| {
                (0..self.variants.len())
                    .map(|variant| self.median(condition, variant, figure))
                    .collect()
            };
            (0..self.conditions.len()).map(by_variant).collect()
        };
        let conditions = self.conditions.iter().map(|condition| condition.name.clone()).collect();
        let phases = self
            .runs
            .iter()
            .map(|variants| variants.iter().map(|runs| phases(runs)).collect())
            .collect();
        let gains_of = |condition| {
            (0..self.variants.len()).map(|variant| self.gain(condition, variant)).collect()
        };
        let gains = (0..self.conditions.len()).map(gains_of).collect();
        (self.study.figures)(&Measured {
            conditions,
            rates: of(rate),
            gains,
            seconds: of(seconds),
            gvt_epochs: of(epochs),
            rollbacks: of(rollbacks_mean),
            gvt_shares: of(gvt_share),
            phases,
        })
    }

    /// The median of a figure of a variant under a condition.
    pub(super) fn median(
        &self,
        condition: usize,
        variant: usize,
        of: impl Fn(&RunRecord) -> f64,
    ) -> Option<f64> {
        median(self.runs[condition][variant].iter().map(of).collect())
    }

    /// F: how many times as fast a variant is as the first, under a condition: the ratio of medians
    /// or, if the study is in pairs, the median of the pairs' ratios.
    pub(super) fn gain(&self, condition: usize, variant: usize) -> Option<f64> {
        if self.study.in_pairs && variant > 0 {
            let pairs = self.runs[condition][variant].iter().zip(&self.before[condition][variant]);
            return median(pairs.map(|(run, before)| rate(run) / rate(before)).collect());
        }
        let rate = |variant| self.median(condition, variant, rate);
        Some(rate(variant)? / rate(0)?)
    }

    /// Self-relative speed-up: how many times as fast a variant is as the first on one PE, under a
    /// condition.
    pub(super) fn speedup(&self, condition: usize, variant: usize) -> Option<f64> {
        let alone = median(self.alone[condition].iter().map(rate).collect())?;
        Some(self.median(condition, variant, rate)? / alone)
    }

    /// The gains of a variant, the least first.
    pub(super) fn gains(&self, variant: usize) -> Vec<f64> {
        let mut gains: Vec<f64> = (0..self.conditions.len())
            .filter_map(|condition| self.gain(condition, variant))
            .collect();
        gains.sort_unstable_by(f64::total_cmp);
        gains
    }

    /// The first condition under which two runs gave different answers.
    pub(super) fn failure(&self) -> Option<Failure> {
        let differs = |condition: &usize| {
            let pairs = self.runs[*condition].iter().chain(&self.before[*condition]).flatten();
            let mut digests = pairs.chain(&self.alone[*condition]).map(|run| &run.digest);
            digests.next().is_some_and(|first| digests.any(|digest| digest != first))
        };
        let found = (0..self.conditions.len()).find(differs)?;
        Some(Failure::failed(format!(
            "runs under the condition `{}` gave different answers",
            self.conditions[found].name
        )))
    }

    /// What was measured, in a sentence for each variant but the first.
    pub(super) fn sentences(&self) -> Vec<String> {
        let first = &self.variants[0].name;
        (1..self.variants.len())
            .filter_map(|variant| {
                let gains = self.gains(variant);
                let figures = [median(gains.clone())?, *gains.first()?, *gains.last()?];
                let [middle, least, most] = figures.map(|gain| format::significant(gain, 3));
                let name = &self.variants[variant].name;
                let conditions = gains.len();
                Some(format!(
                    "{name} was {middle} times as fast as {first} in the median over {conditions} \
                     conditions, {least} to {most} times."
                ))
            })
            .collect()
    }

    /// All pairs of condition and variant.
    pub(super) fn cases(&self) -> impl Iterator<Item = (usize, usize)> {
        let variants = self.variants.len();
        (0..self.conditions.len())
            .flat_map(move |condition| (0..variants).map(move |variant| (condition, variant)))
    }
}

#[cfg(test)]
#[path = "findings_tests.rs"]
pub(super) mod tests;
