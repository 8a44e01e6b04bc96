//! The outcome of a run, compared with that of the sequential run.

use std::fmt::{self, Debug, Write};
use std::hash::{DefaultHasher, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use warpline_run::{Error, Model, Run};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// With results.
    Done(Box<Done>),
    /// Before it began: a setting or parameter was refused.
    Refused(String),
    /// By a mistake of the model, or of the engine.
    Failed(String),
    /// For lack of memory.
    OutOfMemory(String),
    /// Because one of its processes is gone.
    Lost(String),
    /// It did not end in time.
    Hung {
        /// How long it was given.
        seconds: f64,
    },
    /// By a signal, before the program had a handler for it.
    Signalled,
    /// Its program died; this is the end of its output.
    Crashed(String),
}

/// What a run left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// The digest of its history.
    pub digest: String,
    /// How many events that is.
    pub committed: u64,
    /// How far it came, in model time.
    pub end: f64,
    /// Whether it stopped before its end.
    pub partial: bool,
    /// What the model works out at the end.
    pub results: Value,
    /// What it observed over time.
    pub series: Value,
    /// A digest of all rows, if they were kept.
    pub rows: Option<u64>,
    /// Digests of the final states of all LPs, and of the statistics.
    pub states: Value,
    /// Wall time of its event loop, in seconds.
    pub seconds: f64,
    /// The most memory that its process has taken so far.
    pub peak_bytes: Option<u64>,
    /// What it cost; nothing depends on that.
    pub effort: Effort,
}

/// What a parallel run did to come to its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Executed events, those that were undone among them.
    pub executed: u64,
    /// Undone events.
    pub undone: u64,
    /// Rollbacks.
    pub rollbacks: u64,
    /// Computations of GVT.
    pub gvts: u64,
}

impl Effort {
    /// What the record of a run says; nothing in a sequential one.
    fn of_record(record: &Map<String, Value>) -> Self {
        let count = |value: Option<&Value>| value.and_then(Value::as_u64).unwrap_or_default();
        let rollbacks = |cause| count(record.get("rollbacks").and_then(|all| all.get(cause)));
        Effort {
            executed: count(record.get("processed_events")),
            undone: count(record.get("rolled_back_events")),
            rollbacks: rollbacks("primary") + rollbacks("secondary"),
            gvts: count(record.get("gvt_epochs")),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Effort {
            executed: self.executed + other.executed,
            undone: self.undone + other.undone,
            rollbacks: self.rollbacks + other.rollbacks,
            gvts: self.gvts + other.gvts,
        }
    }
}

impl Done {
    /// The same from a record, as the command prints it.
    pub fn of_record(record: &Map<String, Value>) -> Self {
        let number = |name: &str| record.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let value = |name: &str| record.get(name).cloned().unwrap_or_default();
        Done {
            digest: record.get("digest").and_then(Value::as_str).unwrap_or_default().to_owned(),
            committed: record.get("committed_events").and_then(Value::as_u64).unwrap_or_default(),
            end: number("end_time"),
            partial: record.get("partial").is_some_and(|partial| !partial.is_null()),
            results: value("results"),
            series: value("series"),
            rows: None,
            states: value("state_digest"),
            seconds: number("loop_seconds"),
            peak_bytes: record.get("peak_rss_bytes").and_then(Value::as_u64),
            effort: Effort::of_record(record),
        }
    }

    /// The same from a run.
    pub fn of_run<M: Model>(run: &Run<M>) -> Self {
        Done { rows: Some(digest(&run.tables)), ..Done::of_record(&run.record.summary()) }
    }
}

impl Answer {
    /// How a run in this process ended.
    pub fn of<M: Model>(outcome: Result<Run<M>, Error>) -> Self {
        match outcome {
            Ok(run) => match &run.incomplete {
                Some(error) => Answer::Failed(error.to_string()),
                None => Answer::Done(Box::new(Done::of_run(&run))),
            },
            Err(Error::Setting(why)) => Answer::Refused(why),
            Err(error @ Error::Memory { .. }) => Answer::OutOfMemory(error.to_string()),
            Err(error @ Error::Process { .. }) => Answer::Lost(error.to_string()),
            Err(error) => Answer::Failed(error.to_string()),
        }
    }
}

/// The most characters of a value that are shown.
const SHOWN: usize = 200;

/// A digest of what `Debug` writes.
fn digest(value: &impl Debug) -> u64 {
    struct Sink(DefaultHasher);
    impl Write for Sink {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut sink = Sink(DefaultHasher::new());
    // Writing to memory does not fail.
    let _ = write!(sink, "{value:?}");
    sink.0.finish()
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// The group of failures that it belongs to, in a word or two.
    pub kind: &'static str,
    /// The details.
    pub why: String,
}

impl Wrong {
    /// A failure of this kind.
    pub fn new(kind: &'static str, why: impl Into<String>) -> Self {
        Wrong { kind, why: why.into() }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.why)
    }
}

/// What may go wrong in a run that does not go wrong sequentially.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed {
    /// It may run out of memory.
    pub memory: bool,
    /// It may lose a process.
    pub loss: bool,
    /// The texts of equal states may differ, in the order of hash maps or in addresses.
    pub texts: bool,
    /// Most bytes that it may take.
    pub most_bytes: u64,
}

/// Compares an answer with that of the sequential run to the same end.
///
/// # Errors
/// What is wrong with it.
pub fn judge(reference: &Answer, answer: &Answer, allowed: Allowed) -> Result<(), Wrong> {
    match (reference, answer) {
        (_, Answer::Hung { seconds }) => {
            Err(Wrong::new("hangs", format!("no answer after {seconds:.1} s")))
        }
        (_, Answer::Crashed(last)) => Err(Wrong::new("crashes", last.clone())),
        (_, Answer::Failed(why))
            if why.contains("mistake of the engine") || why.contains("bug in Warpline") =>
        {
            Err(Wrong::new("engine", why.clone()))
        }
        (_, Answer::Refused(_) | Answer::Signalled) => Ok(()),
        (_, Answer::OutOfMemory(_)) if allowed.memory => Ok(()),
        (_, Answer::Lost(_)) if allowed.loss => Ok(()),
        (Answer::Done(expected), Answer::Done(found)) => compare(expected, found, allowed),
        (Answer::Failed(expected), Answer::Failed(found)) if expected == found => Ok(()),
        _ => Err(Wrong::new(
            "ends otherwise",
            format!("sequentially {reference:?}, here {answer:?}"),
        )),
    }
}

/// Where two values first differ, and what they are there.
fn first_difference(
    expected: &Value,
    found: &Value,
    place: String,
) -> Option<(String, String, String)> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let names =
                expected.keys().chain(found.keys().filter(|name| !expected.contains_key(*name)));
            let of = |values: &Map<String, Value>, name: &String| {
                values.get(name).cloned().unwrap_or_default()
            };
            names.into_iter().find_map(|name| {
                first_difference(&of(expected, name), &of(found, name), format!("{place}.{name}"))
            })
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            let pairs = expected.iter().zip(found).enumerate();
            pairs.into_iter().find_map(|(index, (expected, found))| {
                first_difference(expected, found, format!("{place}[{index}]"))
            })
        }
        _ => (expected != found).then(|| (place, short(expected), short(found))),
    }
}

/// The beginning of a value.
fn short(value: &Value) -> String {
    value.to_string().chars().take(SHOWN).collect()
}

fn compare(expected: &Done, found: &Done, allowed: Allowed) -> Result<(), Wrong> {
    let differ = |kind, expected: &dyn Debug, found: &dyn Debug| {
        Err(Wrong::new(kind, format!("{found:?} for {expected:?}")))
    };
    if (&expected.digest, expected.committed) != (&found.digest, found.committed) {
        return differ(
            "digest",
            &(&expected.digest, expected.committed),
            &(&found.digest, found.committed),
        );
    }
    for (kind, expected, found) in [
        ("results", &expected.results, &found.results),
        ("series", &expected.series, &found.series),
    ] {
        if let Some((place, expected, found)) = first_difference(expected, found, String::new()) {
            return Err(Wrong::new(kind, format!("{place} is {found} for {expected}")));
        }
    }
    if expected.rows.zip(found.rows).is_some_and(|(expected, found)| expected != found) {
        return differ("rows", &expected.rows, &found.rows);
    }
    if !are_equal(&expected.states, &found.states, allowed.texts) {
        let same_statistics = expected.states.get("statistics") == found.states.get("statistics");
        let what = if same_statistics { "final states" } else { "statistics" };
        return Err(Wrong::new("states", format!("the {what} differ")));
    }
    match found.peak_bytes {
        Some(bytes) if bytes > allowed.most_bytes => differ("memory", &allowed.most_bytes, &bytes),
        _ => Ok(()),
    }
}

/// Whether digests of final states are equal, if need be but for that of their texts.
fn are_equal(expected: &Value, found: &Value, texts_may_differ: bool) -> bool {
    let content = |states: &Value| {
        let mut states = states.clone();
        states.as_object_mut().into_iter().for_each(|states| _ = states.remove("text"));
        states
    };
    expected == found || texts_may_differ && content(expected) == content(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done() -> Done {
        Done {
            digest: "ab".to_owned(),
            committed: 3,
            end: 1.0,
            partial: false,
            results: 1.into(),
            series: Value::Null,
            rows: Some(1),
            states: 2.into(),
            seconds: 0.1,
            peak_bytes: Some(1000),
            effort: Effort::default(),
        }
    }

    fn kind(reference: Answer, answer: Answer, allowed: Allowed) -> Option<&'static str> {
        judge(&reference, &answer, allowed).err().map(|wrong| wrong.kind)
    }

    const FREE: Allowed = Allowed { memory: false, loss: false, texts: false, most_bytes: 1000 };

    #[test]
    fn every_difference_is_noticed() {
        let found = |change: fn(&mut Done)| {
            let mut other = done();
            change(&mut other);
            kind(Answer::Done(done().into()), Answer::Done(other.into()), FREE)
        };
        assert_eq!(found(|_| {}), None);
        assert_eq!(found(|done| done.digest.push('c')), Some("digest"));
        assert_eq!(found(|done| done.committed += 1), Some("digest"));
        assert_eq!(found(|done| done.results = 2.into()), Some("results"));
        assert_eq!(found(|done| done.series = 2.into()), Some("series"));
        assert_eq!(found(|done| done.rows = Some(7)), Some("rows"));
        assert_eq!(found(|done| done.states = 7.into()), Some("states"));
        assert_eq!(found(|done| done.peak_bytes = Some(1001)), Some("memory"));
    }

    #[test]
    fn texts_of_equal_states_differ_only_where_that_is_allowed() {
        let with = |text: &str, content: &str| {
            let states = serde_json::json!({ "text": text, "content": content });
            Answer::Done(Box::new(Done { states, ..done() }))
        };
        let texts = Allowed { texts: true, ..FREE };
        assert_eq!(kind(with("a", "x"), with("b", "x"), FREE), Some("states"));
        assert_eq!(kind(with("a", "x"), with("b", "x"), texts), None);
        assert_eq!(kind(with("a", "x"), with("a", "y"), texts), Some("states"));
    }

    #[test]
    fn only_what_is_allowed_may_go_wrong() {
        let well = || Answer::Done(done().into());
        let failed = |why: &str| Answer::Failed(why.to_owned());
        assert_eq!(kind(failed("x"), failed("x"), FREE), None);
        assert_eq!(kind(failed("x"), failed("y"), FREE), Some("ends otherwise"));
        assert_eq!(kind(well(), failed("a mistake of the engine"), FREE), Some("engine"));
        assert_eq!(kind(well(), Answer::Hung { seconds: 9.0 }, FREE), Some("hangs"));
        assert_eq!(kind(well(), Answer::Crashed(String::new()), FREE), Some("crashes"));
        let out = || Answer::OutOfMemory(String::new());
        assert_eq!(kind(well(), out(), FREE), Some("ends otherwise"));
        assert_eq!(kind(well(), out(), Allowed { memory: true, ..FREE }), None);
        let lost = || Answer::Lost(String::new());
        assert_eq!(kind(well(), lost(), FREE), Some("ends otherwise"));
        assert_eq!(kind(well(), lost(), Allowed { loss: true, ..FREE }), None);
    }
}
