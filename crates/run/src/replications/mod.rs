//! Replications: runs of one model that differ in nothing but the seed, several at a time.

mod estimates;
mod finished;
mod kept;
mod packed;
mod queue;
mod series;
mod side_by_side;
mod spool;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use warpline_model::Model;
use warpline_record::RunRecord;

pub use self::estimates::Spread;
use self::estimates::value_at;
use crate::job::Job;
use crate::outcome::error::remember_panics;
use crate::watch::{Control, watched};
use crate::{Error, Records, Settings, Simulation, Synchronisation};

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
        remember_panics();
        let Simulation { job, audience } = self;
        watched(job.thread_limits()?, audience, move |control| job.replicate(runs, &control))
    }
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
                "{runs} replications from seed {seed} on exceed the largest seed, {}: begin with a \
                 smaller one",
                u64::MAX
            )),
        }
    }
}
