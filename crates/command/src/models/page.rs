//! `warpline models`: the models and their parameters.

use std::fmt::Write;

use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, ModelEntry, ways_to_undo};
use crate::models::program::Program;
use crate::output::{self, format};
use crate::verbs::{COMPARE, EXPLAIN, RUN, TORTURE, VERIFY};
use serde_json::{Map, Value, json};
use warpline_run::{ParameterSpec, Preset, Undo};

/// The narrowest column in which text is readable.
const NARROWEST: usize = 32;

/// Lists all models.
pub(crate) fn list<C: Catalogue>(program: &Program<C>, json: bool) -> Result<(), Failure> {
    let Program { name, entries, .. } = program;
    if json {
        return output::print_json(
            &json!({ "models": entries.iter().map(|entry| entry_json(program, entry)).collect::<Vec<_>>() }),
        );
    }
    let rows: Vec<[String; 2]> =
        entries.iter().map(|entry| [entry.name.to_owned(), entry.about.to_owned()]).collect();
    output::print(&format!(
        "{}\n`{name} models show MODEL` lists a model's parameters.\n",
        format::columns(&rows, 0)
    ))
}

/// Shows one model.
pub(crate) fn show<C: Catalogue>(
    program: &Program<C>,
    name: &str,
    json: bool,
) -> Result<(), Failure> {
    let entry = program.find(name)?;
    if json {
        return output::print_json(&entry_json(program, &entry));
    }
    let width = console::Term::stdout().size_checked().map(|(_, width)| usize::from(width));
    output::print(&page(program, &entry, width))
}

fn entry_json<C: Catalogue>(program: &Program<C>, entry: &ModelEntry) -> Value {
    let parameter = |spec: &ParameterSpec| json!({ "name": spec.name, "unit": spec.unit, "default": spec.default, "range": spec.range, "meaning": spec.meaning });
    let preset = |preset: &Preset| {
        let values: Map<_, _> = preset
            .values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Value::from(*value)))
            .collect();
        json!({ "name": preset.name, "about": preset.about, "values": values })
    };
    json!({
        "name": entry.name,
        "about": entry.about,
        "time_unit": entry.time_unit,
        "default_end": entry.default_end,
        "reversible": entry.reversible,
        "journaled": entry.journaled,
        "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "presets": entry.presets.iter().map(preset).collect::<Vec<_>>(),
        "examples": examples(program, entry),
    })
}

/// Command lines to start from.
pub(crate) fn examples<C: Catalogue>(program: &Program<C>, entry: &ModelEntry) -> Vec<String> {
    let [run, verify, torture, explain, compare] =
        [RUN, VERIFY, TORTURE, EXPLAIN, COMPARE].map(|verb| program.line(verb, entry.name));
    let numeric = entry.parameters.iter().find(|spec| spec.default.parse::<f64>().is_ok());
    let parameter =
        numeric.map(|spec| format!(" --{} {}", spec.name, spec.default)).unwrap_or_default();
    vec![
        run.clone(),
        format!("{run}{parameter} --end {} --seed 2 --report out", entry.default_end / 2.0),
        verify,
        torture,
        explain,
        compare,
    ]
}

/// Everything about a model, in lines of at most `width` characters, or of any length.
fn page<C: Catalogue>(program: &Program<C>, entry: &ModelEntry, width: Option<usize>) -> String {
    let mut page = format!("{}: {}\n\n", entry.name, entry.about);
    let undo: Vec<_> =
        ways_to_undo(entry.reversible, entry.journaled).into_iter().map(Undo::name).collect();
    let facts = [
        [
            "Unit of model time".to_owned(),
            if entry.time_unit.is_empty() { "none" } else { entry.time_unit }.to_owned(),
        ],
        ["Default end".to_owned(), format::time(entry.default_end, entry.time_unit)],
        ["Undo".to_owned(), undo.join(", ")],
    ];
    page += &format::columns(&facts, 0);
    page += "\nParameters\n";
    page += &parameters(entry, width);
    if !entry.presets.is_empty() {
        page += "\nPresets\n";
        page += &presets(entry.presets, width);
    }
    page += "\nExamples\n";
    for example in examples(program, entry) {
        let _ = writeln!(page, "  {example}");
    }
    page
}

/// Each preset, with its meaning and what it sets below.
pub(crate) fn presets(presets: &[Preset], width: Option<usize>) -> String {
    let mut page = String::new();
    for Preset { name, about, values } in presets {
        let sets: Vec<String> =
            values.iter().map(|(name, value)| format!("--{name} {value}")).collect();
        let _ = writeln!(page, "  {name}");
        for text in [(*about).to_owned(), sets.join(" ")] {
            let lines = format::wrapped(&text, width.unwrap_or(usize::MAX).saturating_sub(6));
            lines.iter().for_each(|line| page += &format!("      {line}\n"));
        }
    }
    page
}

fn parameters(entry: &ModelEntry, width: Option<usize>) -> String {
    let head = ["name", "default", "unit", "takes"].map(str::to_owned);
    let row = |spec: &ParameterSpec| {
        let default =
            if spec.default.is_empty() { "none".to_owned() } else { spec.default.clone() };
        [format!("--{}", spec.name), default, spec.unit.to_owned(), spec.range.clone()]
    };
    let rows: Vec<[String; 4]> =
        std::iter::once(head).chain(entry.parameters.iter().map(row)).collect();
    let table = format::columns(&rows, 2);
    let lines: Vec<&str> = table.lines().collect();
    let left = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) + 2;
    let meanings =
        std::iter::once("meaning").chain(entry.parameters.iter().map(|spec| spec.meaning.as_str()));
    let beside = width.is_none_or(|width| width >= left + NARROWEST);
    let mut page = String::new();
    for (line, meaning) in lines.iter().zip(meanings) {
        if beside {
            let mut texts =
                format::wrapped(meaning, width.map_or(usize::MAX, |width| width - left))
                    .into_iter();
            let _ = writeln!(page, "{line:left$}{}", texts.next().unwrap_or_default());
            texts.for_each(|text| page += &format!("{:left$}{text}\n", ""));
        } else {
            let _ = writeln!(page, "{line}");
            let texts = format::wrapped(meaning, width.unwrap_or(usize::MAX).saturating_sub(6));
            texts.iter().for_each(|text| page += &format!("      {text}\n"));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_models::two;

    #[test]
    fn pages_keep_to_their_width() {
        for entry in two().entries {
            for width in [60, 80, 120, 160] {
                let page = parameters(&entry, Some(width));
                let table = if width < 100 { 100 } else { width };
                assert!(page.lines().all(|line| line.chars().count() <= table), "{width}:\n{page}");
                assert!(
                    entry.parameters.iter().all(|spec| page.contains(&format!("--{}", spec.name)))
                );
            }
            assert_eq!(parameters(&entry, None).lines().count(), 1 + entry.parameters.len());
        }
    }
}
