//! The section as HTML.

use super::bars::Data;
use super::charts::{card, counts, curves, phases};
use super::limits::{Limit, limits};
use super::machine;
use super::pes::pes;
use super::prose::prose;
use super::shares::is_measured;
use super::tiles::tiles;
use crate::html::escape;
use crate::table::Table;
use warpline_record::{ParallelRecord, RunRecord};

/// The remark on the table of PEs.
const PES: &str = "The phases are estimated from a sample of the PE's steps.";

/// The section, and the data of its charts and its table.
pub(crate) struct Section {
    pub(crate) html: String,
    pub(crate) data: Data,
    pub(crate) table: Option<Table>,
}

/// The section of a parallel run, whose table the script finds under `key`; `None` for a sequential
/// one.
pub(crate) fn section(record: &RunRecord, key: usize) -> Option<Section> {
    let speculated = record.progress.iter().any(|sample| sample.speculation.is_some());
    let parallel = record.parallel.as_ref();
    if parallel.is_none() && !speculated {
        return None;
    }
    let data = Data::new(record);
    let table = parallel.filter(|parallel| !parallel.pes.is_empty()).map(pes);
    let curves = curves(record);
    let body = match parallel {
        Some(parallel) => format!(
            "<dl class=\"tiles plain\">{}</dl><div class=\"grid \
             parallel\">{}{}{}{}{curves}{}{}</div>",
            tiles(record, parallel),
            machine::cards(parallel),
            in_words(record, parallel),
            limiting(record, parallel),
            // The host's time says nothing of the PEs of a modelled machine.
            if parallel.machine.is_none() { phases(parallel, &data) } else { String::new() },
            counts(parallel, &data),
            table.as_ref().map_or_else(String::new, |table| {
                card("whole pes", "Every PE", PES, &table.html(key))
            }),
        ),
        None => format!("<div class=\"grid parallel\">{curves}</div>"),
    };
    let html = format!("<h2 class=\"over\">Parallel execution</h2>\n{body}");
    Some(Section { html, data, table })
}

/// The run in words.
fn in_words(record: &RunRecord, parallel: &ParallelRecord) -> String {
    let sentences = escape(&prose(record, parallel).join(" "));
    format!("<section class=\"card whole words\"><h3>In words</h3><p>{sentences}</p></section>")
}

/// What limits the run, the worst first.
fn limiting(record: &RunRecord, parallel: &ParallelRecord) -> String {
    let item = |limit: &Limit| {
        format!("<li><strong>{}.</strong> {}</li>", limit.title, with_settings(&limit.text))
    };
    let items: String = limits(record).iter().map(item).collect();
    let body = match parallel.processed_events {
        0 => return String::new(),
        _ if parallel.machine.is_none() && !is_measured(record) => {
            "<p>The run was too short to tell.</p>".to_owned()
        }
        _ if items.is_empty() => {
            "<p>Nothing stands out: no single cost is large enough to be worth a change.</p>"
                .to_owned()
        }
        _ => format!("<ol class=\"hints\">{items}</ol>"),
    };
    format!(
        "<section class=\"card whole limits\"><h3>What limits this run, and what to \
         try</h3>{body}</section>"
    )
}

/// Text with the names between backticks set as code.
fn with_settings(text: &str) -> String {
    let set = |(index, part): (usize, &str)| {
        if index % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { escape(part) }
    };
    text.split('`').enumerate().map(set).collect()
}
