//! The settings of the command: those of a run, which are in the library's table, and its own.

use std::path::PathBuf;

use warpline_run::settings::{OUTPUT, Range, Setting, SettingValue};
use warpline_run::{EventCost, Synchronisation, nearest};

use crate::failure::Failure;
use crate::process::ways::Way;
use crate::verbs::{COMPARE, EXPLAIN, RUN, TORTURE, VERIFY};

/// A setting or parameter as it was given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GivenSetting {
    pub(crate) name: String,
    pub(crate) text: String,
    /// File and line; `None` on the command line.
    pub(crate) place: Option<String>,
}

// Names of settings.
/// The engine.
pub(crate) const SYNC: &str = "sync";
/// The number of threads of each process.
pub(crate) const THREADS: &str = "threads";
/// The number of PEs of a modelled machine, and the most of a search.
pub(crate) const PES: &str = "pes";
/// Figures of a modelled machine times factors.
pub(crate) const MACHINE_SCALE: &str = "machine-scale";
/// The number of processes.
pub(crate) const PROCESSES: &str = "processes";
/// Whether processes share the memory of messages.
pub(crate) const ZERO_COPY: &str = "zero-copy";
/// How often a comparison runs each engine.
pub(crate) const RUNS: &str = "runs";
/// The engines of a comparison.
pub(crate) const WITH: &str = "with";
/// Where a report goes.
pub(crate) const REPORT: &str = "report";
/// The number of runs that differ only in the seed.
pub(crate) const REPLICATIONS: &str = "replications";
/// The numbers of PEs of a scaling curve.
pub(crate) const SCALING: &str = "scaling";
/// Whether a run is repeated with figures of its machine scaled.
const SENSITIVITY: &str = "sensitivity";
/// What an event costs in an explanation.
pub(crate) const EVENT_COST: &str = "event-cost";
/// How many events of each kind a verification tries in a row.
const TRIES: &str = "tries-per-kind";
/// The wall time of a verification.
const TIME_LIMIT: &str = "time-limit";

// Headings of settings that only one command has.
const COMPARISON: &str = "Comparison";
const EXPLANATION: &str = "Explanation";
const VERIFICATION: &str = "Verification";
const SEARCH: &str = "Search";

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
        /// With --machine: numbers of PEs, separated by commas. The model runs on each of them, to
        /// tell how it scales, and what limits it.
        scaling: PeCounts, Range::Any, {
            heading: warpline_run::settings::RUN,
            rule: "one run",
            hurts: "every number takes a run's time",
        }
        /// Whether a run on a modelled machine is repeated with figures of the machine at half and
        /// at twice, to see what the prediction depends on.
        sensitivity: bool = false, Range::Any, {
            heading: warpline_run::settings::PARALLEL,
            hurts: "it takes 14 more runs",
        }
        /// Runs of each engine, in turn.
        runs: u32 = 3, Range::From(1), {
            heading: COMPARISON,
            hurts: "if other programs use the machine, a few runs measure those more than the \
                    engines",
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
            hurts: "trying an event takes many times as long as executing it; mistakes that few \
                    events make are found only if those are tried",
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
            hurts: "measured costs differ from run to run, and the clock slows tiny events down; \
                    counting misleads if some events do much more work than others",
        }
        /// Hours that a search takes; minutes and seconds are added.
        hours: f64, Range::Above(0.0), {
            heading: SEARCH,
            unit: "h",
            rule: "a search takes a minute",
            hurts: "a search that finds nothing takes all of its time",
        }
        /// Minutes that a search takes.
        minutes: f64, Range::Above(0.0), {
            heading: SEARCH,
            unit: "min",
            rule: "a search takes a minute",
            hurts: "a search that finds nothing takes all of its time",
        }
        /// Seconds that a search takes.
        seconds: f64, Range::Above(0.0), {
            heading: SEARCH,
            unit: "s",
            rule: "a search takes a minute",
            hurts: "in a few seconds, only small cases are tried",
        }
        /// Schedules at a time, each in a process of its own.
        jobs: u32, Range::Between(1, JOBS_MOST), {
            heading: SEARCH,
            placeholder: "JOBS",
            rule: "as many as there are cores",
            hurts: "each takes a core, and the memory of the model",
        }
    }
}

/// The most schedules at a time.
const JOBS_MOST: u32 = 1024;

/// Numbers of PEs, each once, in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PeCounts(pub(crate) Vec<u32>);

impl SettingValue for PeCounts {
    const PLACEHOLDER: &'static str = "PES,…";

    fn parse(text: &str) -> Option<Self> {
        let count = |word: &str| word.trim().parse().ok().filter(|count| *count > 0);
        let mut all = text.split(',').map(count).collect::<Option<Vec<u32>>>()?;
        all.sort_unstable();
        all.dedup();
        Some(PeCounts(all))
    }

    fn text(&self) -> String {
        self.0.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    }

    fn takes(_: &Range<Self>) -> String {
        "numbers of PEs separated by commas, such as 64,256,1024".to_owned()
    }
}

/// Engines, and ways to run them, each once, in the order given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Engines {
    pub(crate) engines: Vec<Synchronisation>,
    pub(crate) ways: Vec<Way>,
}

/// The way of this name.
fn way(word: &str) -> Option<Way> {
    Way::ALL.into_iter().find(|way| way.name() == word)
}

fn add_once<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}

impl SettingValue for Engines {
    const PLACEHOLDER: &'static str = "ENGINES";

    fn parse(text: &str) -> Option<Self> {
        let mut all = Engines::default();
        for word in text.split(',').map(str::trim) {
            if let Some(way) = way(word) {
                add_once(&mut all.ways, way);
            } else {
                add_once(&mut all.engines, Synchronisation::parse(word)?);
            }
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

/// The settings of a command; none for a command that takes no model.
pub(crate) fn of(verb: &str) -> Vec<Setting> {
    match verb {
        RUN => of_run(),
        VERIFY => of_verify(),
        TORTURE => of_torture(),
        EXPLAIN => of_explain(),
        COMPARE => of_compare(),
        _ => Vec::new(),
    }
}

/// The settings of `warpline run`, which are also those of scenario files.
pub(crate) fn of_run() -> Vec<Setting> {
    let own = CommandSettings::table().iter().filter(|setting| {
        ![COMPARISON, EXPLANATION, VERIFICATION, SEARCH].contains(&setting.heading)
    });
    warpline_run::Settings::table().iter().chain(own).cloned().collect()
}

/// The settings of `warpline compare`.
fn of_compare() -> Vec<Setting> {
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

/// Whether a setting matters to runs of an engine. The command's own settings matter to all.
pub(crate) fn serves(name: &str, engine: Synchronisation) -> bool {
    warpline_run::Settings::table()
        .iter()
        .all(|setting| setting.name != name || setting.serves(engine))
}

/// Whether only comparisons have this setting.
pub(crate) fn is_of_comparisons(name: &str) -> bool {
    is_below(COMPARISON, name)
}

/// Whether only verifications have this setting.
pub(crate) fn is_of_verifications(name: &str) -> bool {
    is_below(VERIFICATION, name)
}

/// Whether only searches have this setting.
pub(crate) fn is_of_searches(name: &str) -> bool {
    is_below(SEARCH, name)
}

/// Whether only explanations have this setting.
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

/// Whether a setting is about one run. A comparison does not take it from a scenario, as that would
/// overwrite the report of the scenario's run.
pub(crate) fn is_of_one_run(setting: &Setting) -> bool {
    is_output(setting) || [REPLICATIONS, SCALING, SENSITIVITY].contains(&&*setting.name)
}

/// The settings of `warpline verify`.
fn of_verify() -> Vec<Setting> {
    let mut all: Vec<Setting> = of_run()
        .into_iter()
        .filter(|setting| ["end", "seed", "undo"].contains(&setting.name.as_str()))
        .collect();
    for setting in &mut all {
        setting.heading = VERIFICATION;
        match setting.name.as_str() {
            "end" => {
                setting.meaning = "Model time at which it ends".into();
                setting.default =
                    "the model's, or later if there are fewer than ten thousand events before it"
                        .into();
            }
            "undo" => {
                setting.meaning = "The way of undoing events to try".into();
                setting.default = "all that the model has".into();
            }
            _ => {}
        }
    }
    all.extend(
        CommandSettings::table()
            .iter()
            .filter(|setting| [TRIES, TIME_LIMIT].contains(&&*setting.name))
            .cloned(),
    );
    all
}

/// The settings of `warpline torture`: its own, and those of a run in a virtual cluster or on a
/// modelled machine.
fn of_torture() -> Vec<Setting> {
    let own = CommandSettings::table().iter().filter(|setting| setting.heading == SEARCH).cloned();
    let of_clusters = |setting: &Setting| {
        setting.heading != OUTPUT
            && ![PROCESSES, ZERO_COPY, "carrier", MACHINE_SCALE, "mailbox", "move-pes"]
                .contains(&&*setting.name)
            && !setting.name.starts_with("communication")
    };
    let of_run = warpline_run::Settings::table().iter().filter(|setting| of_clusters(setting));
    let mut all: Vec<Setting> = own.chain(of_run.cloned()).collect();
    for setting in &mut all {
        match setting.name.as_str() {
            "end" => {
                setting.meaning = "Model time at which all runs end".into();
                setting.default = "drawn, so that runs have tens to thousands of events".into();
            }
            "seed" => {
                setting.meaning = "Seed of the search, which draws the same cases again; with \
                                   --virtual-cluster or --machine, the seed of the model"
                    .into();
                setting.default = "taken from the clock".into();
            }
            PES => {
                setting.heading = SEARCH;
                setting.meaning =
                    "The most PEs of a schedule; the first cases have few, and later ones more. \
                     With --machine, the PEs of that one schedule"
                        .into();
                setting.default = "48, or as many as there are LPs".into();
                setting.hurts = "schedules of hundreds of PEs take seconds, so there are fewer of \
                                 them";
            }
            THREADS => {
                setting.meaning = "PEs of every schedule".into();
                setting.default = "drawn, up to --pes".into();
            }
            "virtual-cluster" => {
                setting.meaning = "Run this schedule alone, with the settings that are given, and \
                                   draw nothing: to repeat a failure"
                    .into();
                setting.hurts = "nothing else is tried";
            }
            "machine" => {
                setting.meaning = "Run one schedule alone, on this machine, and draw nothing: to \
                                   repeat a failure"
                    .into();
                setting.hurts = "nothing else is tried";
            }
            SYNC => setting.default = "drawn: optimistic, mixed or conservative".into(),
            _ => {}
        }
    }
    all
}

/// The settings of `warpline explain`.
fn of_explain() -> Vec<Setting> {
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

/// The settings of a run that an explanation also has.
pub(crate) const EXPLAINED: [&str; 2] = ["end", "seed"];

/// Settings with their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) simulation: warpline_run::Settings,
    pub(crate) command: CommandSettings,
}

impl Settings {
    /// Reads settings. The last one of a name counts.
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
#[path = "settings_tests.rs"]
mod tests;
