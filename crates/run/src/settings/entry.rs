//! An entry of a table of settings.

use serde_json::Value;
use warpline_model::nearest;

use super::options::Synchronisation;
use super::value::{Range, SettingValue};

/// The heading of settings of every run.
pub const RUN: &str = "Run settings";
/// The heading of settings for output.
pub const OUTPUT: &str = "Output";
/// The heading of settings of every engine.
pub const ENGINE: &str = "Engine settings";
/// The heading of settings of parallel engines. A sequential run has no use for them, except for
/// `sync` and `threads`.
pub const PARALLEL: &str = "Parallel runs";

/// What is known about a setting before it has a value.
///
/// ```
/// use warpline::Settings;
/// let window = Settings::table().iter().find(|setting| setting.name == "window").unwrap();
/// assert_eq!((window.unit, window.range.as_str()), ("model time", "a finite number greater than 0"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Setting {
    /// Its name on the command line and in scenario files, such as `gvt-interval`; in records, `_`
    /// takes the place of `-`.
    pub name: String,
    /// Its heading in help texts.
    pub heading: &'static str,
    /// The placeholder for its value in help texts, such as `EVENTS`.
    pub placeholder: &'static str,
    /// The unit of its values; empty for a pure number or a word.
    pub unit: &'static str,
    /// The words that it may be, if there is a list of them.
    pub words: &'static [&'static str],
    /// The values that it takes, in words.
    pub range: String,
    /// Its default, as it would be typed, or the rule by which one is found; empty if it has
    /// neither.
    pub default: String,
    /// What it does, in one sentence without a full stop.
    pub meaning: String,
    /// When it does harm, in one sentence without a full stop.
    pub hurts: &'static str,
    /// Which records contain it.
    pub recorded: Recorded,
}

/// Which [records](crate::record::RunRecord::engine) contain a setting among those of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// None: the record has it elsewhere, or does not need it.
    #[default]
    Never,
    /// All.
    Always,
    /// Those of parallel runs.
    InParallel,
}

/// Why a setting was refused. No run was started.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// There is no setting of this name.
    #[error("there is no setting `{name}`{}", suggestion(.nearest))]
    Unknown {
        /// The name as given.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// It cannot have this value.
    #[error("`{name}` cannot be `{value}`: it takes {range}{}", suggestion(.nearest))]
    Value {
        /// The setting.
        name: String,
        /// The value as given.
        value: String,
        /// The values that it takes, in words.
        range: String,
        /// The most similar value, where there is a list of them.
        nearest: Option<String>,
    },
    /// It cannot have this value together with the value of another setting.
    #[error("`{name}` is `{value}`, but `{other}` is `{other_value}`: {remedy}")]
    Conflict {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// The other setting.
        other: &'static str,
        /// The other's value.
        other_value: String,
        /// What is wrong with that, and what to do.
        remedy: String,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|word| format!("; did you mean `{word}`?")).unwrap_or_default()
}

/// The part of an entry beside name, type, default, range and meaning.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    pub heading: &'static str,
    /// If it differs from that of the type.
    pub placeholder: &'static str,
    pub unit: &'static str,
    /// The values that it takes, if the range does not say.
    pub takes: &'static str,
    /// The reason for these values, or what to do.
    pub reason: &'static str,
    /// How a value is found if none is given.
    pub rule: &'static str,
    pub hurts: &'static str,
    pub recorded: Recorded,
}

/// Puts the parts of an entry together.
#[doc(hidden)]
pub fn describe<T: SettingValue>(
    field: &str,
    meaning: &[&str],
    range: &Range<T>,
    default: Option<T>,
    facts: Facts,
) -> Setting {
    let takes = if facts.takes.is_empty() { T::takes(range) } else { facts.takes.to_owned() };
    let sentence: Vec<&str> = meaning.iter().map(|line| line.trim()).collect();
    Setting {
        name: typed(field),
        heading: facts.heading,
        placeholder: if facts.placeholder.is_empty() { T::PLACEHOLDER } else { facts.placeholder },
        unit: facts.unit,
        words: T::WORDS,
        range: if facts.reason.is_empty() { takes } else { format!("{takes}, {}", facts.reason) },
        default: default.map_or_else(|| facts.rule.to_owned(), |value| value.text()),
        meaning: sentence.join(" ").trim_end_matches('.').to_owned(),
        hurts: facts.hurts,
        recorded: facts.recorded,
    }
}

/// A name as it is typed.
fn typed(name: &str) -> String {
    name.replace('_', "-")
}

/// The entry for a name; `_` and `-` are the same.
#[doc(hidden)]
pub fn find<'t>(table: &'t [Setting], name: &str) -> Result<&'t Setting, SettingError> {
    let name = typed(name);
    let found = table.iter().find(|setting| setting.name == name);
    found.ok_or_else(|| SettingError::Unknown {
        nearest: nearest(&name, table.iter().map(|setting| setting.name.as_str())),
        name,
    })
}

impl Setting {
    /// Reads and checks a value.
    #[doc(hidden)]
    pub fn read<T: SettingValue>(&self, text: &str, range: &Range<T>) -> Result<T, SettingError> {
        let value = T::parse(text).ok_or_else(|| self.refuse(text.to_owned(), T::nearest(text)))?;
        self.check(&value, range).map(|()| value)
    }

    /// Checks a value.
    #[doc(hidden)]
    pub fn check<T: SettingValue>(&self, value: &T, range: &Range<T>) -> Result<(), SettingError> {
        if value.within(range) { Ok(()) } else { Err(self.refuse(value.text(), None)) }
    }

    fn refuse(&self, value: String, nearest: Option<String>) -> SettingError {
        SettingError::Value { name: self.name.clone(), value, range: self.range.clone(), nearest }
    }

    /// Whether runs of this engine have a use for it.
    pub fn serves(&self, engine: Synchronisation) -> bool {
        match self.name.as_str() {
            "sync" | "threads" | "processes" => true,
            _ if engine == Synchronisation::Auto => true,
            "conservative" => engine == Synchronisation::Conservative,
            "undo" | "kps" | "window" | "copy-interval" | "cancellation" | "go-ahead"
            | "conservative-lps" | "sub-pool" | "fossil-collection" => engine.goes_ahead(),
            _ => self.heading != PARALLEL || engine != Synchronisation::Sequential,
        }
    }

    /// Whether it is about messages between processes, and nothing else.
    pub(super) fn is_between_processes(&self) -> bool {
        matches!(self.name.as_str(), "zero-copy" | "carrier")
            || self.name.starts_with("communication")
    }

    /// Its name in records, and its field in code.
    #[doc(hidden)]
    pub fn key(&self) -> String {
        self.name.replace('-', "_")
    }
}

/// Settings of a record, by name.
#[doc(hidden)]
pub type Values = serde_json::Map<String, Value>;

/// The settings that belong in a record, with their values.
#[doc(hidden)]
pub fn recorded(
    table: &[Setting],
    values: impl IntoIterator<Item = Option<Value>>,
    parallel: bool,
) -> Values {
    let belongs = |setting: &Setting| match setting.recorded {
        Recorded::Never => false,
        Recorded::Always => true,
        Recorded::InParallel => parallel,
    };
    let all = table.iter().zip(values).filter(|(setting, _)| belongs(setting));
    all.filter_map(|(setting, value)| Some((setting.key(), value?))).collect()
}
