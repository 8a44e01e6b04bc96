//! A case: a model, its parameters and how to run it, as the words of a command line.

use std::fmt;

use warpline::Settings;
use warpline::command::{Catalogue, ModelEntry};
use warpline::settings::{PARALLEL, Range};

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

/// A model and its options.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The name of the model.
    pub model: String,
    /// Names without dashes in front, and values.
    pub options: Vec<(String, String)>,
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

impl Case {
    pub(crate) fn new(model: &str) -> Self {
        Case { model: model.to_owned(), options: Vec::new() }
    }

    /// Reads a case as it is typed.
    ///
    /// # Errors
    /// If an option has no value, or does not begin with two dashes.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let [model, rest @ ..] = words else {
            return Err("a case begins with the name of a model".to_owned());
        };
        let mut case = Case::new(model);
        for pair in rest.chunks(2) {
            match pair {
                [name, value] if name.starts_with("--") => {
                    case.options.push((name[2..].to_owned(), value.clone()))
                }
                [name, _] => return Err(format!("`{name}` does not begin with two dashes")),
                _ => return Err(format!("`{}` has no value", pair[0])),
            }
        }
        Ok(case)
    }

    /// The same case with one more option.
    pub(crate) fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.options.push((name.to_owned(), value.to_string()));
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The same case with another value for an option, or without it.
    pub(crate) fn replace(&self, name: &str, value: Option<&str>) -> Self {
        let kept = self.options.iter().filter_map(|(known, old)| {
            let value = if known == name { value? } else { old };
            Some((known.clone(), value.to_owned()))
        });
        Case { model: self.model.clone(), options: kept.collect() }
    }

    /// The words of its command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let options =
            self.options.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]);
        std::iter::once(self.model.clone()).chain(options).collect()
    }

    fn entry(&self) -> Result<ModelEntry, String> {
        Attacked.find(&self.model).map_err(|error| error.to_string())
    }

    /// Sorts its options by what they are for.
    ///
    /// # Errors
    /// If there is no such model or setting, or a setting cannot have its value.
    pub fn sorted(&self) -> Result<Sorted, String> {
        let entry = self.entry()?;
        let mut sorted = Sorted {
            parameters: Vec::new(),
            settings: Settings::default(),
            hooks: Hooks::default(),
        };
        for (name, value) in &self.options {
            let is_hook = Hooks::table().iter().any(|hook| hook.name == *name);
            let outcome =
                if entry.parameters.iter().any(|parameter| parameter.name == name.as_str()) {
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

    /// The sequential run that it is compared with.
    pub fn reference(&self) -> Self {
        let parameters = self.entry().map(|entry| entry.parameters).unwrap_or_default();
        let is_common = |name: &str| {
            COMMON.contains(&name) || parameters.iter().any(|parameter| parameter.name == name)
        };
        let options = self.options.iter().filter(|(name, _)| is_common(name)).cloned().collect();
        Case { model: self.model.clone(), options }.with("sync", "sequential")
    }

    /// Whether it needs processes of its own.
    pub fn is_outside(&self) -> bool {
        ["processes", "ranks", "signal-after", "kill-after", "memory"]
            .iter()
            .any(|name| self.get(name).is_some())
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join(" "))
    }
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
        let sorted = case.sorted().unwrap();
        assert_eq!(
            (sorted.parameters.len(), sorted.settings.end, sorted.hooks.migrate_at_random),
            (1, Some(3.0), Some(7))
        );
        assert_eq!(case.reference().to_string(), "nasty --lps 4 --end 3 --sync sequential");
        assert!(!case.is_outside());
    }

    #[test]
    fn wrong_words_are_refused() {
        let read =
            |text: &str| Case::parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(read("nasty --lps").unwrap_err(), "`--lps` has no value");
        assert_eq!(read("nasty lps 3").unwrap_err(), "`lps` does not begin with two dashes");
        assert!(read("nasty --batch 0").unwrap().sorted().unwrap_err().contains("batch"));
        assert!(read("nobody").unwrap().sorted().unwrap_err().contains("no model `nobody`"));
    }
}
