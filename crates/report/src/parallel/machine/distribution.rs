//! How figures are distributed over all PEs: a row each, drawn without scripts.

use warpline_record::{Distribution, MachineRecord, QUANTILES};

use super::super::charts;
use super::super::shares::{mean, percent};
use crate::html::escape;
use crate::views::empty;

/// The width of a row in its own units.
const WIDE: f64 = 1000.0;

/// A figure of all PEs.
struct Figure<'a> {
    name: &'static str,
    /// Its place among activities, which has a colour; `None` for a count.
    activity: Option<usize>,
    quantiles: &'a [f64],
}

impl Figure<'_> {
    /// The value for reading.
    fn show(&self, value: f64) -> String {
        if self.activity.is_some() { percent(value) } else { mean(value) }
    }

    /// Where the row ends.
    fn end(&self) -> f64 {
        if self.activity.is_some() { 1.0 } else { self.quantiles[QUANTILES - 1] }
    }

    /// The least, the median and the greatest value in words.
    fn said(&self) -> String {
        let [least, median, greatest] =
            [0, QUANTILES / 2, QUANTILES - 1].map(|place| self.show(self.quantiles[place]));
        format!("{least} to {greatest}, median {median}")
    }
}

/// The figures that are known and not all zero.
fn figures(distribution: &Distribution) -> Vec<Figure<'_>> {
    let Distribution {
        computing,
        messages,
        gvt,
        undo,
        waiting,
        committed_events,
        rollbacks,
        buffers,
    } = distribution;
    let all = [
        ("computing", Some(0), computing),
        ("messages", Some(1), messages),
        ("GVT", Some(2), gvt),
        ("undo", Some(3), undo),
        ("waiting", Some(4), waiting),
        ("committed events", None, committed_events),
        ("rollbacks", None, rollbacks),
        ("event buffers", None, buffers),
    ];
    all.into_iter()
        .filter(|(_, _, quantiles)| {
            quantiles.len() == QUANTILES
                && quantiles.iter().all(|value| value.is_finite())
                && quantiles[QUANTILES - 1] > 0.0
        })
        .map(|(name, activity, quantiles)| Figure { name, activity, quantiles })
        .collect()
}

/// The picture; a sentence if nothing is known.
pub(super) fn card(machine: &MachineRecord) -> String {
    let figures = figures(&machine.distribution);
    let heading = "All PEs";
    if figures.is_empty() {
        let body = empty("The record does not tell how time is distributed over PEs.");
        return charts::card("whole", heading, "", &body);
    }
    let remark = "From the PE with the least to the one with the most. The box holds the middle \
                  half of the PEs, and the pale one all but a twentieth at either end; the mark \
                  is the median. Counts have a scale of their own, from 0 to the greatest.";
    let said: Vec<String> =
        figures.iter().map(|figure| format!("{}: {}", figure.name, figure.said())).collect();
    let rows = |shares: bool| -> String {
        figures.iter().filter(|figure| figure.activity.is_some() == shares).map(row).collect()
    };
    let marks: String = [0, 25, 50, 75, 100]
        .map(|place| {
            let side = if place == 100 { " class=\"end\"" } else { "" };
            format!("<b{side} style=\"left:{place}%\">{place}\u{a0}%</b>")
        })
        .concat();
    let body = format!(
        "<div class=\"lanes spread\" role=\"img\" aria-label=\"{}\">{}<div class=\"lane \
         axis\"><span></span><div>{marks}</div></div><p class=\"muted across\">share of machine \
         time</p>{}</div>",
        escape(&format!("Distribution over all PEs. {}.", said.join("; "))),
        rows(true),
        rows(false),
    );
    charts::card("whole distribution", heading, remark, &body)
}

fn row(figure: &Figure<'_>) -> String {
    let end = figure.end();
    let at = |place: usize| WIDE * (figure.quantiles[place] / end).clamp(0.0, 1.0);
    // What is narrower than this would not be seen.
    let narrowest = 3.0;
    let bar = |class: &str, from: usize, to: usize, top: u32, height: u32| {
        let width = (at(to) - at(from)).max(narrowest);
        let left = at(from).min(WIDE - width);
        format!(
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" \
             height=\"{height}\"/>"
        )
    };
    let last = QUANTILES - 1;
    let bars = [
        bar("whisker", 0, last, 46, 8),
        bar("pale", 1, last - 1, 22, 56),
        bar("box", last / 4, last - last / 4, 22, 56),
        bar("median", last / 2, last / 2, 8, 84),
    ];
    let colour = figure.activity.map_or_else(String::new, |activity| format!(" act{activity}"));
    format!(
        "<div class=\"lane\"><span>{} <small>{}</small></span><svg class=\"range{colour}\" \
         viewBox=\"0 0 {WIDE} 100\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\">{}</svg></div>",
        figure.name,
        escape(&figure.said()),
        bars.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_record::quantiles;

    #[test]
    fn figures_without_values_have_no_row() {
        let distribution = Distribution {
            computing: quantiles(vec![0.25, 0.5, 0.75]),
            undo: vec![0.0; QUANTILES],
            committed_events: quantiles(vec![10.0, 20.0, 40.0]),
            gvt: vec![0.5; 3],
            ..Distribution::default()
        };
        let names: Vec<&str> = figures(&distribution).iter().map(|figure| figure.name).collect();
        assert_eq!(names, ["computing", "committed events"]);
        let html = card(&MachineRecord { distribution, ..MachineRecord::default() });
        let html = html.replace('\u{a0}', " ");
        assert!(html.contains("computing: 25 % to 75 %, median 50 %"), "{html}");
        assert!(html.contains("committed events: 10 to 40, median 20"), "{html}");
        // Shares end at 100 %, counts at the greatest.
        assert!(html.contains("class=\"whisker\" x=\"250.0\" y=\"46\" width=\"500.0\""), "{html}");
        assert!(html.contains("class=\"whisker\" x=\"250.0\" y=\"46\" width=\"750.0\""), "{html}");
        assert!(card(&MachineRecord::default()).contains("does not tell"));
    }
}
