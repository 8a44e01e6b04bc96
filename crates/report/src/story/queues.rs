//! How long the queues for resources were.

use warpline_record::{LinesView, View};

use super::uses::Uses;
use crate::format;

/// The most resources in the picture.
const LINES_MOST: usize = 8;

/// The lengths over time of all queues in which anybody waited.
pub(super) fn view(all: &[Uses<'_>], unit: &str) -> Option<View> {
    let several = all.iter().any(|uses| uses.lp != all[0].lp);
    let lines: Vec<(String, Vec<(f64, f64)>)> = all
        .iter()
        .filter_map(|uses| {
            let name = match several {
                true => format!("{}, LP {}", uses.resource, uses.lp),
                false => uses.resource.to_owned(),
            };
            Some((name, lengths(uses)?))
        })
        .take(LINES_MOST)
        .collect();
    let view = LinesView {
        title: "Queues for resources".into(),
        x: format::with_unit("model time", unit),
        y: "processes that wait".into(),
        lines,
    };
    (!view.lines.is_empty()).then_some(View::Lines(view))
}

/// The length of a queue as a line of steps; `None` if nobody ever waited.
fn lengths(uses: &Uses<'_>) -> Option<Vec<(f64, f64)>> {
    let mut changes: Vec<(f64, f64)> = Vec::new();
    for turn in &uses.all {
        let end = turn.taken.or(turn.over);
        if end != Some(turn.queued) {
            changes.push((turn.queued, 1.0));
            changes.extend(end.map(|end| (end, -1.0)));
        }
    }
    changes.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut length = 0.0;
    let mut points = vec![(0.0, 0.0)];
    for (time, change) in &changes {
        points.push((*time, length));
        length += change;
        points.push((*time, length));
    }
    (!changes.is_empty()).then_some(points)
}

#[cfg(test)]
mod tests {
    use super::super::uses::Use;
    use super::*;

    #[test]
    fn a_queue_grows_and_shrinks_in_steps() {
        let turn = |queued, taken, over| Use { who: "A", queued, taken, over };
        let all = vec![
            turn(1.0, Some(1.0), Some(5.0)),
            turn(2.0, Some(5.0), None),
            turn(3.0, None, Some(4.0)),
        ];
        let uses = Uses { lp: 0, resource: "till", all };
        let steps = [
            (0.0, 0.0),
            (2.0, 0.0),
            (2.0, 1.0),
            (3.0, 1.0),
            (3.0, 2.0),
            (4.0, 2.0),
            (4.0, 1.0),
            (5.0, 1.0),
            (5.0, 0.0),
        ];
        assert_eq!(lengths(&uses).unwrap(), steps);
        let Some(View::Lines(view)) = view(&[uses], "min") else { panic!("a picture of lines") };
        assert_eq!((view.lines[0].0.as_str(), view.x.as_str()), ("till", "model time (min)"));
    }

    #[test]
    fn without_waits_there_is_no_picture() {
        let turn = Use { who: "A", queued: 1.0, taken: Some(1.0), over: None };
        assert_eq!(view(&[Uses { lp: 0, resource: "till", all: vec![turn] }], ""), None);
    }
}
