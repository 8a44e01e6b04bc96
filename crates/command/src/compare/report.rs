//! A comparison as a report.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::comparison::Comparison;
use super::engine_runs::{EngineRuns, ratio};
use crate::output::format;
use crate::output::views::{fact, table};
use warpline_record::{BarsView, Fact, Provenance, RunRecord, StudyRecord, View};

impl Comparison {
    /// The comparison for a report, with the object that `--json` prints and what went wrong, if
    /// anything did.
    pub(crate) fn study(
        &self,
        figures: Value,
        warning: Option<String>,
        provenance: Provenance,
    ) -> StudyRecord {
        let run = self.expected();
        let times = self.sequential().runs.len();
        let settings = json!({ "seed": run.seed, "end": run.end_time, "runs": times });
        let end = format::time(run.end_time, &run.time_unit);
        let about = run.about.trim_end_matches('.');
        let mut views =
            vec![self.bars("Event rate", "event rate", "events/s", |run| Some(run.event_rate))];
        let memory = |run: &RunRecord| run.peak_rss_bytes.map(|bytes| bytes as f64);
        if self.runs().any(|(_, run)| memory(run).is_some()) {
            views.push(self.bars("Peak memory", "memory", "B", memory));
        }
        views.extend([self.engines_table(), self.runs_table(), self.settings_table()]);
        StudyRecord {
            study: "comparison".to_owned(),
            model: run.model.clone(),
            about: format!("{about}, on {} engines to time {end}.", self.engines.len()),
            warning,
            facts: self.facts(),
            digest: self.same_answer().filter(|same| *same).map(|_| run.digest.clone()),
            advice: Vec::new(),
            parameters: run.parameters.clone(),
            settings: settings.as_object().cloned().unwrap_or_default(),
            provenance,
            views,
            figures,
        }
    }

    /// Every run with its engine.
    fn runs(&self) -> impl Iterator<Item = (&EngineRuns, &RunRecord)> {
        self.engines.iter().flat_map(|engine| engine.runs.iter().map(move |run| (engine, run)))
    }

    fn facts(&self) -> Vec<Fact> {
        let sequential = self.sequential();
        let run = self.expected();
        let all = self.runs().count();
        let same = match self.same_answer() {
            Some(true) => fact(
                "Same answer",
                "yes".into(),
                format!("digests, events and results of all {all} runs are equal"),
            ),
            Some(false) => {
                fact("Same answer", "NO".into(), "runs that must be equal differ".into())
            }
            None => fact(
                "Same answer",
                "unknown".into(),
                "no other engine reached the end of a run".into(),
            ),
        };
        let fastest =
            self.others().iter().filter_map(|engine| Some((engine, engine.speed_up(sequential)?)));
        let fastest = fastest.max_by(|(_, one), (_, other)| one.total_cmp(other));
        let fastest = fastest.map(|(engine, speed_up)| {
            fact(
                "Best speed-up",
                format!("{} ×", format::significant(speed_up, 3)),
                format!("{}, against sequential", engine.name()),
            )
        });
        let rate = sequential.rate().map_or_else(|| "unknown".to_owned(), format::event_rate);
        let times = format::counted(sequential.runs.len(), "run", "runs");
        let others = [
            fact("Sequential event rate", rate, format!("median of {times}")),
            fact(
                "Runs",
                format!("{all}"),
                format!("{times} on each engine in turn, each in a process of its own"),
            ),
            fact(
                "Committed events",
                run.committed_events.to_string(),
                "of the sequential run".into(),
            ),
        ];
        let contested = self.contested().map(|contested| fact("Cores", "shared".into(), contested));
        [Some(same), fastest, contested].into_iter().flatten().chain(others).collect()
    }

    /// A bar for each engine, and a value for each of its runs.
    fn bars(
        &self,
        title: &str,
        quantity: &str,
        unit: &str,
        of: impl Fn(&RunRecord) -> Option<f64>,
    ) -> View {
        let engines = || self.engines.iter().filter(|engine| !engine.runs.is_empty());
        let values = engines().map(|engine| {
            engine.runs.iter().map(|run| of(run).filter(|value| value.is_finite())).collect()
        });
        let runs = self.sequential().runs.len();
        View::Bars(BarsView {
            title: title.to_owned(),
            quantity: quantity.to_owned(),
            unit: unit.to_owned(),
            remark: if runs > 1 {
                format!("Bars are medians, and circles the {runs} runs.")
            } else {
                "One run on each engine.".into()
            },
            logarithmic: false,
            groups: engines().map(EngineRuns::name).collect(),
            series: vec![(quantity.to_owned(), values.collect())],
        })
    }

    fn engines_table(&self) -> View {
        let sequential = self.sequential();
        let expected = self.expected();
        let row = |engine: &EngineRuns| {
            let rates = engine.rates();
            let others = |value: Option<f64>| value.filter(|_| !engine.is_sequential());
            let equal = engine.answers().iter().all(|(digest, events, _)| {
                (*digest, *events) == (&expected.digest, expected.committed_events)
            });
            let digest = match (engine.runs.is_empty(), equal) {
                (true, _) => "no run".to_owned(),
                (_, true) => engine.common(|run| run.digest.clone()),
                (_, false) => format!("{} – DIFFERENT", engine.common(|run| run.digest.clone())),
            };
            vec![
                json!(engine.name()),
                json!(engine.rate()),
                json!(rates.iter().copied().reduce(f64::min)),
                json!(rates.iter().copied().reduce(f64::max)),
                json!(others(engine.speed_up(sequential))),
                json!(engine.efficiency()),
                json!(engine.certain()),
                json!(engine.memory()),
                json!(others(engine.memory_ratio(sequential))),
                json!(engine.runs.first().map(|run| run.committed_events)),
                json!(digest),
                json!(engine.failure.as_deref().unwrap_or("")),
            ]
        };
        let columns = [
            ("engine", ""),
            ("median rate", "events/s"),
            ("lowest", "events/s"),
            ("highest", "events/s"),
            ("speed-up", ""),
            ("efficiency", ""),
            ("certain events", ""),
            ("peak memory", "B"),
            ("memory ratio", ""),
            ("committed events", ""),
            ("digest", ""),
            ("failure", ""),
        ];
        let failed = self.engines.iter().any(|engine| engine.failure.is_some());
        let columns = &columns[..if failed { columns.len() } else { columns.len() - 1 }];
        table("Engines", columns, self.engines.iter().map(row).collect())
    }

    fn runs_table(&self) -> View {
        let numbered = self.engines.iter().flat_map(|engine| {
            engine.runs.iter().zip(1..).map(move |(run, number)| (engine, number, run))
        });
        let row = |(engine, number, run): (&EngineRuns, u32, &RunRecord)| {
            let speed_up = self.sequential().rate().and_then(|rate| ratio(run.event_rate, rate));
            let figures = json!([
                run.event_rate,
                speed_up,
                run.wall_seconds,
                run.peak_rss_bytes,
                run.committed_events,
                run.digest
            ]);
            let mut row = vec![json!(engine.name()), json!(number)];
            row.extend(figures.as_array().cloned().unwrap_or_default());
            row
        };
        let columns = [
            ("engine", ""),
            ("run", ""),
            ("event rate", "events/s"),
            ("speed-up", ""),
            ("wall time", "s"),
            ("peak memory", "B"),
            ("committed events", ""),
            ("digest", ""),
        ];
        table("Every run", &columns, numbered.map(row).collect())
    }

    /// The settings in force, a row each, with the engines beside each other.
    fn settings_table(&self) -> View {
        let mut rows: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        let engines: Vec<&EngineRuns> =
            self.engines.iter().filter(|engine| !engine.runs.is_empty()).collect();
        for (column, run) in engines.iter().map(|engine| &engine.runs[0]).enumerate() {
            // A setting is null in the record of an engine that does not use it.
            for (name, value) in run.engine.iter().filter(|(_, value)| !value.is_null()) {
                let row = rows.entry(name).or_insert_with(|| vec![Value::Null; engines.len()]);
                // Text, so that the columns of engines do not turn numeric.
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(number) if number.is_f64() => {
                        format::number(value.as_f64().unwrap_or_default())
                    }
                    other => other.to_string(),
                };
                row[column] = json!(text);
            }
        }
        let names: Vec<String> = engines.iter().map(|engine| engine.name()).collect();
        let columns: Vec<(&str, &str)> = [("setting", "")]
            .into_iter()
            .chain(names.iter().map(|name| (name.as_str(), "")))
            .collect();
        let rows = rows
            .into_iter()
            .map(|(name, values)| [json!(name)].into_iter().chain(values).collect());
        table("Settings of each engine", &columns, rows.collect())
    }
}
