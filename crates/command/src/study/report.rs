//! A study as a report.

use serde_json::{Value, json};

use super::experiment::StudyFigure;
use super::figures::{
    epochs, gvt_share, memory, messages_share, rate, rollbacks_mean, rollbacks_most, seconds,
};
use super::findings::Findings;
use super::text::TOO_SHORT;
use crate::median::median;
use crate::output::format;
use crate::output::views::{fact, table};
use warpline_record::{BarsView, Fact, LinesView, Provenance, RunRecord, StudyRecord, View};

impl Findings<'_> {
    /// The study for a report, with the object that `--json` prints and what went wrong, if
    /// anything did.
    pub(super) fn record(
        &self,
        figures: Value,
        warning: Option<String>,
        provenance: Provenance,
        quick: bool,
        cores: usize,
    ) -> StudyRecord {
        let study = self.study;
        let too_short = quick.then(|| TOO_SHORT.to_owned());
        let settings = json!({ "pes": self.pes()[1], "end": study.ends[usize::from(quick)], "runs": self.alone[0].len() });
        StudyRecord {
            study: format!("study {}", study.name),
            model: study.model.to_owned(),
            about: format!("{}. {}.", study.about, study.source),
            warning: warning.or(too_short),
            facts: self.facts(),
            digest: None,
            advice: Vec::new(),
            parameters: Default::default(),
            settings: settings.as_object().cloned().unwrap_or_default(),
            provenance,
            views: self.views(cores),
            figures,
        }
    }

    /// What the source claims beside what was measured; its plots, if they have an axis; and a
    /// picture of each figure.
    fn views(&self, cores: usize) -> Vec<View> {
        let curves = |title, y, of| self.curves(title, y, of);
        let on_axes = [
            curves("Committed event rate (ε) over", "events/s", &|at, variant| {
                self.median(at, variant, rate)
            }),
            curves("Gain (F) over", "gain", &|at, variant| self.gain(at, variant)),
        ];
        let pictures = [
            self.bars("Committed event rate (ε)", "event rate", "events/s", false, rate),
            self.bars("Run time", "time", "s", true, seconds),
            self.bars("Peak memory", "memory", "bytes", false, memory),
            self.gain_bars(),
            self.speedup_bars(),
            self.bars(
                "Sending and receiving",
                "share of the time of PEs",
                "",
                false,
                messages_share,
            ),
            self.bars("Finding GVT", "share of the time of PEs", "", false, gvt_share),
            self.bars("GVT epochs (λ)", "epochs", "", true, epochs),
            self.bars("Mean rollbacks per PE (α)", "rollbacks", "", false, rollbacks_mean),
            self.table(),
        ];
        let claims = std::iter::once(self.claims(cores));
        claims.chain(on_axes.into_iter().flatten()).chain(pictures).collect()
    }

    /// A figure over the axis of the source: a line for each variant under conditions that belong
    /// together. `None` if no condition has a place on an axis.
    fn curves(
        &self,
        title: &str,
        y: &str,
        of: &dyn Fn(usize, usize) -> Option<f64>,
    ) -> Option<View> {
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        let mut axis = None;
        for (number, condition) in self.conditions.iter().enumerate() {
            let Some(place) = &condition.place else { continue };
            axis = axis.or(Some(place.axis));
            for (variant, case) in self.variants.iter().enumerate() {
                let Some(value) = of(number, variant) else { continue };
                let name = format!("{}, {}", place.line, case.name);
                let at = lines.iter().position(|(known, _)| *known == name);
                let at = at.unwrap_or_else(|| {
                    lines.push((name, Vec::new()));
                    lines.len() - 1
                });
                lines[at].1.push((place.value, value));
            }
        }
        let x = axis?.to_owned();
        let title = format!("{title} {x}");
        Some(View::Lines(LinesView { title, x, y: y.to_owned(), lines }))
    }

    fn facts(&self) -> Vec<Fact> {
        let first = &self.variants[0].name;
        let gain = |variant: usize| {
            let middle = median(self.gains(variant))?;
            let name = format!("Gain of {}", self.variants[variant].name);
            let value = format!("{} ×", format::significant(middle, 3));
            let remark = format!("against {first}, in the median over all conditions");
            Some(fact(&name, value, remark))
        };
        (1..self.variants.len()).filter_map(gain).collect()
    }

    /// What the source claims and what was measured, in words.
    fn claims(&self, cores: usize) -> View {
        let study = self.study;
        let mut rows = vec![vec![json!("claim"), json!(study.claim)]];
        rows.extend(
            self.sentences()
                .into_iter()
                .map(|sentence| vec![json!("measured here"), json!(sentence)]),
        );
        rows.extend(self.figures().into_iter().map(|StudyFigure { what, source, here }| {
            let here = here.unwrap_or_else(|| "left out".to_owned());
            vec![json!(what), json!(format!("source: {source}; here: {here}"))]
        }));
        rows.push(vec![json!("what differs"), json!(study.differs)]);
        rows.extend(self.notes(cores).into_iter().map(|note| vec![json!("note"), json!(note)]));
        table("Claim and measurement", &[("", ""), ("in words", "")], rows)
    }

    fn bars(
        &self,
        title: &str,
        quantity: &str,
        unit: &str,
        logarithmic: bool,
        of: impl Fn(&RunRecord) -> f64,
    ) -> View {
        let values = |variant: usize| {
            self.runs
                .iter()
                .map(|runs| runs[variant].iter().map(|run| Some(of(run))).collect())
                .collect::<Vec<Vec<_>>>()
        };
        self.bars_of(title, quantity, unit, logarithmic, values)
    }

    fn gain_bars(&self) -> View {
        let title = format!("Gain against {} (F)", self.variants[0].name);
        self.bars_of_ratios(&title, "gain", Self::gain)
    }

    fn speedup_bars(&self) -> View {
        let title = format!("Self-relative speed-up, against {} on one PE", self.variants[0].name);
        self.bars_of_ratios(&title, "speed-up", Self::speedup)
    }

    fn bars_of_ratios(
        &self,
        title: &str,
        quantity: &str,
        ratio: impl Fn(&Self, usize, usize) -> Option<f64>,
    ) -> View {
        let ratios = |variant: usize| {
            (0..self.conditions.len())
                .map(|condition| vec![ratio(self, condition, variant)])
                .collect()
        };
        self.bars_of(title, quantity, "", false, ratios)
    }

    /// A group for each condition, and in it a bar for each variant.
    fn bars_of(
        &self,
        title: &str,
        quantity: &str,
        unit: &str,
        logarithmic: bool,
        values: impl Fn(usize) -> Vec<Vec<Option<f64>>>,
    ) -> View {
        let series = (0..self.variants.len())
            .map(|variant| (self.variants[variant].name.clone(), values(variant)));
        View::Bars(BarsView {
            title: title.to_owned(),
            quantity: quantity.to_owned(),
            unit: unit.to_owned(),
            remark: "Bars are medians, and circles the runs.".to_owned(),
            logarithmic,
            groups: self.conditions.iter().map(|condition| condition.name.clone()).collect(),
            series: series.collect(),
        })
    }

    fn table(&self) -> View {
        let row = |(condition, variant): (usize, usize)| {
            let of = |figure: fn(&RunRecord) -> f64| json!(self.median(condition, variant, figure));
            vec![
                json!(self.conditions[condition].name),
                json!(self.variants[variant].name),
                json!(self.placement(condition, variant).name()),
                of(rate),
                of(seconds),
                of(memory),
                json!(self.gain(condition, variant)),
                json!(self.speedup(condition, variant)),
                of(epochs),
                of(rollbacks_most),
                of(rollbacks_mean),
                json!(self.runs[condition][variant].first().map(|run| run.digest.clone())),
            ]
        };
        let columns = [
            ("condition", ""),
            ("variant", ""),
            ("PEs", ""),
            ("committed event rate ε", "events/s"),
            ("run time", "s"),
            ("peak memory", "bytes"),
            ("gain F", ""),
            ("self-relative speed-up", ""),
            ("GVT epochs λ", ""),
            ("most rollbacks of a PE ρ", ""),
            ("mean rollbacks per PE α", ""),
            ("digest", ""),
        ];
        table("All cases", &columns, self.cases().map(row).collect())
    }
}
