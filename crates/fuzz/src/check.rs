//! Checks one case: runs it, and compares it with the sequential run.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;
use warpline::MemoryLimit;
use warpline_cases::{Allowed, Answer, Case, Done, Probe, Wrong, judge};

use crate::case::{is_outside, reference, sorted};
use crate::worker::{WALL, Worker};

/// A run counts as hanging if it takes this many times as long as the sequential run.
const PATIENCE: f64 = 100.0;
/// No run counts as hanging before this time: others have the cores, too.
const LEAST: Duration = Duration::from_secs(30);
/// In a virtual cluster PEs take turns, and some stand still while all others wait for them: each
/// has so much more.
const PER_PE: Duration = Duration::from_secs(4);
/// Ranks keep cores busy while they wait for each other. They have so many times as long.
const OF_RANKS: u32 = 4;
/// The time limit of a sequential run.
const REFERENCE_LIMIT: Duration = Duration::from_secs(30);
/// When an attack is over, cases that are still running have so long to end, in wall time.
const GRACE: Duration = Duration::from_secs(30);
/// A run is slow if it takes longer than this many times the sequential one, plus a second.
const SLOW: f64 = 10.0;
/// The model that counts future arrivals at once, if they come before the end of the run. Its
/// statistics depend on that end.
const LOOKS_AHEAD: &str = "network";
/// How many sequential answers are kept.
const REMEMBERED: usize = 64;

/// A run may take this many times as much memory as the sequential one, and `MEMORY_MORE` bytes for
/// each process.
const TIMES_MEMORY: u64 = 4;
const MEMORY_MORE: u64 = 128 << 20;
/// A run may exceed its budget by this share and `BUDGET_MORE` bytes for each PE, as the book says.
const BUDGET_SHARE: f64 = 0.1;
const BUDGET_MORE: u64 = 4 << 20;
/// The default number of events in a batch.
const BATCH: u64 = 128;

/// Runs cases.
#[derive(Default)]
pub struct Checker {
    worker: Worker,
    references: HashMap<String, (Answer, Duration)>,
    /// When the attack is over.
    until: Option<Instant>,
}

/// How a case passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Checked {
    /// It gave the sequential answer.
    Equal {
        /// How many times the limit of a slow run it took, if it was slow.
        slow: Option<f64>,
    },
    /// Its settings were refused.
    Refused,
    /// It went wrong in a way that its case allows.
    Excused,
    /// It was still running when the attack was over.
    Unfinished,
}

impl Checker {
    /// A checker for an attack that is over at this time.
    pub(crate) fn until(until: Instant) -> Self {
        Checker { until: Some(until), ..Checker::default() }
    }

    /// The limit of a run, and whether the end of the attack sets it.
    fn cut(&self, limit: Duration) -> (Duration, bool) {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()) + GRACE);
        let least = left.map_or(limit, |left| limit.min(left / WALL));
        (least, least < limit)
    }

    /// Runs a case and the sequential run, unless that one is known.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&mut self, case: &Case) -> Result<Checked, Wrong> {
        let Some((mut expected, usual)) = self.reference(&reference(case))? else {
            return Ok(Checked::Unfinished);
        };
        if let Answer::Refused(_) = expected {
            return Ok(Checked::Refused);
        }
        let limit = usual.mul_f64(PATIENCE).max(LEAST) + cluster_time(case);
        let limit = if case.get("ranks").is_some() { limit * OF_RANKS } else { limit };
        let (limit, is_cut) = self.cut(limit);
        let before = self.worker.cpu_time();
        let mut answer = self.worker.run(case, limit);
        if is_cut && matches!(answer, Answer::Hung { .. }) {
            return Ok(Checked::Unfinished);
        }
        let took = self.worker.cpu_time().saturating_sub(before);
        if let Some(done) = partial(&answer) {
            if case.get("stop-after").or(case.get("signal-after")).is_none() {
                return Err(Wrong::new("partial", "it ended early, and nobody asked for that"));
            }
            if done.end <= 0.0 {
                return Ok(Checked::Excused);
            }
            let until =
                reference(case).replace("end", None).with("end", format_args!("{:e}", done.end));
            let warmup: f64 =
                case.get("warmup").and_then(|warmup| warmup.parse().ok()).unwrap_or_default();
            let observes = done.end > warmup;
            expected = self.worker.run(
                &if observes { until } else { until.replace("warmup", None) },
                REFERENCE_LIMIT,
            );
            for answer in [&mut expected, &mut answer] {
                if !observes || case.model == LOOKS_AHEAD {
                    forget_results(answer);
                }
            }
        }
        judge(&expected, &answer, allowed(case, &expected))?;
        Ok(match answer {
            Answer::Refused(_) => Checked::Refused,
            Answer::OutOfMemory(_) | Answer::Lost(_) | Answer::Signalled => Checked::Excused,
            _ => {
                let ratio = took.as_secs_f64() / (usual.as_secs_f64() * SLOW + 1.0);
                Checked::Equal { slow: Some(ratio).filter(|ratio| *ratio > 1.0) }
            }
        })
    }

    /// The sequential answer, and how long it took; `None` if the attack was over before.
    fn reference(&mut self, case: &Case) -> Result<Option<(Answer, Duration)>, Wrong> {
        let text = case.to_string();
        if let Some(known) = self.references.get(&text) {
            return Ok(Some(known.clone()));
        }
        let (limit, is_cut) = self.cut(REFERENCE_LIMIT);
        let before = self.worker.cpu_time();
        let answer = self.worker.run(case, limit);
        let took = self.worker.cpu_time().saturating_sub(before);
        match &answer {
            Answer::Crashed(why) => {
                return Err(Wrong::new("crashes", format!("the sequential run: {why}")));
            }
            Answer::Hung { .. } if is_cut => return Ok(None),
            Answer::Hung { seconds } => {
                return Err(Wrong::new(
                    "draws",
                    format!("the sequential run takes over {seconds} s"),
                ));
            }
            _ => {}
        }
        if self.references.len() == REMEMBERED {
            self.references.clear();
        }
        self.references.insert(text, (answer.clone(), took));
        Ok(Some((answer, took)))
    }
}

/// Looks for failures of one kind.
pub(crate) struct InKind<'a> {
    pub(crate) checker: &'a mut Checker,
    pub(crate) kind: &'static str,
}

impl Probe for InKind<'_> {
    fn fails(&mut self, case: &Case) -> Option<Wrong> {
        // The end of the attack is not the end of a search, which has a time of its own.
        let until = self.checker.until.take();
        let checked = self.checker.check(case);
        self.checker.until = until;
        checked.err().filter(|wrong| wrong.kind == self.kind)
    }
}

/// The answer of a run that ended early.
fn partial(answer: &Answer) -> Option<Done> {
    if let Answer::Done(done) = answer {
        Some(Done::clone(done)).filter(|done| done.partial)
    } else {
        None
    }
}

/// Forgets results that were not observed, or that depend on the warm-up or the end.
fn forget_results(answer: &mut Answer) {
    if let Answer::Done(done) = answer {
        done.results = Value::Null;
        done.series = Value::Null;
        done.states.as_object_mut().into_iter().for_each(|states| _ = states.remove("statistics"));
    }
}

fn allowed(case: &Case, expected: &Answer) -> Allowed {
    let number =
        |name: &str, usual: u64| case.get(name).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let processes = number("processes", 1).max(number("ranks", 1));
    let pes = number("threads", cores);
    let batch = number("batch", BATCH) * number("message-size", 0).max(number("payload", 0));
    let limit = sorted(case).ok().and_then(|sorted| sorted.settings.memory);
    let most_bytes = match (limit, expected) {
        // A process that has run other cases before still holds the memory that they needed.
        _ if !is_outside(case) => u64::MAX,
        (Some(MemoryLimit::Bytes(bytes)), _) => {
            bytes + (bytes as f64 * BUDGET_SHARE) as u64 + pes * processes * (BUDGET_MORE + batch)
        }
        (_, Answer::Done(done)) => {
            TIMES_MEMORY * done.peak_bytes.unwrap_or_default() + processes * MEMORY_MORE
        }
        _ => u64::MAX,
    };
    let loss = case.get("kill-after").is_some();
    Allowed { memory: limit.is_some(), loss, texts: false, most_bytes }
}
/// How much longer a case in a virtual cluster may take.
fn cluster_time(case: &Case) -> Duration {
    let pes = case.get("threads").and_then(|pes| pes.parse().ok()).unwrap_or(1);
    if case.get("virtual-cluster").is_some() { PER_PE * pes } else { Duration::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_attack_cuts_the_limits_of_its_last_runs() {
        let limit = Duration::from_secs(300);
        assert_eq!(Checker::default().cut(limit), (limit, false));
        let soon = Checker::until(Instant::now());
        let (left, is_cut) = soon.cut(limit);
        assert!(is_cut && left <= GRACE / WALL && left > Duration::ZERO);
        let later = Checker::until(Instant::now() + WALL * limit);
        assert_eq!(later.cut(limit), (limit, false));
    }
}
