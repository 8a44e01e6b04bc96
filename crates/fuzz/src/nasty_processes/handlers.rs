//! LPs that handle events beside the processes: they pass messages on, with what is left of their
//! energy, and set and cancel timers. They go ahead in mixed runs.

use warpline::base::random::{Random, fold64};
use warpline::process::prelude::*;

use super::NastyProcesses;
use super::yard::{ACTS, Message};

/// The stream that decides what such LPs do.
const CHOICES: u8 = 2;

/// An LP that handles events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Handler {
    checksum: u64,
    timer: Option<Timer>,
}

impl NastyProcesses {
    /// What a message with this energy is split into, and where and after which delay each part goes.
    fn split(&self, mut energy: u32, now: f64, this: LpId, random: &mut Random) -> Vec<Part> {
        let parameters = &self.parameters;
        let mut parts = Vec::new();
        while energy > 0 {
            let share = 1 + random.below(energy);
            energy -= share;
            let to = LpId(random.below(parameters.lps));
            let least = if to == this { 0.0 } else { parameters.lookahead };
            let more = match random.bernoulli(parameters.zero) {
                true => 0.0,
                false => parameters.delays.draw(now, random),
            };
            let word = random.next_u64();
            let delay = least + more;
            parts.push(Part { to, delay, message: Message { word, energy: share - 1 } });
        }
        parts
    }
}

/// A message to be sent.
struct Part {
    to: LpId,
    delay: f64,
    message: Message,
}

impl MixedModel for NastyProcesses {
    type State = Handler;

    fn is_process(&self, lp: LpId) -> bool {
        lp.0 % 4 >= self.parameters.handlers
    }

    fn init(&self, lp: &mut Init<Mixed<Self>>) -> Handler {
        let energy = self.parameters.starters.saturating_mul(self.parameters.energy);
        lp.send(lp.id(), 0.0, Message { word: 0, energy }.into());
        Handler::default()
    }

    fn handle(&self, state: &mut Handler, message: &Message, lp: &mut Context<Mixed<Self>>) {
        lp.count(ACTS, 1);
        let seen = fold64(lp.now().to_bits(), message.word);
        state.checksum = fold64(state.checksum, seen);
        let (now, this) = (lp.now(), lp.id());
        for part in self.split(message.energy, now, this, lp.stream(CHOICES)) {
            let Part { to, delay, message } = part;
            if to != this {
                lp.send(to, delay, message.into());
                continue;
            }
            let was_pending = state.timer.is_some_and(|timer| lp.cancel(timer));
            state.checksum = fold64(state.checksum, u64::from(was_pending));
            state.timer = Some(lp.send_later(delay, message.into()));
        }
    }
}
