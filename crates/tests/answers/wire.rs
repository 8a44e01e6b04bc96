//! Events that serde writes: an event that cannot be written or read back is a mistake of the
//! model, if the event happens.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use warpline::prelude::*;
use warpline::{Fault, Messages, Place, Synchronisation};
use warpline_testkit::scaled;
use warpline_testkit::talk::Gossips;

/// A sheet that goes round the LPs and gathers notes.
#[derive(Clone, Debug, Default)]
struct Paper {
    notes: Vec<String>,
}

/// The most notes that can be written, and that can be read if one is torn.
const MOST_WRITTEN: usize = 30;
const MOST_READ: usize = 20;

impl Serialize for Paper {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.notes.len() > MOST_WRITTEN {
            return Err(S::Error::custom("the paper is full"));
        }
        self.notes.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Paper {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let notes = Vec::<String>::deserialize(deserializer)?;
        let torn = notes.len() > MOST_READ && notes.iter().any(|note| note == "torn");
        if torn { Err(D::Error::custom("the paper is torn")) } else { Ok(Paper { notes }) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Ring {
    note: &'static str,
}

#[model]
impl Model for Ring {
    type State = usize;
    type Event = Paper;

    fn lps(&self) -> u32 {
        4
    }

    fn init(&self, lp: &mut Init<Self>) -> usize {
        if lp.id() == LpId(0) {
            lp.send(1, 1.0, Paper::default());
        }
        0
    }

    fn handle(&self, seen: &mut usize, paper: &Paper, lp: &mut Context<Self>) {
        *seen += paper.notes.len();
        let mut paper = paper.clone();
        paper.notes.push(self.note.to_owned());
        lp.send((lp.id().0 + 1) % 4, 1.0, paper);
    }
}

fn ring(note: &'static str, end: f64) -> Simulation<'static, Ring> {
    Simulation::new(Ring { note }).end(end)
}

fn cluster(note: &'static str, end: f64) -> Simulation<'static, Ring> {
    ring(note, end)
        .sync(Synchronisation::Optimistic)
        .messages(Messages::Copy)
        .threads(4)
        .virtual_cluster(1)
}

#[test]
fn events_with_vectors_and_strings_travel_as_bytes() {
    let expected = ring("torn", 19.0).run().expect("nothing is written");
    let found = cluster("torn", 19.0).run().expect("all can be read");
    assert_eq!((found.states, found.record.digest), (expected.states, expected.record.digest));
}

#[test]
fn what_cannot_be_written_or_read_says_which_event_it_is() {
    ring("whole", 100.0).run().expect("a sequential run writes nothing");
    // The sheets with 31 notes and with 21.
    for (note, lp, at, parts) in [
        ("whole", 0, 32.0, ["what LP 3 sent cannot be written", "Paper`: the paper is full"]),
        ("torn", 2, 22.0, ["what LP 1 sent cannot be read", "Paper`"]),
    ] {
        let Err(Error::Fault(failure)) = cluster(note, 100.0).run() else {
            panic!("too many notes")
        };
        assert!(
            matches!(failure.place, Place::Event { lp: LpId(found), time, .. } if (found, time) == (lp, at)),
            "{failure}"
        );
        assert_eq!(failure.committed as f64, at - 1.0, "all events before it");
        let Fault::Unreadable(why) = &failure.fault else { panic!("{failure}") };
        parts.iter().for_each(|part| assert!(why.contains(part), "`{part}` should be in: {why}"));
        assert!(failure.to_string().contains("written and read back alike"), "{failure}");
    }
}

/// An event that is undone or lies beyond the end is no mistake, even if it cannot be written or
/// read.
#[test]
fn events_that_never_happen_need_not_be_written_or_read() {
    let mut rolled_back = 0;
    for (beyond, seed) in (0..scaled(12)).map(|seed| (seed % 2 == 0, u64::from(seed))) {
        let simulation =
            || Simulation::new(Gossips { lps: 6, beyond, says: None }).end(12.0).seed(seed);
        let expected = simulation()
            .sync(Synchronisation::Sequential)
            .run()
            .expect("nobody says such a thing before the end");
        let parallel = simulation()
            .sync(Synchronisation::Optimistic)
            .messages(Messages::Copy)
            .threads(3)
            .virtual_cluster(seed);
        let found = parallel
            .batch(4)
            .window(10.0)
            .run()
            .unwrap_or_else(|why| panic!("cluster {seed}: {why}"));
        assert_eq!(
            (found.states, found.record.digest),
            (expected.states, expected.record.digest),
            "cluster {seed}"
        );
        let record = found.record.parallel.expect("a parallel run");
        rolled_back += record.rolled_back_events;
    }
    assert!(rolled_back > 0);
}
