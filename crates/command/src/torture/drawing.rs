//! What a search draws. Case `number` follows from the seed of the search, the options that were
//! given and the model alone, so a search can be repeated. The first cases are small.

use warpline_cases::draw::{of_engines, of_machine, of_pes, suit_machine};
use warpline_cases::{Case, Draw};
use warpline_run::Synchronisation;
use warpline_run::settings::SettingValue;

use super::ends::Ends;
use crate::settings::{PES, SYNC, THREADS, serves};

/// Ways to run a model with one seed to one end. All are compared with the same sequential run.
pub(super) const WAYS: u64 = 8;
/// The setting that makes a run one of a virtual cluster.
pub(super) const CLUSTER: &str = "virtual-cluster";
/// The setting that makes a run one on a modelled machine.
pub(super) const MACHINE: &str = "machine";
/// The share of runs that are on a modelled machine.
const ON_MACHINE: f64 = 0.15;
/// Settings that machines refuse, or most of their values: who gives one means a virtual cluster.
const BEFORE_MACHINES: [&str; 3] = [THREADS, "messages", "gvt-interval"];
/// The engines of a virtual cluster; one that stands more often is drawn more often.
const ENGINES: &str = "optimistic optimistic optimistic mixed mixed conservative conservative";
/// The most PEs of the first groups of cases, and of how many groups each doubles it.
const PES_FIRST: u32 = 4;
const DOUBLES_EVERY: u64 = 12;
/// The events of an answer: the fewest, and the most in the first groups and in the last.
const EVENTS_LEAST: f64 = 20.0;
const EVENTS_FIRST: f64 = 200.0;
const EVENTS_MOST: f64 = 5000.0;
/// With more PEs than this, GVT is found less often: it takes a message to every PE.
const FEW_PES: u32 = 8;
/// How often then, in events.
const RARE_GVT: u32 = 100;

/// What is known before anything is drawn.
#[derive(Debug)]
pub(super) struct Drawing {
    /// The seed of the search.
    pub(super) seed: u64,
    /// The model with the options that were given, which stay as they are.
    pub(super) fixed: Case,
    /// The most PEs.
    pub(super) pes: u32,
    /// The ways of undoing that the model has.
    pub(super) undo: Vec<&'static str>,
    /// Where runs end.
    pub(super) ends: Ends,
}

impl Drawing {
    /// The sequential run that the cases of a group are compared with.
    pub(super) fn group(&self, group: u64) -> Case {
        let mut draw = Draw::new(self.fixed.clone(), self.seed, group * (WAYS + 1));
        let seed = draw.random.below(1_000_000);
        let most = EVENTS_FIRST * 2f64.powi((group / DOUBLES_EVERY).min(32) as i32);
        let range = most.min(EVENTS_MOST) / EVENTS_LEAST;
        let events = EVENTS_LEAST * range.powf(draw.random.uniform());
        let has_warmup = draw.random.bernoulli(0.1);
        if self.fixed.get("seed").is_none() {
            draw = draw.with("seed", seed);
        }
        if let Some(end) = self.ends.after(events) {
            draw = draw.with("end", end);
            if has_warmup && self.fixed.get("warmup").is_none() {
                draw = draw.with("warmup", end / 4.0);
            }
        }
        draw.case
    }

    /// A way to run a group's model, the one with this number.
    pub(super) fn way(&self, case: &Case, group: u64, way: u64) -> Case {
        let mut draw = Draw::new(case.clone(), self.seed, group * (WAYS + 1) + way + 1);
        let engines = self.engines();
        let sync = draw.word(&engines);
        let pes = self.draw_pes(&mut draw, group);
        let cluster = draw.random.below(1_000_000);
        let share = draw.share();
        let suits_machine = BEFORE_MACHINES.iter().all(|name| self.fixed.get(name).is_none());
        draw = if suits_machine && draw.random.bernoulli(ON_MACHINE) {
            of_machine(draw).with(PES, pes)
        } else {
            draw.with(CLUSTER, cluster).with(THREADS, pes)
        };
        draw = of_pes(of_engines(draw.with(SYNC, &sync), share), share, &sync);
        suit_machine(self.sensible(draw.case))
    }

    /// The engines that have a use for all options that were given, as words.
    fn engines(&self) -> String {
        if let Some(given) = self.fixed.get(SYNC) {
            return given.to_owned();
        }
        let suits = |engine: &&str| {
            Synchronisation::parse(engine).is_some_and(|engine| {
                self.fixed.options.iter().all(|(name, _)| serves(name, engine))
            })
        };
        let suitable: Vec<&str> = ENGINES.split(' ').filter(suits).collect();
        if suitable.is_empty() { "optimistic".to_owned() } else { suitable.join(" ") }
    }

    /// The number of PEs: as likely between 2 and 4 as between 500 and 1000, up to the most that
    /// cases as early as this one have.
    fn draw_pes(&self, draw: &mut Draw, group: u64) -> u32 {
        let doublings = (group / DOUBLES_EVERY).min(16) as u32;
        let most = self.pes.min(PES_FIRST << doublings);
        let least = most.min(2);
        let range = f64::from(most + 1) / f64::from(least);
        ((f64::from(least) * range.powf(draw.random.uniform())) as u32).clamp(least, most)
    }

    /// A case without drawn options that were given, or that the model has no means for.
    fn sensible(&self, case: Case) -> Case {
        let engine = case.get(SYNC).and_then(Synchronisation::parse);
        let many = pes_of(&case) > FEW_PES;
        let mut kept = self.fixed.clone();
        for (name, value) in case.options.into_iter().skip(self.fixed.options.len()) {
            let is_possible = name != "undo" || self.undo.contains(&&*value);
            let is_new = kept.get(&name).is_none();
            if is_new && is_possible && engine.is_none_or(|engine| serves(&name, engine)) {
                let interval = value.parse().unwrap_or(RARE_GVT).max(RARE_GVT);
                let rare = many && name == "gvt-interval";
                kept = if rare { kept.with(&name, interval) } else { kept.with(&name, value) };
            }
        }
        kept
    }
}

/// The PEs of a case: threads of a virtual cluster, or cores of a machine.
pub(super) fn pes_of(case: &Case) -> u32 {
    let given = case.get(THREADS).or_else(|| case.get(PES));
    given.and_then(|pes| pes.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(fixed: Case, pes: u32) -> Drawing {
        let ends = Ends::known(vec![(1.0, 10), (100.0, 1000)]);
        Drawing { seed: 7, fixed, pes, undo: vec!["copy"], ends }
    }

    fn all(drawing: &Drawing, groups: u64) -> Vec<Case> {
        let of_group = |group| {
            let case = drawing.group(group);
            (0..WAYS).map(move |way| (group, way, case.clone()))
        };
        (0..groups)
            .flat_map(of_group)
            .map(|(group, way, case)| drawing.way(&case, group, way))
            .collect()
    }

    #[test]
    fn cases_follow_from_the_seed_and_grow() {
        let first = drawing(Case::new("shop").with("lps", 4000), 2000);
        let cases = all(&first, 200);
        assert_eq!(cases, all(&first, 200));
        assert_ne!(cases, all(&Drawing { seed: 8, ..first }, 200));
        assert!(cases.iter().take(40).all(|case| pes_of(case) <= 4));
        assert!(
            cases.iter().any(|case| pes_of(case) > 1000)
                && cases.iter().all(|case| pes_of(case) <= 2000)
        );
    }

    #[test]
    fn what_was_given_is_not_drawn() {
        let fixed = Case::new("shop").with("undo", "copy").with("batch", 7).with("end", 3);
        for case in all(&drawing(fixed.clone(), 8), 50) {
            assert_eq!(case.options[..3], fixed.options[..]);
            let mut names: Vec<_> = case.options.iter().map(|(name, _)| name).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), case.options.len(), "{case}");
            assert_ne!(case.get(SYNC), Some("conservative"), "it undoes nothing");
        }
    }

    #[test]
    fn a_model_is_undone_in_the_ways_that_it_has() {
        let cases = all(&drawing(Case::new("shop"), 8), 100);
        assert!(cases.iter().all(|case| matches!(case.get("undo"), None | Some("copy"))));
        assert!(cases.iter().any(|case| case.get("undo").is_some()));
    }

    #[test]
    fn some_runs_are_on_machines_and_all_others_in_virtual_clusters() {
        let cases = all(&drawing(Case::new("shop"), 40), 50);
        let is_on_machine = |case: &&Case| case.get(MACHINE).is_some();
        let (machines, clusters): (Vec<_>, Vec<_>) = cases.iter().partition(is_on_machine);
        assert!(machines.len() > 20, "{}", machines.len());
        assert!(machines.iter().all(|case| case.get(CLUSTER).or(case.get(THREADS)).is_none()));
        assert!(clusters.iter().all(|case| case.get(CLUSTER).and(case.get(THREADS)).is_some()));
    }

    #[test]
    fn a_single_lp_has_one_pe() {
        assert!(all(&drawing(Case::new("shop"), 1), 20).iter().all(|case| pes_of(case) == 1));
    }
}
