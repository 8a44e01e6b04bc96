//! What was chosen, and why.

use std::fmt;

use serde_json::Value;

use crate::settings::SettingValue;

/// Why a setting has its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The user gave it.
    Given,
    /// It is the default, whatever the model and the machine.
    Default,
    /// It follows from the model, the machine or other settings.
    Rule(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Given => "given",
            Reason::Default => "the default",
            Reason::Rule(rule) => rule,
        })
    }
}

/// A value and why it is the one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chosen<T> {
    pub(crate) value: T,
    pub(crate) why: Reason,
}

impl<T> Chosen<T> {
    /// What the user gave, if anything.
    pub(crate) fn given(value: Option<T>) -> Option<Self> {
        value.map(|value| Chosen { value, why: Reason::Given })
    }
}

/// A setting of the plan, as a record has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    /// Its name in records.
    pub(crate) key: &'static str,
    pub(crate) value: Value,
    pub(crate) why: Reason,
}

/// The settings of a plan that were left to the engine or may have been.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices(Vec<Choice>);

impl Choices {
    /// Notes what was chosen for a setting, and returns it.
    pub(crate) fn note<T: SettingValue>(&mut self, key: &'static str, chosen: Chosen<T>) -> T {
        self.note_as(key, chosen.value.json(), chosen.why);
        chosen.value
    }

    /// Notes a value that the record has in other words.
    pub(crate) fn note_as(&mut self, key: &'static str, value: Value, why: Reason) {
        self.0.push(Choice { key, value, why });
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Choice> {
        self.0.iter()
    }
}
