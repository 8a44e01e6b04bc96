//! The settings of a run: what may be typed for them, and what it means.

use std::path::PathBuf;
use std::str::FromStr;

use warpline::{GvtAlgorithm, Pending, Synchronisation, Undo, nearest};

use crate::failure::Failure;

/// A setting or parameter as it was given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) text: String,
    /// File and line; `None` on the command line.
    pub(crate) place: Option<String>,
}

/// What is known of a setting before it has a value.
pub(crate) struct SettingSpec {
    pub(crate) name: &'static str,
    pub(crate) heading: &'static str,
    /// What stands for its value in help texts.
    pub(crate) value: &'static str,
    pub(crate) help: &'static str,
    /// The words that it may be; none if it is no choice.
    pub(crate) words: Vec<&'static str>,
}

/// The setting that chooses the engine.
pub(crate) const SYNC: &str = "sync";
/// The setting that says how often a comparison runs each engine.
pub(crate) const RUNS: &str = "runs";
/// The heading of settings that say where output goes.
const OUTPUT: &str = "Output";

/// The settings of `warpline run`.
pub(crate) fn of_run() -> Vec<SettingSpec> {
    let run = |name, value, help| SettingSpec { name, heading: "Run settings", value, help, words: Vec::new() };
    let engine = |name, help, words| SettingSpec { name, heading: "Engine settings", value: "WORD", help, words };
    let mut all = vec![
        run("end", "TIME", "Model time at which the run ends; events at this time are not executed [default: the model's]"),
        run("seed", "NUMBER", "Seed of all random numbers, a whole number [default: 1]"),
        run("warmup", "TIME", "Model time before which no statistics are taken [default: 0]"),
        SettingSpec {
            heading: OUTPUT,
            ..run("report", "DIR", "Directory for a report, made if needed: report.html, run.json and a CSV file per table")
        },
        SettingSpec {
            heading: OUTPUT,
            ..run("trace", "FILE", "File for a trace of what every PE did, for https://ui.perfetto.dev or chrome://tracing")
        },
        engine("undo", "How events are undone; a sequential run undoes none [default: copy]", words::<Undo>()),
        engine(
            "pending",
            "Pending event set; the answer does not depend on it [default: ladder, which is a heap while few events are pending]",
            words::<Pending>(),
        ),
    ];
    all.extend(of_parallel_runs());
    all
}

/// What matters to parallel runs; a sequential run ignores it, but for `sync`.
fn of_parallel_runs() -> [SettingSpec; 10] {
    let spec = |name, value, help, words| SettingSpec { name, heading: "Parallel runs", value, help, words };
    let chosen = |name, value, help| spec(name, value, help, Vec::new());
    [
        spec(
            SYNC,
            "WORD",
            "How LPs are kept in step; the answer does not depend on it [default: sequential; optimistic if --threads is more than 1]",
            words::<Synchronisation>(),
        ),
        chosen(
            "threads",
            "N",
            "Threads, each with its share of the LPs; more than 1 means --sync optimistic, unless told otherwise [default: all cores]",
        ),
        chosen("batch", "EVENTS", "Events that a thread executes between two looks at its messages [default: chosen by the engine]"),
        chosen("kps", "N", "Groups into which each thread divides its LPs; a group rolls back as one [default: chosen by the engine]"),
        spec(
            "gvt",
            "WORD",
            "Whether threads go on while global virtual time (GVT) is found, or stop [default: asynchronous]",
            words::<GvtAlgorithm>(),
        ),
        chosen(
            "gvt-interval",
            "EVENTS",
            "Events that a thread executes, about, before it asks for a new GVT [default: chosen by the engine]",
        ),
        chosen(
            "window",
            "TIME",
            "How far beyond GVT events may be executed, in model time [default: chosen by the engine, and adapted as it runs]",
        ),
        chosen("copy-interval", "EVENTS", "With --undo copy: at every how many of an LP's events its state is copied [default: 1]"),
        SettingSpec {
            words: words::<bool>(),
            ..chosen(
                "use-lookahead",
                "WORD",
                "Whether events within the model's lookahead of GVT, which are certain, are executed without the means to undo them [default: yes]",
            )
        },
        chosen(
            "virtual-cluster",
            "SEED",
            "Step all PEs in one thread, in an order drawn from this seed, with messages that overtake each other: slow, a test",
        ),
    ]
}

/// The settings of `warpline compare`.
pub(crate) fn of_compare() -> Vec<SettingSpec> {
    let (heading, help) = ("Comparison", "Runs of each engine, in turn [default: 3]");
    let runs = SettingSpec { name: RUNS, heading, value: "N", help, words: Vec::new() };
    let engine = "The engine that is compared with the sequential one [default: optimistic]";
    let of_run = of_run().into_iter().filter(|spec| !is_output(spec.name));
    let of_run = of_run.map(|spec| if spec.name == SYNC { SettingSpec { help: engine, ..spec } } else { spec });
    std::iter::once(runs).chain(of_run).collect()
}

/// Whether a setting of a run says where output goes; a comparison has none of these.
pub(crate) fn is_output(name: &str) -> bool {
    of_run().iter().any(|spec| spec.name == name && spec.heading == OUTPUT)
}

/// The settings of `warpline verify`.
pub(crate) fn of_verify() -> Vec<SettingSpec> {
    let spec = |name, value, help, words| SettingSpec { name, heading: "Verification", value, help, words };
    vec![
        spec("end", "TIME", "Model time at which it ends [default: after the first ten thousand events]", Vec::new()),
        spec("seed", "NUMBER", "Seed of all random numbers, a whole number [default: 1]", Vec::new()),
        spec("undo", "WORD", "The way of undoing events to try [default: all that the model has]", words::<Undo>()),
    ]
}

/// Settings with their meaning; what was not given is `None` or the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) end: Option<f64>,
    pub(crate) seed: Option<u64>,
    pub(crate) warmup: Option<f64>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) undo: Option<Undo>,
    pub(crate) pending: Pending,
    pub(crate) sync: Option<Synchronisation>,
    pub(crate) threads: Option<u32>,
    pub(crate) batch: Option<u32>,
    pub(crate) kps: Option<u32>,
    pub(crate) gvt: GvtAlgorithm,
    pub(crate) gvt_interval: Option<u32>,
    pub(crate) window: Option<f64>,
    pub(crate) copy_interval: Option<u32>,
    pub(crate) use_lookahead: Option<bool>,
    pub(crate) virtual_cluster: Option<u64>,
    /// Of a comparison.
    pub(crate) runs: Option<u32>,
}

impl Settings {
    /// Reads settings; the last of a name counts.
    pub(crate) fn read(given: &[Given]) -> Result<Self, Failure> {
        let mut settings = Settings::default();
        for one in given {
            match one.name.as_str() {
                "end" => settings.end = Some(number(one, "a number")?),
                "seed" => settings.seed = Some(number(one, "a whole number from 0 to 18446744073709551615")?),
                "warmup" => settings.warmup = Some(number(one, "a number")?),
                "report" if one.text.is_empty() => return Err(refused(one, "the path of a directory")),
                "report" => settings.report = Some(PathBuf::from(&one.text)),
                "trace" if one.text.is_empty() => return Err(refused(one, "the path of a file")),
                "trace" => settings.trace = Some(PathBuf::from(&one.text)),
                "undo" => settings.undo = Some(word(one)?),
                "pending" => settings.pending = word(one)?,
                SYNC => settings.sync = Some(word(one)?),
                "threads" => settings.threads = Some(count(one)?),
                "batch" => settings.batch = Some(count(one)?),
                "kps" => settings.kps = Some(count(one)?),
                "gvt" => settings.gvt = word(one)?,
                "gvt-interval" => settings.gvt_interval = Some(count(one)?),
                "window" => settings.window = Some(span(one)?),
                "copy-interval" => settings.copy_interval = Some(count(one)?),
                "use-lookahead" => settings.use_lookahead = Some(word(one)?),
                "virtual-cluster" => settings.virtual_cluster = Some(number(one, "a whole number from 0 to 18446744073709551615")?),
                RUNS => settings.runs = Some(count(one)?),
                name => unreachable!("`{name}` is no setting"),
            }
        }
        Ok(settings)
    }

    /// The engine of a run: whoever asks for several threads wants them to work.
    pub(crate) fn synchronisation(&self) -> Synchronisation {
        let parallel = self.threads.is_some_and(|threads| threads > 1);
        self.sync.unwrap_or(if parallel { Synchronisation::Optimistic } else { Synchronisation::Sequential })
    }
}

fn refused(given: &Given, takes: &str) -> Failure {
    Failure::wrong_use(format!("`{}` cannot be `{}`: it takes {takes}", given.name, given.text)).at(given.place.as_deref())
}

fn number<T: FromStr>(given: &Given, takes: &str) -> Result<T, Failure> {
    given.text.trim().parse().map_err(|_| refused(given, takes))
}

/// How many of something; at least 1.
fn count(given: &Given) -> Result<u32, Failure> {
    let takes = "a whole number from 1 to 4294967295";
    number(given, takes).and_then(|count| if count == 0 { Err(refused(given, takes)) } else { Ok(count) })
}

/// A span of model time; more than 0.
fn span(given: &Given) -> Result<f64, Failure> {
    let takes = "a finite number greater than 0";
    number(given, takes).and_then(|span: f64| if span.is_finite() && span > 0.0 { Ok(span) } else { Err(refused(given, takes)) })
}

/// A setting that is one of a few words.
trait Word: Copy + 'static {
    const WORDS: &'static [(&'static str, Self)];
}

impl Word for Synchronisation {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("sequential", Synchronisation::Sequential),
        ("conservative", Synchronisation::Conservative),
        ("optimistic", Synchronisation::Optimistic),
    ];
}

impl Word for bool {
    const WORDS: &'static [(&'static str, Self)] = &[("yes", true), ("no", false)];
}

impl Word for GvtAlgorithm {
    const WORDS: &'static [(&'static str, Self)] =
        &[("asynchronous", GvtAlgorithm::Asynchronous), ("synchronous", GvtAlgorithm::Synchronous)];
}

impl Word for Undo {
    const WORDS: &'static [(&'static str, Self)] = &[("copy", Undo::Copy), ("reverse", Undo::Reverse)];
}

impl Word for Pending {
    const WORDS: &'static [(&'static str, Self)] = &[("ladder", Pending::Ladder), ("heap", Pending::Heap)];
}

fn words<T: Word>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}

fn word<T: Word>(given: &Given) -> Result<T, Failure> {
    T::WORDS.iter().find(|(word, _)| *word == given.text).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let near = nearest(&given.text, words::<T>()).map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
        refused(given, &format!("one of {}{near}", words::<T>().join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Settings, String> {
        let given = Given { name: name.into(), text: text.into(), place: Some("a.toml:3".into()) };
        Settings::read(&[given]).map_err(|failure| failure.message)
    }

    #[test]
    fn values_get_their_meaning() {
        assert_eq!(read("end", "2e3").unwrap().end, Some(2000.0));
        assert_eq!(read("seed", "18446744073709551615").unwrap().seed, Some(u64::MAX));
        assert_eq!(read("undo", "reverse").unwrap().undo, Some(Undo::Reverse));
        assert_eq!(read("pending", "heap").unwrap().pending, Pending::Heap);
        assert_eq!(read("gvt", "synchronous").unwrap().gvt, GvtAlgorithm::Synchronous);
        assert_eq!(read("window", "2.5e-3").unwrap().window, Some(0.0025));
        let counts = ["threads", "batch", "kps", "gvt-interval", "copy-interval", "runs"].map(|name| read(name, "4294967295").unwrap());
        let [threads, batch, kps, gvt_interval, copy_interval, runs] = counts;
        let all = [threads.threads, batch.batch, kps.kps, gvt_interval.gvt_interval, copy_interval.copy_interval, runs.runs];
        assert_eq!(all, [Some(u32::MAX); 6]);
    }

    #[test]
    fn several_threads_mean_an_optimistic_run_unless_told_otherwise() {
        let chosen = |pairs: &[(&str, &str)]| {
            let given: Vec<_> =
                pairs.iter().map(|(name, text)| Given { name: (*name).into(), text: (*text).into(), place: None }).collect();
            Settings::read(&given).unwrap().synchronisation().name()
        };
        assert_eq!(chosen(&[]), "sequential");
        assert_eq!(chosen(&[("threads", "1"), ("batch", "4")]), "sequential");
        assert_eq!(chosen(&[("threads", "2")]), "optimistic");
        assert_eq!(chosen(&[("threads", "2"), ("sync", "sequential")]), "sequential");
        assert_eq!(chosen(&[("sync", "optimistic"), ("threads", "1")]), "optimistic");
    }

    #[test]
    fn words_are_the_names_in_the_library() {
        assert!(Synchronisation::WORDS.iter().all(|(word, meaning)| *word == meaning.name()));
        assert!(GvtAlgorithm::WORDS.iter().all(|(word, meaning)| *word == meaning.name()));
        assert!(Undo::WORDS.iter().all(|(word, meaning)| *word == meaning.name()));
    }

    #[test]
    fn a_comparison_has_the_settings_of_a_run_but_for_its_output() {
        let names = |specs: &[SettingSpec]| specs.iter().map(|spec| spec.name).collect::<Vec<_>>();
        let mut expected = of_run();
        expected.retain(|spec| spec.heading != "Output");
        assert_eq!(names(&of_compare()), [&[RUNS], &names(&expected)[..]].concat());
        assert!(is_output("report") && is_output("trace") && !is_output("end"));
    }

    #[test]
    fn refused_values_say_where_and_what_they_may_be() {
        assert_eq!(read("end", "soon").unwrap_err(), "a.toml:3: `end` cannot be `soon`: it takes a number");
        assert!(read("seed", "-1").unwrap_err().ends_with("it takes a whole number from 0 to 18446744073709551615"));
        assert!(read("undo", "revers").unwrap_err().ends_with("it takes one of copy, reverse; did you mean `reverse`?"));
        assert!(read("report", "").unwrap_err().contains("the path of a directory"));
        assert!(read("trace", "").unwrap_err().contains("the path of a file"));
        for name in ["threads", "batch", "kps", "gvt-interval", "copy-interval", "runs"] {
            for text in ["0", "-1", "1.5", "4294967296", "many"] {
                let expected = format!("a.toml:3: `{name}` cannot be `{text}`: it takes a whole number from 1 to 4294967295");
                assert_eq!(read(name, text).unwrap_err(), expected);
            }
        }
        for text in ["0", "-1", "inf", "nan", "wide"] {
            let expected = format!("a.toml:3: `window` cannot be `{text}`: it takes a finite number greater than 0");
            assert_eq!(read("window", text).unwrap_err(), expected);
        }
        assert!(read("gvt", "asynchron").unwrap_err().ends_with("one of asynchronous, synchronous; did you mean `asynchronous`?"));
    }

    #[test]
    fn every_setting_is_read() {
        for spec in of_run().iter().chain(&of_verify()).chain(&of_compare()) {
            let text = spec.words.first().unwrap_or(&"7");
            assert!(read(spec.name, text).is_ok(), "{}", spec.name);
        }
    }
}
