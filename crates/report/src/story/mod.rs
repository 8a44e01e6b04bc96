//! What followed LPs told, as people think of it: who held which resource, how long the queues
//! were, the life of one process; and who still waits when nothing is left to come.

mod gantt;
mod life;
mod queues;
mod uses;

use warpline_record::{RunRecord, Stuck, View};

use self::gantt::Times;
use crate::format;
use crate::html::escape;

/// The chart of resources; empty if nothing was told of any.
pub(crate) fn resources(record: &RunRecord) -> String {
    let told = &record.told;
    let Some(to) = told.last().map(|last| last.time).filter(|to| to.is_finite() && *to > 0.0)
    else {
        return String::new();
    };
    let all = uses::uses(told);
    let several = all.iter().any(|uses| uses.lp != all[0].lp);
    let times = Times { from: 0.0, to, unit: &record.time_unit };
    let chart = gantt::chart(&all, times, several);
    if chart.is_empty() {
        return chart;
    }
    format!(
        "<section class=\"card whole\"><h3>Who held what</h3><p class=\"muted\">A row is a unit of \
         a resource, a bar the time in which one process held it. A process has the same colour \
         everywhere; point at a bar to see who it is. The chart ends where the LPs stop \
         telling.</p>{chart}</section>"
    )
}

/// Queue lengths, and the life of one process.
pub(crate) fn views(record: &RunRecord) -> impl Iterator<Item = View> {
    let told = &record.told;
    let queues = queues::view(&uses::uses(told), &record.time_unit);
    queues.into_iter().chain(life::view(told, &record.time_unit))
}

/// Who still waits; empty if nobody does.
pub(crate) fn stuck(record: &RunRecord) -> String {
    let Some(Stuck { waits, lines }) = &record.stuck else { return String::new() };
    let items: String = lines.iter().map(|line| format!("<li>{}</li>", escape(line))).collect();
    let more = match waits - lines.len() as u64 {
        0 => String::new(),
        more => format!("<li>and {} more</li>", format::integer(more)),
    };
    format!(
        "<section class=\"card whole\"><h2>Who still waits</h2><p class=\"muted\">No event was \
         left that could end these waits.</p><ul>{items}{more}</ul></section>"
    )
}

#[cfg(test)]
mod tests {
    use super::uses::tests::told;
    use super::*;
    use warpline_record::Deed;

    fn record() -> RunRecord {
        let text = r#"{"model": "hops", "about": "", "parameters": {}, "seed": 7, "end_time": 100.0,
            "engine": {}, "committed_events": 1, "digest": "", "wall_seconds": 0.2, "loop_seconds": 0.1,
            "event_rate": 10.0, "peak_rss_bytes": null, "results": {}, "progress": [], "views": []}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn those_who_wait_are_listed_and_the_rest_counted() {
        let mut record = record();
        assert_eq!(stuck(&record), "");
        record.stuck = Some(Stuck { waits: 301, lines: vec!["<Ann> waits".into()] });
        let html = stuck(&record);
        assert!(html.contains("<li>&lt;Ann&gt; waits</li><li>and 300 more</li>"), "{html}");
    }

    #[test]
    fn the_chart_needs_something_that_was_told() {
        let mut record = record();
        assert_eq!(resources(&record), "");
        let deeds = [(1.0, "Ann", Deed::Takes, "till"), (4.0, "Ann", Deed::Gives, "till")];
        record.told = told(&deeds);
        assert!(resources(&record).contains("Ann from 1 to 4"));
        assert_eq!(views(&record).count(), 1, "nobody queued, so there is a life and no queue");
    }
}
