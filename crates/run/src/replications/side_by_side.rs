//! Executes runs in several threads, as many at a time as there is memory for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, scope};
use std::time::{Duration, Instant};

use warpline_model::Model;
use warpline_record::RunRecord;

use super::finished::Finished;
use super::kept::KeptRun;
use super::queue::Queue;
use super::spool::Spool;
use crate::job::Job;
use crate::machine::memory_use;
use crate::outcome::error::within_memory;
use crate::processes::ToFirst;
use crate::watch::{Control, Listener};
use crate::{Error, Progress, Settings};

/// How often progress is reported.
const REPORT_EVERY: Duration = Duration::from_millis(250);

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

/// What a run has come to: nothing if it was cut short, as it is no sample of a whole run then.
type Outcome = Result<Option<KeptRun>, Error>;

/// Executes the run of this number in the thread of this number, which reports how it goes.
type RunOne<'r> = dyn Fn(u32, usize, &Sender<Report>) -> Result<RunRecord, Error> + Sync + 'r;

/// What the threads that execute runs share.
struct SharedRuns {
    queue: Mutex<Queue>,
    /// A run has failed: no more are begun.
    failed: AtomicBool,
    /// By number.
    outcomes: Mutex<Vec<(u32, Outcome)>>,
    /// The record of the first that has ended, by number, without its results.
    first: Mutex<Option<(u32, RunRecord)>>,
    spool: Arc<Spool>,
}

impl SharedRuns {
    fn new(runs: u32, threads: u32) -> Self {
        SharedRuns {
            queue: Mutex::new(Queue { next: 0..runs, again: Vec::new(), threads }),
            failed: AtomicBool::new(false),
            outcomes: Mutex::new(Vec::new()),
            first: Mutex::new(None),
            spool: Arc::new(Spool::default()),
        }
    }

    /// Executes runs by `run_one` in a thread for each place in `progress`, and reports progress
    /// until the last run has ended.
    ///
    /// # Errors
    /// If the system refuses a thread.
    fn work_in_threads(
        &self,
        stack: usize,
        goes_on: &(dyn Fn() -> bool + Sync),
        run_one: &RunOne<'_>,
        mut progress: SharedProgress,
        listener: Option<Listener>,
    ) -> Result<(), Error> {
        let threads = progress.running.len();
        scope(|scope| {
            let (sender, reports) = channel();
            for thread in 0..threads {
                let sender = sender.clone();
                let work = move || self.work(goes_on, &|number| run_one(number, thread, &sender));
                let worker = Builder::new()
                    .name(format!("warpline-{thread}"))
                    .stack_size(stack)
                    .spawn_scoped(scope, work);
                worker.map_err(|cause| {
                    self.failed.store(true, Ordering::Relaxed);
                    Error::no_thread(thread, threads, cause)
                })?;
            }
            drop(sender);
            progress.pass_on(&reports, listener);
            Ok(())
        })
    }

    /// Executes runs by `run`, one after the other, as long as it `goes_on` and there are any for
    /// this thread.
    fn work(&self, goes_on: &dyn Fn() -> bool, run: &dyn Fn(u32) -> Result<RunRecord, Error>) {
        while !self.failed.load(Ordering::Relaxed) && goes_on() {
            let Some((number, alone)) = lock(&self.queue).take() else { break };
            let outcome = run(number).and_then(|record| self.keep(number, record));
            if matches!(outcome, Err(Error::Memory { .. })) && !alone {
                if lock(&self.queue).give_back(number) {
                    continue;
                }
                break;
            }
            self.failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
            lock(&self.outcomes).push((number, outcome));
        }
    }

    /// Keeps a run, unless it was cut short.
    fn keep(&self, number: u32, record: RunRecord) -> Outcome {
        if record.partial.is_some() {
            return Ok(None);
        }
        let kept = KeptRun::new(&record, &self.spool).map_err(|cause| Error::Kept { cause })?;
        let mut first = lock(&self.first);
        if first.as_ref().is_none_or(|(earliest, _)| number < *earliest) {
            let record = RunRecord {
                results: Default::default(),
                series: Default::default(),
                progress: Vec::new(),
                views: Vec::new(),
                ..record
            };
            *first = Some((number, record));
        }
        Ok(Some(kept))
    }

    /// The runs, by seed.
    ///
    /// # Errors
    /// That of the first that failed, or if none has ended.
    fn finish(self) -> Result<Finished, Error> {
        let mut outcomes = into_inner(self.outcomes);
        outcomes.sort_by_key(|(number, _)| *number);
        let runs = outcomes.into_iter().filter_map(|(_, outcome)| outcome.transpose());
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let (_, first) = into_inner(self.first).ok_or(Error::Stopped)?;
        Ok(Finished { first, runs, spool: self.spool })
    }
}

impl<M: Model> Job<M> {
    /// Executes the runs in `at_once` threads, or in fewer as soon as memory is short for so many.
    pub(super) fn run_all(
        &self,
        runs: u32,
        at_once: u32,
        control: &Control,
    ) -> Result<Finished, Error> {
        let shared = SharedRuns::new(runs, at_once);
        let stack = self.thread_limits()?.stack;
        let goes_on = || !self.stop.is_on() && control.go_on().is_ok();
        let run_one = |number: u32, thread: usize, reports: &Sender<Report>| {
            self.run_one(number, thread, reports, control)
        };
        let progress = SharedProgress::new(runs, at_once, self.end_time());
        shared.work_in_threads(stack, &goes_on, &run_one, progress, control.listener())?;
        control.go_on()?;
        shared.finish()
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
            // What several runs tell at a time is no story.
            hearer: None,
            stop: self.stop.clone(),
            budget: self.budget.clone(),
            settings,
            ..*self
        };
        let told = reports.clone();
        let listener = move |progress| {
            // A caller that no longer waits need not know.
            let _ = told.send(Report { thread, what: Told::Progress(progress) });
        };
        let run = within_memory(|| {
            job.run(
                &control.within(Arc::new(listener)),
                &ToFirst::default(),
                thread::current().id(),
            )
        })?;
        let _ = reports.send(Report { thread, what: Told::Ended(run.record.committed_events) });
        Ok(run.record)
    }
}

/// The progress of all runs together.
struct SharedProgress {
    /// How many runs there are.
    runs: u32,
    /// The end of each, in model time.
    end: f64,
    begun: Instant,
    /// By thread: the share of its run that is done, and how many events of it have committed.
    running: Vec<(f64, u64)>,
    /// How many runs have ended, and how many events they had.
    ended: u32,
    events: u64,
    /// When progress was reported last, and how many events had committed.
    reported: Duration,
    reported_events: u64,
}

impl SharedProgress {
    fn new(runs: u32, threads: u32, end: f64) -> Self {
        SharedProgress {
            runs,
            end,
            begun: Instant::now(),
            running: vec![(0.0, 0); threads as usize],
            ended: 0,
            events: 0,
            reported: Duration::ZERO,
            reported_events: 0,
        }
    }

    /// Adds reports up, until the last run has ended.
    fn pass_on(&mut self, reports: &Receiver<Report>, listener: Option<Listener>) {
        for report in reports {
            self.add(report);
            let elapsed = self.begun.elapsed();
            if elapsed - self.reported >= REPORT_EVERY {
                let progress = self.at(elapsed);
                self.reported = elapsed;
                self.reported_events = progress.committed_events;
                if let Some(listener) = &listener {
                    listener(progress);
                }
            }
        }
    }

    fn add(&mut self, Report { thread, what }: Report) {
        match what {
            Told::Progress(progress) => {
                let share = progress.virtual_time / progress.end;
                self.running[thread] = (share, progress.committed_events);
            }
            Told::Ended(committed) => {
                self.running[thread] = (0.0, 0);
                self.ended += 1;
                self.events += committed;
            }
        }
    }

    fn at(&self, elapsed: Duration) -> Progress {
        let shares: f64 = self.running.iter().map(|(share, _)| share).sum();
        let under_way: u64 = self.running.iter().map(|(_, events)| events).sum();
        // A run that is executed again has fewer events than before.
        let committed_events = (self.events + under_way).max(self.reported_events);
        let since = (elapsed - self.reported).as_secs_f64();
        let done = (f64::from(self.ended) + shares) / f64::from(self.runs);
        Progress {
            virtual_time: self.end * done.min(1.0),
            end: self.end,
            committed_events,
            elapsed,
            event_rate: (committed_events - self.reported_events) as f64 / since,
            rss_bytes: memory_use::resident(),
            speculation: None,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
