//! `nasty-processes`: LPs whose processes do at random whatever processes can do. They sleep, wait
//! with and without a time-out, take resources from each other, exchange items, interrupt, cancel,
//! start and join each other, and make mistakes. Some LPs may handle events instead.
//!
//! Every run comes to an end, as each act takes some of the energy that processes begin with, and
//! share out to others. The model is sensitive: what comes of each act goes into a checksum of its
//! LP, and into rows.

mod acts;
mod handlers;
mod parameters;
mod yard;

use warpline::Configure;
use warpline::process::prelude::*;

use self::acts::worker;
pub(crate) use self::parameters::NastyProcessesParameters;
use self::yard::{ACTS, DEEDS, IN_USE, LEFT, LEVEL, Message, WAIT, Yard};

/// The model.
#[derive(Debug)]
pub(crate) struct NastyProcesses {
    parameters: Arc<NastyProcessesParameters>,
}

#[model]
impl ProcessModel for NastyProcesses {
    type Message = Message;

    fn lps(&self) -> u32 {
        self.parameters.lps
    }

    fn lookahead(&self) -> f64 {
        self.parameters.lookahead
    }

    fn kind(&self, lp: LpId) -> &str {
        ["even", "odd"][lp.index() % 2]
    }

    fn unbiased_ties(&self) -> bool {
        self.parameters.unbiased
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(ACTS, "acts", "", "acts of processes").series();
        declare.mean(WAIT, "wait", "", "time that requests wait");
        declare.time_mean(IN_USE, "in-use", "", "units in use").series();
        declare.time_mean(LEVEL, "level", "", "levels of tanks");
        declare.counter(LEFT, "left", "", "requests that wait at the end");
        declare.table(DEEDS, "deeds", &[("act", ""), ("word", "")]);
    }

    /// Starts processes, and one for each message that no other process takes.
    async fn run(self: Arc<Self>, sim: Sim<Message>) {
        let yard = Yard::new(sim, Arc::clone(&self.parameters));
        for _ in 0..self.parameters.starters {
            yard.start(worker(yard.clone(), self.parameters.energy));
        }
        loop {
            let message = sim.receive().await;
            yard.note(u32::MAX, message.word);
            if message.energy > 0 {
                yard.start(worker(yard.clone(), message.energy));
            }
        }
    }
}

impl Configure for NastyProcesses {
    type Parameters = NastyProcessesParameters;

    const NAME: &'static str = "nasty-processes";
    const ABOUT: &'static str = "processes that do at random whatever processes can do";
    const TIME_UNIT: &'static str = "";
    const DEFAULT_END: f64 = 1e6;

    fn configure(parameters: &NastyProcessesParameters) -> Result<Self, String> {
        Ok(NastyProcesses { parameters: Arc::new(parameters.clone()) })
    }
}
