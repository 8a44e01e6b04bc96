//! The settings of a run: what may be typed for them, and what it means.

use std::path::PathBuf;
use std::str::FromStr;

use warpline::{Pending, Synchronisation, Undo, nearest};

use crate::failure::Failure;

/// A setting or parameter as it was given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) text: String,
    /// File and line; `None` on the command line.
    pub(crate) place: Option<String>,
}

/// What is known of a setting before it has a value.
pub(crate) struct SettingSpec {
    pub(crate) name: &'static str,
    pub(crate) heading: &'static str,
    /// What stands for its value in help texts.
    pub(crate) value: &'static str,
    pub(crate) help: &'static str,
    /// The words that it may be; none if it is no choice.
    pub(crate) words: Vec<&'static str>,
}

/// The settings of `warpline run`.
pub(crate) fn of_run() -> Vec<SettingSpec> {
    let run = |name, value, help| SettingSpec { name, heading: "Run settings", value, help, words: Vec::new() };
    let engine = |name, help, words| SettingSpec { name, heading: "Engine settings", value: "WORD", help, words };
    vec![
        run("end", "TIME", "Model time at which the run ends; events at this time are not executed [default: the model's]"),
        run("seed", "NUMBER", "Seed of all random numbers, a whole number [default: 1]"),
        run("warmup", "TIME", "Model time before which no statistics are taken [default: 0]"),
        SettingSpec {
            heading: "Output",
            ..run("report", "DIR", "Directory for a report, made if needed: report.html, run.json and a CSV file per table")
        },
        engine("sync", "How LPs are kept in step [default: sequential]", words::<Synchronisation>()),
        engine("undo", "How events are undone; a sequential run undoes none [default: copy]", words::<Undo>()),
        engine(
            "pending",
            "Pending event set; the answer does not depend on it [default: ladder, which is a heap while few events are pending]",
            words::<Pending>(),
        ),
    ]
}

/// The settings of `warpline verify`.
pub(crate) fn of_verify() -> Vec<SettingSpec> {
    let spec = |name, value, help, words| SettingSpec { name, heading: "Verification", value, help, words };
    vec![
        spec("end", "TIME", "Model time at which it ends [default: after the first ten thousand events]", Vec::new()),
        spec("seed", "NUMBER", "Seed of all random numbers, a whole number [default: 1]", Vec::new()),
        spec("undo", "WORD", "The way of undoing events to try [default: all that the model has]", words::<Undo>()),
    ]
}

/// Settings with their meaning; what was not given is `None` or the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) end: Option<f64>,
    pub(crate) seed: Option<u64>,
    pub(crate) warmup: Option<f64>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) sync: Synchronisation,
    pub(crate) undo: Option<Undo>,
    pub(crate) pending: Pending,
}

impl Settings {
    /// Reads settings; the last of a name counts.
    pub(crate) fn read(given: &[Given]) -> Result<Self, Failure> {
        let mut settings = Settings::default();
        for one in given {
            match one.name.as_str() {
                "end" => settings.end = Some(number(one, "a number")?),
                "seed" => settings.seed = Some(number(one, "a whole number from 0 to 18446744073709551615")?),
                "warmup" => settings.warmup = Some(number(one, "a number")?),
                "report" if one.text.is_empty() => return Err(refused(one, "the path of a directory")),
                "report" => settings.report = Some(PathBuf::from(&one.text)),
                "sync" => settings.sync = word(one)?,
                "undo" => settings.undo = Some(word(one)?),
                "pending" => settings.pending = word(one)?,
                name => unreachable!("`{name}` is no setting"),
            }
        }
        Ok(settings)
    }
}

fn refused(given: &Given, takes: &str) -> Failure {
    Failure::wrong_use(format!("`{}` cannot be `{}`: it takes {takes}", given.name, given.text)).at(given.place.as_deref())
}

fn number<T: FromStr>(given: &Given, takes: &str) -> Result<T, Failure> {
    given.text.trim().parse().map_err(|_| refused(given, takes))
}

/// A setting that is one of a few words.
trait Word: Copy + 'static {
    const WORDS: &'static [(&'static str, Self)];
}

impl Word for Synchronisation {
    const WORDS: &'static [(&'static str, Self)] = &[("sequential", Synchronisation::Sequential)];
}

impl Word for Undo {
    const WORDS: &'static [(&'static str, Self)] = &[("copy", Undo::Copy), ("reverse", Undo::Reverse)];
}

impl Word for Pending {
    const WORDS: &'static [(&'static str, Self)] = &[("ladder", Pending::Ladder), ("heap", Pending::Heap)];
}

fn words<T: Word>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}

fn word<T: Word>(given: &Given) -> Result<T, Failure> {
    T::WORDS.iter().find(|(word, _)| *word == given.text).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let near = nearest(&given.text, words::<T>()).map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
        refused(given, &format!("one of {}{near}", words::<T>().join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Settings, String> {
        let given = Given { name: name.into(), text: text.into(), place: Some("a.toml:3".into()) };
        Settings::read(&[given]).map_err(|failure| failure.message)
    }

    #[test]
    fn values_get_their_meaning() {
        assert_eq!(read("end", "2e3").unwrap().end, Some(2000.0));
        assert_eq!(read("seed", "18446744073709551615").unwrap().seed, Some(u64::MAX));
        assert_eq!(read("undo", "reverse").unwrap().undo, Some(Undo::Reverse));
        assert_eq!(read("pending", "heap").unwrap().pending, Pending::Heap);
    }

    #[test]
    fn refused_values_say_where_and_what_they_may_be() {
        assert_eq!(read("end", "soon").unwrap_err(), "a.toml:3: `end` cannot be `soon`: it takes a number");
        assert!(read("seed", "-1").unwrap_err().ends_with("it takes a whole number from 0 to 18446744073709551615"));
        assert!(read("undo", "revers").unwrap_err().ends_with("it takes one of copy, reverse; did you mean `reverse`?"));
        assert!(read("report", "").unwrap_err().contains("the path of a directory"));
    }

    #[test]
    fn every_setting_is_read() {
        for spec in of_run().iter().chain(&of_verify()) {
            let text = spec.words.first().unwrap_or(&"7");
            assert!(read(spec.name, text).is_ok(), "{}", spec.name);
        }
    }
}
