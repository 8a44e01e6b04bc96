//! Timers that are set, cancelled and rescheduled have one answer in every engine, whatever is
//! undone.

use warpline::prelude::*;
use warpline::{Cancellation, EventCost, GoAhead, Synchronisation};
use warpline_testkit::time_limit;

/// Connections that send each other packets. Each packet is acknowledged, or the timer of its
/// sender fires and the packet is sent again: stop and wait over a network that loses packets.
struct StopAndWait {
    lps: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Portable)]
enum Event {
    /// To be acknowledged.
    Packet {
        from: u32,
        number: u32,
    },
    Acknowledgement {
        number: u32,
    },
    Timeout {
        number: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Journaled)]
struct Connection {
    number: u32,
    timeout: Option<Timer>,
    retransmitted: u32,
    late: u32,
}

impl StopAndWait {
    fn transmit(&self, number: u32, lp: &mut impl Acting<Self>) -> Timer {
        let to = (lp.id().0 + 1 + lp.random().below(self.lps - 1)) % self.lps;
        let flight = 0.05 + lp.random().exponential(0.2);
        if !lp.random().bernoulli(0.2) {
            lp.send(to, flight, Event::Packet { from: lp.id().0, number });
        }
        lp.send_later(1.0, Event::Timeout { number })
    }
}

#[model(journal)]
impl Model for StopAndWait {
    type State = Connection;
    type Event = Event;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        0.05
    }

    fn init(&self, lp: &mut Init<Self>) -> Connection {
        let timeout = Some(self.transmit(1, lp));
        Connection { number: 1, timeout, retransmitted: 0, late: 0 }
    }

    fn handle(&self, state: &mut Connection, event: &Event, lp: &mut Context<Self>) {
        match *event {
            Event::Packet { from, number } => {
                let flight = 0.05 + lp.random().exponential(0.4);
                lp.send(from, flight, Event::Acknowledgement { number });
            }
            Event::Acknowledgement { number } if number == state.number => {
                if let Some(timer) = state.timeout {
                    lp.cancel(timer);
                }
                *lp.change(&mut state.number) += 1;
                let timeout = Some(self.transmit(state.number, lp));
                *lp.change(&mut state.timeout) = timeout;
            }
            Event::Acknowledgement { .. } => *lp.change(&mut state.late) += 1,
            Event::Timeout { number } => {
                assert_eq!(number, state.number, "an acknowledged packet does not time out");
                *lp.change(&mut state.retransmitted) += 1;
                let timeout = Some(self.transmit(number, lp));
                *lp.change(&mut state.timeout) = timeout;
            }
        }
    }
}

fn simulation(end: f64) -> Simulation<'static, StopAndWait> {
    Simulation::new(StopAndWait { lps: 12 }).end(end).seed(3)
}

#[test]
fn what_is_acknowledged_does_not_time_out_in_any_engine() {
    let _limit = time_limit("stop and wait in all engines");
    let expected = simulation(60.0).sync(Synchronisation::Sequential).run().expect("it runs");
    assert!(expected.states.iter().all(|state| state.retransmitted > 0 && state.number > 10));
    let optimistic = || simulation(60.0).sync(Synchronisation::Optimistic).threads(3);
    for parallel in [
        simulation(60.0).sync(Synchronisation::Conservative).threads(3),
        optimistic().cancellation(Cancellation::Aggressive),
        optimistic().cancellation(Cancellation::Lazy),
        optimistic().use_lookahead(false),
    ] {
        let found = parallel.run().expect("it runs");
        assert_eq!(found.record.digest, expected.record.digest);
        assert_eq!(found.record.committed_events, expected.record.committed_events);
        assert_eq!(found.states, expected.states);
    }
}

#[test]
fn undone_cancellations_come_back_by_every_way_to_undo() {
    let _limit = time_limit("stop and wait undone");
    let expected = simulation(40.0).sync(Synchronisation::Sequential).run().expect("it runs");
    for undo in [Undo::Copy, Undo::Journal] {
        let run = simulation(40.0).sync(Synchronisation::Optimistic).threads(3).undo(undo);
        let found = run.run().expect("it runs");
        assert_eq!(found.record.digest, expected.record.digest, "{undo:?}");
        assert_eq!(found.states, expected.states);
    }
    let run = simulation(40.0).sync(Synchronisation::Optimistic).threads(3).copy_interval(7);
    assert_eq!(run.run().expect("it runs").states, expected.states);
}

/// LPs that put far alarms off at every event.
struct PutOff {
    alarms: u32,
}

const PUTTING_OFF: u32 = 16;

#[model]
impl Model for PutOff {
    type State = Vec<Timer>;
    type Event = bool;

    fn lps(&self) -> u32 {
        PUTTING_OFF
    }

    fn lookahead(&self) -> f64 {
        0.2
    }

    fn init(&self, lp: &mut Init<Self>) -> Vec<Timer> {
        lp.send(lp.id(), 0.5, true);
        (0..self.alarms).map(|_| lp.send_later(1e9, false)).collect()
    }

    fn handle(&self, alarms: &mut Vec<Timer>, _: &bool, lp: &mut Context<Self>) {
        for alarm in alarms {
            *alarm = lp.reschedule(*alarm, 1e9).expect("it is far away");
        }
        let to = lp.random().below(PUTTING_OFF);
        let delay = 0.2 + lp.random().exponential(1.0);
        lp.send(to, delay, true);
    }
}

#[test]
fn cancelled_timers_give_their_memory_back_in_every_engine() {
    let _limit = time_limit("alarms put off");
    let simulation = || Simulation::new(PutOff { alarms: 1 }).end(6000.0);
    let expected = simulation().sync(Synchronisation::Sequential).run().expect("it runs");
    assert!(expected.record.committed_events > 60_000);
    for sync in [Synchronisation::Conservative, Synchronisation::Optimistic] {
        let run = simulation().sync(sync).threads(2).gvt_interval(500).run().expect("it runs");
        assert_eq!(run.record.digest, expected.record.digest);
        assert_eq!(run.states, expected.states);
        let parallel = run.record.parallel.expect("there were two PEs");
        let most = parallel.pes.iter().map(|pe| pe.buffers).max();
        assert!(most.is_some_and(|most| most < 20_000), "{sync:?}: {most:?} events at a time");
    }
}

/// What an undone event had sent far ahead is dropped before its turn comes.
#[test]
fn far_events_of_what_is_undone_do_not_pile_up() {
    let _limit = time_limit("alarms that are put off");
    let alarms = 4;
    let run = Simulation::new(PutOff { alarms })
        .end(18_000.0)
        .sync(Synchronisation::Optimistic)
        .threads(2)
        .virtual_cluster(7)
        .gvt_interval(50)
        .go_ahead(GoAhead::Always)
        .run()
        .expect("it runs");
    let parallel = run.record.parallel.as_ref().expect("there were PEs");
    let sent_by_undone = u64::from(alarms + 1) * parallel.rolled_back_events;
    assert!(sent_by_undone > 100_000, "much is undone: {sent_by_undone}");
    for pe in &parallel.pes {
        // What each event sends, for all that may be undone and the live ones. Between two sweeps,
        // there is twice as much, and as much again is sent before GVT is found.
        let kept = u64::from(alarms + 1) * (pe.history_max + u64::from(PUTTING_OFF));
        assert!(pe.buffers < 4 * kept, "{} buffers, where {kept} events may be kept", pe.buffers);
    }
}

#[test]
fn verify_undoes_what_events_do_with_timers() {
    let _limit = time_limit("stop and wait verified");
    for undo in [Undo::Copy, Undo::Journal] {
        let verified = simulation(20.0).undo(undo).verify().expect("timers are undone");
        assert!(verified.is_whole && verified.tried > 500, "{undo:?}: {} tried", verified.tried);
    }
}

/// Two LPs that wait for each other in turn. Each arrival cancels a far alarm and sets another, or
/// sends an event instead that never happens, either.
struct Turns {
    timers: bool,
}

#[model]
impl Model for Turns {
    type State = Option<Timer>;
    type Event = bool;

    fn lps(&self) -> u32 {
        2
    }

    fn init(&self, lp: &mut Init<Self>) -> Option<Timer> {
        if lp.id() == LpId(0) {
            lp.send(1, 1.0, true);
        }
        None
    }

    fn handle(&self, alarm: &mut Option<Timer>, turn: &bool, lp: &mut Context<Self>) {
        assert!(turn, "an alarm is cancelled before it is due");
        if self.timers {
            alarm.take().inspect(|alarm| assert!(lp.cancel(*alarm), "it is far away"));
            *alarm = Some(lp.send_later(2.5, false));
        } else {
            lp.send(lp.id(), 1e6, false);
        }
        lp.send(1 - lp.id().0, 1.0, true);
    }
}

#[test]
fn cancelled_timers_are_on_no_critical_path_and_in_no_count() {
    let explain = |timers| {
        let explained = Simulation::new(Turns { timers }).end(100.5).explain(EventCost::Counted);
        explained.expect("it can be explained")
    };
    let [with, without] = [true, false].map(explain);
    assert_eq!((with.findings.events, with.findings.path.events), (100, 100));
    assert_eq!(with.findings.path, without.findings.path);
    let run = Simulation::new(Turns { timers: true }).end(100.5).run().expect("it runs");
    assert_eq!(run.record.committed_events, 100);
    // The events of both have the same keys, as the alarm is sent before the turn.
    assert_eq!([with.digest, run.record.digest], [without.digest.clone(), without.digest]);
}
