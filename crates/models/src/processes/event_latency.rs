//! Messages over a cable that takes time: SimPy's "event latency".
//!
//! The sender is one LP and the receiver another, so the two run on two cores. The length of the
//! cable is the lookahead.

use warpline::process::prelude::*;

/// The cable, and its parameters.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct EventLatency {
    /// Time that the cable takes for a message: the lookahead.
    #[parameter(default = 10.0, range = 0.0..=1e9)]
    pub cable: f64,
    /// Mean of a further delay of a message; these delays are exponential.
    #[parameter(default = 0.0, range = 0.0..=1e9)]
    pub jitter: f64,
    /// Time between messages.
    #[parameter(default = 5.0, range = 1e-6..=1e9)]
    pub gap: f64,
}

const SENT: Counter = Counter::slot(0);
const RECEIVED: Counter = Counter::slot(1);
const LATENCY: Mean = Mean::slot(2);

const SENDER: LpId = LpId(0);
const RECEIVER: LpId = LpId(1);

#[model]
impl ProcessModel for EventLatency {
    /// When it was sent.
    type Message = f64;

    fn lps(&self) -> u32 {
        2
    }

    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        Some(match lp {
            SENDER => vec![Link { to: RECEIVER, lookahead: self.cable }],
            _ => vec![],
        })
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SENT, "sent", "messages", "messages that were sent");
        declare.counter(RECEIVED, "received", "messages", "messages that were received");
        declare.mean(LATENCY, "latency", "", "time from sending a message to receiving it");
    }

    async fn run(self: Arc<Self>, sim: Sim<f64>) {
        if sim.id() == SENDER {
            loop {
                sim.sleep(self.gap).await;
                sim.send(RECEIVER, self.cable + sim.exponential(self.jitter), sim.now());
                sim.count(SENT, 1);
            }
        }
        loop {
            let sent = sim.receive().await;
            sim.count(RECEIVED, 1);
            sim.observe(LATENCY, sim.now() - sent);
        }
    }
}

impl Configure for EventLatency {
    type Parameters = Self;

    const NAME: &'static str = "event-latency";
    const ABOUT: &'static str = "messages over a cable that takes time";
    const TIME_UNIT: &'static str = "";
    const DEFAULT_END: f64 = 1000.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        Ok(parameters.clone())
    }
}
