//! What limits a parallel run, and what to try.

use super::machine::{Loss, losses};
use super::shares::{
    EXECUTING, FINDING_GVT, OFF_CORE, RECEIVING, SENDING, UNDOING, WAITING, all_seconds, busy,
    committed, counted, efficiency, is_measured, is_oversubscribed, is_sampled, percent, share,
    taken_by_others, time_shares,
};
use super::speedup::estimated_speedup;
use crate::format;
use serde_json::Value;
use warpline_record::{ParallelRecord, PeRecord, RunRecord};

/// Below this efficiency, too many events are undone.
const WASTEFUL: f64 = 0.7;
/// Above this share of waiting, PEs have too little to do.
const IDLE: f64 = 0.3;
/// The load is uneven if the busy shares of two PEs differ by more than this.
const UNEVEN: f64 = 0.2;
/// Others wait for the busiest PE only if it is busy for at least this share of its time.
const SATURATED: f64 = 0.8;
/// Above this share of events from other PEs, neighbouring LPs are on different PEs.
const REMOTE: f64 = 0.5;
/// Above this share of time, GVT is found too often.
const GVT: f64 = 0.1;
/// A run that is this much slower than an estimated run on one core is reported.
const SLOW: f64 = 0.8;
/// Above this share of time, the engine's own work is reported if events are tiny.
const AROUND: f64 = 0.3;
/// An event is tiny if its handler takes less than this, in seconds.
const TINY: f64 = 1e-6;

/// On a modelled machine, a cause that takes less than this share of all PEs' time is no limit.
const SMALL: f64 = 0.05;

/// One of the things that keep a parallel run from being faster.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// What it is, in a few words without a full stop.
    pub title: &'static str,
    /// What it costs, and what to try. Names between backticks are those of settings.
    pub text: String,
    /// Its cost: a share of the time of all PEs.
    pub cost: f64,
}

/// What limits a parallel run: first, that one core would have been faster; then the rest, by cost.
/// Empty for sequential runs, if nothing stands out, and if the run was too short to tell.
pub fn limits(record: &RunRecord) -> Vec<Limit> {
    // Wall time says nothing of a machine that is modelled, whose own time is exact.
    if record.parallel.as_ref().is_some_and(|parallel| parallel.machine.is_some()) {
        return on_machine(record);
    }
    // A run that chose its engines and was mostly sequential needs no advice.
    let mostly = |parallel: &ParallelRecord| {
        2.0 * committed(record, parallel) >= record.committed_events as f64
    };
    let events = |parallel: &&ParallelRecord| {
        parallel.processed_events > 0 && is_measured(record) && mostly(parallel)
    };
    let Some(parallel) = record.parallel.as_ref().filter(events) else { return Vec::new() };
    // Other programs may have caused the waiting and the rollbacks.
    if let Some(taken) = taken_by_others(record) {
        return vec![contested(taken)];
    }
    let shares = time_shares(parallel);
    let sampled = shares.filter(|_| is_sampled(record, parallel));
    let found = [
        oversubscribed(record, parallel, shares),
        wasteful(record, parallel, sampled),
        idle(record, parallel, shares),
        remote(record, parallel, sampled),
        gvt(record, parallel, sampled),
        tiny(parallel, sampled),
    ];
    let mut limits: Vec<Limit> = found.into_iter().flatten().collect();
    limits.sort_by(|one, other| other.cost.total_cmp(&one.cost));
    slower(record).into_iter().chain(limits).collect()
}

/// What limits a run on a modelled machine, the worst first.
fn on_machine(record: &RunRecord) -> Vec<Limit> {
    let mut limits: Vec<Limit> = losses(record)
        .into_iter()
        .flatten()
        .filter(|loss| loss.share >= SMALL)
        .map(|Loss { name, share, why, remedy, .. }| Limit {
            title: name,
            text: format!(
                "It takes {} of the time of all PEs on the machine, as {why}. {remedy}",
                percent(share)
            ),
            cost: share,
        })
        .collect();
    limits.sort_by(|one, other| other.cost.total_cmp(&one.cost));
    limits
}

/// Other programs used the cores as well.
fn contested(taken: f64) -> Limit {
    let text = format!(
        "For {} of the time in which PEs had something to do, other programs had their cores. That \
         slows all of them down, as PEs wait for the one without a core, and undo more. Only a run \
         on cores of its own can tell what limits the model itself.",
        percent(taken)
    );
    Limit { title: "Others used the cores as well", text, cost: taken }
}

/// The threads of the run itself had to take turns.
fn oversubscribed(
    record: &RunRecord,
    parallel: &ParallelRecord,
    shares: Option<[f64; 9]>,
) -> Option<Limit> {
    let cost = shares.filter(|_| is_oversubscribed(parallel))?[OFF_CORE];
    let cores = match record.provenance.cores {
        Some(1) => "1 core".to_owned(),
        Some(cores) => format!("{} cores", format::integer(cores)),
        None => "the cores".to_owned(),
    };
    let text = format!(
        "The threads of the run take turns on {cores}: for {} of their time, PEs had something to \
         do and no core. Fewer `threads`{} or `processes`{} would not wait for each other's turns.",
        percent(cost),
        now(record, "threads"),
        now(record, "processes")
    );
    Some(Limit { title: "There are more threads than cores", text, cost })
}

/// One core would probably have been faster.
fn slower(record: &RunRecord) -> Option<Limit> {
    let speedup = estimated_speedup(record).filter(|speedup| *speedup < SLOW)?;
    let times = format::number(1.0 / speedup, 2, format::Zeros::Strip);
    let text = format!(
        "One core would probably have taken {} for what took {} here, {times} times less, as far \
         as the figures of this run tell. Run it with `sync` sequential; cores pay again where \
         there is more to do at a time: in a larger model, or in several runs at once.",
        format::duration(record.loop_seconds * speedup),
        format::duration(record.loop_seconds)
    );
    Some(Limit { title: "Probably slower than on one core", text, cost: 1.0 - speedup })
}

/// Events are tiny, and the engine's own work takes longer.
fn tiny(parallel: &ParallelRecord, shares: Option<[f64; 9]>) -> Option<Limit> {
    let shares = shares?;
    let cost = 1.0 - shares[EXECUTING] - shares[WAITING] - shares[OFF_CORE];
    let each = |share: f64| {
        share * all_seconds(parallel).iter().sum::<f64>() / parallel.processed_events as f64
    };
    let own = each(shares[EXECUTING]);
    let around = each(cost);
    let text = format!(
        "Executing an event takes {}, and what the engine does around it {}. Cores pay most where \
         events take a microsecond or more: let an event do more at a time, or an LP stand for \
         more of the model, so that fewer messages are needed.",
        format::duration(own),
        format::duration(around)
    );
    (cost > AROUND && own < TINY && around > own).then_some(Limit {
        title: "There is little work per event",
        text,
        cost,
    })
}

/// The value of a setting in brackets, if the record has it.
fn now(record: &RunRecord, setting: &str) -> String {
    match record.engine.get(setting) {
        Some(value @ Value::Number(_)) => {
            format!(" (now {})", format::scalar(value, format::Zeros::Strip).0)
        }
        Some(Value::String(word)) => format!(" (now {word})"),
        _ => String::new(),
    }
}

/// Too many events are undone.
fn wasteful(
    record: &RunRecord,
    parallel: &ParallelRecord,
    shares: Option<[f64; 9]>,
) -> Option<Limit> {
    let efficiency = efficiency(parallel).filter(|efficiency| *efficiency < WASTEFUL)?;
    let chain = if parallel.rollbacks.secondary > parallel.rollbacks.primary {
        " Most rollbacks are secondary: what is undone at one PE has to be undone at others."
    } else {
        ""
    };
    let hint = format!(
        "{} of the executed events were undone, as PEs ran ahead of messages that were still to \
         come.{chain} A smaller `window`{} keeps the PEs closer together, a smaller `batch`{} \
         takes messages in sooner, and more `kps`{} undo fewer events at once.",
        percent(1.0 - efficiency),
        now(record, "window"),
        now(record, "batch"),
        now(record, "kps"),
    );
    let cost =
        shares.map_or(0.0, |shares| shares[UNDOING] + shares[EXECUTING] * (1.0 - efficiency));
    Some(Limit { title: "Much is undone", text: hint, cost })
}

/// PEs wait: for a busier PE, for GVT, or because there is too little to do.
fn idle(record: &RunRecord, parallel: &ParallelRecord, shares: Option<[f64; 9]>) -> Option<Limit> {
    let idle = shares.map(|shares| shares[WAITING]).filter(|idle| *idle > IDLE)?;
    let limit = |title, text| Some(Limit { title, text, cost: idle });
    let mut by_load: Vec<(usize, f64)> = parallel
        .pes
        .iter()
        .map(busy)
        .enumerate()
        .filter_map(|(pe, busy)| Some((pe, busy?)))
        .collect();
    by_load.sort_by(|one, other| one.1.total_cmp(&other.1));
    let ends = by_load
        .first()
        .copied()
        .zip(by_load.last().copied())
        .filter(|(least, most)| most.1 - least.1 > UNEVEN);
    if let Some((least, most)) = ends.filter(|(_, most)| most.1 >= SATURATED) {
        return limit("The load is uneven", uneven(record, parallel, most, least));
    }
    let window = now(record, "window");
    if parallel.pes.len() == 1 {
        let hint = format!(
            "The only PE waits {} of its time. Nobody else can keep it waiting: it comes to the \
             end of the window before GVT moves on. A larger `window`{window} helps.",
            percent(idle)
        );
        return limit("The PE has to wait", hint);
    }
    let wider = if efficiency(parallel).is_some_and(|efficiency| efficiency > 0.9) {
        format!(" As little is undone, a larger `window`{window} is worth a try.")
    } else {
        String::new()
    };
    let who = match ends {
        None => {
            format!("All PEs wait for about as long, {} of their time on average", percent(idle))
        }
        Some((_, most)) => {
            format!(
                "PEs wait {} of their time on average, and even the busiest {}",
                percent(idle),
                percent(1.0 - most.1)
            )
        }
    };
    let fewer = fewer_threads(record)
        .map_or_else(String::new, |fewer| format!(" Fewer {fewer} may be as fast."));
    let hint =
        format!("{who}: at any moment, there are too few events for all of them.{wider}{fewer}");
    limit("There is too little to do", hint)
}

fn uneven(
    record: &RunRecord,
    parallel: &ParallelRecord,
    most: (usize, f64),
    least: (usize, f64),
) -> String {
    let fewer =
        fewer_threads(record).map_or_else(String::new, |fewer| format!(", or use fewer {fewer}"));
    format!(
        "PE {} is busy {} of its time, PE {} only {}. LPs are shared out in blocks of consecutive \
         numbers ({}): number them so that busy ones are spread over the PEs{fewer}.",
        most.0,
        percent(most.1),
        least.0,
        percent(least.1),
        lps(most.0, &parallel.pes[most.0]),
    )
}

/// The setting for the number of threads, if there could be fewer.
fn fewer_threads(record: &RunRecord) -> Option<String> {
    let one = record.engine.get("threads").and_then(Value::as_u64) == Some(1);
    (!one).then(|| format!("`threads`{}", now(record, "threads")))
}

/// Which LPs a PE has.
fn lps(index: usize, pe: &PeRecord) -> String {
    match pe.lps {
        0 => format!("PE {index} has none"),
        1 => format!("PE {index} has LP {}", pe.first_lp),
        lps => format!(
            "PE {index} has LPs {} to {}",
            pe.first_lp,
            u64::from(pe.first_lp) + u64::from(lps) - 1
        ),
    }
}

/// Most messages go to another PE.
fn remote(
    record: &RunRecord,
    parallel: &ParallelRecord,
    shares: Option<[f64; 9]>,
) -> Option<Limit> {
    let remote = share(parallel.remote_events as f64, committed(record, parallel))
        .filter(|remote| *remote > REMOTE)?;
    let cost = shares.map_or(0.0, |shares| shares[RECEIVING] + shares[SENDING]);
    let took = shares.map_or_else(String::new, |_| {
        format!(", and {} of the time went into handing over and taking in messages", percent(cost))
    });
    let hint = format!(
        "{} of the committed events came from another PE{took}. LPs are shared out in blocks of \
         consecutive numbers: give LPs that often send to each other numbers side by side, so that \
         most messages stay within a PE.",
        percent(remote)
    );
    Some(Limit { title: "Most messages travel", text: hint, cost })
}

/// GVT is found too often.
fn gvt(record: &RunRecord, parallel: &ParallelRecord, shares: Option<[f64; 9]>) -> Option<Limit> {
    let gvt = shares.map(|shares| shares[FINDING_GVT]).filter(|gvt| *gvt > GVT)?;
    let hint = format!(
        "{} of the time went into {}. A larger `gvt_interval`{} asks for it less often, at the \
         price of more memory.",
        percent(gvt),
        counted(parallel.gvt_epochs, "GVT computation"),
        now(record, "gvt_interval")
    );
    Some(Limit { title: "GVT is found often", text: hint, cost: gvt })
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
