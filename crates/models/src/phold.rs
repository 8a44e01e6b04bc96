//! PHOLD, the classic synthetic workload: a constant population of messages that hop between LPs
//! for ever.
//!
//! Source: Fujimoto, "Performance of Time Warp under synthetic workloads", SCS Distributed
//! Simulation (1990). Benchmarks of other engines send messages between processors. Here clusters
//! take their place: they belong to the model, so the answer does not depend on the engine.

mod parameters;
mod plots;

use std::fmt::Debug;
use std::hint::black_box;
use std::marker::PhantomData;

use warpline::prelude::*;
use warpline::record::View;
use warpline::{Outcome, Preset};

pub use self::parameters::PholdParameters;

/// The model. `R` is what a message carries besides its number, and limits the size of payloads:
/// `()` allows up to 8 bytes, [`Payload`] more.
#[derive(Debug)]
pub struct Phold<R: Rest = ()> {
    parameters: PholdParameters,
    /// LPs per cluster.
    cluster: u32,
    rest: PhantomData<fn() -> R>,
}

/// The state of an LP.
#[derive(Clone, Copy, Debug, PartialEq, Journaled)]
pub struct State {
    /// The sum of the words of all payloads received, to show that they arrive.
    pub payloads: u64,
    /// Messages sent to other clusters.
    pub remote: u64,
}

/// A message. Its payload is a number that changes from hop to hop, and the rest, which stays.
#[derive(Clone, Debug, PartialEq, Eq, Portable)]
pub struct Message<R> {
    /// The number.
    pub value: u64,
    /// The rest.
    pub rest: R,
}

/// What messages carry besides a number.
pub trait Rest: Clone + Debug + Eq + Portable + Send + 'static {
    /// The most bytes.
    const MOST: u32;

    /// This many bytes, counting up from `first` modulo 256.
    fn counting_from(first: u8, bytes: u32) -> Self;

    /// A number made of the length and the first byte, to show that the bytes have arrived.
    fn word(&self) -> u64;

    /// The bytes, if they are in a payload of their own.
    fn payload(&self) -> Option<&Payload>;
}

/// Nothing: a message is a value of 8 bytes.
impl Rest for () {
    const MOST: u32 = 0;

    fn counting_from(_: u8, _: u32) {}

    fn word(&self) -> u64 {
        0
    }

    fn payload(&self) -> Option<&Payload> {
        None
    }
}

/// Bytes that all hops of a message share.
impl Rest for Payload {
    const MOST: u32 = 65_536 - VALUE_BYTES;

    fn counting_from(first: u8, bytes: u32) -> Self {
        Payload::filled(bytes as usize, |rest| {
            for (index, byte) in rest.iter_mut().enumerate() {
                *byte = first.wrapping_add(index as u8);
            }
        })
    }

    fn word(&self) -> u64 {
        self.first().map_or(0, |&first| u64::from(first) + self.len() as u64)
    }

    fn payload(&self) -> Option<&Payload> {
        Some(self)
    }
}

/// The bytes of the number in a message.
const VALUE_BYTES: u32 = 8;

const REMOTE: Counter = Counter::slot(0);
const PAYLOADS: Counter = Counter::slot(1);

impl<R: Rest> Message<R> {
    /// A number that stands for the payload.
    fn word(&self) -> u64 {
        self.value.wrapping_add(self.rest.word())
    }
}

impl<R: Rest> Phold<R> {
    #[inline]
    fn delay(&self, random: &mut Random) -> f64 {
        random.exponential(self.parameters.mean) + self.parameters.lookahead
    }

    /// The receiver of a message from `from`, and whether it is in another cluster.
    #[inline]
    fn destination(&self, from: LpId, random: &mut Random) -> (u32, bool) {
        if self.parameters.clusters == 1 {
            (random.below(self.parameters.lps), false)
        } else {
            self.clustered(from.0, random)
        }
    }

    /// The same with several clusters. One draw decides both: once it has decided whether the
    /// message leaves its cluster, the rest of it, rescaled, is uniform again.
    fn clustered(&self, from: u32, random: &mut Random) -> (u32, bool) {
        let PholdParameters { clusters, reach, remote: share, .. } = self.parameters;
        let home = from / self.cluster;
        let draw = random.uniform();
        let remote = draw < share;
        let rest = if remote { draw / share } else { (draw - share) / (1.0 - share) };
        let among = |count: u32| ((rest * f64::from(count)) as u32).min(count - 1);
        if !remote {
            return (home * self.cluster + among(self.cluster), false);
        }
        let others = if reach == 0 { clusters - 1 } else { 2 * reach };
        let place = among(others * self.cluster);
        let step = place / self.cluster;
        let within = place % self.cluster;
        // Steps around the ring: 1, 2, … to all others, or -reach..=-1 and 1..=reach.
        let target = match reach {
            0 => home + 1 + step,
            _ if step < reach => home + clusters - reach + step,
            _ => home + 1 + step - reach,
        };
        ((target % clusters) * self.cluster + within, true)
    }

    fn work(&self) {
        let mut x = black_box(1.0f64);
        for _ in 0..self.parameters.epg {
            x = x * 0.999_999 + 1e-6;
        }
        black_box(x);
    }
}

#[model(journal)]
impl<R: Rest> Model for Phold<R> {
    type State = State;
    type Event = Message<R>;

    fn lps(&self) -> u32 {
        self.parameters.lps
    }

    fn lookahead(&self) -> f64 {
        self.parameters.lookahead
    }

    /// The cluster. With enough clusters, each lies on one PE.
    fn group(&self, lp: LpId) -> Option<u32> {
        (self.parameters.clusters > 1).then(|| lp.0 / self.cluster)
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(
            REMOTE,
            "remote_messages",
            "messages",
            "messages sent to another cluster since time 0",
        );
        declare.counter(
            PAYLOADS,
            "payload_sum",
            "",
            "sum of all payloads received since time 0, by number, first byte and length, modulo \
             2^32 per LP",
        );
        if self.parameters.plots {
            plots::declare(&self.parameters, declare);
        }
        declare.headlines(&["remote_messages"]);
    }

    fn init(&self, lp: &mut Init<Self>) -> State {
        for number in 0..self.parameters.population {
            let delay = self.delay(lp.random());
            let rest = R::counting_from(
                (lp.id().0 ^ number) as u8,
                self.parameters.payload.saturating_sub(VALUE_BYTES),
            );
            lp.send(lp.id(), delay, Message { value: u64::from(number), rest });
        }
        State { payloads: 0, remote: 0 }
    }

    fn handle(&self, state: &mut State, message: &Message<R>, lp: &mut Context<Self>) {
        if self.parameters.epg > 0 {
            self.work();
        }
        *lp.change(&mut state.payloads) = state.payloads.wrapping_add(message.word());
        let delay = self.delay(lp.random());
        let (to, remote) = self.destination(lp.id(), lp.random());
        if remote {
            *lp.change(&mut state.remote) += 1;
        }
        if self.parameters.plots {
            let id = lp.id();
            plots::observe(&self.parameters, delay, remote, lp, id);
        }
        lp.send(
            to,
            delay,
            Message { value: message.value ^ u64::from(to), rest: message.rest.clone() },
        );
    }

    fn payload(message: &Message<R>) -> Option<&Payload> {
        message.rest.payload()
    }

    fn reverse(&self, state: &mut State, message: &Message<R>, lp: &mut Reverse<Self>) {
        self.delay(lp.random());
        let (_, remote) = self.destination(lp.id(), lp.random());
        state.remote -= u64::from(remote);
        state.payloads = state.payloads.wrapping_sub(message.word());
    }

    fn finish(&self, state: &State, lp: &mut Finish<Self>) {
        lp.count(REMOTE, state.remote);
        lp.count(PAYLOADS, state.payloads & u64::from(u32::MAX));
    }

    fn views(&self, outcome: &Outcome) -> Vec<View> {
        if self.parameters.plots { plots::views(&self.parameters, outcome) } else { Vec::new() }
    }
}

/// RCPHOLD of K. Perumalla, A. Park and V. Tipparaju, ACM TOMACS 24(3), 2014, §4.1.1: σ LPs per
/// core and γ messages per LP, to neighbours among the cores. Here a cluster stands for a core, and
/// there are eight. The paper does not say how many messages leave their core: a tenth, here.
const PRESETS: &[Preset] = &[
    Preset {
        name: "rcphold-10-1000",
        about: "RCPHOLD of Perumalla, Park and Tipparaju (2014) with the structure (10, 1000): 10 \
                LPs per cluster, 1000 messages per LP",
        values: &[("lps", "80"), ("clusters", "8"), ("population", "1000"), ("reach", "1")],
    },
    Preset {
        name: "rcphold-100-100",
        about: "the same with the structure (100, 100): 100 LPs per cluster, 100 messages per LP",
        values: &[("lps", "800"), ("clusters", "8"), ("population", "100"), ("reach", "1")],
    },
];

impl<R: Rest> Configure for Phold<R> {
    type Parameters = PholdParameters;

    const NAME: &'static str = "phold";
    const ABOUT: &'static str =
        "the classic synthetic workload: messages that hop between LPs for ever";
    const TIME_UNIT: &'static str = "";
    const DEFAULT_END: f64 = 1000.0;

    fn configure(parameters: &PholdParameters) -> Result<Self, String> {
        let PholdParameters { lps, clusters, reach, payload, .. } = *parameters;
        if payload.saturating_sub(VALUE_BYTES) > R::MOST {
            return Err(format!(
                "a payload of {payload} bytes needs Phold<Payload>; this model has room for {}",
                R::MOST + VALUE_BYTES
            ));
        }
        if !lps.is_multiple_of(clusters) {
            return Err(format!(
                "{clusters} clusters do not divide {lps} LPs evenly; choose `clusters` among the \
                 divisors of `lps`"
            ));
        }
        // In u64, so that twice the reach does not overflow.
        if clusters > 1 && 2 * u64::from(reach) >= u64::from(clusters) {
            return Err(format!(
                "a reach of {reach} goes more than once around {clusters} clusters; choose `reach` \
                 below {}",
                clusters.div_ceil(2)
            ));
        }
        Ok(Phold { parameters: parameters.clone(), cluster: lps / clusters, rest: PhantomData })
    }

    fn presets() -> &'static [Preset] {
        PRESETS
    }

    fn notes(parameters: &PholdParameters) -> Vec<(&'static str, String)> {
        let mut notes = Vec::new();
        let mut idle = |name, why: &str| notes.push((name, format!("has no effect: {why}")));
        if parameters.clusters == 1 {
            for name in ["remote", "reach"] {
                idle(name, "there is one cluster; set `clusters` to 2 or more");
            }
        } else if parameters.remote == 0.0 {
            idle("reach", "no message leaves its cluster; set `remote` to more than 0");
        }
        if parameters.plots {
            notes.push((
                "plots",
                "takes time at every event: leave it out to measure speed".to_owned(),
            ));
        }
        notes
    }
}
