//! Which PE has which LPs, and which engines that leaves possible.

use warpline_base::LpId;
use warpline_kernel::{Delays, Groups, Partition, ScatteredGroup, Shortest};
use warpline_model::Model;
use warpline_model::engine::Limits;

use super::RunPlan;
use crate::job::Job;
use crate::job::check::RunSpec;
use crate::outcome::error::catch_message;
use crate::policy::engine_choice::Engine;
use crate::{Error, Synchronisation};

impl<M: Model> Job<M> {
    /// The engines that may be used beside the sequential one if the run chooses, each with the
    /// least delay between its PEs: with as many PEs as there are threads, half as many, and so on.
    pub(crate) fn engines(
        &self,
        run: &RunPlan,
        spec: &RunSpec,
    ) -> Result<Vec<(Engine, f64)>, Error> {
        let mut engines = Vec::new();
        let mut pes = run.pes;
        while pes > 1 {
            let least = match spec.limits.lookahead.is_uniform() {
                true => spec.limits.lookahead.least(),
                false => {
                    Delays::of(&spec.limits.lookahead, &self.partition(&spec.limits, pes)?).least()
                }
            };
            let engine = |sync| (Engine { sync, pes }, least);
            if least > 0.0 && self.settings.use_lookahead() {
                engines.push(engine(Synchronisation::Conservative));
            }
            // Without lookahead, LPs that cannot be undone wait at every event.
            if !spec.is_never_undone::<M>() {
                engines.push(engine(Synchronisation::Optimistic));
            }
            pes /= 2;
        }
        Ok(engines)
    }

    /// Checks that there is lookahead between PEs: without it, conservative ones would wait for
    /// each other for ever.
    pub(super) fn check_conservative(
        &self,
        limits: &Limits,
        partition: &Partition,
    ) -> Result<(), Error> {
        if !self.settings.use_lookahead() {
            return Err(Error::Setting(
                "conservative synchronisation needs lookahead: use --sync optimistic, or leave \
                 --use-lookahead at yes"
                    .into(),
            ));
        }
        let Some(Shortest { from, to, delay: 0.0 }) = Shortest::of(&limits.lookahead, partition)
        else {
            return Ok(());
        };
        let place = |lp| format!("{lp} (on PE {})", partition.pe(lp));
        let (link, advice) = match to {
            _ if limits.lookahead.is_uniform() => (
                String::new(),
                "declare the least delay between two LPs in Model::lookahead".into(),
            ),
            None => {
                let advice =
                    "declare its least delay in Model::lookahead_of, or where it sends in \
                              Model::links"
                        .into();
                (format!(" from {} to any other LP", place(from)), advice)
            }
            Some(to) => {
                let advice = format!(
                    "declare its least delay in Model::links, or number LPs so that {from} and \
                     {to} are on the same PE"
                );
                (format!(" from {} to {}", place(from), place(to)), advice)
            }
        };
        Err(Error::Setting(format!(
            "model `{}` has no lookahead{link}, and without it conservative threads cannot work at \
             the same time: use --sync optimistic, or {advice}",
            self.name
        )))
    }

    /// Shares the LPs out by the weights, groups and distances that the model declares.
    pub(crate) fn partition(&self, limits: &Limits, pes: u32) -> Result<Partition, Error> {
        let model = &*self.model;
        let name = &self.name;
        let groups = self.groups(limits)?;
        let shared = catch_message(|| {
            Partition::weighted(limits.lps, pes, &limits.lookahead, &groups, |lp| model.weight(lp))
        });
        let shared = shared.map_err(|why| {
            Error::Setting(format!(
                "model `{name}` panicked when it was asked for the weights of its LPs: {why}"
            ))
        })?;
        shared.map_err(|(lp, weight)| {
            Error::Setting(format!(
                "model `{name}` declares the weight {weight} of {lp}: it must \
                                    be a finite number, zero or more"
            ))
        })
    }

    /// Shares the LPs out by their work so far, if that is known.
    pub(super) fn partition_by(
        &self,
        limits: &Limits,
        pes: u32,
        weights: &[f64],
    ) -> Result<Option<Partition>, Error> {
        if weights.is_empty() {
            return Ok(None);
        }
        let weight = |lp: LpId| weights.get(lp.index()).copied().unwrap_or_default();
        Ok(Partition::weighted(limits.lps, pes, &limits.lookahead, &self.groups(limits)?, weight)
            .ok())
    }

    /// The groups of LPs that the model wants on one PE each.
    pub(crate) fn groups(&self, limits: &Limits) -> Result<Groups, Error> {
        let model = &*self.model;
        let name = &self.name;
        let asked = catch_message(|| Groups::of(limits.lps, |lp| model.group(lp)));
        let asked = asked.map_err(|why| {
            Error::Setting(format!(
                "model `{name}` panicked when it was asked for the groups of its LPs: {why}"
            ))
        })?;
        asked.map_err(|ScatteredGroup { number, before, after }| {
            Error::Setting(format!(
                "model `{name}` has {before} and {after} in group {number}, but not all LPs \
                 between them: PEs have LPs with consecutive numbers, so number LPs so that those \
                 of a group follow each other, or give each part a group of its own in \
                 Model::group"
            ))
        })
    }
}
