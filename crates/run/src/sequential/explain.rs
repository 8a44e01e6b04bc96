//! A run whose critical path is followed.

use std::time::Instant;

use warpline_base::{LpId, VirtualTime};
use warpline_explain::{CORE_COUNTS, CriticalPath};
use warpline_kernel::{Partition, Step, Watcher};
use warpline_memory::Handle;
use warpline_model::Model;
use warpline_model::engine::Limits;

use crate::job::Job;
use crate::outcome::rows::Acts;
use crate::watch::Control;
use crate::watch::drive::{Log, Pace};
use crate::{CORES, DividedGroups, Error, EventCost, Explanation, Place, Records};

/// Follows the critical path of a run.
struct Follower {
    path: CriticalPath,
    stopwatch: Option<Stopwatch>,
}

/// Measures how long events take.
struct Stopwatch {
    /// How long it takes to read the clock, in nanoseconds.
    reading: u64,
    started: Instant,
}

impl Stopwatch {
    fn new() -> Self {
        let reading = (0..1000).map(|_| nanoseconds(Instant::now())).min().unwrap_or(0);
        Stopwatch { reading, started: Instant::now() }
    }

    /// The time since it was started; at least 1, as every event takes some time.
    fn nanoseconds(&self) -> u64 {
        nanoseconds(self.started).saturating_sub(self.reading).max(1)
    }
}

fn nanoseconds(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}

impl Watcher for Follower {
    fn begins(&mut self) {
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.started = Instant::now();
        }
    }

    fn executed(&mut self, event: Handle, lp: LpId, time: VirtualTime) {
        let cost = self.stopwatch.as_ref().map_or(1, Stopwatch::nanoseconds);
        self.path.execute(event, lp, time.get(), cost);
    }

    fn sent(&mut self, event: Handle, from: LpId, to: LpId, time: VirtualTime) {
        self.path.send(event, from, to, time.get());
    }

    fn cancelled(&mut self, timer: Handle) {
        self.path.cancel(timer);
    }
}

impl<M: Model> Job<M> {
    pub(crate) fn explain_sequential(
        self,
        cost: EventCost,
        control: &Control,
    ) -> Result<Explanation, Error> {
        let until = self.end_time();
        let checked = self.check()?;
        let stopwatch = (cost == EventCost::Measured).then(Stopwatch::new);
        let (path, divided) = self.critical_path(&checked.limits)?;
        let mut follower = Follower { path, stopwatch };
        // Files of an earlier run are left alone.
        let state = self.begin(&checked, Acts::Ignore, &Records::Drop)?;
        let mut run = self.engine(&checked, false, state);
        control.watch(None, run.engine.executor().beat());
        while let Some(id) = run.engine.next_lp() {
            run.engine
                .initialise_next_watched(&mut follower)
                .map_err(|stop| run.error(stop, Place::Init(id)))?;
        }
        let looped = Instant::now();
        let mut log = Log::new(looped, until, control.listener());
        let mut pace = Pace::new(looped);
        while run
            .engine
            .step_watched(pace.events(), &mut follower)
            .map_err(|stop| run.error(stop, run.current_place()))?
            == Step::Worked
        {
            let now = Instant::now();
            pace.stepped(now, None);
            log.note(now, run.engine.now(), run.engine.committed());
            control.go_on()?;
        }
        run.engine.balance();
        let mut done = run.engine.into_parts();
        self.finish(&mut done, checked.end, None)?;
        Ok(Explanation {
            model: self.name.clone(),
            seed: self.settings.seed(),
            end: until,
            cost,
            digest: done.digest().to_string(),
            findings: follower.path.findings(),
            divided,
        })
    }

    /// The critical path of a run that has not begun, and the groups of LPs that each number of
    /// cores divides.
    fn critical_path(
        &self,
        limits: &Limits,
    ) -> Result<(CriticalPath, [Option<DividedGroups>; CORE_COUNTS]), Error> {
        let mut cores = Vec::with_capacity(CORE_COUNTS);
        for number in CORES {
            cores.push((number, self.partition(limits, number.min(limits.lps))?));
        }
        let cores: [(u32, Partition); CORE_COUNTS] =
            cores.try_into().unwrap_or_else(|_| unreachable!("there is one for each"));
        let groups = self.groups(limits)?;
        let divided = std::array::from_fn(|number| DividedGroups::by(&cores[number].1, &groups));
        Ok((
            CriticalPath::new(limits.lps, self.end_time(), limits.lookahead.clone(), cores),
            divided,
        ))
    }
}
