//! The kinds of a model's LPs, which of them are conservative, and what they did.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use warpline_base::LpId;
use warpline_kernel::{Lp, Role, RoleCounts, Roles};
use warpline_model::Model;
use warpline_record::KindRecord;

use crate::outcome::error::catch_message;
use crate::{Error, LpChoice, Synchronisation};

/// The kinds and roles of a model's LPs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    /// The names of the kinds, in the order of their first LPs.
    names: Vec<String>,
    pub(crate) roles: Roles,
    /// How many LPs are conservative.
    pub(crate) conservative: u32,
}

impl Kinds {
    /// Asks `model`, which is called `name`, for its `lps` LPs.
    ///
    /// # Errors
    /// If it panics or has too many kinds, if `choice` names what it does not have, or if there is
    /// no memory for the answers.
    pub(crate) fn of<M: Model>(
        model: &M,
        name: &str,
        lps: u32,
        choice: &LpChoice,
    ) -> Result<Self, Error> {
        let asked = catch_message(|| Self::ask(model, name, lps, choice));
        asked.unwrap_or_else(|why| {
            Err(Error::Setting(format!(
                "model `{name}` panicked when it was asked for the kinds of its LPs: {why}"
            )))
        })
    }

    fn ask<M: Model>(model: &M, name: &str, lps: u32, choice: &LpChoice) -> Result<Self, Error> {
        let mut names = Vec::<String>::new();
        let mut numbers = HashMap::<&str, usize>::new();
        // Successive LPs mostly have the same kind.
        let mut last: Option<(&str, usize)> = None;
        for lp in (0..lps).map(LpId) {
            let kind = model.kind(lp);
            if last.is_none_or(|(name, _)| name != kind) {
                let number = *numbers.entry(kind).or_insert_with(|| {
                    names.push(kind.to_owned());
                    names.len() - 1
                });
                last = Some((kind, number));
            }
        }
        if names.len() > Role::KINDS_MOST {
            let has = names.len();
            let most = Role::KINDS_MOST;
            return Err(Error::Setting(format!(
                "model `{name}` has {has} kinds of LPs: {most} are allowed, as a kind stands for \
                 many LPs"
            )));
        }
        let chosen = choice.among(lps, &names).map_err(|why| {
            Error::Setting(format!("`conservative-lps` of model `{name}`: {why}"))
        })?;
        let mut conservative = 0;
        let mut roles = Vec::new();
        let no_room = |why| Error::Memory { place: None, why };
        for lp in (0..lps).map(LpId) {
            let kind = model.kind(lp);
            let declared = model.is_conservative(lp);
            let chosen = chosen(lp, kind, declared);
            if declared && !chosen && M::ABILITIES.is_never_undone() {
                return Err(Error::Setting(format!(
                    "`conservative-lps` leaves out {lp} of model `{name}`, but nothing undoes what \
                     its processes do, so it is conservative: leave the setting out"
                )));
            }
            conservative += u32::from(chosen);
            let number = match last {
                Some((name, number)) if name == kind => number,
                _ => numbers.get(kind).copied().unwrap_or_default(),
            };
            last = Some((kind, number));
            if roles.is_empty() && number == 0 && !chosen {
                continue;
            }
            if roles.is_empty() {
                // All LPs before this one were optimistic, and of the first kind.
                roles = warpline_memory::catch_exhausted(|| {
                    let mut roles = warpline_memory::list_for(lps as usize, "the roles of LPs");
                    roles.resize(lp.index(), Role::new(0, false));
                    roles
                })
                .map_err(no_room)?;
            }
            roles.push(Role::new(number, chosen));
        }
        Ok(Kinds { names, roles: Roles::new(roles), conservative })
    }

    /// The names of the kinds.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// How an engine keeps these LPs in step: an optimistic one is mixed if some of them are
    /// conservative.
    pub(crate) fn mixed(&self, sync: Synchronisation) -> Synchronisation {
        if sync == Synchronisation::Optimistic && self.conservative > 0 {
            Synchronisation::Mixed
        } else {
            sync
        }
    }

    /// Whether LPs differ in kind or role.
    fn matter(&self) -> bool {
        self.conservative > 0 || self.names.iter().any(|name| !name.is_empty())
    }

    /// A tally of what the LPs did.
    pub(crate) fn tally(&self) -> KindTally<'_> {
        KindTally { kinds: self, by_role: Vec::new() }
    }
}

/// What the LPs of a role did.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct RoleTally {
    /// How many LPs there are.
    lps: u32,
    committed: u64,
    /// Events undone and set aside.
    counts: RoleCounts,
}

impl RoleTally {
    fn add_counts(&mut self, more: &RoleCounts) {
        self.counts.rolled_back += more.rolled_back;
        self.counts.set_aside += more.set_aside;
    }
}

/// What the LPs of each role did.
pub(crate) struct KindTally<'k> {
    kinds: &'k Kinds,
    by_role: Vec<RoleTally>,
}

impl KindTally<'_> {
    fn role(&mut self, index: usize) -> &mut RoleTally {
        if index >= self.by_role.len() {
            self.by_role.resize(index + 1, RoleTally::default());
        }
        &mut self.by_role[index]
    }

    /// Adds consecutive LPs, from the one with this id on.
    pub(crate) fn add_lps<S>(&mut self, first: u32, lps: &[Lp<S>]) {
        if !self.kinds.matter() {
            return;
        }
        for (id, lp) in (first..).map(LpId).zip(lps) {
            let role = self.role(self.kinds.roles.of(id).index());
            role.lps += 1;
            role.committed += lp.events;
        }
    }

    /// Adds what a PE counted, by role.
    pub(crate) fn add_counts(&mut self, counts: &[RoleCounts]) {
        for (index, counts) in counts.iter().enumerate() {
            self.role(index).add_counts(counts);
        }
    }

    /// The tally by role, to be added to that of all processes.
    pub(crate) fn into_roles(self) -> Vec<RoleTally> {
        self.by_role
    }

    /// Adds the tally of another process.
    pub(crate) fn add_roles(&mut self, others: Vec<RoleTally>) {
        for (index, other) in others.into_iter().enumerate() {
            let role = self.role(index);
            role.lps += other.lps;
            role.committed += other.committed;
            role.add_counts(&other.counts);
        }
    }

    /// The kinds for the record; none where LPs do not differ.
    pub(crate) fn records(self) -> Vec<KindRecord> {
        let record = |(index, tally): (usize, RoleTally)| {
            let role = Role::from_index(index);
            KindRecord {
                kind: self.kinds.names.get(role.kind()).cloned().unwrap_or_default(),
                conservative: role.is_conservative(),
                lps: tally.lps,
                committed_events: tally.committed,
                rolled_back_events: tally.counts.rolled_back,
                set_aside_events: tally.counts.set_aside,
            }
        };
        let records: Vec<_> = self
            .by_role
            .into_iter()
            .enumerate()
            .filter(|(_, tally)| tally.lps > 0)
            .map(record)
            .collect();
        match &records[..] {
            // The record tells what all LPs did without this.
            [all] if all.kind.is_empty() => Vec::new(),
            _ => records,
        }
    }
}
