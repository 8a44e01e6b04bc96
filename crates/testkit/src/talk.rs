//! A model some of whose events cannot be written as bytes, or not be read back. They are only
//! events that never happen.

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use warpline::prelude::*;

/// The events of [`Gossips`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Talk {
    /// Its receiver says what it has heard.
    Rumour,
    /// Its receiver counts it.
    Fact,
    /// Refuses to be written.
    Secret,
    /// Panics when it is written.
    Slip,
    /// Panics when it is read.
    Riddle,
}

const TALK: [Talk; 5] = [Talk::Rumour, Talk::Fact, Talk::Secret, Talk::Slip, Talk::Riddle];

impl Serialize for Talk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Talk::Secret => Err(S::Error::custom("it is a secret")),
            Talk::Slip => panic!("a slip of the pen"),
            talk => (*talk as u8).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Talk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let talk = TALK[u8::deserialize(deserializer)? as usize];
        if talk == Talk::Riddle { panic!("nobody can read that") } else { Ok(talk) }
    }
}

/// LPs that pass rumours on. One that has heard too few facts by then sends events that cannot be
/// carried as bytes. In the order of events no LP does, but where events are executed too early,
/// many do.
#[derive(Clone, Copy, Debug)]
pub struct Gossips {
    /// How many LPs there are.
    pub lps: u32,
    /// Whether all LPs also send such events for a time beyond the end.
    pub beyond: bool,
    /// What LP 0 sends the last LP at time 4.9, if anything. It arrives a unit later.
    pub says: Option<Talk>,
}

#[model]
impl Model for Gossips {
    type State = (u64, u64);
    type Event = Talk;

    fn lps(&self) -> u32 {
        self.lps
    }

    /// In each unit of time, every LP hears a fact from every LP, and at the end of it a rumour
    /// from itself.
    fn init(&self, lp: &mut Init<Self>) -> (u64, u64) {
        lp.send(lp.id(), 0.9, Talk::Rumour);
        for to in 0..self.lps {
            let delay = 0.1 + 0.5 * lp.random().uniform();
            lp.send(to, delay, Talk::Fact);
        }
        (0, 0)
    }

    fn handle(&self, (facts, sum): &mut (u64, u64), talk: &Talk, lp: &mut Context<Self>) {
        *sum = sum.wrapping_mul(31).wrapping_add(lp.random().next_u64() ^ *talk as u64);
        match talk {
            Talk::Fact => *facts += 1,
            Talk::Rumour => {
                if let (Some(talk), LpId(0), 4.9) = (self.says, lp.id(), lp.now()) {
                    lp.send(self.lps - 1, 1.0, talk);
                }
                let all_heard = *facts == u64::from(self.lps) * lp.now().ceil() as u64;
                lp.send(lp.id(), 1.0, Talk::Rumour);
                for to in 0..self.lps {
                    let delay = 0.2 + 0.5 * lp.random().uniform();
                    let other = TALK[2 + (to as usize + lp.id().0 as usize) % 3];
                    lp.send(to, delay, if all_heard { Talk::Fact } else { other });
                    if self.beyond {
                        lp.send(to, 1e6, other);
                    }
                }
            }
            _ => {}
        }
    }
}
