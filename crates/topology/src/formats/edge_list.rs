//! A link per line: two nodes, and perhaps more columns, which a header names.

use csv::{ReaderBuilder, StringRecord, Trim};

use crate::builder::Builder;
use crate::error::{EXPECTED, Problem};
use crate::graph::{Format, Graph, Id};
use crate::meaning::{Given, Value, is_nothing, quantity};

const SOURCES: [&str; 9] =
    ["source", "from", "src", "start", "u", "node1", "source node", "fromnodeid", "from node"];
const TARGETS: [&str; 10] =
    ["target", "to", "dst", "dest", "end", "v", "node2", "target node", "tonodeid", "to node"];

/// The most characters of a line that messages show.
const SHOWN: usize = 40;

/// Reads a graph from a list of edges.
pub(super) fn read(text: &str, given: &Given) -> Result<Graph, Problem> {
    let first = first_line(text)?;
    let separator =
        [',', ';', '\t'].into_iter().max_by_key(|&c| (first.matches(c).count(), c == ','));
    let separator = separator.filter(|&separator| first.contains(separator));
    let mut builder = Builder::of_lines(Format::EdgeList, given);
    builder.multigraph = false;
    let mut table = Table { columns: None, builder: &mut builder };
    match separator {
        Some(separator) => {
            let mut reader = ReaderBuilder::new()
                .delimiter(separator as u8)
                .comment(Some(b'#'))
                .has_headers(false)
                .flexible(true)
                .trim(Trim::All)
                .from_reader(text.as_bytes());
            let mut record = StringRecord::new();
            while reader
                .read_record(&mut record)
                .map_err(|why| format!("is no list of edges: {why}"))?
            {
                let line = record.position().map_or(0, |position| position.line() as u32);
                table.row(&record.iter().collect::<Vec<_>>(), line)?;
            }
        }
        None => {
            for (line, row) in (1..).zip(text.lines()).filter(|(_, row)| !is_remark(row)) {
                // networkx ends lines so where links have no data.
                let row = row.trim_end().strip_suffix("{}").unwrap_or(row);
                if row.contains('{') {
                    return Err(format!(
                        "has a Python dictionary in line {line}; write the graph with `node_link_data` or `write_graphml` instead"
                    ));
                }
                table.row(&row.split_whitespace().collect::<Vec<_>>(), line)?;
            }
        }
    }
    let columns = table.columns;
    if columns.is_some_and(|columns| columns.is_assumed) {
        builder
            .assumptions
            .push("there is no header: the first two columns are the ends of a link".into());
    }
    builder.finish()
}

/// The first line with a link or header, if it can be one.
fn first_line(text: &str) -> Result<&str, Problem> {
    let (line, first) = (1..)
        .zip(text.lines())
        .find(|(_, line)| !is_remark(line))
        .ok_or("has nothing but remarks")?;
    let parts = first.split([',', ';', '\t', ' ']).filter(|part| !part.trim().is_empty()).count();
    if parts < 2 || first.contains(|c: char| c.is_control() && c != '\t') {
        let shown: String = first.chars().take(SHOWN).collect();
        return Err(format!("is no topology: line {line} is {shown:?}; {EXPECTED}"));
    }
    Ok(first)
}

fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#') || line.starts_with('%')
}

/// What the columns are.
struct Columns {
    source: usize,
    target: usize,
    /// Of links that say themselves whether they go both ways.
    kind: Option<usize>,
    names: Vec<String>,
    is_assumed: bool,
}

struct Table<'t, 'g> {
    columns: Option<Columns>,
    builder: &'t mut Builder<'g>,
}

impl Table<'_, '_> {
    fn row(&mut self, fields: &[&str], line: u32) -> Result<(), Problem> {
        if self.columns.is_none() {
            let header = header(fields, line)?;
            let is_header = header.is_some();
            let columns = self.columns.insert(header.unwrap_or_else(|| numbered(fields.len())));
            columns.is_assumed = !is_header;
            if is_header {
                return Ok(());
            }
        }
        let Some(columns) = &self.columns else { return Ok(()) };
        let most = columns.names.len();
        if fields.len() > most && !columns.is_assumed {
            return Err(format!(
                "has {} columns in line {line}, but {most} in its header",
                fields.len()
            ));
        }
        if fields.len() != most && columns.is_assumed {
            return Err(format!(
                "is no list of edges: line {line} has {} columns, but the first has {most}; {EXPECTED}",
                fields.len()
            ));
        }
        let end = |column: usize, what: &str| {
            fields.get(column).copied().filter(|id| !id.is_empty()).ok_or_else(|| {
                format!(
                    "has no {what} in line {line} (column {}); every line must have two nodes",
                    column + 1
                )
            })
        };
        let (source, target) = (end(columns.source, "source")?, end(columns.target, "target")?);
        let directed = match columns.kind.and_then(|column| fields.get(column)) {
            Some(kind) => match kind.to_ascii_lowercase().as_str() {
                "directed" | "true" | "1" => true,
                "undirected" | "false" | "0" | "" => false,
                _ => {
                    return Err(format!(
                        "has `{kind}` in line {line} (column `{}`), where `directed` or `undirected` is expected",
                        columns.names[columns.kind.unwrap_or_default()]
                    ));
                }
            },
            None => false,
        };
        let [source, target] = [source, target].map(|id| self.node(id, line));
        let columns = match &self.columns {
            Some(columns) => columns,
            None => return Ok(()),
        };
        let values = columns.names.iter().zip(fields).enumerate().filter(|(column, (_, text))| {
            *column != columns.source && *column != columns.target && !is_nothing(text)
        });
        let values = values.map(|(_, (name, text))| (name.as_str(), Value::Text(text)));
        self.builder.link((source?, target?), directed, line, values)
    }

    /// The node of this name, which is declared where it first is.
    fn node(&mut self, id: &str, line: u32) -> Result<u32, Problem> {
        match self.builder.find(id) {
            Some(number) => Ok(number),
            None => {
                let id = id
                    .parse()
                    .ok()
                    .filter(|number: &i64| number.to_string() == id)
                    .map_or_else(|| Id::Text(id.to_owned()), Id::Number);
                self.builder.node(id, line, [])
            }
        }
    }
}

/// The columns that a header names, if this is one.
fn header(fields: &[&str], line: u32) -> Result<Option<Columns>, Problem> {
    let names: Vec<String> = fields.iter().map(|&name| name.to_owned()).collect();
    let column = |words: &[&str]| {
        names.iter().position(|name| {
            words.contains(&name.to_ascii_lowercase().replace('_', " ").as_str())
                || words.contains(&name.to_ascii_lowercase().as_str())
        })
    };
    let is_number = |field: &&str| field.parse::<f64>().is_ok();
    let (source, target) = match (column(&SOURCES), column(&TARGETS)) {
        // Nodes may be called `u` and `v`: numbers beside them are those of a link.
        (Some(source), Some(target))
            if names[source].len() > 1 || fields.len() > 2 && !fields.iter().any(is_number) =>
        {
            (source, target)
        }
        _ => {
            // Words where links have numbers are names of columns.
            let is_word = |field: &&str| {
                !is_nothing(field)
                    && !is_number(field)
                    && quantity(field).is_none()
                    && !field.starts_with('{')
            };
            return match fields.iter().skip(2).find(|field| is_word(field)) {
                Some(word) => Err(format!(
                    "has `{word}` in line {line}, which is no number; if that line is a header, call the columns of a link's ends `source` and `target`; if it is none, {EXPECTED}"
                )),
                None => Ok(None),
            };
        }
    };
    let kind = column(&["directed", "type"]);
    Ok(Some(Columns { source, target, kind, names, is_assumed: false }))
}

/// Columns without a header.
fn numbered(count: usize) -> Columns {
    let names = (0..count).map(|column| format!("column {}", column + 1)).collect();
    Columns { source: 0, target: 1, kind: None, names, is_assumed: true }
}
