//! The head of a study's report: a warning, the main figures, advice, parameters and provenance.

use crate::html::escape;
use crate::summary::{self, Tile};
use warpline_record::StudyRecord;

/// Everything above the views.
pub(crate) fn summary(record: &StudyRecord) -> String {
    let warning = record.warning.as_ref().map_or(String::new(), |warning| {
        format!(
            "<section class=\"card alarm\" role=\"alert\"><h2>What went \
             wrong</h2><p>{}</p></section>",
            escape(warning)
        )
    });
    let tiles: String = record
        .facts
        .iter()
        .map(|fact| summary::tile(&Tile::new(&fact.name, fact.value.clone(), fact.remark.clone())))
        .collect();
    let digest = record.digest.as_deref().map(summary::digest).unwrap_or_default();
    let folds = summary::folds(&record.parameters, &record.settings, &record.provenance);
    format!(
        "{warning}<dl class=\"tiles\">{tiles}{digest}</dl>\n<div class=\"grid \
         folds\">{folds}</div>\n{}",
        advice(&record.advice)
    )
}

fn advice(advice: &[String]) -> String {
    if advice.is_empty() {
        return String::new();
    }
    let items: String = advice.iter().map(|text| format!("<li>{}</li>", escape(text))).collect();
    format!(
        "<section class=\"card advice\"><h2>What stands in the way</h2><ul \
         class=\"hints\">{items}</ul></section>\n"
    )
}
