//! `simplesim`: event lists that grow to a limit, and messages of any size between them. It shows
//! what the size of messages costs.
//!
//! Source: SimpleSim in G. F. Riley, "Hardware Supported Multi-Core Communications for Efficient
//! Parallel Discrete Event Simulations", final technical report, Georgia Institute of Technology.
//! There every LP is a process with an event list of its own. Executing an event sends a message to
//! any LP, and a second one if the list is shorter than a limit. The message says when it is to be
//! executed: 1 to 5 s from now, plus the lookahead.
//!
//! **The length of a list.** In the source, a message is in its receiver's list as soon as the
//! receiver has looked for mail, so lengths depend on how fast the machine is. Here they follow
//! from the model alone: a message travels for as long as the lookahead, then enters the list,
//! where it waits for its remaining 1 to 5 s. So one event of the source is two events here,
//! `Arrive` and `Execute`, and a message on its way is not yet in any list.
//!
//! **Growth.** As long as lists are short, every event leads to two others. Afterwards every event
//! leads to one. So the number of messages never falls, and rises only when a list happens to be
//! shorter than the limit. Lists grow beyond the limit: while they grow towards it, more messages
//! are on their way than wait in lists.
//!
//! **Memory.** With the default lookahead and fully grown lists, there are about 3.4 × `limit`
//! messages per LP: 3/8 wait in lists and 5/8 are on their way. The longest list has about 1.5 ×
//! `limit`. All messages are pending events, and each has its own bytes: 8 LPs with the default
//! limit have 135 000 messages, which take 80 MB if they have 500 bytes and 9 GB if they have 50
//! 000. Memory is proportional to `limit`. The source counts messages on their way as part of a
//! list; a limit of 1500 makes about as many messages here.
//!
//! **How long memory suffices.** Messages travel independently, so the length of a grown list is a
//! binomial number. With m messages per list on average, an event finds a list below the limit L
//! with a probability of at most exp(-(m - L)²/2m) (Chernoff). For m = L + 18 + 6 √(L + 9), that is
//! less than once in 6 × 10⁷ executed events. So in the source's 25 000 s there are at most 8/3 of
//! that per LP, or 3.5 × L where L is larger than a few hundred, as more are made while lists grow.
//! Executed messages are freed, and memory does not grow afterwards: with a limit of 500, a
//! sequential run takes as much in 1000 s as in 25 000 s.
//!
//! **Undo by hand.** Read this model for reverse code: [`reverse`](Model::reverse) undoes `handle`
//! in three ways. It computes back what it can: it subtracts what was added, and derives the number
//! of messages that an event made from the length that it left. What cannot be computed back, such
//! as the time since which a list has had its length, `handle` saves and `reverse` restores, here
//! by `Level::set` and `unset`. The rest needs no code, as the engine undoes sends, statistics and
//! draws. The model has a journal, too: `handle` changes its state by `lp.change` alone.
//!
//! **Time.** Large messages take no longer than small ones: memory is cleared only where an earlier
//! message has written, messages are passed on without a copy, and sender and receiver touch 8
//! bytes at either end.

use warpline::Outcome;
use warpline::prelude::*;
use warpline::serde_json::json;

/// The parameters of `simplesim`.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct SimpleSimParameters {
    /// Number of LPs, each with an event list.
    #[parameter(default = 8, range = 1..)]
    pub lps: u32,
    /// Length of an LP's event list from which on its events send one message each, and no second
    /// one.
    #[parameter(unit = "events", default = 5000, range = 0..=1_000_000_000)]
    pub limit: u32,
    /// Time that a message takes to its receiver, where it waits for another 1 to 5 s: the
    /// lookahead.
    #[parameter(unit = "s", default = 5.0, range = 0.0..=1e9)]
    pub lookahead: f64,
    /// Size of every message. Memory is needed for all that have not been executed: some 3.4 times
    /// `limit` and `lps`.
    #[parameter(unit = "bytes", default = 500, range = 0..=65_536)]
    pub message_size: u32,
}

/// The model.
#[derive(Debug)]
pub struct SimpleSim {
    parameters: SimpleSimParameters,
}

/// The state of an LP.
#[derive(Clone, Copy, Debug, PartialEq, Journaled)]
pub struct State {
    /// The length of its event list.
    pub length: Level,
    /// Messages made: the first one, and those sent.
    pub made: u64,
    /// The sum of the checksums of all messages executed.
    pub checksum: u64,
}

/// What happens to an LP.
#[derive(Clone, Debug, PartialEq, Portable)]
pub enum Event {
    /// A message arrives and enters the list.
    Arrive {
        /// How long it waits there, in s.
        wait: f64,
        /// Its content.
        bytes: Payload,
    },
    /// A message from the list is executed.
    Execute {
        /// Its content.
        bytes: Payload,
    },
}

const _: () = assert!(size_of::<Event>() == 16);

const EXECUTED: Counter = Counter::slot(0);
const SENT: Counter = Counter::slot(1);
const RECEIVED: Counter = Counter::slot(2);
const IN_LISTS: TimeMean = TimeMean::slot(3);
const CHECKSUM: Counter = Counter::slot(4);

/// The first event of each LP is executed before this time, in s.
const FIRST_BEFORE: f64 = 5.0;
/// The shortest and the longest time that a message waits in a list, in s.
const WAIT: [f64; 2] = [1.0, 5.0];
/// The number of bytes that are marked at each end of a message.
const MARK: usize = size_of::<u64>();

impl SimpleSim {
    /// Sends a message to any LP.
    fn send_message(&self, state: &mut State, lp: &mut Context<Self>) {
        let to = lp.random().below(self.parameters.lps);
        let wait = WAIT[0] + (WAIT[1] - WAIT[0]) * lp.random().uniform();
        let bytes = self.bytes_of(lp.id(), state.made);
        *lp.change(&mut state.made) += 1;
        lp.count(SENT, 1);
        lp.send(to, self.parameters.lookahead, Event::Arrive { wait, bytes });
    }

    /// The bytes of message `number` of LP `from`. Marks at both ends tell them from those of any
    /// other message; the bytes in between are zero.
    fn bytes_of(&self, from: LpId, number: u64) -> Payload {
        let mut bytes = Payload::zeroed(self.parameters.message_size as usize);
        let mark = (number << 32 | u64::from(from.0)).to_le_bytes();
        let mark = &mark[..bytes.len().min(MARK)];
        bytes.write_at(0, mark);
        bytes.write_at(bytes.len() - mark.len(), mark);
        bytes
    }

    /// Whether an event that has left a list of this length sends a second message.
    fn sends_second(&self, length: Level) -> bool {
        length.get() < f64::from(self.parameters.limit)
    }
}

/// A number that depends on the length and on both marks.
fn checksum(bytes: &[u8]) -> u64 {
    let word = |mark: &[u8]| {
        mark.iter().take(MARK).rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    let end = &bytes[bytes.len().saturating_sub(MARK)..];
    // Fowler, Noll and Vo's hash, by words.
    [bytes, end]
        .into_iter()
        .fold(bytes.len() as u64, |sum, mark| (sum ^ word(mark)).wrapping_mul(0x100_0000_01b3))
}

#[model(compare, journal)]
impl Model for SimpleSim {
    type State = State;
    type Event = Event;

    fn lps(&self) -> u32 {
        self.parameters.lps
    }

    fn lookahead(&self) -> f64 {
        self.parameters.lookahead
    }

    fn declare(&self, declare: &mut Declarations) {
        declare
            .counter(EXECUTED, "executed", "events", "events of all lists that were executed")
            .series();
        declare.counter(SENT, "sent", "messages", "messages sent");
        declare.counter(RECEIVED, "received", "messages", "messages that entered a list");
        declare.time_mean(IN_LISTS, "in_lists", "events", "events in all lists together").series();
        declare.counter(
            CHECKSUM,
            "checksum",
            "",
            "sum of what executed messages brought since time 0, modulo 2^32 per LP",
        );
        declare.result(
            "list_length",
            "events",
            "length of an LP's list over time and LPs; `max` is the longest list that any LP had",
        );
        declare.headlines(&["executed", "sent", "list_length", "list_length.max"]);
    }

    fn init(&self, lp: &mut Init<Self>) -> State {
        let delay = FIRST_BEFORE * lp.random().uniform();
        lp.send(lp.id(), delay, Event::Execute { bytes: self.bytes_of(lp.id(), 0) });
        State { length: Level::new(1.0, IN_LISTS, lp), made: 1, checksum: 0 }
    }

    fn handle(&self, state: &mut State, event: &Event, lp: &mut Context<Self>) {
        match event {
            Event::Arrive { wait, bytes } => {
                state.length.set(state.length.get() + 1.0, IN_LISTS, lp);
                lp.count(RECEIVED, 1);
                lp.send(lp.id(), *wait, Event::Execute { bytes: bytes.clone() });
            }
            Event::Execute { bytes } => {
                state.length.set(state.length.get() - 1.0, IN_LISTS, lp);
                *lp.change(&mut state.checksum) = state.checksum.wrapping_add(checksum(bytes));
                lp.count(EXECUTED, 1);
                self.send_message(state, lp);
                if self.sends_second(state.length) {
                    self.send_message(state, lp);
                }
            }
        }
    }

    fn payload(event: &Event) -> Option<&Payload> {
        let (Event::Arrive { bytes, .. } | Event::Execute { bytes }) = event;
        Some(bytes)
    }

    fn reverse(&self, state: &mut State, event: &Event, lp: &mut Reverse<Self>) {
        match event {
            Event::Arrive { .. } => state.length.unset(lp),
            Event::Execute { bytes } => {
                state.made -= 1 + u64::from(self.sends_second(state.length));
                state.checksum = state.checksum.wrapping_sub(checksum(bytes));
                state.length.unset(lp);
            }
        }
    }

    fn finish(&self, state: &State, lp: &mut Finish<Self>) {
        lp.count(CHECKSUM, state.checksum & u64::from(u32::MAX));
    }

    fn results(&self, outcome: &Outcome) -> Results<Self> {
        let all = outcome.statistics.time_mean(IN_LISTS);
        let [mean, ci95] =
            [all.mean, all.ci95].map(|sum| sum.map(|sum| sum / f64::from(self.parameters.lps)));
        let longest = all.sum_of.map(|lists| lists.max).or(all.max);
        let mut length = json!({ "mean": mean, "ci95": ci95, "max": longest });
        if let Some(note) = all.ci95_note() {
            length["ci95_note"] = note.into();
        }
        let [executed, sent, received, checksum] =
            [EXECUTED, SENT, RECEIVED, CHECKSUM].map(|counter| outcome.statistics.counter(counter));
        json!({ "executed": executed, "sent": sent, "received": received, "list_length": length, "checksum": checksum }).into()
    }
}

impl Configure for SimpleSim {
    type Parameters = SimpleSimParameters;

    const NAME: &'static str = "simplesim";
    const ABOUT: &'static str =
        "event lists that grow to a limit, and messages of any size between them";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 25_000.0;

    fn configure(parameters: &SimpleSimParameters) -> Result<Self, String> {
        Ok(SimpleSim { parameters: parameters.clone() })
    }
}
