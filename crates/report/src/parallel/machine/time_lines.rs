//! What a few PEs did when: a row each, drawn without scripts.

use std::fmt::Write;

use warpline_record::{MachineRecord, MachineShares, TimeLine, TimeLines};

use super::super::charts;
use super::super::shares::{counted, percent};
use crate::format;
use crate::html::escape;
use crate::views::empty;

/// The height of a row in its own units: shares are in thousandths.
const WHOLE: u32 = 1000;
/// Waiting, which is what the others leave of a row.
const WAITING: usize = 4;
/// The most marks on the axis of time.
const MARKS_MOST: f64 = 7.0;

/// The picture; a sentence if there is nothing to draw.
pub(super) fn card(machine: &MachineRecord) -> String {
    let drawn = machine
        .time_lines
        .as_ref()
        .filter(|lines| lines.bin_seconds > 0.0 && machine.seconds > 0.0 && !lines.pes.is_empty());
    let Some(lines) = drawn else {
        let body = empty("The record holds no time lines.");
        return charts::card("whole", "What PEs do when", "", &body);
    };
    let bins = machine.seconds / lines.bin_seconds;
    let rows: String = lines.pes.iter().map(|line| row(line, bins)).collect();
    let picture = format!(
        "{}<div class=\"lanes\" role=\"img\" aria-label=\"{}\">{rows}{}</div>",
        legend(),
        escape(&description(machine, lines)),
        axis(machine.seconds)
    );
    charts::card("whole timelines", "What PEs do when", &remark(machine, lines), &picture)
}

fn remark(machine: &MachineRecord, lines: &TimeLines) -> String {
    let among = match lines.recorded {
        recorded if recorded < machine.pes => {
            format!(", chosen among {} whose time was recorded", format::integer(recorded))
        }
        _ => String::new(),
    };
    format!(
        "{} of {}{among}. A column is {}, and the height of a colour its share of that.",
        format::integer(lines.pes.len() as u64),
        counted(machine.pes, "PE"),
        format::quantity(lines.bin_seconds, "s")
    )
}

/// The picture for those who do not see it.
fn description(machine: &MachineRecord, lines: &TimeLines) -> String {
    let bins = machine.seconds / lines.bin_seconds;
    let rows: Vec<String> = lines.pes.iter().map(|line| said(line, bins)).collect();
    format!(
        "Time lines over {} of machine time. {}.",
        format::quantity(machine.seconds, "s"),
        rows.join("; ")
    )
}

/// A PE and what it did, such as `PE 3 (waits least): computing 40 %, waiting 60 %`.
fn said(line: &TimeLine, bins: f64) -> String {
    let shares: Vec<String> = line
        .list()
        .iter()
        .map(|(name, shares)| {
            let sum: f64 = shares.iter().map(|share| f64::from(*share)).sum();
            (name, (sum / f64::from(WHOLE) / bins).min(1.0))
        })
        .filter(|(_, share)| *share > 0.0)
        .map(|(name, share)| format!("{name} {}", percent(share)))
        .collect();
    let why = if line.why.is_empty() { String::new() } else { format!(" ({})", line.why) };
    format!("PE {}{why}: {}", format::integer(line.pe), shares.join(", "))
}

fn row(line: &TimeLine, bins: f64) -> String {
    let why = match &*line.why {
        "" => String::new(),
        why => format!(" <small>{}</small>", escape(why)),
    };
    format!(
        "<div class=\"lane\"><span>PE {}{why}</span><svg viewBox=\"0 0 {bins:.3} {WHOLE}\" \
         preserveAspectRatio=\"none\" aria-hidden=\"true\"><title>{}</title><rect \
         class=\"act{WAITING}\" width=\"100%\" height=\"100%\"/>{}</svg></div>",
        format::integer(line.pe),
        escape(&said(line, bins)),
        areas(line, bins)
    )
}

/// The areas of all activities but waiting, on top of each other.
fn areas(line: &TimeLine, bins: f64) -> String {
    let count = bins.ceil() as usize;
    let mut top = vec![0.0; count];
    let mut areas = Vec::new();
    let activities = line.list().into_iter().enumerate();
    for (place, (_, shares)) in activities.filter(|(place, _)| *place != WAITING) {
        if shares.is_empty() {
            continue;
        }
        for (bin, top) in top.iter_mut().enumerate() {
            // The run may end within a bin, which is then drawn as far as it goes.
            let part = (bins - bin as f64).clamp(f64::MIN_POSITIVE, 1.0);
            *top += f64::from(shares.get(bin).copied().unwrap_or_default()) / part;
        }
        areas.push((place, outline(&top)));
    }
    // The highest is drawn first, and the others cover its lower part.
    let area = |(place, outline): &(usize, String)| {
        format!("<path class=\"act{place}\" d=\"{outline}\"/>")
    };
    areas.iter().rev().map(area).collect()
}

/// The area below a line of steps, each one wide.
fn outline(heights: &[f64]) -> String {
    let mut path = format!("M0 {WHOLE}");
    let level = |height: &f64| WHOLE - (height.round() as u32).min(WHOLE);
    let mut bin = 0;
    for equal in heights.chunk_by(|one, other| level(one) == level(other)) {
        bin += equal.len();
        // Writing to a string cannot fail.
        let _ = write!(path, "V{}H{bin}", level(&equal[0]));
    }
    path + &format!("V{WHOLE}Z")
}

/// The legend of activities, whose colours are those of the style sheet.
fn legend() -> String {
    let names = MachineShares::default().list();
    let item = |(place, (name, _)): (usize, (&str, f64))| {
        format!("<li><i class=\"act{place}\"></i>{name}</li>")
    };
    let items: String = names.into_iter().enumerate().map(item).collect();
    format!("<ul class=\"key\">{items}</ul>")
}

/// The axis of machine time.
fn axis(seconds: f64) -> String {
    let step = rounded_step(seconds / MARKS_MOST);
    let marks = (0..).map(|mark| f64::from(mark) * step).take_while(|at| *at <= seconds);
    let mark = |at: f64| {
        let place = 100.0 * at / seconds;
        // A mark near the end would stick out of the picture.
        let side = if place > 94.0 { " class=\"end\"" } else { "" };
        format!("<b{side} style=\"left:{place:.2}%\">{}</b>", format::quantity(at, "s"))
    };
    let marks: String = marks.map(mark).collect();
    format!(
        "<div class=\"lane axis\"><span></span><div>{marks}</div></div><p \
         class=\"muted across\">machine time</p>"
    )
}

/// The least of 1, 2, 5, 10, … times a power of ten that is not below `least`.
fn rounded_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|times| times * power);
    steps.into_iter().find(|step| *step >= least).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_steps_are_one() {
        assert_eq!(outline(&[250.0, 250.2, 1000.0]), "M0 1000V750H2V0H3V1000Z");
        assert_eq!(outline(&[2000.0]), "M0 1000V0H1V1000Z", "no higher than the row");
    }

    #[test]
    fn activities_stand_on_each_other_and_waiting_is_the_rest() {
        let line = TimeLine {
            computing: vec![500, 100],
            gvt: vec![200, 0],
            waiting: vec![300, 400],
            ..TimeLine::default()
        };
        // The run ends in the middle of the second bin.
        let areas = areas(&line, 1.5);
        assert_eq!(
            areas,
            "<path class=\"act2\" d=\"M0 1000V300H1V800H2V1000Z\"/><path class=\"act0\" \
             d=\"M0 1000V500H1V800H2V1000Z\"/>"
        );
        let said = said(&line, 1.5).replace('\u{a0}', " ");
        assert_eq!(said, "PE 0: computing 40 %, GVT 13 %, waiting 47 %");
    }

    #[test]
    fn marks_are_round() {
        let of = |seconds: f64| rounded_step(seconds / MARKS_MOST);
        assert!((of(0.007) - 0.001).abs() < 1e-12);
        assert!((of(0.008) - 0.002).abs() < 1e-12);
        assert!((of(0.04) - 0.01).abs() < 1e-12);
        assert!(axis(0.008).contains("left:75.00%"), "{}", axis(0.008));
    }

    #[test]
    fn a_record_without_time_lines_says_so() {
        let html = card(&MachineRecord { seconds: 1.0, ..MachineRecord::default() });
        assert!(html.contains("holds no time lines") && !html.contains("<svg"), "{html}");
    }
}
