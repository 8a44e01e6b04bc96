//! A parallel run in plain words: how fast it was, and where its time went.

use super::shares::{
    EXECUTING, WAITING, committed, counted, efficiency, is_sampled, lanes, percent, share,
    time_shares,
};
use super::speedup::estimated_speedup;
use crate::format::{self, Zeros};
use warpline_record::{ParallelRecord, RunRecord};

/// Phases with a smaller share than this are left out.
const SMALL: f64 = 0.05;

/// The phases as activities of PEs, in the order of `Phases::list`.
const DOING: [&str; 9] = [
    "taking in messages",
    "choosing the next event",
    "executing events",
    "handing over messages",
    "undoing events",
    "finding GVT",
    "committing events",
    "waiting",
    "ready without a core",
];

/// The run in sentences.
pub(crate) fn prose(record: &RunRecord, parallel: &ParallelRecord) -> Vec<String> {
    let shares = time_shares(parallel)
        .filter(|_| parallel.phase_samples.is_none() || is_sampled(record, parallel))
        // The host's time says nothing of the PEs of a modelled machine.
        .filter(|_| parallel.machine.is_none());
    let sentences = [
        speed(record, parallel),
        compared(record, parallel),
        kept(parallel),
        rollbacks(parallel),
        certain(record, parallel),
        agreement(record, parallel),
        shares.map(|shares| time(parallel, &shares)),
        useful(parallel, shares),
    ];
    sentences.into_iter().flatten().collect()
}

/// The event rate, in all and of each PE.
fn speed(record: &RunRecord, parallel: &ParallelRecord) -> Option<String> {
    // The rate of a run that chose its engines includes sequential stretches.
    let rate = Some(record.event_rate)
        .filter(|rate| rate.is_finite() && *rate > 0.0 && record.engines.is_empty())?;
    let each = |pes: usize| format::quantity(rate / pes as f64, "events/s");
    if parallel.machine.is_some() {
        return Some(format!("Simulating the machine, this host committed {}.", each(1)));
    }
    Some(match parallel.pes.len() {
        0 => format!("The PEs committed {} together.", each(1)),
        1 => format!("One PE committed {}.", each(1)),
        pes => format!("{pes} PEs committed {} together, {} each.", each(1), each(pes)),
    })
}

/// Self-relative speed-up, as far as one run can tell.
fn compared(record: &RunRecord, parallel: &ParallelRecord) -> Option<String> {
    let speedup = estimated_speedup(record).filter(|_| parallel.pes.len() > 1)?;
    Some(format!(
        "That is probably about {} times as much as one core would have.",
        format::number(speedup, 2, Zeros::Strip)
    ))
}

/// How many rollbacks a PE had.
fn rollbacks(parallel: &ParallelRecord) -> Option<String> {
    let rollbacks = &parallel.rollbacks;
    let several = parallel.pes.len() > 1 && rollbacks.max_per_pe > 0;
    let mean = format::integer(rollbacks.mean_per_pe.round() as u64);
    let most = counted(rollbacks.max_per_pe, "rollback");
    several.then(|| format!("A PE had {most} at most, and {mean} on average."))
}

/// How often GVT was found.
fn agreement(record: &RunRecord, parallel: &ParallelRecord) -> Option<String> {
    let epochs = Some(parallel.gvt_epochs).filter(|epochs| *epochs > 0)?;
    let each =
        counted((committed(record, parallel) / epochs as f64).round() as u64, "committed event");
    Some(format!(
        "GVT was found {}, once for {each}.",
        match epochs {
            1 => "once".into(),
            epochs => format!("{} times", format::integer(epochs)),
        }
    ))
}

/// How many of the executed events committed.
fn kept(parallel: &ParallelRecord) -> Option<String> {
    let Some(efficiency) = efficiency(parallel) else {
        return Some("No event was executed.".into());
    };
    Some(match parallel.rolled_back_events {
        0 => "Every executed event committed: nothing had to be undone.".into(),
        _ => format!(
            "{} of the executed events committed; the others were undone again.",
            percent(efficiency)
        ),
    })
}

/// The share of committed events that took the safe lane.
fn certain(record: &RunRecord, parallel: &ParallelRecord) -> Option<String> {
    let (certain, ahead) = lanes(parallel)?;
    Some(match (certain, ahead) {
        (0, _) => {
            "All events were executed ahead, before it was known whether others come first.".into()
        }
        (_, 0) => "All events were certain when they were executed, as nothing could come before \
                   them any more."
            .into(),
        _ => {
            let share = percent(share(certain as f64, committed(record, parallel))?);
            format!(
                "Of those that committed, {share} were certain when they were executed; the others \
                 had been executed ahead."
            )
        }
    })
}

/// Where the time of the PEs went.
fn time(parallel: &ParallelRecord, shares: &[f64; 9]) -> String {
    let mut others: Vec<usize> = (0..9)
        .filter(|phase| ![EXECUTING, WAITING].contains(phase) && shares[*phase] >= SMALL)
        .collect();
    others.sort_by(|one, other| shares[*other].total_cmp(&shares[*one]));
    let (who, whose) =
        if parallel.pes.len() == 1 { ("The PE", "its") } else { ("The PEs", "their") };
    let others: String = others
        .into_iter()
        .map(|phase| format!(", {} {}", percent(shares[phase]), DOING[phase]))
        .collect();
    let executing = percent(shares[EXECUTING]);
    let waiting = percent(shares[WAITING]);
    format!(
        "{who} spent {executing} of {whose} time {}{others} and {waiting} {}.",
        DOING[EXECUTING], DOING[WAITING]
    )
}

/// The share of time left for events that count.
fn useful(parallel: &ParallelRecord, shares: Option<[f64; 9]>) -> Option<String> {
    let useful = shares?[EXECUTING] * efficiency(parallel)?;
    let undone = parallel.rolled_back_events > 0 && useful > 0.0;
    undone.then(|| {
        format!(
            "Less what was undone, {} of the time went into events that count.",
            percent(useful)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::limits::limits;
    use serde_json::json;
    use warpline_record::{PeRecord, Phases, Rollbacks};

    /// A PE with 100 LPs that executes events for `work` seconds, and waits for `idle`.
    fn pe(first_lp: u32, work: f64, idle: f64) -> PeRecord {
        let phase_seconds = Phases { event_processing: work, idle, ..Default::default() };
        PeRecord { first_lp, lps: 100, phase_seconds, ..Default::default() }
    }

    /// Out of 1000 events, `undone` were undone and a tenth of the others came from another PE.
    fn parallel(undone: u64, pes: Vec<PeRecord>) -> ParallelRecord {
        let mut phase_seconds = Phases::default();
        pes.iter().for_each(|pe| phase_seconds.add(&pe.phase_seconds));
        let efficiency = (1000 - undone) as f64 / 1000.0;
        let remote_events = (1000 - undone) / 10;
        ParallelRecord {
            processed_events: 1000,
            rolled_back_events: undone,
            efficiency,
            remote_events,
            phase_seconds,
            pes,
            ..Default::default()
        }
    }

    /// What is said of a run, with plain spaces.
    fn said(parallel: &ParallelRecord) -> (String, Vec<(&'static str, String)>) {
        let record = json!({"model": "m", "about": "", "parameters": {}, "seed": 1, "end_time": 1.0,
            "engine": {"window": 0.25, "batch": "automatic"},
            "committed_events": parallel.processed_events - parallel.rolled_back_events, "digest": "", "wall_seconds": 1.0,
            "loop_seconds": 5.0, "event_rate": if parallel.processed_events > 0 { 3.2e6 } else { 0.0 }, "peak_rss_bytes": null,
            "results": {}, "progress": [], "views": []});
        let plain = |text: &String| text.replace(['\u{a0}', '\u{202f}'], " ");
        let record = RunRecord {
            parallel: Some(parallel.clone()),
            ..serde_json::from_value(record).unwrap()
        };
        let words = prose(&record, parallel);
        let limits = limits(&record);
        let all = format!("{words:?} {limits:?}");
        assert!(!all.contains("NaN") && !all.contains("inf"), "{all}");
        (
            plain(&words.join(" ")),
            limits.iter().map(|limit| (limit.title, plain(&limit.text))).collect(),
        )
    }

    fn titles(parallel: &ParallelRecord) -> Vec<&'static str> {
        said(parallel).1.into_iter().map(|(title, _)| title).collect()
    }

    #[test]
    fn a_good_run_takes_a_few_sentences() {
        let mut run = parallel(80, vec![pe(0, 6.1, 0.8), pe(100, 6.1, 0.8)]);
        run.phase_seconds.rollback = 1.4;
        run.phase_seconds.send = 2.0;
        run.phase_seconds.gvt = 0.1;
        run.gvt_epochs = 40;
        run.rollbacks = Rollbacks { max_per_pe: 11, mean_per_pe: 7.5, ..Rollbacks::default() };
        let (sentences, hints) = said(&run);
        assert_eq!(
            sentences,
            "2 PEs committed 3.2 M events/s together, 1.6 M events/s each. That is probably about \
             2.6 times as much as one core would have. 92 % of the executed events committed; the \
             others were undone again. A PE had 11 rollbacks at most, and 8 on average. GVT was \
             found 40 times, once for 23 committed events. The PEs spent 71 % of their time \
             executing events, 12 % handing over messages, 8 % undoing events and 9 % waiting. \
             Less what was undone, 65 % of the time went into events that count."
        );
        assert!(hints.is_empty(), "{hints:?}");
    }

    #[test]
    fn both_lanes_are_reported() {
        let said = |certain_events: u64, ahead_events: u64| {
            said(&ParallelRecord {
                certain_events,
                ahead_events,
                ..parallel(1000 - 750, Vec::new())
            })
            .0
        };
        assert!(said(600, 400).contains(
            "Of those that committed, 80 % were certain when they were executed; the others had \
             been"
        ));
        assert!(
            said(1000, 0).contains("All events were certain when they were executed"),
            "{}",
            said(1000, 0)
        );
        assert!(said(0, 1000).contains("All events were executed ahead"), "{}", said(0, 1000));
        assert!(
            !said(0, 0).contains("ahead") && !said(0, 0).contains("certain"),
            "an older record: {}",
            said(0, 0)
        );
    }

    #[test]
    fn waste_is_pointed_out_with_the_settings_in_force() {
        let mut run = parallel(450, vec![pe(0, 9.0, 1.0), pe(100, 9.0, 1.0)]);
        run.rollbacks = Rollbacks { primary: 10, secondary: 20, ..Default::default() };
        let (sentences, hints) = said(&run);
        assert!(sentences.contains("55 % of the executed events committed"), "{sentences}");
        let [("Much is undone", hint)] = &hints[..] else { panic!("{hints:?}") };
        assert!(
            hint.contains("45 % of the executed events were undone")
                && hint.contains("Most rollbacks are secondary"),
            "{hint}"
        );
        assert!(
            hint.contains("`window` (now 0.25)")
                && hint.contains("`batch` (now automatic)")
                && hint.contains("`kps` undo"),
            "{hint}"
        );
        run.rollbacks.secondary = 10;
        assert!(!said(&run).1[0].1.contains("secondary"));
    }

    #[test]
    fn an_uneven_load_names_its_extremes() {
        let (_, hints) =
            said(&parallel(0, vec![pe(0, 5.0, 5.0), pe(100, 9.8, 0.2), pe(200, 2.0, 8.0)]));
        let [("The load is uneven", hint)] = &hints[..] else { panic!("{hints:?}") };
        assert!(hint.starts_with("PE 1 is busy 98 % of its time, PE 2 only 20 %."), "{hint}");
        assert!(hint.contains("(PE 1 has LPs 100 to 199)"), "{hint}");
    }

    #[test]
    fn an_even_load_may_be_too_little() {
        let (_, hints) = said(&parallel(0, vec![pe(0, 5.0, 5.0), pe(100, 5.5, 4.5)]));
        let [("There is too little to do", hint)] = &hints[..] else { panic!("{hints:?}") };
        assert!(
            hint.contains("48 % of their time") && hint.contains("larger `window` (now 0.25)"),
            "{hint}"
        );
        let (_, hints) = said(&parallel(200, vec![pe(0, 5.0, 5.0), pe(100, 5.5, 4.5)]));
        assert!(!hints[0].1.contains("window"), "a larger window would undo more: {hints:?}");
    }

    #[test]
    fn one_pe_waits_for_nobody() {
        let (sentences, hints) = said(&parallel(0, vec![pe(0, 5.0, 5.0)]));
        assert_eq!(
            sentences,
            "One PE committed 3.2 M events/s. Every executed event committed: nothing had to be \
             undone. The PE spent 50 % of its time executing events and 50 % waiting."
        );
        assert_eq!(hints[0].0, "The PE has to wait");
    }

    #[test]
    fn messages_and_gvt_are_watched() {
        let mut run = parallel(0, vec![pe(0, 8.0, 0.0), pe(100, 8.0, 0.0)]);
        run.remote_events = 630;
        run.phase_seconds.gvt = 4.0;
        run.gvt_epochs = 4310;
        let (_, hints) = said(&run);
        let [("GVT is found often", gvt), ("Most messages travel", travel)] = &hints[..] else {
            panic!("{hints:?}")
        };
        assert!(travel.starts_with("63 % of the committed events"), "{travel}");
        assert!(
            gvt.starts_with(
                "20 % of the time went into 4 310 GVT computations. A larger `gvt_interval` asks"
            ),
            "{gvt}"
        );
    }

    #[test]
    fn a_run_without_events_says_so() {
        assert_eq!(said(&ParallelRecord::default()), ("No event was executed.".into(), Vec::new()));
        let waited = ParallelRecord {
            processed_events: 0,
            ..parallel(0, vec![pe(0, 0.0, 5.0), pe(100, 0.0, 5.0)])
        };
        let waited = said(&ParallelRecord { remote_events: 0, ..waited });
        assert_eq!(
            waited.0,
            "No event was executed. The PEs spent 0 % of their time executing events and 100 % \
             waiting."
        );
        assert!(waited.1.is_empty());
    }

    #[test]
    fn odd_figures_do_no_harm() {
        let all_idle = parallel(0, vec![pe(0, 0.0, 5.0), pe(u32::MAX, 0.0, 5.0)]);
        assert_eq!(titles(&all_idle), ["There is too little to do"]);
        let unmeasured = parallel(1000, vec![pe(0, 0.0, 0.0), pe(100, f64::NAN, f64::INFINITY)]);
        let (sentences, hints) = said(&unmeasured);
        assert!(
            sentences
                .ends_with("0 % of the executed events committed; the others were undone again."),
            "{sentences}"
        );
        assert_eq!(hints.len(), 1, "{hints:?}");
        let (sentences, _) = said(&ParallelRecord {
            efficiency: f64::NAN,
            rolled_back_events: 500,
            ..parallel(0, Vec::new())
        });
        assert!(
            sentences
                .starts_with("The PEs committed 3.2 M events/s together. 50 % of the executed"),
            "{sentences}"
        );
    }
}
