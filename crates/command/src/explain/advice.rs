//! What stands in the way of a model on more cores, in words: the gravest first.

use warpline_run::{CoreFindings, EventCost, Explanation, LpDelay};

use super::costs::Costs;
use crate::output::format;

/// Advice is about this many cores.
const CORES: u32 = 8;
/// Advice is given only if it might raise the speed by this factor.
const SLIGHT: f64 = 1.15;

/// A sentence or two.
struct Advice {
    /// How many times as fast the model might become.
    factor: f64,
    text: String,
}

/// What stands in the way, the gravest first.
pub(super) fn advice(explanation: &Explanation, unit: &str, costs: Option<&Costs>) -> Vec<String> {
    let Some(cores) = explanation.findings.cores.iter().find(|cores| cores.cores == CORES) else {
        return Vec::new();
    };
    let costs = costs.map(|costs| overhead(costs, cores, explanation.findings.events));
    let all = [
        path(explanation),
        blocks(explanation, cores),
        order(cores),
        lookahead(explanation, cores, unit),
        costs,
    ];
    let mut worth: Vec<Advice> =
        all.into_iter().flatten().filter(|advice| advice.factor >= SLIGHT).collect();
    worth.sort_by(|a, b| b.factor.total_cmp(&a.factor));
    worth.into_iter().map(|advice| advice.text).collect()
}

/// The critical path is too long.
fn path(explanation: &Explanation) -> Option<Advice> {
    let findings = &explanation.findings;
    let parallelism = explanation.parallelism();
    let heaviest = findings.load.first()?;
    let path = &findings.path;
    let most = times(parallelism);
    let text = if findings.load.len() == 1 {
        "One LP has all events, and an LP executes one event after the other: no engine can do \
         anything at once. Divide the model into several LPs."
            .into()
    } else if 2 * heaviest.work >= path.length {
        let lp = heaviest.lp;
        let share = format::percent(heaviest.work as f64 / findings.work as f64);
        format!(
            "{lp} alone has {share} of all work, and an LP executes one event after the other: no \
             engine can be more than {most} as fast as one core. Divide it into several LPs, or \
             give it less to do."
        )
    } else {
        let length = amount(path.length, explanation.cost);
        let messages = path.messages;
        format!(
            "Too few events are independent: the longest chain of those that wait for each other \
             takes {length} and {messages} messages, so no engine can be more than {most} as fast \
             as one core. More activities at the same time would help, such as more initial \
             events, or less waiting for answers."
        )
    };
    Some(Advice { factor: f64::from(CORES) / parallelism, text })
}

/// The load is uneven.
fn blocks(explanation: &Explanation, cores: &CoreFindings) -> Option<Advice> {
    let share = format::percent(cores.busiest.work as f64 / explanation.findings.work as f64);
    let pe = cores.busiest.pe;
    let first = cores.busiest.first.0;
    let last = cores.busiest.last.0;
    let most = times(cores.these_blocks);
    let text = format!(
        "The load is uneven: of {} PEs, PE {pe} (LPs {first} to {last}) has {share} of all work, \
         which allows {most} the speed of one core, where {} would be possible. Model::weight \
         makes blocks of LPs even; so do other numbers for the LPs.",
        cores.pes,
        times(cores.any_engine)
    );
    (explanation.findings.work > 0)
        .then(|| Advice { factor: cores.any_engine / cores.these_blocks, text })
}

/// PEs wait for each other's messages.
fn order(cores: &CoreFindings) -> Option<Advice> {
    let text = format!(
        "PEs wait for each other's messages: executing their events in the order of time, {} PEs \
         reach {}, where their blocks of LPs allow {}. Optimistic PEs can go ahead with other LPs \
         meanwhile; LPs that talk to each other should have numbers close together.",
        cores.pes,
        times(cores.in_order),
        times(cores.these_blocks)
    );
    Some(Advice { factor: cores.these_blocks / cores.in_order, text })
}

/// Conservative PEs wait because too little lookahead is declared, or because delays are short.
fn lookahead(explanation: &Explanation, cores: &CoreFindings, unit: &str) -> Option<Advice> {
    let LpDelay { from, to, seen, .. } = cores.seen_delay?;
    let pes = cores.pes;
    let declared = format::time(cores.declared_delay, unit);
    let reach = times(cores.declared);
    let could = cores.seen?;
    let begin = format!(
        "With the lookahead that is declared between {pes} PEs, {declared}, conservative PEs reach \
         {reach} the speed of one core."
    );
    let seen = format::time(seen, unit);
    let who = format!("the shortest delay from PE to PE was {seen}, from {from} to {to}");
    if could / cores.declared >= SLIGHT {
        let promise = "If the model can promise that, Model::lookahead, lookahead_of or links says \
                       so, and every run checks it";
        let text = format!(
            "{begin} In this run {who}. {promise}; conservative PEs could then reach {}.",
            times(could)
        );
        return Some(Advice { factor: could / cores.declared, text });
    }
    let delays = &explanation.findings.delays;
    let factor = cores.in_order / cores.declared;
    let usual = delays
        .get(delays.len() / 2)
        .map(|delay| delay.seen)
        .filter(|usual| *usual > 2.0 * cores.declared_delay);
    let holds = usual.map_or_else(String::new, |usual| {
        let usual = format::time(usual, unit);
        format!(" A few LPs hold it down: half of them never sent to another sooner than {usual}.")
    });
    let text = format!(
        "{begin} Declaring more would not help, as {who}.{holds} Longer delays between PEs would \
         help, and optimistic PEs need none."
    );
    Some(Advice { factor, text })
}

/// Engines do more than execute events.
fn overhead(costs: &Costs, cores: &CoreFindings, events: u64) -> Advice {
    let ideal = costs.ideal(cores);
    let left = costs.speed_up(cores, events);
    let text = format!(
        "Engines do more than execute events: at the costs of this machine, {} PEs reach {} the \
         speed of one core, where an ideal engine reaches {}. Cores pay most where events take a \
         microsecond or more: let an event do more at a time, or an LP stand for more of the \
         model, so that fewer messages are needed.",
        cores.pes,
        times(left),
        times(ideal)
    );
    Advice { factor: ideal / left, text }
}

/// An amount of work.
pub(super) fn amount(work: u64, cost: EventCost) -> String {
    if cost == EventCost::Measured {
        return format::duration(work as f64 / 1e9);
    }
    if work == 1 { "1 event".into() } else { format!("{work} events") }
}

/// A ratio of speeds.
pub(super) fn ratio(value: f64) -> String {
    format::significant(value, 3)
}

fn times(value: f64) -> String {
    format!("{} times", ratio(value))
}
