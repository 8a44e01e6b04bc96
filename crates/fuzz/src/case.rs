//! What only the attack can ask for in a case, and what its options are for.

use warpline::Settings;
use warpline::command::{Catalogue, ModelEntry};
use warpline::settings::{PARALLEL, Range};
use warpline_cases::Case;

use crate::models::Attacked;

warpline::settings! {
    /// Options of a case that are neither settings nor parameters of the model.
    pub struct Hooks {
        /// Whether every PE has a thread of its own, however few cores there are.
        one_thread_per_pe: bool = false, Range::Any, {
            heading: PARALLEL,
            hurts: "threads take turns",
        }
        /// Whether rings between PEs hold as little as they can.
        least_room: bool = false, Range::Any, {
            heading: PARALLEL,
            hurts: "PEs wait for room",
        }
        /// PEs move between threads at random, by this seed.
        migrate_at_random: u64, Range::Any, {
            heading: PARALLEL,
            hurts: "moves take time",
        }
        /// The engine changes at random moments, by this seed.
        changes: u64, Range::Any, {
            heading: PARALLEL,
            hurts: "changes take time",
        }
        /// Wall time after which the run is told to end.
        stop_after: f64, Range::Between(0.0, 1e4), {
            heading: PARALLEL,
            placeholder: "MS",
            unit: "ms",
            hurts: "the run is partial",
        }
        /// Wall time after which the command is sent SIGTERM.
        signal_after: f64, Range::Between(0.0, 1e4), {
            heading: PARALLEL,
            placeholder: "MS",
            unit: "ms",
            hurts: "the run is partial",
        }
        /// Wall time after which a process of the run is killed.
        kill_after: f64, Range::Between(0.0, 1e4), {
            heading: PARALLEL,
            placeholder: "MS",
            unit: "ms",
            hurts: "the run fails",
        }
        /// MPI ranks, started by `mpirun`.
        ranks: u32, Range::Between(1, 64), {
            heading: PARALLEL,
            hurts: "ranks take long to start",
        }
    }
}

/// A case with its options sorted by what they are for.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// The parameters of the model, by name.
    pub parameters: Vec<(String, String)>,
    /// How to run it.
    pub settings: Settings,
    /// What only the attack can ask for.
    pub hooks: Hooks,
}

/// Options that a run shares with its sequential reference, beside the model's parameters.
const COMMON: [&str; 4] = ["end", "seed", "warmup", "zero-delay-hops"];

fn entry(case: &Case) -> Result<ModelEntry, String> {
    Attacked.find(&case.model).map_err(|error| error.to_string())
}

/// Sorts the options of a case by what they are for.
///
/// # Errors
/// If there is no such model or setting, or a setting cannot have its value.
pub fn sorted(case: &Case) -> Result<Sorted, String> {
    let entry = entry(case)?;
    let mut sorted =
        Sorted { parameters: Vec::new(), settings: Settings::default(), hooks: Hooks::default() };
    for (name, value) in &case.options {
        let is_hook = Hooks::table().iter().any(|hook| hook.name == *name);
        let outcome = if entry.parameters.iter().any(|parameter| parameter.name == name.as_str()) {
            sorted.parameters.push((name.clone(), value.clone()));
            Ok(())
        } else if is_hook {
            sorted.hooks.set(name, value)
        } else {
            sorted.settings.set(name, value)
        };
        outcome.map_err(|error| error.to_string())?;
    }
    Ok(sorted)
}

/// The sequential run that a case is compared with.
pub fn reference(case: &Case) -> Case {
    let parameters = entry(case).map(|entry| entry.parameters).unwrap_or_default();
    let is_common = |name: &str| {
        COMMON.contains(&name) || parameters.iter().any(|parameter| parameter.name == name)
    };
    case.only(is_common).with("sync", "sequential")
}

/// Whether a case needs processes of its own.
pub fn is_outside(case: &Case) -> bool {
    ["processes", "ranks", "signal-after", "kill-after", "memory"]
        .iter()
        .any(|name| case.get(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_case_is_read_back() {
        let words: Vec<String> = "nasty --lps 4 --sync mixed --migrate-at-random 7 --end 3"
            .split(' ')
            .map(str::to_owned)
            .collect();
        let case = Case::parse(&words).unwrap();
        assert_eq!(case.to_string(), words.join(" "));
        let sorted = super::sorted(&case).unwrap();
        assert_eq!(
            (sorted.parameters.len(), sorted.settings.end, sorted.hooks.migrate_at_random),
            (1, Some(3.0), Some(7))
        );
        assert_eq!(reference(&case).to_string(), "nasty --lps 4 --end 3 --sync sequential");
        assert!(!is_outside(&case));
    }

    #[test]
    fn wrong_words_are_refused() {
        let read =
            |text: &str| Case::parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(read("nasty --lps").unwrap_err(), "`--lps` has no value");
        assert_eq!(read("nasty lps 3").unwrap_err(), "`lps` does not begin with two dashes");
        assert!(
            read("nasty --batch 0")
                .map(|case| sorted(&case).unwrap_err())
                .unwrap()
                .contains("batch")
        );
        assert!(
            read("nobody")
                .map(|case| sorted(&case).unwrap_err())
                .unwrap()
                .contains("no model `nobody`")
        );
    }
}
