//! Replications: runs of one model that differ in nothing but the seed, several at a time.

mod estimates;
mod finished;
mod kept;
mod packed;
mod queue;
mod series;
mod spool;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

use serde_json::json;
use warpline_base::StateDigest;
use warpline_model::Model;
use warpline_record::{
    LinesView, Partial, Replication, Replications, ResultTree, RunRecord, StateDigestRecord,
    TableView, View,
};

pub use self::estimates::Spread;
use self::estimates::{paths, value_at};
use self::finished::Finished;
use self::kept::KeptRun;
use self::queue::Queue;
use self::spool::Spool;
use crate::job::Job;
use crate::outcome::error::within_memory;
use crate::processes::ToFirst;
use crate::watch::{Control, watched};
use crate::{Error, Progress, Records, Settings, Simulation, Synchronisation};

/// How often progress is reported.
const REPORT_EVERY: Duration = Duration::from_millis(250);
/// The most results that get a picture of their own, and the most that get a column, of those that
/// there are.
const PICTURES_MOST: usize = 6;
const COLUMNS_MOST: usize = 12;

/// What several runs of a model leave behind; [`Simulation::replicate`] has an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replicated {
    /// One record for all: its results are estimates across the runs,
    /// [`replications`](RunRecord::replications) has each run's own, events and time are those of
    /// all runs together, and its digest is that of the runs' digests.
    pub record: RunRecord,
}

impl Replicated {
    /// A result across the runs, such as `served` or `wait`; `path` has the names of objects and
    /// the numbers of list items, separated by dots. `None` if there is no such number.
    pub fn spread(&self, path: &str) -> Option<Spread> {
        let runs = &self.record.replications.as_ref()?.runs;
        Spread::of_known(
            &runs.iter().map(|run| value_at(&run.results.made(), path)).collect::<Vec<_>>(),
        )
    }

    /// Writes one report for all runs to a directory, as [`Run::report`](crate::Run::report) does
    /// for one.
    ///
    /// # Errors
    /// If the directory or a file in it cannot be written.
    pub fn report(&self, directory: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let directory = directory.as_ref();
        let failed =
            |source| warpline_report::ReportError::Directory { path: directory.to_owned(), source };
        std::fs::create_dir_all(directory).map_err(failed)?;
        Ok(warpline_report::write(directory, &self.record)?)
    }
}

impl<M: Model> Simulation<'_, M> {
    /// Runs the model `runs` times, with this seed and those that follow it, and estimates every
    /// result across the runs. The runs are independent, so the confidence intervals are good
    /// however short the runs are.
    ///
    /// Sequential runs are executed as many at a time as there are cores, which for short runs is
    /// the parallelism that pays; parallel runs one after another. Each has the digest and the
    /// results of a run of its seed alone. Rows are dropped.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # const HEADS: Counter = Counter::slot(0);
    /// # struct Coin;
    /// # impl Model for Coin {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn declare(&self, declare: &mut Declarations) { declare.counter(HEADS, "heads", "", "throws that came up heads"); }
    /// #     fn init(&self, lp: &mut Init<Self>) { lp.send(0, 1.0, ()); }
    /// #     fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    /// #         let heads = u64::from(lp.random().below(2));
    /// #         lp.count(HEADS, heads);
    /// #         lp.send(0, 1.0, ());
    /// #     }
    /// # }
    /// // `Coin` is thrown at 1, 2, 3, …
    /// let replicated = Simulation::new(Coin).end(101.0).seed(7).replicate(30)?;
    /// let heads = replicated.spread("heads").unwrap();
    /// assert!((heads.mean - 50.0).abs() < 3.0 * heads.ci95.unwrap() && heads.values.len() == 30);
    /// let third = Simulation::new(Coin).end(101.0).seed(9).run()?;
    /// assert_eq!(replicated.record.replications.unwrap().runs[2].digest, third.record.digest);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If `runs` is 0, the seeds exceed the largest number, or a trace is wanted, which is of one
    /// run; otherwise the error of the first seed whose run fails, as [`run`](Self::run) has it.
    pub fn replicate(self, runs: u32) -> Result<Replicated, Error> {
        crate::outcome::error::remember_panics();
        let Simulation { job, audience } = self;
        watched(job.thread_limits()?, audience, move |control| job.replicate(runs, &control))
    }
}

/// What a thread that executes runs tells the one that waits for them.
struct Report {
    thread: usize,
    what: Told,
}

enum Told {
    Progress(Progress),
    /// A run has ended, after so many events.
    Ended(u64),
}

impl<M: Model> Job<M> {
    fn replicate(self, runs: u32, control: &Control) -> Result<Replicated, Error> {
        let started = Instant::now();
        self.check_replications(runs)?;
        let at_once = match self.settings.synchronisation()? {
            Synchronisation::Sequential | Synchronisation::Auto => {
                std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32).min(runs)
            }
            _ => 1,
        };
        // One budget for all runs: what they leave is no part of the program.
        let budget = Some(self.budget(None)?);
        // All cores are busy with one run each.
        let sequential = || Settings {
            sync: Some(Synchronisation::Sequential),
            threads: None,
            ..self.settings.clone()
        };
        let settings = if at_once > 1 { sequential() } else { self.settings.clone() };
        let series = Job { settings, budget, records: Records::Drop, ..self };
        let finished = series.run_all(runs, at_once, control)?;
        Ok(Replicated { record: series.summary(finished, runs, at_once, started.elapsed()) })
    }

    fn check_replications(&self, runs: u32) -> Result<(), Error> {
        let fail = |why: String| Err(Error::Setting(why));
        let seed = self.settings.seed();
        let Some(more) = runs.checked_sub(1) else {
            return fail("`replications` cannot be `0`: at least one run is needed".to_owned());
        };
        if self.settings.trace.is_some() {
            return fail(
                "a trace shows one run: leave `trace` out, or run the seed of interest alone"
                    .to_owned(),
            );
        }
        if self.settings.processes() > 1 {
            return fail(
                "replications run in one process, side by side: leave `processes` out".to_owned(),
            );
        }
        match seed.checked_add(u64::from(more)) {
            Some(_) => Ok(()),
            None => fail(format!(
                "{runs} replications from seed {seed} on exceed the largest seed, {}: begin with a smaller one",
                u64::MAX
            )),
        }
    }

    /// Executes the runs in `at_once` threads, or in fewer as soon as memory is short for so many.
    fn run_all(&self, runs: u32, at_once: u32, control: &Control) -> Result<Finished, Error> {
        let (queue, failed) = (
            Mutex::new(Queue { next: 0..runs, again: Vec::new(), threads: at_once }),
            AtomicBool::new(false),
        );
        let (outcomes, first, spool) =
            (Mutex::new(Vec::new()), Mutex::new(None), Arc::new(Spool::default()));
        let stack = self.thread_limits()?.stack;
        scope(|scope| {
            let (sender, reports) = channel();
            for thread in 0..at_once as usize {
                let (sender, queue, failed, outcomes, first, spool) =
                    (sender.clone(), &queue, &failed, &outcomes, &first, &spool);
                let work = move || {
                    while !failed.load(Ordering::Relaxed)
                        && !self.stop.is_on()
                        && control.go_on().is_ok()
                    {
                        let Some((number, alone)) = lock(queue).take() else { break };
                        let outcome = self
                            .run_one(number, thread, &sender, control)
                            .and_then(|record| keep(number, record, first, spool));
                        if matches!(outcome, Err(Error::Memory { .. })) && !alone {
                            if lock(queue).give_back(number) {
                                continue;
                            }
                            break;
                        }
                        failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
                        lock(outcomes).push((number, outcome));
                    }
                };
                let worker = Builder::new()
                    .name(format!("warpline-{thread}"))
                    .stack_size(stack)
                    .spawn_scoped(scope, work);
                worker.map_err(|cause| {
                    failed.store(true, Ordering::Relaxed);
                    Error::no_thread(thread, at_once as usize, cause)
                })?;
            }
            drop(sender);
            self.pass_on(runs, at_once, &reports, control);
            Ok::<(), Error>(())
        })?;
        control.go_on()?;
        let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcomes.sort_by_key(|(number, _)| *number);
        let runs = outcomes
            .into_iter()
            .filter_map(|(_, outcome)| outcome.transpose())
            .collect::<Result<Vec<_>, _>>()?;
        let first =
            first.into_inner().unwrap_or_else(PoisonError::into_inner).map(|(_, record)| record);
        first.map(|first| Finished { first, runs, spool }).ok_or(Error::Stopped)
    }

    /// One of the runs, in this thread.
    fn run_one(
        &self,
        number: u32,
        thread: usize,
        reports: &Sender<Report>,
        control: &Control,
    ) -> Result<RunRecord, Error> {
        let seed = Some(self.settings.seed() + u64::from(number));
        let settings = Settings { seed, ..self.settings.clone() };
        let job = Job {
            model: self.model.clone(),
            name: self.name.clone(),
            about: self.about.clone(),
            parameters: self.parameters.clone(),
            records: self.records.clone(),
            stop: self.stop.clone(),
            budget: self.budget.clone(),
            settings,
            ..*self
        };
        let told = reports.clone();
        let listener = move |progress| {
            // If nobody waits for the runs any more, nobody has to know.
            let _ = told.send(Report { thread, what: Told::Progress(progress) });
        };
        let run =
            within_memory(|| job.run(&control.within(Arc::new(listener)), &ToFirst::default()))?;
        let _ = reports.send(Report { thread, what: Told::Ended(run.record.committed_events) });
        Ok(run.record)
    }

    /// Adds up the progress of all runs, until the last has ended.
    fn pass_on(&self, runs: u32, at_once: u32, reports: &Receiver<Report>, control: &Control) {
        let (begun, end) = (Instant::now(), self.end_time());
        let mut running = vec![(0.0, 0); at_once as usize];
        let (mut ended, mut events) = (0u32, 0);
        let mut reported = (Duration::ZERO, 0);
        for Report { thread, what } in reports {
            match what {
                Told::Progress(progress) => {
                    running[thread] =
                        (progress.virtual_time / progress.end, progress.committed_events)
                }
                Told::Ended(committed) => {
                    running[thread] = (0.0, 0);
                    (ended, events) = (ended + 1, events + committed);
                }
            }
            let elapsed = begun.elapsed();
            if elapsed - reported.0 < REPORT_EVERY {
                continue;
            }
            let (shares, under_way) = running
                .iter()
                .fold((0.0, 0), |(shares, events), (share, more)| (shares + share, events + more));
            let committed_events = (events + under_way).max(reported.1);
            let event_rate =
                (committed_events - reported.1) as f64 / (elapsed - reported.0).as_secs_f64();
            let virtual_time = end * ((f64::from(ended) + shares) / f64::from(runs)).min(1.0);
            let rss_bytes = crate::machine::memory_use::resident();
            if let Some(listener) = control.listener() {
                listener(Progress {
                    virtual_time,
                    end,
                    committed_events,
                    elapsed,
                    event_rate,
                    rss_bytes,
                    speculation: None,
                });
            }
            reported = (elapsed, committed_events);
        }
    }

    /// One record for all runs.
    fn summary(&self, finished: Finished, wanted: u32, at_once: u32, took: Duration) -> RunRecord {
        let (results, series) = (finished.results(), finished.series());
        let Finished { first, runs, spool } = finished;
        let committed_events = runs.iter().map(|run| run.committed_events).sum();
        let wall_seconds = took.as_secs_f64();
        let digest = runs.iter().fold(0, |digest, run| {
            let one = u64::from_str_radix(&run.digest, 16).unwrap_or_default();
            warpline_base::random::mix64(digest ^ one)
        });
        let lost_delays = runs.iter().find_map(|run| run.lost_delays);
        let state_digest = state_digest_of_all(&runs);
        let runs: Vec<Replication> = runs.iter().map(|run| run.replication(&spool)).collect();
        let views = views(&results, &runs);
        RunRecord {
            committed_events,
            digest: format!("{digest:016x}"),
            state_digest,
            lost_delays,
            wall_seconds,
            loop_seconds: wall_seconds,
            event_rate: committed_events as f64 / wall_seconds,
            core_share: None,
            peak_rss_bytes: crate::machine::memory_use::peak(),
            parallel: None,
            results,
            series,
            progress: Vec::new(),
            views,
            partial: (runs.len() < wanted as usize)
                .then(|| Partial { wanted_end: self.end_time(), wanted_runs: wanted }),
            replications: Some(Replications { at_once, runs }),
            ..first
        }
    }
}

/// Digests of what all runs ended with, if each of them has them.
fn state_digest_of_all(runs: &[KeptRun]) -> Option<StateDigestRecord> {
    let all: Vec<&StateDigestRecord> =
        runs.iter().map(|run| run.state_digest.as_ref()).collect::<Option<_>>()?;
    let of = |part: fn(&StateDigestRecord) -> &str| {
        StateDigest::of(&all.iter().map(|one| part(one)).collect::<Vec<_>>().join(" ")).text()
    };
    Some(StateDigestRecord {
        text: of(|one| &one.text),
        content: of(|one| &one.content),
        statistics: of(|one| &one.statistics),
    })
}

/// Keeps a run, unless it was cut short: it is no sample of a whole run then.
fn keep(
    number: u32,
    record: RunRecord,
    first: &Mutex<Option<(u32, RunRecord)>>,
    spool: &Spool,
) -> Result<Option<KeptRun>, Error> {
    if record.partial.is_some() {
        return Ok(None);
    }
    let kept = KeptRun::new(&record, spool).map_err(|cause| Error::Kept { cause })?;
    let mut first = lock(first);
    if first.as_ref().is_none_or(|(earliest, _)| number < *earliest) {
        let (results, series, progress, views) = Default::default();
        *first = Some((number, RunRecord { results, series, progress, views, ..record }));
    }
    Ok(Some(kept))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A picture of each of the first results, run by run, and a table of all runs.
fn views(results: &ResultTree, runs: &[Replication]) -> Vec<View> {
    let paths = paths(results, COLUMNS_MOST);
    let of_run = |run: &Replication| {
        let results = run.results.made();
        paths.iter().map(|path| value_at(&results, path)).collect::<Vec<_>>()
    };
    let values: Vec<_> = runs.iter().map(of_run).collect();
    let title = |path: &str| path.replace('_', " ").replace('.', " › ");
    let picture = |(column, path): (usize, &String)| {
        let points: Vec<(f64, f64)> = runs
            .iter()
            .zip(&values)
            .filter_map(|(run, values)| Some((run.seed as f64, values[column]?)))
            .collect();
        let spread = Spread::of(&points.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        let level = |value: f64| {
            [points.first(), points.last()]
                .into_iter()
                .flatten()
                .map(|(seed, _)| (*seed, value))
                .collect::<Vec<_>>()
        };
        let mut lines =
            vec![("each run".to_owned(), points.clone()), ("mean".to_owned(), level(spread.mean))];
        if let Some(half) = spread.ci95 {
            lines.push(("mean + 95 % interval".to_owned(), level(spread.mean + half)));
            lines.push(("mean − 95 % interval".to_owned(), level(spread.mean - half)));
        }
        View::Lines(LinesView { title: title(path), x: "seed".to_owned(), y: title(path), lines })
    };
    let pictured = paths.iter().take(PICTURES_MOST).enumerate();
    let mut views: Vec<View> =
        if runs.len() > 1 { pictured.map(picture).collect() } else { Vec::new() };
    let own = ["seed", "digest", "committed events", "wall time"].map(str::to_owned).into_iter();
    let columns = own.chain(paths.iter().map(|path| title(path)));
    let columns = columns
        .map(|name| {
            let unit = if name == "wall time" { "s" } else { "" };
            (name, unit.to_owned())
        })
        .collect();
    let row = |(run, values): (&Replication, &Vec<Option<f64>>)| {
        let own = [
            json!(run.seed),
            json!(run.digest),
            json!(run.committed_events),
            json!(run.wall_seconds),
        ];
        own.into_iter().chain(values.iter().map(|value| json!(value))).collect()
    };
    let rows = runs.iter().zip(&values).map(row).collect();
    views.push(View::Table(TableView { title: "Runs".to_owned(), columns, rows }));
    views
}
