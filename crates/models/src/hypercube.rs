//! `hypercube`: messages routed through a binary hypercube, whose nodes send one at a time.
//!
//! Source: the hypercube of R. Fujimoto and K. Panesar, "Buffer management in shared-memory Time
//! Warp systems", PADS 1995, §7.1, with 7 dimensions, 2048 messages and uniform lengths. They are
//! routed by e-cube: a node passes a message on across the lowest dimension in which its own number
//! differs from that of the destination. A node sends one message at a time, first come, first
//! served, and takes as long for each as the message is long; then the message travels to the next
//! node. A message that has reached its destination gets a new one, and enters the network again
//! there. The paper gives neither the range of lengths nor the delays of links; those here are
//! ours.
//!
//! **One event per hop.** Messages are served in order of arrival, so a message's departure follows
//! from when the node is done with the earlier ones. A node keeps this one number, and an arrival
//! is the only kind of event.
//!
//! **Truth.** Destinations are uniform over the other nodes, so in d dimensions messages make d
//! 2^(d-1) / (2^d - 1) hops on average. The number of messages never changes: by Little's law it is
//! their throughput times the time that each takes. If exponential lengths are drawn anew at every
//! node, this is a network of W. Gordon and G. Newell ("Closed queuing systems with exponential
//! servers", Operations Research 15(2), 1967), and mean value analysis gives its throughput.

use warpline::Outcome;
use warpline::prelude::*;
use warpline::serde_json::json;

/// The parameters of `hypercube`.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct HypercubeParameters {
    /// Number of dimensions; there are 2^`dimensions` nodes, each of which is an LP.
    #[parameter(default = 7, range = 1..=16)]
    pub dimensions: u32,
    /// Messages in the network, a constant number; they start at the nodes in turn.
    #[parameter(unit = "messages", default = 2048, range = 1..=100_000_000)]
    pub in_flight: u32,
    /// Length of the shortest message: how long a node takes to send it.
    #[parameter(unit = "ms", default = 0.5, range = 0.0..=1e6)]
    pub shortest: f64,
    /// Length of the longest message.
    #[parameter(unit = "ms", default = 1.5, range = 1e-6..=1e6)]
    pub longest: f64,
    /// How lengths are distributed: evenly from the shortest to the longest, or exponentially with
    /// the same mean.
    #[parameter(default = Lengths::Uniform)]
    pub lengths: Lengths,
    /// Whether a message gets a new length at every node, as the theory assumes; otherwise it keeps
    /// its length until it has arrived.
    #[parameter(default = false)]
    pub redraw: bool,
    /// How long a message travels from node to node once it is sent.
    #[parameter(unit = "ms", default = 0.1, range = 0.0..=1e6)]
    pub propagation: f64,
}

/// How lengths are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum Lengths {
    /// Evenly between two bounds.
    Uniform,
    /// Exponentially, with the mean of the two bounds.
    Exponential,
}

/// The model.
#[derive(Debug)]
pub struct Hypercube {
    parameters: HypercubeParameters,
}

/// A node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Journaled)]
pub struct State {
    /// When it will have sent all messages that have arrived so far, in ms.
    pub done: f64,
}

/// A message arrives at a node.
#[derive(Clone, Copy, Debug, PartialEq, Portable)]
pub struct Message {
    /// When it entered the network, in ms.
    pub entered: f64,
    /// Its length, in ms.
    pub length: f32,
    /// Where it entered.
    pub source: u16,
    /// Where it goes.
    pub destination: u16,
}

const _: () = assert!(size_of::<Message>() == 16);

const DELIVERED: Counter = Counter::slot(0);
const HOPS: Mean = Mean::slot(1);
const TIME: Mean = Mean::slot(2);
const WAIT: Mean = Mean::slot(3);

impl Hypercube {
    fn nodes(&self) -> u32 {
        1 << self.parameters.dimensions
    }

    fn length(&self, random: &mut Random) -> f32 {
        let HypercubeParameters { shortest, longest, lengths, .. } = self.parameters;
        let length = match lengths {
            Lengths::Uniform => shortest + (longest - shortest) * random.uniform(),
            Lengths::Exponential => random.exponential((shortest + longest) / 2.0),
        };
        // Rounding must not make it shorter than the declared lookahead.
        (length as f32).max(self.shortest())
    }

    /// The shortest length as messages carry it.
    fn shortest(&self) -> f32 {
        if self.parameters.lengths == Lengths::Uniform {
            self.parameters.shortest as f32
        } else {
            0.0
        }
    }

    /// A message that enters the network at a node.
    fn enter(&self, source: LpId, now: f64, random: &mut Random) -> Message {
        let other = random.below(self.nodes() - 1);
        let destination = if other < source.0 { other } else { other + 1 };
        Message {
            entered: now,
            length: self.length(random),
            source: source.0 as u16,
            destination: destination as u16,
        }
    }

    /// Where a node passes a message on to: across the lowest dimension in which the node differs
    /// from the destination.
    fn next(node: LpId, message: &Message) -> u32 {
        let differing = node.0 ^ u32::from(message.destination);
        node.0 ^ (differing & differing.wrapping_neg())
    }

    /// For a message that reaches a node at `now` and waits for `wait`: its delay to the next node,
    /// and the time at which this node has sent it.
    fn transmission(&self, wait: f64, now: f64, message: &Message) -> (f64, f64) {
        // Added up in this order, rounding cannot make the delay shorter than the lookahead.
        let done = wait + f64::from(message.length);
        (done + self.parameters.propagation, now + done)
    }
}

#[model(compare, journal)]
impl Model for Hypercube {
    type State = State;
    type Event = Message;

    fn lps(&self) -> u32 {
        self.nodes()
    }

    fn links(&self, node: LpId) -> Option<Vec<Link>> {
        let lookahead = f64::from(self.shortest()) + self.parameters.propagation;
        Some(
            (0..self.parameters.dimensions)
                .map(|dimension| Link { to: LpId(node.0 ^ 1 << dimension), lookahead })
                .collect(),
        )
    }

    fn declare(&self, declare: &mut Declarations) {
        declare
            .counter(
                DELIVERED,
                "delivered",
                "messages",
                "messages that have reached their destination",
            )
            .series();
        declare.mean(HOPS, "hops", "", "hops from source to destination");
        declare.mean(TIME, "time", "ms", "time from source to destination").series();
        declare
            .mean(WAIT, "wait", "ms", "time that a message waits at a node before it is sent")
            .series();
        declare.result(
            "in_network",
            "messages",
            "throughput times mean time: by Little's law, the messages in the network",
        );
        declare.result(
            "utilisation",
            "",
            "share of time that a node sends: messages that it sends \
                                           per ms, times their mean length",
        );
        declare.headlines(&["time", "hops", "delivered", "utilisation"]);
    }

    fn init(&self, lp: &mut Init<Self>) -> State {
        let nodes = self.nodes();
        let messages = self.parameters.in_flight;
        let own = messages / nodes + u32::from(lp.id().0 < messages % nodes);
        let mut state = State::default();
        for _ in 0..own {
            let message = self.enter(lp.id(), 0.0, lp.random());
            let (delay, done) = self.transmission(state.done, 0.0, &message);
            state.done = done;
            lp.send(Self::next(lp.id(), &message), delay, message);
        }
        state
    }

    fn handle(&self, node: &mut State, message: &Message, lp: &mut Context<Self>) {
        let me = lp.id();
        let now = lp.now();
        let mut message = *message;
        if u32::from(message.destination) == me.0 {
            lp.count(DELIVERED, 1);
            lp.observe(HOPS, f64::from((message.source ^ message.destination).count_ones()));
            lp.observe(TIME, now - message.entered);
            message = self.enter(me, now, lp.random());
        } else if self.parameters.redraw {
            message.length = self.length(lp.random());
        }
        lp.save(node.done);
        let wait = (node.done - now).max(0.0);
        lp.observe(WAIT, wait);
        let (delay, done) = self.transmission(wait, now, &message);
        *lp.change(&mut node.done) = done;
        lp.send(Self::next(me, &message), delay, message);
    }

    fn reverse(&self, node: &mut State, _: &Message, lp: &mut Reverse<Self>) {
        node.done = lp.restore();
    }

    fn results(&self, outcome: &Outcome) -> Results<Self> {
        let statistics = outcome.statistics;
        let observed = outcome.end - outcome.warmup;
        let HypercubeParameters { shortest, longest, .. } = self.parameters;
        let sent = statistics.mean(WAIT).count as f64 / (observed * f64::from(self.nodes()));
        let throughput = statistics.counter(DELIVERED) as f64 / observed;
        Results::of(statistics)
            .with("utilisation", json!(sent * (shortest + longest) / 2.0))
            .with("in_network", json!(statistics.mean(TIME).mean.map(|time| throughput * time)))
    }
}

impl Configure for Hypercube {
    type Parameters = HypercubeParameters;

    const NAME: &'static str = "hypercube";
    const ABOUT: &'static str =
        "messages on their way through a hypercube, whose nodes send one after the other";
    const TIME_UNIT: &'static str = "ms";
    const DEFAULT_END: f64 = 10_000.0;

    fn configure(parameters: &HypercubeParameters) -> Result<Self, String> {
        let HypercubeParameters { shortest, longest, .. } = *parameters;
        if shortest > longest {
            return Err(format!(
                "the shortest message, {shortest} ms, is longer than the longest, {longest} ms: \
                 exchange them"
            ));
        }
        Ok(Hypercube { parameters: parameters.clone() })
    }
}
