//! The engine of a run in words: which it was, and why the run has chosen it.

use serde_json::Value;
use warpline_record::{EngineStretch, RunRecord};

use crate::output::format;

/// The engine of a run, for people.
pub(crate) fn engine(record: &RunRecord) -> String {
    let sync = record.engine.get("sync").and_then(Value::as_str).unwrap_or("unknown engine");
    let number = |name| {
        record.engine.get(name).and_then(Value::as_u64).filter(|_| record.parallel.is_some())
    };
    let threads = match number("threads") {
        Some(1) => "1 thread".to_owned(),
        Some(threads) => format!("{threads} threads"),
        None => return sync.to_owned(),
    };
    match number("processes") {
        None | Some(1) => format!("{sync}, {threads}"),
        Some(processes) => format!("{sync}, {processes} processes with {threads} each"),
    }
}

/// The engine that a run chose for most of its time, when, and why; `None` if the run did not choose.
pub(super) fn chosen(record: &RunRecord) -> Option<String> {
    let first = record.engines.first()?;
    let is_same = |one: &EngineStretch, other: &EngineStretch| {
        (&one.sync, one.pes) == (&other.sync, other.pes)
    };
    let all = |one: &EngineStretch| {
        let same = record.engines.iter().filter(|other| is_same(one, other));
        same.map(|stretch| stretch.seconds).sum::<f64>()
    };
    let name = |one: &EngineStretch| {
        if one.pes == 1 { one.sync.clone() } else { format!("{} with {} PEs", one.sync, one.pes) }
    };
    let main = record.engines.iter().max_by(|a, b| all(a).total_cmp(&all(b)))?;
    let is_main = |one: &&EngineStretch| is_same(one, main);
    let rate = |one: &EngineStretch| one.event_rate.unwrap_or_default();
    let others = record.engines.iter().filter(|one| !is_main(one));
    let Some(rival) = others.max_by(|a, b| rate(a).total_cmp(&rate(b))) else {
        return Some(format!("auto: {}, as {}", name(main), first.why));
    };
    let longest =
        record.engines.iter().filter(is_main).max_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    let share = all(main) / record.engines.iter().map(|one| one.seconds).sum::<f64>();
    let when = format!(
        "{} of the time, longest from {} on",
        format::percent(share),
        format::duration(longest.began_seconds)
    );
    // The reason for choosing it last. The first stretch was not chosen.
    let came_to_it =
        record.engines.iter().skip(1).rfind(is_main).filter(|stretch| !stretch.why.is_empty());
    let ratio = rate(longest) / rate(rival);
    let why = match came_to_it {
        Some(stretch) => format!(": {}", stretch.why),
        None if ratio.is_finite() => format!("; {ratio:.2} times the rate of {}", name(rival)),
        None => String::new(),
    };
    Some(format!("auto: {}, {when}{why}", name(main)))
}
