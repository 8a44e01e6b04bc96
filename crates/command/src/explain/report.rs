//! An explanation as a report.

use serde_json::{Value, json};

use super::advice::{amount, ratio};
use super::explained::{Explained, busiest_tenth, parallelism};
use crate::output::format;
use crate::output::views::{fact, table};
use warpline_record::{BarsView, Fact, LinesView, Provenance, StudyRecord, View};
use warpline_run::{CoreFindings, EventCost, LpWork};

/// The most LPs and delays in a table.
const ROWS: usize = 1000;
/// The most points of a curve over LPs.
const POINTS: usize = 400;

impl Explained {
    /// The explanation for a report, with the object that `--json` prints.
    pub(super) fn study(&self, figures: Value, provenance: Provenance) -> StudyRecord {
        let Explained { unit, explanation, .. } = self;
        let settings = json!({ "seed": explanation.seed, "end": explanation.end, "event_cost": explanation.cost.name() });
        let end = format::time(explanation.end, unit);
        StudyRecord {
            study: "explanation".to_owned(),
            model: explanation.model.clone(),
            about: format!(
                "How fast the model could be on more cores, from one sequential run to time {end}."
            ),
            warning: None,
            facts: self.facts(),
            digest: Some(explanation.digest.clone()),
            advice: self.advice(),
            parameters: self.parameters.clone(),
            settings: settings.as_object().cloned().unwrap_or_default(),
            provenance,
            views: self.views(),
            figures,
        }
    }

    fn facts(&self) -> Vec<Fact> {
        let findings = &self.explanation.findings;
        let cost = self.explanation.cost;
        let path = &findings.path;
        let tenth = format::percent(busiest_tenth(&findings.load, findings.work));
        let mut facts = vec![
            fact(
                "Parallelism",
                ratio(self.explanation.parallelism()),
                "events at a time, on average: no engine can be faster by more".into(),
            ),
            fact("Events", findings.events.to_string(), self.counted()),
            fact(
                "Critical path",
                amount(path.length, cost),
                "the longest chain of events that wait for each other".into(),
            ),
            fact(
                "Messages on the path",
                path.messages.to_string(),
                format!("of its {} events waited for a message", path.events),
            ),
            fact(
                "LPs on the path",
                path.lps.len().to_string(),
                format!("of {} that have any work", findings.load.len()),
            ),
            fact(
                "Busiest tenth",
                tenth,
                "of all work is done by the busiest tenth of the LPs".into(),
            ),
        ];
        let divided = self
            .divided_groups()
            .map(|(cores, text)| fact("Divided groups", format!("{cores} cores"), text));
        facts.extend(divided);
        facts
    }

    fn views(&self) -> Vec<View> {
        let findings = &self.explanation.findings;
        let mut views = vec![self.over_virtual_time(), self.speed_ups(), self.load_curve()];
        views.push(self.lps(
            "LPs on the critical path",
            "share of the path",
            &findings.path.lps,
            findings.path.length,
        ));
        views.push(self.lps("Work of the LPs", "share of all work", &findings.load, findings.work));
        views.push(self.cores_table());
        if !findings.delays.is_empty() {
            views.push(self.delays());
        }
        views
    }

    /// Parallelism, slice by slice.
    fn over_virtual_time(&self) -> View {
        let slices = &self.explanation.findings.slices;
        // A slice that adds nothing to the path is a gap: its work is done beside that of others.
        let points = slices.iter().flat_map(|slice| {
            let value = parallelism(slice).unwrap_or(f64::NAN);
            [(slice.from, value), (slice.to, value)]
        });
        let mean = self.explanation.parallelism();
        let start = slices.first().map_or(0.0, |slice| slice.from);
        let end = slices.last().map_or(self.explanation.end, |slice| slice.to);
        let unit = if self.unit.is_empty() { String::new() } else { format!(" ({})", self.unit) };
        View::Lines(LinesView {
            title: "Parallelism over virtual time".to_owned(),
            x: format!("virtual time{unit}"),
            y: "events at a time".to_owned(),
            lines: vec![
                ("parallelism".to_owned(), points.collect()),
                ("of the whole run".to_owned(), vec![(start, mean), (end, mean)]),
            ],
        })
    }

    fn speed_ups(&self) -> View {
        let cores = &self.explanation.findings.cores;
        type SpeedUp = fn(&CoreFindings) -> Option<f64>;
        let series: [(&str, SpeedUp); 5] = [
            ("any engine (bound)", |one| Some(one.any_engine)),
            ("these blocks of LPs (bound)", |one| Some(one.these_blocks)),
            ("PEs in the order of time", |one| Some(one.in_order)),
            ("declared lookahead", |one| Some(one.declared)),
            ("seen lookahead", |one| one.seen),
        ];
        let values = |of: SpeedUp| {
            cores.iter().map(|one| vec![of(one).filter(|value| value.is_finite())]).collect()
        };
        View::Bars(BarsView {
            title: "Best speed-up by cores".to_owned(),
            quantity: "speed-up".to_owned(),
            unit: String::new(),
            remark: "If nothing costs anything but the events. The first two are bounds; the \
                     others are ideal engines of their kind."
                .to_owned(),
            logarithmic: true,
            groups: cores.iter().map(|one| format!("{} cores", one.cores)).collect(),
            series: series.into_iter().map(|(name, of)| (name.to_owned(), values(of))).collect(),
        })
    }

    /// How much of the work the busiest LPs have.
    fn load_curve(&self) -> View {
        let findings = &self.explanation.findings;
        let lps = findings.load.len();
        let every = lps.div_ceil(POINTS).max(1);
        let mut points = vec![(0.0, 0.0)];
        let mut sum = 0;
        for (index, one) in findings.load.iter().enumerate() {
            sum += one.work;
            let count = index + 1;
            if count.is_multiple_of(every) || count == lps {
                points.push((
                    100.0 * count as f64 / lps as f64,
                    100.0 * sum as f64 / findings.work as f64,
                ));
            }
        }
        View::Lines(LinesView {
            title: "Evenness of the load".to_owned(),
            x: "share of the LPs, busiest first (%)".to_owned(),
            y: "share of the work (%)".to_owned(),
            lines: vec![
                ("this model".to_owned(), points),
                ("all LPs equal".to_owned(), vec![(0.0, 0.0), (100.0, 100.0)]),
            ],
        })
    }

    fn lps(&self, title: &str, share: &str, lps: &[LpWork], all: u64) -> View {
        let unit = if self.explanation.cost == EventCost::Counted { "events" } else { "ns" };
        let row = |one: &LpWork| {
            vec![json!(one.lp.0), json!(one.work), json!(100.0 * one.work as f64 / all as f64)]
        };
        let title = match lps.len() {
            all if all > ROWS => format!("{title}: the {ROWS} with most of {all}"),
            _ => title.to_owned(),
        };
        table(
            &title,
            &[("LP", ""), ("work", unit), (share, "%")],
            lps.iter().take(ROWS).map(row).collect(),
        )
    }

    fn cores_table(&self) -> View {
        let row = |one: &CoreFindings| {
            let declared = one.declared_delay.is_finite().then_some(one.declared_delay);
            let seen = one.seen_delay.map(|delay| delay.seen);
            let figures = json!([
                one.cores,
                one.pes,
                one.any_engine,
                one.these_blocks,
                one.in_order,
                one.declared,
                declared,
                one.seen,
                seen
            ]);
            let mut row = figures.as_array().cloned().unwrap_or_default();
            let busiest = &one.busiest;
            row.push(json!(format!(
                "PE {} (LPs {} to {})",
                busiest.pe, busiest.first.0, busiest.last.0
            )));
            row.push(json!(100.0 * busiest.work as f64 / self.explanation.findings.work as f64));
            row.push(json!(one.messages));
            row.push(json!(self.with_costs(one)));
            row
        };
        let columns = [
            ("cores", ""),
            ("PEs", ""),
            ("any engine", ""),
            ("these blocks", ""),
            ("in order", ""),
            ("declared lookahead", ""),
            ("declared delay", self.unit),
            ("seen lookahead", ""),
            ("seen delay", self.unit),
            ("busiest PE", ""),
            ("its work", "%"),
            ("messages between PEs", ""),
            ("with costs", ""),
        ];
        table(
            "Best speed-up, and the busiest PE",
            &columns,
            self.explanation.findings.cores.iter().map(row).collect(),
        )
    }

    fn delays(&self) -> View {
        let delays = &self.explanation.findings.delays;
        let rows = delays.iter().take(ROWS).map(|one| {
            vec![json!(one.from.0), json!(one.to.0), json!(one.declared), json!(one.seen)]
        });
        let columns =
            [("from LP", ""), ("to LP", ""), ("declared", self.unit), ("seen", self.unit)];
        table("Least delays between LPs, shortest first", &columns, rows.collect())
    }
}
