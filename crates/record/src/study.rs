use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::views::View;
use crate::provenance::Provenance;

/// The record of a comparison of engines, or of an explanation: about several runs, or about the
/// model itself. It lists what a report shows, part by part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StudyRecord {
    /// Its kind, such as `comparison`. This field tells it from the record of a run.
    pub study: String,
    /// The model's name.
    pub model: String,
    /// One line on what was studied.
    pub about: String,
    /// A warning that must come first, such as a wrong answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The main figures, the most important first.
    pub facts: Vec<Fact>,
    /// The digest of the history, if there is one for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Advice that follows from the figures, the most important first.
    pub advice: Vec<String>,
    /// Every parameter of the model with the value in force.
    pub parameters: Map<String, Value>,
    /// The settings that all runs have in common.
    pub settings: Map<String, Value>,
    /// Where it comes from.
    pub provenance: Provenance,
    /// Pictures and tables.
    pub views: Vec<View>,
    /// The whole study as one object, as `--json` prints it.
    pub figures: Value,
}

/// A figure of a [`StudyRecord`], in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// The figure with its unit.
    pub value: String,
    /// A short remark.
    pub remark: String,
}
