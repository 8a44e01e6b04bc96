//! What events and messages cost on this machine, measured in short runs of the model: an ideal
//! engine knows of no costs.

use std::time::Duration;

use serde_json::{Value, json};

use crate::output::format;
use warpline_record::{ParallelRecord, RunRecord};
use warpline_run::{
    Configured, CoreFindings, Explanation, Model, Settings, Simulation, Synchronisation,
};

/// The most events of a measuring run.
const EVENTS_MOST: f64 = 500_000.0;
/// How long a measuring run should take at most, in seconds.
const SECONDS_MOST: f64 = 1.0;
/// The least number of messages that tell what one costs, as a share of the events.
const MESSAGES_LEAST: f64 = 0.05;
/// The least number of events that tell anything.
const EVENTS_LEAST: f64 = 20_000.0;

/// What events and messages cost on this machine, in seconds on a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// The engine whose PEs were measured.
    pub(crate) sync: Synchronisation,
    /// An event on the sequential engine, with all that the engine does for it.
    pub(crate) sequential: f64,
    /// An event on a PE, with what is undone and all else that PEs do, except for messages to other
    /// PEs.
    pub(crate) event: f64,
    /// A message from PE to PE, on both together; `None` if there were too few to tell.
    pub(crate) message: Option<f64>,
}

impl Costs {
    /// Measures them in three short runs; `None` if the model is over too soon, cannot be run on
    /// two PEs, or if the runs say too little. `took` is how long it took to explain the model.
    pub(crate) fn measure<M: Model>(
        model: &Configured<M>,
        settings: &Settings,
        explanation: &Explanation,
        took: Duration,
    ) -> Option<Costs> {
        let end = end(explanation, took.as_secs_f64())?;
        let simulation = |sync, threads| {
            let mut short = Settings::default();
            short.seed = settings.seed;
            Some(Simulation::of(model).ok()?.settings(short).sync(sync).threads(threads).end(end))
        };
        let two = simulation(Synchronisation::Optimistic, 2)?;
        let sync = match (two.least_delay().ok()? > 0.0, two.conservative_count().ok()? > 0) {
            (true, _) => Synchronisation::Conservative,
            (false, true) => Synchronisation::Mixed,
            (false, false) => Synchronisation::Optimistic,
        };
        let run = |sync, threads| Some(simulation(sync, threads)?.run().ok()?.record);
        Costs::of(sync, &run(Synchronisation::Sequential, 1)?, &run(sync, 1)?, &run(sync, 2)?)
    }

    /// The costs according to the records of a sequential run, of a run on one PE, and of a run on
    /// two.
    fn of(
        sync: Synchronisation,
        sequential: &RunRecord,
        one: &RunRecord,
        two: &RunRecord,
    ) -> Option<Costs> {
        let parallel = |record: &'_ RunRecord| -> Option<ParallelRecord> {
            record.parallel.clone().filter(|parallel| {
                parallel
                    .phase_samples
                    .is_some_and(|samples| samples >= warpline_report::SAMPLES_LEAST)
            })
        };
        let alone = parallel(one)?;
        let both = parallel(two)?;
        let events = |record: &RunRecord| record.committed_events as f64;
        let working = working(&both);
        let remote = both.remote_events as f64;
        // A PE that is alone sends only to itself.
        let own = alone.phase_seconds.send * events(two) / events(one);
        let handing_over = both.phase_seconds.receive + (both.phase_seconds.send - own).max(0.0);
        // If messages are few, looking for them costs more than they do. That counts as part of the
        // events.
        let message = (remote >= MESSAGES_LEAST * events(two)).then(|| handing_over / remote);
        let messages = if message.is_some() { handing_over } else { 0.0 };
        let costs = Costs {
            sync,
            sequential: sequential.loop_seconds * sequential.core_share.unwrap_or(1.0)
                / events(sequential),
            event: (working - messages) / events(two),
            message,
        };
        let plausible = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        (both.pes.len() == 2 && plausible(costs.sequential) && plausible(costs.event))
            .then_some(costs)
    }

    /// What is left of an ideal speed-up at these costs.
    pub(crate) fn speed_up(&self, cores: &CoreFindings, events: u64) -> f64 {
        let ideal = self.ideal(cores);
        let events = events as f64;
        let messages = cores.messages as f64 / f64::from(cores.pes);
        events * self.sequential
            / (events / ideal * self.event + messages * self.message.unwrap_or_default())
    }

    /// The speed-up of an ideal engine of the kind that was measured.
    pub(crate) fn ideal(&self, cores: &CoreFindings) -> f64 {
        if self.sync == Synchronisation::Conservative { cores.declared } else { cores.in_order }
    }

    /// What the speed-up of an ideal engine is called in the table.
    pub(crate) fn ideal_name(&self) -> &'static str {
        if self.sync == Synchronisation::Conservative { "declared lookahead" } else { "in order" }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "sync": self.sync.name(), "sequential_event_seconds": self.sequential, "event_seconds": self.event,
            "message_seconds": self.message,
        })
    }

    pub(crate) fn text(&self) -> String {
        let [sequential, event] = [self.sequential, self.event].map(short);
        let message = self.message.map_or_else(
            || "messages from PE to PE are too few to tell what one takes".to_owned(),
            |message| format!("a message from PE to PE {} more", short(message)),
        );
        let sync = self.sync.name();
        format!(
            "Costs on this machine: an event takes {sequential} on the sequential engine and \
             {event} on one of 2 {sync} PEs;\n  {message}\n"
        )
    }
}

/// A time that may be very short.
fn short(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-6 => format!("{} ns", format::significant(seconds * 1e9, 3)),
        _ if seconds < 1e-3 => format!("{} µs", format::significant(seconds * 1e6, 3)),
        _ => format::duration(seconds),
    }
}

/// How long PEs worked on a core, in seconds.
fn working(parallel: &ParallelRecord) -> f64 {
    let phases = &parallel.phase_seconds;
    phases.list().iter().map(|(_, seconds)| seconds).sum::<f64>() - phases.idle - phases.off_core
}

/// The end of measuring runs, in model time; `None` if the explained run, which `took` this many
/// seconds, had too few events.
fn end(explanation: &Explanation, took: f64) -> Option<f64> {
    let findings = &explanation.findings;
    let events = findings.events as f64;
    if events < EVENTS_LEAST {
        return None;
    }
    let wanted = EVENTS_MOST.min(events * SECONDS_MOST / took);
    let mut before = 0.0;
    let slice = findings.slices.iter().find(|slice| {
        before += slice.work as f64;
        before / findings.work as f64 * events >= wanted
    });
    Some(slice.map_or(explanation.end, |slice| slice.to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use warpline_record::{PeRecord, Phases};

    fn record(pes: usize, phases: Phases, remote_events: u64) -> RunRecord {
        let parallel = ParallelRecord {
            phase_seconds: phases,
            remote_events,
            phase_samples: Some(99.0),
            pes: vec![PeRecord::default(); pes],
            ..ParallelRecord::default()
        };
        RunRecord {
            committed_events: 1_000_000,
            loop_seconds: 0.25,
            parallel: Some(parallel),
            ..sample::sequential(1e6)
        }
    }

    fn measured() -> Option<Costs> {
        let sequential = RunRecord { core_share: Some(0.8), ..record(0, Phases::default(), 0) };
        let one = Phases {
            event_processing: 0.1,
            send: 0.05,
            pending_set: 0.05,
            idle: 0.1,
            ..Phases::default()
        };
        let two = Phases { send: 0.09, receive: 0.06, gvt: 0.02, off_core: 0.7, ..one };
        Costs::of(
            Synchronisation::Conservative,
            &sequential,
            &record(1, one, 0),
            &record(2, two, 500_000),
        )
    }

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-9
    }

    #[test]
    fn events_and_messages_are_told_apart() {
        let costs = measured().unwrap();
        assert!(
            near(costs.sequential, 200e-9),
            "others had the core for a fifth of the time: {costs:?}"
        );
        assert!(
            near(costs.message.unwrap(), 200e-9),
            "0.06 s to receive and 0.04 s to send 500 000 of them: {costs:?}"
        );
        assert!(near(costs.event, 220e-9), "0.32 s without those 0.1 s: {costs:?}");
        assert!(costs.text().contains("on one of 2 conservative PEs"), "{}", costs.text());
    }

    #[test]
    fn costs_lower_the_ideal_speed_up() {
        let costs = measured().unwrap();
        let cores = CoreFindings {
            pes: 2,
            cores: 2,
            declared: 1.9,
            in_order: 2.0,
            messages: 500_000,
            ..sample::cores()
        };
        let expected = 0.2 / (0.22 / 1.9 + 0.25 * 0.2);
        assert!(
            near(costs.speed_up(&cores, 1_000_000), expected),
            "{}",
            costs.speed_up(&cores, 1_000_000)
        );
        let optimistic = Costs { sync: Synchronisation::Optimistic, ..costs };
        assert!(near(
            optimistic.speed_up(&CoreFindings { messages: 0, ..cores }, 1_000_000),
            0.2 / 0.11
        ));
    }

    #[test]
    fn few_samples_give_no_costs() {
        let sequential = record(0, Phases::default(), 0);
        let phases = Phases { event_processing: 0.1, ..Phases::default() };
        let of = |two: &RunRecord| {
            Costs::of(Synchronisation::Optimistic, &sequential, &record(1, phases, 0), two)
        };
        assert_eq!(
            of(&record(2, phases, 0)).map(|costs| costs.message),
            Some(None),
            "nothing travels"
        );
        let hardly = of(&record(2, Phases { receive: 0.1, ..phases }, 49_000)).unwrap();
        assert!(
            hardly.message.is_none()
                && near(hardly.event, 200e-9)
                && hardly.text().contains("too few to tell"),
            "{hardly:?}"
        );
        let mut few = record(2, phases, 0);
        few.parallel.as_mut().unwrap().phase_samples = Some(9.0);
        assert_eq!(
            (of(&few), of(&record(1, phases, 0)), of(&record(2, Phases::default(), 0))),
            (None, None, None)
        );
    }
}
