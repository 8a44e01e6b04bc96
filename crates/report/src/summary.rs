//! The head of a report: what ran, how it went in a few tiles, and the settings in force.

use crate::format::{self, NOTHING, Zeros};
use crate::html::escape;
use serde_json::{Map, Value};
use std::borrow::Cow;
use warpline_record::{Partial, Provenance, Replications, RunRecord, SettingNote};

/// One tile: a value in large type, with its label above and a note below.
pub(crate) struct Tile<'a> {
    label: Cow<'a, str>,
    value: String,
    note: String,
}

impl<'a> Tile<'a> {
    pub(crate) fn new(
        label: impl Into<Cow<'a, str>>,
        value: String,
        note: impl Into<String>,
    ) -> Self {
        Tile { label: label.into(), value, note: note.into() }
    }
}

/// The tiles of how the run went, the digest among them.
pub(crate) fn tiles(record: &RunRecord) -> String {
    let loop_time = format::duration(record.loop_seconds);
    let tiles = [
        Tile::new(
            "Event rate",
            format::quantity(record.event_rate, "events/s"),
            format!("over {loop_time} of event loop"),
        ),
        Tile::new(
            "Committed events",
            format::integer(record.committed_events),
            "executed for good",
        ),
        wall_time(record),
        end_time(record),
        peak_memory(record),
        seed(record),
    ];
    tiles.iter().map(tile).collect::<String>() + &digest(&record.digest)
}

fn wall_time(record: &RunRecord) -> Tile<'static> {
    let start_up = record.wall_seconds - record.loop_seconds;
    let note = if start_up >= 0.0 {
        format!("{} outside the event loop", format::duration(start_up))
    } else {
        String::new()
    };
    Tile::new("Wall time", format::duration(record.wall_seconds), note)
}

fn end_time(record: &RunRecord) -> Tile<'static> {
    let time = |time: f64| format::number(time, 6, Zeros::Strip);
    let end = format!("{} {}", time(record.end_time), record.time_unit).trim_end().to_owned();
    let note = match record.partial {
        None => "of model time".to_owned(),
        Some(Partial { wanted_end, .. }) => format!("partial: {} were wanted", time(wanted_end)),
    };
    Tile::new("Virtual end time", end, note)
}

/// That the run was stopped before its end; empty if it was not.
pub(crate) fn cut_short(record: &RunRecord) -> String {
    let Some(Partial { wanted_end, wanted_runs }) = &record.partial else { return String::new() };
    let reached = match &record.replications {
        Some(done) => format!("after {} of {wanted_runs} runs", done.runs.len()),
        None => {
            let [end, wanted] =
                [record.end_time, *wanted_end].map(|time| format::number(time, 6, Zeros::Strip));
            format!("at {end} of {wanted} {}", record.time_unit).trim_end().to_owned()
        }
    };
    format!(
        "<p class=\"card notice\">Stopped early, {}: all figures are of what was done until \
         then.</p>\n",
        escape(&reached)
    )
}

fn peak_memory(record: &RunRecord) -> Tile<'static> {
    match record.peak_rss_bytes {
        Some(bytes) => {
            Tile::new("Peak memory", format::quantity(bytes as f64, "B"), "most ever held")
        }
        None => Tile::new("Peak memory", NOTHING.to_owned(), "the system does not tell"),
    }
}

fn seed(record: &RunRecord) -> Tile<'static> {
    let note = match &record.replications {
        None => "of all random streams".to_owned(),
        Some(Replications { at_once, runs }) => {
            let runs = runs.len();
            format!(
                "the first of {runs} runs, {at_once} at a time; results are estimates across them"
            )
        }
    };
    Tile::new("Seed", record.seed.to_string(), note)
}

/// The tile of a digest.
pub(crate) fn digest(digest: &str) -> String {
    format!(
        "<div class=\"tile digest\"><dt>History digest</dt><dd><code id=\"digest\">{}</code>\
         <button type=\"button\" class=\"quiet script\" data-copy=\"digest\">Copy</button>\
         <small>equal digests, equal histories</small></dd></div>",
        escape(digest)
    )
}

/// A tile as HTML.
pub(crate) fn tile(Tile { label, value, note }: &Tile<'_>) -> String {
    // A long unit is set in smaller type.
    let value = match value.strip_suffix("events/s") {
        Some(figure) => format!("{}<span>events/s</span>", escape(figure)),
        None => escape(value),
    };
    let long = if value.chars().count() > 36 || (!value.contains('<') && value.chars().count() > 14)
    {
        " long"
    } else {
        ""
    };
    format!(
        "<div class=\"tile{long}\"><dt>{}</dt><dd><span \
         class=\"value\">{value}</span><small>{}</small></dd></div>",
        escape(label),
        escape(note)
    )
}

/// Parameters, settings and provenance, each behind its heading.
pub(crate) fn settings(record: &RunRecord) -> String {
    fold("Parameters", "parameter", pairs(&record.parameters))
        + &fold("Settings", "setting", setting_rows(record))
        + &fold("Provenance", "fact", provenance(&record.provenance))
}

/// The same for parameters and settings without notes.
pub(crate) fn folds(
    parameters: &Map<String, Value>,
    settings: &Map<String, Value>,
    from: &Provenance,
) -> String {
    fold("Parameters", "parameter", pairs(parameters))
        + &fold("Settings", "setting", pairs(settings))
        + &fold("Provenance", "fact", provenance(from))
}

/// A row for each name and value.
fn pairs(all: &Map<String, Value>) -> Vec<String> {
    all.iter().map(|(name, value)| pair(name, &exact(value), "")).collect()
}

/// Where the record comes from, as far as it tells.
fn provenance(from: &Provenance) -> Vec<String> {
    let line = shlex::try_join(from.command_line.iter().map(String::as_str))
        .unwrap_or_else(|_| from.command_line.join(" "));
    let commit =
        from.commit.as_ref().map(|commit| format!(" (commit {commit})")).unwrap_or_default();
    let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let facts = [
        ("command line", known(&line)),
        ("begun", known(&from.date)),
        ("Warpline", known(&from.version).map(|version| version + &commit)),
        ("processor", from.processor.clone()),
        ("cores", from.cores.map(|cores| format!("{cores} that the process may use"))),
        (
            "memory",
            from.memory_bytes
                .map(|bytes| format!("{} in the machine", format::quantity(bytes as f64, "B"))),
        ),
        ("PEs", Some(from.pes).filter(|pes| *pes > 0).map(|pes| pes.to_string())),
    ];
    facts.into_iter().filter_map(|(name, fact)| Some(pair(name, &fact?, ""))).collect()
}

/// Settings with notes, in the order of the notes; then those without.
fn setting_rows(record: &RunRecord) -> Vec<String> {
    let end = Value::from(record.end_time);
    let seed = Value::from(record.seed);
    let value = |name: &str| match name {
        "end" => Some(&end),
        "seed" => Some(&seed),
        _ => record.engine.get(name),
    };
    let noted = record
        .settings
        .iter()
        .filter_map(|note| Some(noted(note, value(&note.name)?, &record.time_unit)));
    let others = record
        .engine
        .iter()
        .filter(|(name, _)| record.settings.iter().all(|note| note.name != **name));
    noted.chain(others.map(|(name, value)| pair(name, &exact(value), ""))).collect()
}

/// A setting with its unit, its meaning, and when it hurts.
fn noted(note: &SettingNote, value: &Value, time_unit: &str) -> String {
    let unit = match note.unit.as_str() {
        "model time" if !time_unit.is_empty() => time_unit,
        unit => unit,
    };
    let value = match unit {
        "" => exact(value),
        "model time" => format!("{} ({unit})", exact(value)),
        _ if value.is_number() => format!("{} {unit}", exact(value)),
        _ => format!("{} ({unit})", exact(value)),
    };
    let sentences = [("", &note.meaning), ("When it hurts: ", &note.hurts)];
    let sentences = sentences.into_iter().filter(|(_, sentence)| !sentence.is_empty());
    let text: String = sentences
        .map(|(start, sentence)| format!("<small>{start}{}.</small>", escape(sentence)))
        .collect();
    pair(&note.name, &value, &text)
}

/// A row with a name, its exact value, and remarks as HTML.
fn pair(name: &str, value: &str, remarks: &str) -> String {
    format!("<tr><th scope=\"row\">{}</th><td>{}{remarks}</td></tr>", escape(name), escape(value))
}

/// A collapsed table.
fn fold(heading: &str, singular: &str, rows: Vec<String>) -> String {
    let count = match rows.len() {
        1 => format!("1 {singular}"),
        many => format!("{many} {singular}s"),
    };
    let body = if rows.is_empty() {
        format!("<p class=\"empty\">There are no {singular}s.</p>")
    } else {
        let rows = rows.concat();
        format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{heading}\"><table \
             class=\"pairs\"><tbody>{rows}</tbody></table></div>"
        )
    };
    format!(
        "<details class=\"card fold\"><summary><h2>{heading}</h2><span \
         class=\"muted\">{count}</span></summary>{body}</details>"
    )
}

/// A value as it would be typed, without rounding or grouping.
fn exact(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => NOTHING.into(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_provenance_is_shown() {
        assert_eq!(provenance(&Provenance::default()), [""; 0]);
        let from = Provenance {
            command_line: ["warpline", "run", "my model"].map(str::to_owned).to_vec(),
            date: "2026-03-01T09:30:00Z".into(),
            version: "0.1.0".into(),
            commit: Some("0123456789ab".into()),
            cores: Some(2),
            pes: 8,
            ..Default::default()
        };
        let rows = provenance(&from).concat();
        for wanted in [
            "warpline run &#39;my model&#39;",
            "2026-03-01T09:30:00Z",
            "0.1.0 (commit 0123456789ab)",
            "2 that",
            "PEs</th><td>8",
        ] {
            assert!(rows.contains(wanted), "{wanted}: {rows}");
        }
        assert!(!rows.contains("memory") && !rows.contains("processor"), "{rows}");
    }
}
