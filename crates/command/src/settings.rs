//! The settings of the command: those of a run, from the library's table, and its own beside them.

use std::path::PathBuf;

use warpline_run::settings::{OUTPUT, Range, Setting, SettingValue};
use warpline_run::{EventCost, Synchronisation, nearest};

use crate::failure::Failure;
use crate::process::ways::Way;

/// A setting or parameter as it was given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GivenSetting {
    pub(crate) name: String,
    pub(crate) text: String,
    /// File and line; `None` on the command line.
    pub(crate) place: Option<String>,
}

/// The setting that chooses the engine.
pub(crate) const SYNC: &str = "sync";
/// The setting that says how many threads there are.
pub(crate) const THREADS: &str = "threads";
/// The setting that says how many processes there are.
pub(crate) const PROCESSES: &str = "processes";
/// The setting that says whether processes share the memory of messages.
pub(crate) const ZERO_COPY: &str = "zero-copy";
/// The setting that says how often a comparison runs each engine.
pub(crate) const RUNS: &str = "runs";
/// The setting that says which engines a comparison has.
pub(crate) const WITH: &str = "with";
/// The setting that says where a report goes.
pub(crate) const REPORT: &str = "report";
/// The setting that says how many runs differ only in the seed.
pub(crate) const REPLICATIONS: &str = "replications";
/// The setting that says what an event costs in an explanation.
pub(crate) const EVENT_COST: &str = "event-cost";
/// The heading of the settings of a comparison alone.
const COMPARISON: &str = "Comparison";
/// The heading of the settings of an explanation alone.
const EXPLANATION: &str = "Explanation";
/// The heading of the settings of a verification alone.
const VERIFICATION: &str = "Verification";
/// The settings of a verification that a run does not have.
const TRIES: &str = "tries-per-kind";
const TIME_LIMIT: &str = "time-limit";

warpline_run::settings! {
    /// The command's own settings.
    pub(crate) struct CommandSettings {
        /// Directory for a report, made if needed: report.html, run.json and a CSV file per table.
        report: PathBuf, Range::Any, {
            heading: OUTPUT,
            placeholder: "DIR",
            takes: "the path of a directory",
            hurts: "models that write many rows fill the disk",
        }
        /// Runs of the model, with the given seed and those that follow it, as many at a time as
        /// there are cores; results are estimates across the runs.
        replications: u32 = 1, Range::From(1), {
            heading: warpline_run::settings::RUN,
            placeholder: "RUNS",
            hurts: "all runs take their time; a single long run needs its warm-up only once",
        }
        /// Runs of each engine, in turn.
        runs: u32 = 3, Range::From(1), {
            heading: COMPARISON,
            hurts: "if other programs use the machine, a few runs measure those more than the engines",
        }
        /// Engines that are compared with the sequential one, separated by commas; and ways in
        /// which each of them runs: threads, processes, or ranks that mpirun starts, with messages
        /// in shared memory or copied.
        with: Engines, Range::Any, {
            heading: COMPARISON,
            rule: "all that suit the model",
            hurts: "every engine takes its runs' time",
        }
        /// Events of each kind that are tried one after the other; after them, fewer and fewer are
        /// tried, over the whole run.
        tries_per_kind: u64 = 2000, Range::From(1), {
            heading: VERIFICATION,
            placeholder: "EVENTS",
            unit: "events",
            hurts: "trying an event takes many times as long as executing it; mistakes that few events make are found only if those are tried",
        }
        /// Wall time for each way of undoing events, after which a verification ends where it is.
        time_limit: f64 = 10.0, Range::Above(0.0), {
            heading: VERIFICATION,
            placeholder: "SECONDS",
            unit: "s",
            hurts: "with little time, the later part of a long run is not reached",
        }
        /// What an event costs: as much as any other, or the time that its handler takes.
        event_cost: EventCost = EventCost::Counted, Range::Any, {
            heading: EXPLANATION,
            hurts: "measured costs differ from run to run, and the clock slows tiny events down; counting misleads if some events do much more work than others",
        }
    }
}

/// Engines, and ways to run them, each once, in the order given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Engines {
    pub(crate) engines: Vec<Synchronisation>,
    pub(crate) ways: Vec<Way>,
}

fn way(word: &str) -> Option<Way> {
    Way::ALL.into_iter().find(|way| way.name() == word)
}

impl SettingValue for Engines {
    const PLACEHOLDER: &'static str = "ENGINES";

    fn parse(text: &str) -> Option<Self> {
        let mut all = Engines::default();
        for word in text.split(',').map(str::trim) {
            if let Some(way) = way(word) {
                all.ways.extend((!all.ways.contains(&way)).then_some(way));
                continue;
            }
            let engine = Synchronisation::parse(word)?;
            all.engines.extend((!all.engines.contains(&engine)).then_some(engine));
        }
        Some(all)
    }

    fn text(&self) -> String {
        let engines = self.engines.iter().map(|engine| engine.name());
        engines.chain(self.ways.iter().map(|way| way.name())).collect::<Vec<_>>().join(",")
    }

    fn takes(_: &Range<Self>) -> String {
        let ways = Way::ALL.map(Way::name).join(", ");
        format!(
            "engines separated by commas, of {}, and ways to run them, of {ways}",
            Synchronisation::WORDS.join(", ")
        )
    }

    fn nearest(text: &str) -> Option<String> {
        let unknown = text
            .split(',')
            .map(str::trim)
            .find(|word| way(word).is_none() && Synchronisation::parse(word).is_none());
        let words = Synchronisation::WORDS.iter().copied().chain(Way::ALL.map(Way::name));
        unknown.and_then(|word| nearest(word, words))
    }
}

/// The settings of `warpline run`, which are those of scenario files too.
pub(crate) fn of_run() -> Vec<Setting> {
    let own = CommandSettings::table()
        .iter()
        .filter(|setting| ![COMPARISON, EXPLANATION, VERIFICATION].contains(&setting.heading));
    warpline_run::Settings::table().iter().chain(own).cloned().collect()
}

/// The settings of `warpline compare`.
pub(crate) fn of_compare() -> Vec<Setting> {
    let own =
        CommandSettings::table().iter().filter(|setting| setting.heading == COMPARISON).cloned();
    let mut all: Vec<Setting> =
        own.chain(of_run().into_iter().filter(|setting| !is_of_one_engine(setting))).collect();
    for sync in all.iter_mut().filter(|setting| setting.name == SYNC) {
        sync.meaning =
            "The engine that is compared with the sequential one, if --with names none".into();
        sync.default = "all that suit the model".into();
    }
    without_tables(&mut all);
    all
}

/// The report of a comparison or an explanation has no rows of the model.
fn without_tables(settings: &mut [Setting]) {
    for report in settings.iter_mut().filter(|setting| setting.name == REPORT) {
        report.meaning = "Directory for a report, made if needed: report.html and run.json".into();
    }
}

/// Whether a setting matters to runs of an engine. The command's own matter to all.
pub(crate) fn serves(name: &str, engine: Synchronisation) -> bool {
    warpline_run::Settings::table()
        .iter()
        .all(|setting| setting.name != name || setting.serves(engine))
}

/// Whether a setting is one of comparisons alone.
pub(crate) fn is_of_comparisons(name: &str) -> bool {
    is_below(COMPARISON, name)
}

/// Whether a setting is one of verifications alone.
pub(crate) fn is_of_verifications(name: &str) -> bool {
    is_below(VERIFICATION, name)
}

/// Whether a setting is one of explanations alone.
pub(crate) fn is_of_explanations(name: &str) -> bool {
    is_below(EXPLANATION, name)
}

fn is_below(heading: &str, name: &str) -> bool {
    CommandSettings::table()
        .iter()
        .any(|setting| setting.heading == heading && setting.name == name)
}

/// Whether a setting is about output.
pub(crate) fn is_output(setting: &Setting) -> bool {
    setting.heading == OUTPUT
}

/// Whether a comparison has no use for a setting.
pub(crate) fn is_of_one_engine(setting: &Setting) -> bool {
    setting.name != REPORT && is_of_one_run(setting)
}

/// Whether a setting is about one run: a comparison does not take it from a scenario, as it would
/// overwrite the report of a run.
pub(crate) fn is_of_one_run(setting: &Setting) -> bool {
    is_output(setting) || setting.name == REPLICATIONS
}

/// The settings of `warpline verify`.
pub(crate) fn of_verify() -> Vec<Setting> {
    let mut all: Vec<Setting> = of_run()
        .into_iter()
        .filter(|setting| ["end", "seed", "undo"].contains(&setting.name.as_str()))
        .collect();
    for setting in &mut all {
        setting.heading = VERIFICATION;
        let (meaning, default) = match setting.name.as_str() {
            "end" => (
                "Model time at which it ends",
                "the model's, or later if there are fewer than ten thousand events before it",
            ),
            "undo" => ("The way of undoing events to try", "all that the model has"),
            _ => continue,
        };
        (setting.meaning, setting.default) = (meaning.into(), default.into());
    }
    all.extend(
        CommandSettings::table()
            .iter()
            .filter(|setting| [TRIES, TIME_LIMIT].contains(&&*setting.name))
            .cloned(),
    );
    all
}

/// The settings of `warpline explain`.
pub(crate) fn of_explain() -> Vec<Setting> {
    let of_run = of_run().into_iter().filter(|setting| EXPLAINED.contains(&setting.name.as_str()));
    let mut all: Vec<Setting> = of_run
        .chain(
            CommandSettings::table()
                .iter()
                .filter(|setting| [EVENT_COST, REPORT].contains(&&*setting.name))
                .cloned(),
        )
        .collect();
    all.iter_mut()
        .filter(|setting| !is_output(setting))
        .for_each(|setting| setting.heading = EXPLANATION);
    without_tables(&mut all);
    all
}

/// The settings of a run that an explanation has, too.
pub(crate) const EXPLAINED: [&str; 2] = ["end", "seed"];

/// Settings with their meaning.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) simulation: warpline_run::Settings,
    pub(crate) command: CommandSettings,
}

impl Settings {
    /// Reads settings; of several with one name, the last one counts.
    pub(crate) fn read(given: &[GivenSetting]) -> Result<Self, Failure> {
        let mut settings = Settings::default();
        let Settings { simulation, command } = &mut settings;
        for GivenSetting { name, text, place } in given {
            let own = CommandSettings::table().iter().any(|setting| setting.name == *name);
            let set = if own { command.set(name, text) } else { simulation.set(name, text) };
            set.map_err(|error| Failure::wrong_use(error.to_string()).at(place.as_deref()))?;
        }
        Ok(settings)
    }

    /// Settings as typed, from these words.
    #[cfg(test)]
    pub(crate) fn typed(words: &[(&str, &str)]) -> Self {
        let given = words.iter().map(|(name, text)| GivenSetting {
            name: (*name).into(),
            text: (*text).into(),
            place: None,
        });
        Settings::read(&given.collect::<Vec<_>>()).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Settings, String> {
        let given =
            GivenSetting { name: name.into(), text: text.into(), place: Some("a.toml:3".into()) };
        Settings::read(&[given]).map_err(|failure| failure.message)
    }

    #[test]
    fn values_get_their_meaning() {
        assert_eq!(read("end", "2e3").unwrap().simulation.end, Some(2000.0));
        assert_eq!(read("runs", "4294967295").unwrap().command.runs, Some(u32::MAX));
        assert_eq!(read("report", "out").unwrap().command.report, Some("out".into()));
        assert_eq!(
            (Settings::default().command.runs(), Settings::default().command.report),
            (3, None)
        );
    }

    #[test]
    fn several_threads_mean_an_optimistic_run_unless_told_otherwise() {
        let chosen = |pairs: &[(&str, &str)]| {
            Settings::typed(pairs).simulation.synchronisation().map(|sync| sync.name())
        };
        assert_eq!(chosen(&[]), Ok("auto"));
        assert_eq!(chosen(&[("threads", "1")]), Ok("sequential"));
        assert_eq!(chosen(&[("threads", "1"), ("batch", "4")]), Ok("optimistic"));
        assert_eq!(chosen(&[("threads", "2")]), Ok("optimistic"));
        assert_eq!(chosen(&[("threads", "1"), ("sync", "sequential")]), Ok("sequential"));
        assert_eq!(chosen(&[("sync", "optimistic"), ("threads", "1")]), Ok("optimistic"));
        let refused = chosen(&[("threads", "2"), ("sync", "sequential")]).unwrap_err().to_string();
        assert!(
            refused.starts_with(
                "`sync` is `sequential`, but `threads` is `2`: a sequential run has one thread"
            ),
            "{refused}"
        );
    }

    #[test]
    fn a_comparison_has_the_settings_of_a_run_but_for_its_output() {
        let names = |settings: &[Setting]| {
            settings.iter().map(|setting| setting.name.clone()).collect::<Vec<_>>()
        };
        let mut expected = of_run();
        expected.retain(|setting| {
            (setting.heading != "Output" || setting.name == REPORT) && setting.name != REPLICATIONS
        });
        assert_eq!(
            names(&of_compare()),
            [&[RUNS.to_owned(), WITH.to_owned()], &names(&expected)[..]].concat()
        );
        let outputs: Vec<_> = of_run().into_iter().filter(is_output).collect();
        assert_eq!(names(&outputs), ["trace", "trace-limit", "state-digest", "report"]);
    }

    #[test]
    fn no_name_is_taken_twice() {
        let mut names: Vec<String> = of_run()
            .into_iter()
            .chain(of_compare())
            .chain(of_explain())
            .chain(of_verify())
            .map(|setting| setting.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(
            names.len(),
            warpline_run::Settings::table().len() + CommandSettings::table().len()
        );
    }

    #[test]
    fn refused_values_say_where_and_what_they_may_be() {
        assert!(
            read("end", "soon")
                .unwrap_err()
                .starts_with("a.toml:3: `end` cannot be `soon`: it takes a finite number")
        );
        assert!(
            read("undo", "revers")
                .unwrap_err()
                .ends_with("it takes one of copy, reverse, journal; did you mean `reverse`?")
        );
        assert!(read("report", "").unwrap_err().contains("the path of a directory"));
        assert!(read("trace", "").unwrap_err().contains("the path of a file"));
        for name in
            ["threads", "batch", "kps", "gvt-interval", "copy-interval", "runs", "replications"]
        {
            let most = if name == "threads" { "1024, as every PE" } else { "4294967295" };
            for text in ["0", "-1", "1.5", "4294967296", "many"] {
                let expected = format!(
                    "a.toml:3: `{name}` cannot be `{text}`: it takes a whole number from 1 to {most}"
                );
                assert!(read(name, text).unwrap_err().starts_with(&expected));
            }
        }
    }

    #[test]
    fn every_setting_is_read() {
        for setting in of_run().iter().chain(&of_verify()).chain(&of_compare()).chain(&of_explain())
        {
            let typed = match setting.name.as_str() {
                WITH => "optimistic",
                "communication-batch" => "512",
                "memory" => "50%",
                _ => "7",
            };
            let text = setting.words.first().unwrap_or(&typed);
            assert!(read(&setting.name, text).is_ok(), "{}", setting.name);
        }
    }

    #[test]
    fn engines_are_a_list_of_words() {
        let read = |text: &str| read("with", text).map(|settings| settings.command.with.unwrap());
        let engines = |text: &str| read(text).map(|with| with.engines);
        let (sequential, optimistic) = (Synchronisation::Sequential, Synchronisation::Optimistic);
        assert_eq!(engines("optimistic"), Ok(vec![optimistic]));
        assert_eq!(engines("optimistic, sequential,optimistic"), Ok(vec![optimistic, sequential]));
        let with = read("mpi,optimistic,threads,mpi,mpi-copies,processes").unwrap();
        assert_eq!(
            (&with.engines, &with.ways),
            (&vec![optimistic], &vec![Way::Mpi, Way::Threads, Way::MpiCopies, Way::Processes])
        );
        assert_eq!(with.text(), "optimistic,mpi,threads,mpi-copies,processes");
        let takes = "it takes engines separated by commas, of auto, sequential, conservative, optimistic, mixed, and ways to run them, of \
                     threads, processes, mpi, mpi-copies";
        let wrong = |text: &str| engines(text).unwrap_err();
        assert_eq!(
            wrong("sequential,optimist"),
            format!(
                "a.toml:3: `with` cannot be `sequential,optimist`: {takes}; did you mean `optimistic`?"
            )
        );
        assert!(wrong("mpi,processs").ends_with("; did you mean `processes`?"));
        assert_eq!(wrong("xyz"), format!("a.toml:3: `with` cannot be `xyz`: {takes}"));
        assert!(["", "optimistic,", ","].iter().all(|text| wrong(text).contains(takes)));
    }
}
