//! One record for all runs, with their results side by side.

use std::time::Duration;

use serde_json::json;
use warpline_base::StateDigest;
use warpline_base::random::mix64;
use warpline_model::Model;
use warpline_record::{
    LinesView, Partial, Replication, Replications, ResultTree, RunRecord, StateDigestRecord,
    TableView, View,
};

use super::Spread;
use super::estimates::{paths, value_at};
use super::finished::Finished;
use super::kept::KeptRun;
use crate::job::Job;
use crate::machine::memory_use;

/// The most results that get a picture of their own, and the most that get a column, of those that
/// there are.
const PICTURES_MOST: usize = 6;
const COLUMNS_MOST: usize = 12;

impl<M: Model> Job<M> {
    /// One record for all runs.
    pub(super) fn summary(
        &self,
        finished: Finished,
        wanted: u32,
        at_once: u32,
        took: Duration,
    ) -> RunRecord {
        let results = finished.results();
        let series = finished.series();
        let Finished { first, runs, spool } = finished;
        let committed_events = runs.iter().map(|run| run.committed_events).sum();
        let wall_seconds = took.as_secs_f64();
        let digest = runs.iter().fold(0, |digest, run| {
            let one = u64::from_str_radix(&run.digest, 16).unwrap_or_default();
            mix64(digest ^ one)
        });
        let lost_delays = runs.iter().find_map(|run| run.lost_delays);
        let state_digest = state_digest_of_all(&runs);
        let runs: Vec<Replication> = runs.iter().map(|run| run.replication(&spool)).collect();
        let views = views(&results, &runs);
        RunRecord {
            committed_events,
            digest: format!("{digest:016x}"),
            state_digest,
            lost_delays,
            wall_seconds,
            loop_seconds: wall_seconds,
            event_rate: committed_events as f64 / wall_seconds,
            core_share: None,
            peak_rss_bytes: memory_use::peak(),
            parallel: None,
            results,
            series,
            progress: Vec::new(),
            views,
            partial: (runs.len() < wanted as usize)
                .then(|| Partial { wanted_end: self.end_time(), wanted_runs: wanted }),
            replications: Some(Replications { at_once, runs }),
            ..first
        }
    }
}

/// Digests of what all runs ended with, if each of them has them.
fn state_digest_of_all(runs: &[KeptRun]) -> Option<StateDigestRecord> {
    let all: Vec<&StateDigestRecord> =
        runs.iter().map(|run| run.state_digest.as_ref()).collect::<Option<_>>()?;
    let of = |part: fn(&StateDigestRecord) -> &str| {
        StateDigest::of(&all.iter().map(|one| part(one)).collect::<Vec<_>>().join(" ")).text()
    };
    Some(StateDigestRecord {
        text: of(|one| &one.text),
        content: of(|one| &one.content),
        statistics: of(|one| &one.statistics),
    })
}

/// A picture of each of the first results, run by run, and a table of all runs.
fn views(results: &ResultTree, runs: &[Replication]) -> Vec<View> {
    let paths = paths(results, COLUMNS_MOST);
    let of_run = |run: &Replication| {
        let results = run.results.made();
        paths.iter().map(|path| value_at(&results, path)).collect::<Vec<_>>()
    };
    let values: Vec<Vec<Option<f64>>> = runs.iter().map(of_run).collect();
    let mut views = Vec::new();
    if runs.len() > 1 {
        views.extend(paths.iter().take(PICTURES_MOST).enumerate().map(|(column, path)| {
            let of_column = runs.iter().zip(&values);
            let points =
                of_column.filter_map(|(run, values)| Some((run.seed as f64, values[column]?)));
            View::Lines(picture(title(path), points.collect()))
        }));
    }
    views.push(View::Table(table(&paths, runs, &values)));
    views
}

/// The name of a result, for people.
fn title(path: &str) -> String {
    path.replace('_', " ").replace('.', " › ")
}

/// A result over the seeds, with its mean and the confidence interval.
fn picture(title: String, points: Vec<(f64, f64)>) -> LinesView {
    let spread = Spread::of(&points.iter().map(|(_, value)| *value).collect::<Vec<_>>());
    let ends = [points.first(), points.last()].map(|point| point.map(|(seed, _)| *seed));
    let level =
        |value: f64| ends.into_iter().flatten().map(|seed| (seed, value)).collect::<Vec<_>>();
    let mut lines =
        vec![("each run".to_owned(), points.clone()), ("mean".to_owned(), level(spread.mean))];
    if let Some(half) = spread.ci95 {
        lines.push(("mean + 95 % interval".to_owned(), level(spread.mean + half)));
        lines.push(("mean − 95 % interval".to_owned(), level(spread.mean - half)));
    }
    LinesView { title: title.clone(), x: "seed".to_owned(), y: title, lines }
}

/// All runs with their `values` at these paths.
fn table(paths: &[String], runs: &[Replication], values: &[Vec<Option<f64>>]) -> TableView {
    let own = ["seed", "digest", "committed events", "wall time"].map(str::to_owned).into_iter();
    let columns = own.chain(paths.iter().map(|path| title(path)));
    let columns = columns
        .map(|name| {
            let unit = if name == "wall time" { "s" } else { "" };
            (name, unit.to_owned())
        })
        .collect();
    let row = |(run, values): (&Replication, &Vec<Option<f64>>)| {
        let own = [
            json!(run.seed),
            json!(run.digest),
            json!(run.committed_events),
            json!(run.wall_seconds),
        ];
        own.into_iter().chain(values.iter().map(|value| json!(value))).collect()
    };
    let rows = runs.iter().zip(values).map(row).collect();
    TableView { title: "Runs".to_owned(), columns, rows }
}
