//! A scaling curve as a report.

use serde_json::{Value, json};
use warpline_record::{Fact, LinesView, Provenance, StudyRecord, View};

use super::curve::{Curve, Point};
use crate::output::format;
use crate::output::views::{fact, table};

impl Curve {
    /// The curve for a report, with the object that `--json` prints and what went wrong, if anything
    /// did.
    pub(super) fn study(
        &self,
        figures: Value,
        warning: Option<String>,
        provenance: Provenance,
    ) -> StudyRecord {
        let explained = Some(self.explanation()).filter(|text| !text.is_empty());
        let mut study = StudyRecord {
            study: "scaling".to_owned(),
            warning,
            facts: self.facts(),
            advice: explained.into_iter().collect(),
            provenance,
            views: vec![self.speed_ups(), self.shares(), self.table()],
            figures,
            ..StudyRecord::default()
        };
        if let Some(run) = &self.first {
            let end = format::time(run.end_time, &run.time_unit);
            let machine = self.points.first().map_or("", |point| &point.machine.name);
            study.model = run.model.clone();
            study.about =
                format!("{}, to time {end}, on more and more PEs of {machine}.", run.about);
            study.parameters = run.parameters.clone();
            study.settings = run.engine.clone();
        }
        study
    }

    fn facts(&self) -> Vec<Fact> {
        let Some(last) = self.points.last() else { return Vec::new() };
        let pes = format::counted(last.machine.pes as usize, "PE", "PEs");
        let speed_up = self.speed_up(last).map(|(speed_up, ideal)| {
            let least = self.points.first().map_or(0, |point| point.machine.pes);
            fact(
                "Speed-up",
                format!("{} ×", format::significant(speed_up, 3)),
                format!("against {least} PEs, of {} ×", format::significant(ideal, 3)),
            )
        });
        let always = [
            fact("Event rate", format::event_rate(last.machine.event_rate), format!("on {pes}")),
            fact(
                "Efficiency",
                format::percent(last.machine.efficiency),
                format!("of the time of {pes} goes into events that commit"),
            ),
        ];
        always.into_iter().chain(speed_up).collect()
    }

    fn speed_ups(&self) -> View {
        let points = |of: fn((f64, f64)) -> f64| {
            let at = |point: &Point| Some((point.machine.pes as f64, of(self.speed_up(point)?)));
            self.points.iter().filter_map(at).collect()
        };
        let least = self.points.first().map_or(0, |point| point.machine.pes);
        View::Lines(LinesView {
            title: "Speed-up".to_owned(),
            x: "PEs".to_owned(),
            y: format!("speed-up against {least} PEs"),
            lines: vec![
                ("this model".to_owned(), points(|(speed_up, _)| speed_up)),
                ("if nothing were lost".to_owned(), points(|(_, ideal)| ideal)),
            ],
        })
    }

    /// Where the time goes, cause by cause.
    fn shares(&self) -> View {
        let line = |name: &str, of: &dyn Fn(&Point) -> f64| {
            let at = |point: &Point| (point.machine.pes as f64, 100.0 * of(point));
            (name.to_owned(), self.points.iter().map(at).collect())
        };
        let mut lines = vec![line("committed events", &|point| point.machine.efficiency)];
        if let Some(first) = self.points.first() {
            let losses = first.losses.iter().enumerate();
            lines.extend(
                losses.map(|(place, loss)| line(loss.name, &|point| point.losses[place].share)),
            );
        }
        View::Lines(LinesView {
            title: "What limits it".to_owned(),
            x: "PEs".to_owned(),
            y: "share of all PEs' time (%)".to_owned(),
            lines,
        })
    }

    fn table(&self) -> View {
        let mut columns = vec![
            ("PEs", ""),
            ("nodes", ""),
            ("machine time", "s"),
            ("event rate", "events/s"),
            ("efficiency", "%"),
            ("speed-up", ""),
            ("ideal", ""),
        ];
        let names = self.points.first().into_iter().flat_map(|point| &point.losses);
        columns.extend(names.map(|loss| (loss.name, "%")));
        columns.push(("ended early", ""));
        let row = |point: &Point| {
            let machine = &point.machine;
            let (speed_up, ideal) = self.speed_up(point).unzip();
            let mut row = vec![
                json!(machine.pes),
                json!(machine.nodes),
                json!(machine.seconds),
                json!(machine.event_rate),
                json!(100.0 * machine.efficiency),
                json!(speed_up),
                json!(ideal),
            ];
            row.extend(point.losses.iter().map(|loss| json!(100.0 * loss.share)));
            row.push(json!(if point.is_partial { "yes" } else { "no" }));
            row
        };
        table("Every number of PEs", &columns, self.points.iter().map(row).collect())
    }
}
