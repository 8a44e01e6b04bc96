//! How far the prediction depends on each group of the machine's figures: the rate with these at half
//! and at twice, as a share of the rate that is predicted.

use warpline_record::MachineRecord;

use super::super::charts;
use super::super::shares::percent;
use crate::html::escape;

/// The width of a bar, in units of the picture.
const WIDE: f64 = 1000.0;
/// What is narrower than this would not be seen.
const NARROWEST: f64 = 3.0;
/// The right end of the scale is at least this share of the rate.
const SCALE_LEAST: f64 = 1.25;

/// A group of figures, and the rate with each of its factors, as a share.
struct Group<'m> {
    name: &'m str,
    rates: Vec<(f64, f64)>,
}

impl Group<'_> {
    /// The least and the greatest share, and 1 between them.
    fn range(&self) -> [f64; 2] {
        let shares = || self.rates.iter().map(|(_, share)| *share);
        [shares().fold(1.0, f64::min), shares().fold(1.0, f64::max)]
    }

    fn said(&self) -> String {
        let one = |(factor, share): &(f64, f64)| format!("× {factor}: {}", percent(*share));
        self.rates.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// The groups, those that matter most first.
fn groups(machine: &MachineRecord) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for scaled in &machine.sensitivity {
        let share = scaled.event_rate / machine.event_rate;
        if !share.is_finite() {
            continue;
        }
        match groups.iter_mut().find(|group| group.name == scaled.figures) {
            Some(group) => group.rates.push((scaled.factor, share)),
            None => {
                groups.push(Group { name: &scaled.figures, rates: vec![(scaled.factor, share)] });
            }
        }
    }
    let spread = |group: &Group<'_>| {
        let [least, most] = group.range();
        most - least
    };
    groups.sort_by(|a, b| spread(b).total_cmp(&spread(a)));
    groups
}

/// The picture; empty if nothing was scaled.
pub(super) fn card(machine: &MachineRecord) -> String {
    let groups = groups(machine);
    if groups.is_empty() {
        return String::new();
    }
    let end = groups.iter().map(|group| group.range()[1]).fold(SCALE_LEAST, f64::max);
    let remark = "The rate with a group of the machine's figures at half and at twice, as a share \
                  of the rate that is predicted (the mark). Where a bar is narrow, it does not \
                  matter whether these figures are right.";
    let said: Vec<String> =
        groups.iter().map(|group| format!("{}: {}", group.name, group.said())).collect();
    let rows: String = groups.iter().map(|group| row(group, end)).collect();
    let body = format!(
        "<div class=\"lanes spread\" role=\"img\" aria-label=\"{}\">{rows}</div>",
        escape(&format!("Rates with other figures. {}.", said.join("; ")))
    );
    charts::card("whole sensitivity", "If a figure is wrong", remark, &body)
}

fn row(group: &Group<'_>, end: f64) -> String {
    let at = |share: f64| WIDE * (share / end).clamp(0.0, 1.0);
    let bar = |class: &str, from: f64, to: f64, top: u32, height: u32| {
        let width = (at(to) - at(from)).max(NARROWEST);
        let left = at(from).min(WIDE - width);
        format!(
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" \
             height=\"{height}\"/>"
        )
    };
    let [least, most] = group.range();
    format!(
        "<div class=\"lane\"><span>{} <small>{}</small></span><svg class=\"range\" viewBox=\"0 0 \
         {WIDE} 100\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{}{}</svg></div>",
        escape(group.name),
        escape(&group.said()),
        bar("box", least, most, 22, 56),
        bar("median", 1.0, 1.0, 8, 84)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_record::MachineSensitivity;

    fn scaled(figures: &str, factor: f64, event_rate: f64) -> MachineSensitivity {
        let figures = figures.to_owned();
        MachineSensitivity { figures, factor, event_rate, ..MachineSensitivity::default() }
    }

    #[test]
    fn what_matters_most_comes_first_and_the_mark_is_where_nothing_changes() {
        let machine = MachineRecord {
            event_rate: 100.0,
            sensitivity: vec![
                scaled("noise", 0.5, 100.0),
                scaled("noise", 2.0, 100.0),
                scaled("<latency>", 0.5, 200.0),
                scaled("<latency>", 2.0, 50.0),
            ],
            ..MachineRecord::default()
        };
        let html = card(&machine).replace('\u{a0}', " ");
        let latency = html.find("<span>&lt;latency&gt; <small>× 0.5: 200 %, × 2: 50 %").unwrap();
        assert!(latency < html.find("<span>noise").unwrap(), "{html}");
        // From a quarter of the scale to its end; the mark is in its middle.
        assert!(html.contains("class=\"box\" x=\"250.0\" y=\"22\" width=\"750.0\""), "{html}");
        assert!(html.contains("class=\"median\" x=\"500.0\""), "{html}");
        // What does not matter is as wide as can be seen.
        assert!(html.contains("class=\"box\" x=\"500.0\" y=\"22\" width=\"3.0\""), "{html}");
    }

    #[test]
    fn without_scaled_runs_there_is_no_picture() {
        assert_eq!(card(&MachineRecord::default()), "");
        let stopped = MachineRecord {
            sensitivity: vec![scaled("event", 2.0, 0.0)],
            ..MachineRecord::default()
        };
        assert_eq!(card(&stopped), "", "nothing was committed, so there is no share");
    }
}
