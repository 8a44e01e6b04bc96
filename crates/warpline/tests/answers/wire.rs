//! Events that serde writes: what it does not write, or reads back as something else, is an error that says which event it is.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use warpline::prelude::*;
use warpline::{Messages, Synchronisation};

/// What is on it goes round the LPs and grows.
#[derive(Clone, Debug, Default)]
struct Paper {
    notes: Vec<String>,
}

/// So many notes are not written, or not read.
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

impl Model for Ring {
    type State = usize;
    type Event = Paper;

    fn wire() -> Option<WireFormat<Paper>> {
        Some(WireFormat::serde())
    }

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
    ring(note, end).sync(Synchronisation::Optimistic).messages(Messages::Copy).threads(4).virtual_cluster(1)
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
    let Err(Error::Wire(why)) = cluster("whole", 100.0).run() else { panic!("too many notes") };
    // The one with 31 notes.
    assert!(
        why.contains("an event of LP 0 at time 32, sent by LP 3, cannot be written") && why.ends_with("Paper`: the paper is full"),
        "{why}"
    );
    let error = cluster("torn", 100.0).run().unwrap_err().to_string();
    for part in ["an event of LP 2 at time 22, sent by LP 1, cannot be read", "Paper`", "written and read back alike"] {
        assert!(error.contains(part), "`{part}` should be in: {error}");
    }
}
