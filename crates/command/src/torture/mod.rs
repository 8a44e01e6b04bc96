//! `warpline torture`: searches schedules and settings for a run of the model whose answer is not
//! that of the sequential run. The PEs of such a run are in one thread, in a virtual cluster or on a
//! modelled machine, so it can be repeated. What fails is made smaller, and printed as one command.

mod drawing;
mod ends;
mod fresh;
mod inside;
mod outcome;
mod search;
mod tally;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use warpline_cases::{Answer, Case, Shrunk, Worker, Wrong, shrink};
use warpline_run::{Configured, Model, Synchronisation};

use self::drawing::{CLUSTER, Drawing, MACHINE};
use self::ends::Ends;
use self::fresh::InFreshProcesses;
pub(crate) use self::inside::{WORKER, serve};
use self::outcome::{Failing, Outcome};
use self::search::Search;
use self::tally::Tally;
use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, Visitor, ways_to_undo};
use crate::models::program::Program;
use crate::options::request::{Request, with_model};
use crate::output::progress::SearchDisplay;
use crate::output::{Printout, format};
use crate::process::signals::Signals;
use crate::settings::{CommandSettings, PES, SYNC, Settings, THREADS};
use crate::verbs::TORTURE;

/// How long a search takes unless that is said.
const TIME: Duration = Duration::from_secs(60);
/// The most PEs unless that is said.
const PES_USUAL: u32 = 48;
/// How long a failure is made smaller.
const SHRINK_TIME: Duration = Duration::from_secs(120);

/// Searches for a schedule that goes wrong, or repeats the one that is given.
pub(crate) fn torture<C: Catalogue>(
    program: &Program<C>,
    request: &Request,
) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    let facts = with_model(program, request, OfModel)??;
    let wanted = Wanted::new(program, request, &settings, facts.lps)?;
    let signals = Signals::listen();
    let begun = Instant::now();
    let goes_on = || !signals.switch.is_on();
    let torture = Torture { request, facts: &facts, wanted: &wanted, goes_on: &goes_on };
    let outcome = if wanted.repeats { torture.repeat(begun)? } else { torture.search(begun)? };
    let failed = match (&outcome.failing, signals.received()) {
        (Some(_), _) => {
            Some(Failure::failed("a schedule does not have the answer of the sequential run"))
        }
        (None, Some((name, code))) => {
            Some(Failure { code, ..Failure::failed(format!("ended early by {name}")) })
        }
        (None, None) => None,
    };
    Printout { object: outcome.json(), text: outcome.text(), failed }.print(request.json)
}

/// What is known of a model.
struct Facts {
    lps: u32,
    end: f64,
    undo: Vec<&'static str>,
}

/// Asks a model for it.
struct OfModel;

impl Visitor for OfModel {
    type Output = Result<Facts, Failure>;

    fn visit<M: Model>(self, configured: Configured<M>) -> Self::Output {
        let model = configured.make().map_err(Failure::wrong_use)?;
        let ways = ways_to_undo(M::ABILITIES.has_reverse(), M::ABILITIES.journal().is_some());
        Ok(Facts {
            lps: Model::lps(&model),
            end: configured.default_end(),
            undo: ways.into_iter().map(warpline_run::Undo::name).collect(),
        })
    }
}

/// What is asked for.
struct Wanted {
    /// The options that stay as they are.
    fixed: Case,
    /// The names of the model's parameters.
    parameters: Vec<String>,
    /// The beginning of the command that repeats a case.
    command: String,
    time: Duration,
    pes: u32,
    jobs: usize,
    seed: u64,
    /// Whether one schedule is given, and nothing is drawn.
    repeats: bool,
}

impl Wanted {
    fn new<C: Catalogue>(
        program: &Program<C>,
        request: &Request,
        settings: &Settings,
        lps: u32,
    ) -> Result<Self, Failure> {
        let Settings { simulation, command: own } = settings;
        own.check().map_err(|error| Failure::wrong_use(error.to_string()))?;
        let schedules = [
            (CLUSTER, simulation.virtual_cluster.is_some()),
            (MACHINE, simulation.machine.is_some()),
        ];
        let schedule = schedules.into_iter().find(|(_, is_given)| *is_given);
        let repeats = schedule.is_some();
        let idle = [("hours", own.hours), ("minutes", own.minutes), ("seconds", own.seconds)];
        let given = idle.iter().find(|(_, time)| time.is_some());
        if let (Some((schedule, _)), Some((name, _))) = (schedule, given) {
            return Err(Failure::wrong_use(format!(
                "--{schedule} names one schedule, so there is nothing to search: leave it or \
                 --{name} out"
            )));
        }
        let alone = [Synchronisation::Sequential, Synchronisation::Auto];
        if let Some(sync) = simulation.sync.filter(|sync| alone.contains(sync)) {
            return Err(Failure::wrong_use(format!(
                "--sync {} has no schedules to search: leave it out, or choose optimistic, \
                 conservative or mixed",
                sync.name()
            )));
        }
        for (name, pes) in [(PES, simulation.pes), (THREADS, simulation.threads)] {
            if let Some(pes) = pes.filter(|pes| *pes > lps) {
                return Err(Failure::wrong_use(format!(
                    "--{name} is {pes}, but the model has {}, and a PE without one does nothing",
                    format::counted(lps as usize, "LP", "LPs")
                )));
            }
        }
        let is_own = |name: &str| {
            CommandSettings::table().iter().any(|setting| setting.name == name)
                || (!repeats && (name == PES || name == "seed"))
        };
        let given = request.parameters.iter().chain(&request.settings);
        let fixed = given
            .filter(|given| !is_own(&given.name))
            .fold(Case::new(&request.model), |case, given| case.with(&given.name, &given.text));
        let hours = [(own.hours, 3600.0), (own.minutes, 60.0), (own.seconds, 1.0)];
        let seconds: Vec<f64> =
            hours.into_iter().filter_map(|(given, unit)| Some(given? * unit)).collect();
        let time = Duration::try_from_secs_f64(seconds.iter().sum()).unwrap_or(Duration::MAX);
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Wanted {
            fixed,
            parameters: program
                .find(&request.model)?
                .parameters
                .into_iter()
                .map(|spec| spec.name)
                .collect(),
            command: program.line(TORTURE, &request.model),
            time: if seconds.is_empty() { TIME } else { time },
            pes: simulation.pes.unwrap_or(PES_USUAL).min(lps),
            jobs: own.jobs.map_or_else(cores, |jobs| jobs as usize),
            seed: simulation.seed.unwrap_or_else(seed_of_now),
            repeats,
        })
    }
}

/// A seed that differs from search to search, short enough to be typed.
fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() % 1_000_000
}

/// A search, or the repetition of what one has found.
struct Torture<'a> {
    request: &'a Request,
    facts: &'a Facts,
    wanted: &'a Wanted,
    /// Whether nobody has ended it.
    goes_on: &'a (dyn Fn() -> bool + Sync),
}

impl Torture<'_> {
    fn search(&self, begun: Instant) -> Result<Outcome, Failure> {
        let time = &self.wanted.time;
        let is_in_time = || (self.goes_on)() && begun.elapsed() < *time;
        let drawing = self.drawing(&is_in_time)?;
        let mut display = SearchDisplay::new(self.request.json || self.request.quiet);
        let search = Search {
            drawing: &drawing,
            parameters: &self.wanted.parameters,
            jobs: self.wanted.jobs,
            goes_on: &is_in_time,
        };
        let found = search.run(|tally| {
            display.show(begun.elapsed(), *time, || progress(tally, begun.elapsed()));
        });
        let took = begun.elapsed();
        let (tally, failure) = found.first();
        if let (0, Some(why)) = (tally.schedules, tally.refused.keys().next()) {
            return Err(Failure::wrong_use(why.clone()));
        }
        let failing = failure.map(|(number, case, wrong)| {
            display.show(begun.elapsed(), *time, || "making what failed smaller".to_owned());
            self.reduce(number, case, wrong)
        });
        display.finish();
        Ok(self.outcome(tally, failing, took))
    }

    fn drawing(&self, goes_on: &dyn Fn() -> bool) -> Result<Drawing, Failure> {
        let Wanted { fixed, pes, seed, parameters, .. } = self.wanted;
        let ends = if fixed.get("end").is_some() {
            Ends::default()
        } else {
            let case = fresh::reference(fixed, parameters).replace(SYNC, None);
            Ends::measure(&case, self.facts.end, &mut Worker::new(inside::start), goes_on)?
        };
        Ok(Drawing {
            seed: *seed,
            fixed: fixed.clone(),
            pes: *pes,
            undo: self.facts.undo.clone(),
            ends,
        })
    }

    fn fresh(&self) -> InFreshProcesses<'_> {
        InFreshProcesses::new(&self.wanted.parameters, &self.wanted.fixed, self.goes_on)
    }

    /// Makes a case that has failed smaller.
    fn reduce(&self, number: u64, case: Case, wrong: Wrong) -> Failing {
        let mut probe = self.fresh();
        let Some(confirmed) = probe.confirm(&case) else {
            let why = format!(
                "{}; by itself, in a new process, the case does not fail: something outlives a \
                 run, such as a static variable, or the outcome depends on chance",
                wrong.why
            );
            let command = format!(
                "{} {} --jobs 1",
                self.command_of(&self.wanted.fixed),
                format_args!("--seed {}", self.wanted.seed)
            );
            let wrong = Wrong { why, ..wrong };
            return Failing {
                number: Some(number),
                case,
                wrong,
                failed: 1,
                runs: 1 + 2 * fresh::TIMES,
                command,
            };
        };
        let Shrunk { case, wrong, failed, runs } = shrink(case, confirmed, &mut probe, SHRINK_TIME);
        let command = self.command_of(&case);
        Failing { number: Some(number), case, wrong, failed, runs, command }
    }

    /// The command that repeats a case.
    fn command_of(&self, case: &Case) -> String {
        format!("{} {}", self.wanted.command, case.options_text()).trim_end().to_owned()
    }

    /// Repeats one schedule, as often as it takes to fail.
    fn repeat(&self, begun: Instant) -> Result<Outcome, Failure> {
        let case = &self.wanted.fixed;
        if let Answer::Refused(why) = Worker::new(inside::start).run(case, Duration::MAX / 8) {
            return Err(Failure::wrong_use(why));
        }
        let failing = self.fresh().confirm(case).map(|wrong| Failing {
            number: None,
            case: case.clone(),
            wrong,
            failed: 1,
            runs: 1,
            command: self.command_of(case),
        });
        let tally = Tally { schedules: u64::from((self.goes_on)()), ..Tally::default() };
        Ok(self.outcome(tally, failing, begun.elapsed()))
    }

    fn outcome(&self, tally: Tally, failing: Option<Failing>, took: Duration) -> Outcome {
        Outcome {
            model: self.request.model.clone(),
            seed: (!self.wanted.repeats).then_some(self.wanted.seed),
            took,
            fixed: self.wanted.fixed.clone(),
            tally,
            failing,
            is_partial: !(self.goes_on)(),
        }
    }
}

/// A search in one line.
fn progress(tally: &Tally, elapsed: Duration) -> String {
    let rate = tally.schedules as f64 / elapsed.as_secs_f64();
    format!(
        "{} schedules, {rate:.1} a second | up to {} PEs | {} events undone",
        tally.schedules, tally.pes_most, tally.effort.undone
    )
}
