//! Chooses how long an engine works between two readings of the clock, and keeps the log of its
//! progress.
//!
//! No engine decides anything by a clock. What drives or watches it reads the clock, every 20 ms or
//! so. So the same PE runs in a thread, in turn with others, in a virtual cluster, and wherever
//! else something implements `Port`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use warpline_record::{ProgressSample, SpeculationSample};

use crate::machine::memory_use;

/// The progress of a run; [`Simulation::on_progress`](crate::Simulation::on_progress) has an
/// example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// How far it has come, in model time.
    pub virtual_time: f64,
    /// Where it ends, in model time.
    pub end: f64,
    /// Events committed so far.
    pub committed_events: u64,
    /// Wall time since the event loop began; before that, while LPs are initialised, since the
    /// start of the run.
    pub elapsed: Duration,
    /// Committed events per second since the last report.
    pub event_rate: f64,
    /// Resident memory, in bytes; `None` where the system does not report it.
    pub rss_bytes: Option<u64>,
    /// The state of speculation; `None` for a sequential run.
    pub speculation: Option<SpeculationSample>,
}

/// Hears of the progress of a run.
pub(crate) type Listener = Arc<dyn Fn(Progress) + Send + Sync>;

/// How long the engine should work between two readings of the clock.
const SLICE: Duration = Duration::from_millis(20);
/// How often progress is reported.
const REPORT_EVERY: Duration = Duration::from_millis(250);
/// The most samples of progress that are kept; when there are more, every other one is dropped.
const SAMPLES_MOST: usize = 600;

/// Chooses the number of events of a step by the time that the last one took.
pub(crate) struct Pace {
    events: u32,
    since: Instant,
}

impl Pace {
    pub(crate) fn new(now: Instant) -> Self {
        Pace { events: 1, since: now }
    }

    pub(crate) fn events(&self) -> u32 {
        self.events
    }

    /// Notes that a step has been taken. Later ones should take no longer than `patience`.
    pub(crate) fn stepped(&mut self, now: Instant, patience: Option<Duration>) {
        let took = now - self.since;
        self.since = now;
        let slice = patience.map_or(SLICE, |patience| patience.min(SLICE));
        if took < slice / 2 {
            self.events = self.events.saturating_mul(2).min(1 << 24);
        } else if took > slice * 2 {
            self.events = (self.events / 2).max(1);
        }
    }
}

/// The log of a run's progress.
pub(crate) struct Log {
    start: Instant,
    end: f64,
    listener: Option<Listener>,
    /// When progress was reported last, and how many events had committed.
    reported: (Duration, u64),
    samples: Vec<ProgressSample>,
    sample_every: Duration,
}

impl Log {
    pub(crate) fn new(start: Instant, end: f64, listener: Option<Listener>) -> Self {
        Log {
            start,
            end,
            listener,
            reported: (Duration::ZERO, 0),
            samples: Vec::new(),
            sample_every: Duration::from_millis(20),
        }
    }

    /// Notes how far the run has come.
    pub(crate) fn note(&mut self, now: Instant, virtual_time: f64, committed_events: u64) {
        self.note_all(now, virtual_time, committed_events, None);
    }

    /// The same, with the state of speculation in a parallel run.
    pub(crate) fn note_all(
        &mut self,
        now: Instant,
        virtual_time: f64,
        committed_events: u64,
        speculation: Option<SpeculationSample>,
    ) {
        let elapsed = now - self.start;
        if elapsed - self.reported.0 >= REPORT_EVERY {
            let rate = (committed_events - self.reported.1) as f64
                / (elapsed - self.reported.0).as_secs_f64();
            let progress = Progress {
                virtual_time,
                end: self.end,
                committed_events,
                elapsed,
                event_rate: rate,
                rss_bytes: memory_use::resident(),
                speculation,
            };
            if let Some(listener) = &self.listener {
                listener(progress);
            }
            self.reported = (elapsed, committed_events);
        }
        let due = self.samples.last().is_none_or(|last| {
            elapsed.as_secs_f64() - last.wall_seconds >= self.sample_every.as_secs_f64()
        });
        if due {
            self.sample(elapsed, virtual_time, committed_events, speculation);
        }
    }

    fn sample(
        &mut self,
        elapsed: Duration,
        virtual_time: f64,
        committed_events: u64,
        speculation: Option<SpeculationSample>,
    ) {
        if self.samples.len() == SAMPLES_MOST {
            let mut index = 0;
            self.samples.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.sample_every *= 2;
        }
        self.samples.push(ProgressSample {
            wall_seconds: elapsed.as_secs_f64(),
            virtual_time,
            committed_events,
            rss_bytes: memory_use::resident(),
            speculation,
        });
    }

    /// The samples of the whole run.
    pub(crate) fn finish(
        mut self,
        now: Instant,
        virtual_time: f64,
        committed_events: u64,
        speculation: Option<SpeculationSample>,
    ) -> Vec<ProgressSample> {
        self.sample(now - self.start, virtual_time, committed_events, speculation);
        self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_thinned_and_stay_in_order() {
        let start = Instant::now();
        let mut log = Log::new(start, 1.0, None);
        for step in 0..10_000u64 {
            log.note(start + Duration::from_millis(25 * step), step as f64, step);
        }
        let samples = log.finish(start + Duration::from_secs(250), 1e4, 10_000, None);
        assert!(
            samples.len() <= SAMPLES_MOST && samples.len() > SAMPLES_MOST / 4,
            "{}",
            samples.len()
        );
        assert!(samples.windows(2).all(|pair| pair[0].committed_events < pair[1].committed_events));
        assert_eq!(samples.last().unwrap().committed_events, 10_000);
    }

    #[test]
    fn progress_is_reported_with_its_rate() {
        let start = Instant::now();
        let (sender, heard) = std::sync::mpsc::channel();
        let mut log =
            Log::new(start, 10.0, Some(Arc::new(move |progress| sender.send(progress).unwrap())));
        log.note(start + Duration::from_millis(100), 1.0, 10);
        log.note(start + Duration::from_millis(500), 5.0, 1000);
        drop(log);
        let seen: Vec<Progress> = heard.iter().collect();
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].event_rate, 2000.0);
    }
}
