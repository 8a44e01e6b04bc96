//! Runs a case in a process of its own, as a failure has to be found again without whatever else a
//! search has run before.

use std::collections::HashMap;
use std::time::Duration;

use warpline_cases::shrink::Freedom;
use warpline_cases::{Allowed, Answer, Case, Probe, Worker, Wrong, judge};

use super::drawing::{CLUSTER, MACHINE, pes_of};
use super::inside::start;
use crate::settings::{PES, SYNC, THREADS};

/// The longest that a sequential run may take, in time of a core.
pub(super) const REFERENCE_LIMIT: Duration = Duration::from_secs(60);
/// The least time that a schedule has, and how much more for each PE.
const LEAST: Duration = Duration::from_secs(20);
const PER_PE: Duration = Duration::from_millis(500);
/// A schedule has this many times as long as the sequential run, too.
const PATIENCE: u32 = 200;
/// How many other schedules of a smaller case are tried.
const SCHEDULES: u64 = 6;
/// How many more sequential runs there are to see whether they are equal.
const SEQUENTIAL: u32 = 5;
/// How often a failure is looked for again.
pub(super) const TIMES: u32 = 3;
/// The kind of failure of a model that is not the same twice.
const UNREPEATABLE: &str = "not repeatable";
/// The kind of failure of a run without an end.
const HANGS: &str = "hangs";

/// Nothing may go wrong in a schedule that does not go wrong in a sequential run.
const NOTHING: Allowed = Allowed { memory: false, loss: false, texts: true, most_bytes: u64::MAX };

/// The options of a run that the answer depends on, beside the model's parameters.
const COMMON: [&str; 4] = ["end", "seed", "warmup", "zero-delay-hops"];

/// The sequential run that a case is compared with; `parameters` are those of the model.
pub(super) fn reference(case: &Case, parameters: &[String]) -> Case {
    let is_common =
        |name: &str| COMMON.contains(&name) || parameters.iter().any(|known| known == name);
    case.only(is_common).with(SYNC, "sequential")
}

/// How long a schedule may take, in time of a core, after a sequential run of `usual`.
pub(super) fn limit(case: &Case, usual: Duration) -> Duration {
    LEAST + PER_PE * pes_of(case) + usual * PATIENCE
}

/// Compares an answer with that of the sequential run. Returns whether it is one: settings may have
/// been refused.
pub(super) fn compare(expected: &Answer, found: &Answer) -> Result<bool, Wrong> {
    judge(expected, found, NOTHING)?;
    Ok(!matches!(found, Answer::Refused(_)))
}

/// Runs each case in a new process.
pub(super) struct InFreshProcesses<'a> {
    parameters: &'a [String],
    /// Options that were given, which stay as they are.
    fixed: &'a Case,
    goes_on: &'a dyn Fn() -> bool,
    /// Whether the sequential run comes first in the same process, to see what outlives a run.
    after_reference: bool,
    /// The kind of failure that is looked for; any, if there is none.
    kind: Option<&'static str>,
    /// The answers of sequential runs so far.
    references: HashMap<String, Answer>,
}

impl<'a> InFreshProcesses<'a> {
    /// Looks for any failure.
    pub(super) fn new(
        parameters: &'a [String],
        fixed: &'a Case,
        goes_on: &'a dyn Fn() -> bool,
    ) -> Self {
        InFreshProcesses {
            parameters,
            fixed,
            goes_on,
            after_reference: false,
            kind: None,
            references: HashMap::new(),
        }
    }

    /// Looks for a failure of a case, first by itself and then after the sequential run, a few
    /// times each. From then on, only failures of that kind count.
    pub(super) fn confirm(&mut self, case: &Case) -> Option<Wrong> {
        for after_reference in [false, true] {
            self.after_reference = after_reference;
            if let Some(wrong) = (0..TIMES).find_map(|_| self.examine(case)) {
                self.kind = Some(wrong.kind);
                return Some(wrong);
            }
        }
        None
    }

    /// The answer to a case in this process, if nobody has ended the search.
    fn run(&self, worker: &mut Worker, case: &Case) -> Option<Answer> {
        worker.run_while(case, limit(case, Duration::ZERO), self.goes_on)
    }

    /// The answer of a sequential run, which is run once.
    fn expected(&mut self, reference: &Case) -> Option<Answer> {
        let text = reference.to_string();
        if !self.references.contains_key(&text) {
            let answer = self.run(&mut Worker::new(start), reference)?;
            self.references.insert(text.clone(), answer);
        }
        self.references.get(&text).cloned()
    }

    /// What is wrong with a case, if anything is.
    fn examine(&mut self, case: &Case) -> Option<Wrong> {
        let reference = reference(case, self.parameters);
        let expected = self.expected(&reference)?;
        if let Answer::Refused(_) = expected {
            return None;
        }
        let mut worker = Worker::new(start);
        if self.after_reference {
            self.run(&mut worker, &reference)?;
        }
        let found = self.run(&mut worker, case)?;
        let wrong = compare(&expected, &found).err()?;
        // Two of these may be equal by chance.
        let sequential = if self.kind.is_none() { SEQUENTIAL } else { 1 };
        for _ in 0..sequential {
            let again = self.run(&mut Worker::new(start), &reference)?;
            if let Err(differs) = compare(&expected, &again) {
                let why = format!("two sequential runs in two processes differ: {differs}");
                return Some(Wrong { kind: UNREPEATABLE, why });
            }
        }
        Some(wrong)
    }
}

impl Probe for InFreshProcesses<'_> {
    fn fails(&mut self, case: &Case) -> Option<Wrong> {
        let wanted = self.kind;
        self.examine(case).filter(|wrong| wanted.is_none_or(|kind| kind == wrong.kind))
    }

    fn nearly_fails(&mut self, case: &Case) -> Option<(Case, Wrong)> {
        if let Some(wrong) = self.fails(case) {
            return Some((case.clone(), wrong));
        }
        // A run that hangs takes long, a model that is not repeatable needs no other schedule, and a
        // machine has only one.
        let is_only =
            matches!(self.kind, Some(HANGS | UNREPEATABLE)) || case.get(CLUSTER).is_none();
        let schedules = if is_only { 0 } else { SCHEDULES };
        (0..schedules).find_map(|seed| {
            let other = case.replace(CLUSTER, Some(&seed.to_string()));
            self.fails(&other).map(|wrong| (other, wrong))
        })
    }

    fn freedom(&self, name: &str) -> Freedom {
        if self.fixed.get(name).is_some() || [CLUSTER, MACHINE].contains(&name) {
            Freedom::Fixed
        } else if ["end", THREADS, PES, SYNC].contains(&name) {
            Freedom::Kept
        } else {
            Freedom::Free
        }
    }
}
