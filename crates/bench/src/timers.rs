//! What timers cost: connections that set a timer with each packet, as TCP does, against ones that
//! send themselves as many plain events.

use warpline::prelude::*;
use warpline::{Simulation, Synchronisation};
use warpline_bench::measuring::{alternate, tell};

/// What becomes of what is set with each packet.
const WAYS: [&str; 4] = ["plain", "fired", "cancelled", "rescheduled"];
/// The engines, and their numbers of PEs.
const ENGINES: [(&str, Synchronisation, u32); 3] = [
    ("sequential", Synchronisation::Sequential, 1),
    ("conservative", Synchronisation::Conservative, 2),
    ("optimistic", Synchronisation::Optimistic, 2),
];
/// How many packets there are in all.
const PACKETS: f64 = 4e6;
/// How many connections there are.
const CONNECTIONS: [u32; 2] = [1_000, 100_000];

#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Plain events, all of which happen.
    Plain,
    /// Timers, all of which fire.
    Fired,
    /// Timers that are cancelled and set anew with the next packet.
    Cancelled,
    /// The same by rescheduling.
    Rescheduled,
}

struct Connections {
    count: u32,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Packet,
    Timeout,
}

#[model]
impl Model for Connections {
    type State = Option<Timer>;
    type Event = Event;

    fn lps(&self) -> u32 {
        self.count
    }

    fn lookahead(&self) -> f64 {
        0.5
    }

    fn init(&self, lp: &mut Init<Self>) -> Option<Timer> {
        let first = lp.random().uniform();
        lp.send(lp.id(), first, Event::Packet);
        None
    }

    fn handle(&self, timeout: &mut Option<Timer>, event: &Event, lp: &mut Context<Self>) {
        const TIMEOUT: f64 = 3.0;
        if *event == Event::Timeout {
            return;
        }
        let gap = 0.5 + lp.random().uniform();
        lp.send(lp.id(), gap, Event::Packet);
        match self.way {
            Way::Plain => lp.send(lp.id(), TIMEOUT, Event::Timeout),
            Way::Fired => *timeout = Some(lp.send_later(TIMEOUT, Event::Timeout)),
            Way::Cancelled => {
                if let Some(timer) = *timeout {
                    lp.cancel(timer);
                }
                *timeout = Some(lp.send_later(TIMEOUT, Event::Timeout));
            }
            Way::Rescheduled => {
                let again = timeout.and_then(|timer| lp.reschedule(timer, TIMEOUT));
                *timeout = again.or_else(|| Some(lp.send_later(TIMEOUT, Event::Timeout)));
            }
        }
    }
}

/// Compares all ways, by how many packets go through in a second.
pub(crate) fn compare() {
    println!("Timers: packets per second, relative to plain events instead of timers\n");
    println!(
        "{:<14} {:>11} {:>11} {:>9} {:>9} {:>11}",
        "", "connections", "plain", "fired", "cancelled", "rescheduled"
    );
    for (engine, ..) in ENGINES {
        for connections in CONNECTIONS {
            let connections = connections.to_string();
            let rivals = WAYS.map(|way| vec!["timers", way, engine, &connections]);
            let rates = alternate(&rivals).into_iter().map(|measured| measured.rate);
            let rates: Vec<f64> = rates.collect();
            let relative = |way: usize| rates[way] / rates[0];
            println!(
                "{engine:<14} {connections:>11} {:>9.2} M {:>9.2} {:>9.2} {:>11.2}",
                rates[0] / 1e6,
                relative(1),
                relative(2),
                relative(3)
            );
        }
    }
    println!();
}

/// Measures one way in one engine.
pub(crate) fn measure(way: &str, engine: &str, connections: &str) {
    let ways = [Way::Plain, Way::Fired, Way::Cancelled, Way::Rescheduled];
    let way = WAYS.iter().zip(ways).find(|(name, _)| **name == way);
    let engine = ENGINES.iter().find(|(name, ..)| *name == engine);
    let (_, way) = way.expect("a way");
    let (_, sync, pes) = engine.expect("an engine");
    let count = connections.parse().expect("a number of connections");
    let end = PACKETS / f64::from(count);
    let run = Simulation::new(Connections { count, way })
        .sync(*sync)
        .threads(*pes)
        .end(end)
        .run()
        .expect("the model makes no mistakes");
    tell(PACKETS / run.record.wall_seconds);
}
