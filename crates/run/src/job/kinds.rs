//! The kinds of a model's LPs, which of them are conservative, and what they did.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline_base::LpId;
use warpline_kernel::{Lp, Role, RoleCounts, Roles};
use warpline_model::Model;
use warpline_record::KindRecord;

use crate::outcome::error::panic_message;
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
        let asked = catch_unwind(AssertUnwindSafe(|| Self::ask(model, name, lps, choice)));
        asked.unwrap_or_else(|panic| {
            let why = panic_message(panic);
            Err(Error::Setting(format!(
                "model `{name}` panicked when it was asked for the kinds of its LPs: {why}"
            )))
        })
    }

    fn ask<M: Model>(model: &M, name: &str, lps: u32, choice: &LpChoice) -> Result<Self, Error> {
        let mut names = Vec::<String>::new();
        let mut numbers = HashMap::<&str, usize>::new();
        let mut last = ("", None);
        for lp in (0..lps).map(LpId) {
            let kind = model.kind(lp);
            if last.1.is_none() || last.0 != kind {
                let number = *numbers.entry(kind).or_insert_with(|| {
                    names.push(kind.to_owned());
                    names.len() - 1
                });
                last = (kind, Some(number));
            }
        }
        if names.len() > Role::KINDS_MOST {
            let has = names.len();
            let most = Role::KINDS_MOST;
            return Err(Error::Setting(format!(
                "model `{name}` has {has} kinds of LPs: {most} are allowed, as a kind stands for many LPs"
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
            let chosen = chosen(lp, kind, model.is_conservative(lp));
            conservative += u32::from(chosen);
            if last.0 != kind {
                last = (kind, numbers.get(kind).copied());
            }
            let number = last.1.unwrap_or_default();
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

/// What the LPs of each role did.
pub(crate) struct KindTally<'k> {
    kinds: &'k Kinds,
    /// LPs, committed events, events undone and set aside; by role.
    by_role: Vec<(u32, u64, RoleCounts)>,
}

impl KindTally<'_> {
    fn entry(&mut self, index: usize) -> &mut (u32, u64, RoleCounts) {
        if index >= self.by_role.len() {
            self.by_role.resize(index + 1, Default::default());
        }
        &mut self.by_role[index]
    }

    /// Adds consecutive LPs, from the one with this id on.
    pub(crate) fn add_lps<S>(&mut self, first: u32, lps: &[Lp<S>]) {
        if !self.kinds.matter() {
            return;
        }
        for (id, lp) in (first..).map(LpId).zip(lps) {
            let (lps, events, _) = self.entry(self.kinds.roles.of(id).index());
            *lps += 1;
            *events += lp.events;
        }
    }

    /// Adds what a PE counted, by role.
    pub(crate) fn add_counts(&mut self, counts: &[RoleCounts]) {
        for (index, counts) in counts.iter().enumerate() {
            let all = &mut self.entry(index).2;
            all.rolled_back += counts.rolled_back;
            all.set_aside += counts.set_aside;
        }
    }

    /// What was added, by role, for the tally of all processes.
    pub(crate) fn entries(self) -> Vec<(u32, u64, RoleCounts)> {
        self.by_role
    }

    /// Adds the tally of another process.
    pub(crate) fn add_entries(&mut self, entries: Vec<(u32, u64, RoleCounts)>) {
        for (index, (lps, events, counts)) in entries.into_iter().enumerate() {
            let all = self.entry(index);
            all.0 += lps;
            all.1 += events;
            all.2.rolled_back += counts.rolled_back;
            all.2.set_aside += counts.set_aside;
        }
    }

    /// The kinds for the record; none where LPs do not differ.
    pub(crate) fn records(self) -> Vec<KindRecord> {
        let record = |(index, (lps, committed, counts)): (usize, (u32, u64, RoleCounts))| {
            let role = Role::from_index(index);
            KindRecord {
                kind: self.kinds.names.get(role.kind()).cloned().unwrap_or_default(),
                conservative: role.is_conservative(),
                lps,
                committed_events: committed,
                rolled_back_events: counts.rolled_back,
                set_aside_events: counts.set_aside,
            }
        };
        self.by_role.into_iter().enumerate().filter(|(_, (lps, ..))| *lps > 0).map(record).collect()
    }
}
