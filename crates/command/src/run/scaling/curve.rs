//! How a model scales on a modelled machine: as a table for people, and as one object.

use serde_json::{Map, Value, json};
use warpline_record::{MachineRecord, RunRecord};
use warpline_report::{LOSSES, Loss, Step, explanation, losses};

use crate::output::format;

/// The most characters in a line of running text.
const LINE: usize = 100;

/// A run on one number of PEs.
pub(super) struct Point {
    pub(super) machine: MachineRecord,
    pub(super) losses: [Loss; LOSSES],
    /// Whether it was ended early.
    pub(super) is_partial: bool,
    digest: String,
    committed_events: u64,
    end_time: f64,
}

/// Runs of the same simulation on more and more PEs.
pub(super) struct Curve {
    /// The first run.
    pub(super) first: Option<RunRecord>,
    /// By number of PEs.
    pub(super) points: Vec<Point>,
}

impl Curve {
    /// Of these runs, which come by number of PEs.
    pub(super) fn of(runs: Vec<RunRecord>) -> Self {
        let points = runs.iter().filter_map(point).collect();
        Curve { first: runs.into_iter().next(), points }
    }

    /// The speed-up against the least number of PEs, and what it would be if nothing were lost on
    /// the way.
    pub(super) fn speed_up(&self, point: &Point) -> Option<(f64, f64)> {
        let first = &self.points.first()?.machine;
        let ratio = |one: f64, other: f64| Some(one / other).filter(|ratio| ratio.is_finite());
        let rate = ratio(point.machine.event_rate, first.event_rate)?;
        Some((rate, ratio(point.machine.pes as f64, first.pes as f64)?))
    }

    /// What is wrong, if not all runs that reached their end gave the same answer.
    pub(super) fn disagreement(&self) -> Option<String> {
        let mut whole = self.points.iter().filter(|point| !point.is_partial);
        let first = whole.next()?;
        let differs = whole.find(|point| {
            (&point.digest, point.committed_events) != (&first.digest, first.committed_events)
        })?;
        let said = |point: &Point| {
            let Point { digest, committed_events, machine, .. } = point;
            format!("{} PEs: digest {digest} with {committed_events} events", machine.pes)
        };
        Some(format!(
            "WRONG ANSWER: runs that must be equal differ\n  {}\n  {}",
            said(first),
            said(differs)
        ))
    }

    /// What limits the model, in sentences.
    pub(super) fn explanation(&self) -> String {
        let step = |point: &Point| Step {
            pes: point.machine.pes,
            efficiency: point.machine.efficiency,
            losses: point.losses.clone(),
        };
        explanation(&self.points.iter().map(step).collect::<Vec<_>>())
            .replace(['\u{a0}', '\u{202f}'], " ")
    }

    /// As one object, with notes on parameters and settings.
    pub(super) fn json(&self, notes: &[String]) -> Value {
        let mut all = json!({
            "scaling": self.points.iter().map(|point| self.point_json(point)).collect::<Vec<_>>(),
            "explanation": self.explanation(),
        });
        if let Some(run) = &self.first {
            all["model"] = json!(run.model);
            all["parameters"] = json!(run.parameters);
            all["seed"] = json!(run.seed);
            all["engine"] = json!(run.engine);
        }
        if !notes.is_empty() {
            all["notes"] = json!(notes);
        }
        all
    }

    fn point_json(&self, point: &Point) -> Value {
        let Point { machine, losses, is_partial, digest, committed_events, end_time } = point;
        let limits: Map<String, Value> =
            losses.iter().map(|loss| (loss.key.to_owned(), json!(loss.share))).collect();
        let (speed_up, ideal) = self.speed_up(point).unzip();
        json!({
            "pes": machine.pes,
            "nodes": machine.nodes,
            "seconds": machine.seconds,
            "event_rate": machine.event_rate,
            "efficiency": machine.efficiency,
            "speed_up": speed_up,
            "ideal_speed_up": ideal,
            "limits": limits,
            "committed_events": committed_events,
            "end_time": end_time,
            "digest": digest,
            "partial": is_partial,
        })
    }

    /// As a table, a number of PEs in each row, with what limits the model below.
    pub(super) fn text(&self) -> String {
        let Some(run) = &self.first else { return String::new() };
        let end = format::time(run.end_time, &run.time_unit);
        let machine = self.points.first().map_or("", |point| &point.machine.name);
        let heads = ["PEs", "machine time", "rate", "efficiency", "speed-up", "of"];
        let names =
            self.points.first().into_iter().flat_map(|point| &point.losses).map(|loss| loss.name);
        let head: Vec<String> = heads.into_iter().chain(names).map(str::to_owned).collect();
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(self.points.iter().map(|point| self.row(point))).collect();
        let explained: String = format::wrapped(&self.explanation(), LINE)
            .iter()
            .map(|line| format!("{line}\n"))
            .collect();
        format!(
            "{}: {}, to time {end} with seed {}, on {machine}\n{}{explained}",
            run.model,
            run.about,
            run.seed,
            format::columns(&rows, 2)
        )
    }

    fn row(&self, point: &Point) -> Vec<String> {
        let Point { machine, losses, is_partial, .. } = point;
        let partial = if *is_partial { " (ended early)" } else { "" };
        let (speed_up, ideal) = self.speed_up(point).unwrap_or((f64::NAN, f64::NAN));
        let mut row = vec![
            format!("{}{partial}", machine.pes),
            format::duration(machine.seconds),
            format::event_rate(machine.event_rate),
            format::percent(machine.efficiency),
            format::significant(speed_up, 3),
            format::significant(ideal, 3),
        ];
        row.extend(losses.iter().map(|loss| format::percent(loss.share)));
        row
    }
}

/// A run on a machine in which time has passed.
fn point(run: &RunRecord) -> Option<Point> {
    let machine = run.parallel.as_ref()?.machine.clone()?;
    Some(Point {
        losses: losses(run)?,
        // Nothing shows it.
        machine: MachineRecord { time_lines: None, ..machine },
        is_partial: run.partial.is_some(),
        digest: run.digest.clone(),
        committed_events: run.committed_events,
        end_time: run.end_time,
    })
}
