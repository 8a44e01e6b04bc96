//! The work of each process, with any carrier: it executes its earliest event, which reads a
//! message and sends another one to a random process.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::thread::yield_now;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::carrier::Carrier;
use super::plan::{MESSAGES, Plan};
use super::rival::Use;

/// The lookahead, in ms.
const LOOKAHEAD: u64 = 5000;
/// The rest of a delay, in ms: its least, and its range above that.
const DELAY: [u64; 2] = [1000, 4000];
/// Times from here on are signals that a process has reached a stage.
const SIGNALS: u64 = u64::MAX - STAGES as u64;
/// How often all processes wait for each other: before they begin, and then once for each number
/// that they add up.
const STAGES: usize = 4;
/// A process looks at the clock after so many messages.
const BETWEEN_LOOKS: u32 = 64;
/// Longer than any process lets the others wait.
const PATIENCE: Duration = Duration::from_secs(60);
const LINE_BYTES: usize = 64;

/// A message in the list of a process.
struct Event<M> {
    time: u64,
    message: M,
}

impl<M> Ord for Event<M> {
    /// The earliest is the greatest, as heaps have the greatest on top.
    fn cmp(&self, other: &Self) -> Ordering {
        other.time.cmp(&self.time)
    }
}

impl<M> PartialOrd for Event<M> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<M> PartialEq for Event<M> {
    fn eq(&self, other: &Self) -> bool {
        self.time == other.time
    }
}

impl<M> Eq for Event<M> {}

/// The numbers that the others have sent at a stage.
#[derive(Clone, Copy, Default)]
struct Said {
    /// How many of the others have sent one.
    processes: usize,
    sum: u64,
    most: u64,
}

struct Process<'p, C: Carrier> {
    plan: &'p Plan,
    me: usize,
    carrier: C,
    events: BinaryHeap<Event<C::Message>>,
    said: [Said; STAGES],
    random: u64,
    /// The bytes that new messages get.
    bytes: Vec<u8>,
    made: u64,
}

/// The work of all processes together in the measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// Messages executed.
    pub(super) messages: u64,
    /// Nanoseconds for which they have had a core. 0 if the system does not say.
    pub(super) on_cores: u64,
}

/// Runs a process until the time is over.
///
/// # Panics
/// If messages were lost, or another process does not answer.
pub(super) fn exchange<C: Carrier>(plan: &Plan, me: usize, carrier: C) -> Done {
    let random = (me as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bytes = vec![me as u8; plan.bytes.max(8)];
    let mut process = Process {
        plan,
        me,
        carrier,
        events: BinaryHeap::new(),
        said: Default::default(),
        random,
        bytes,
        made: 0,
    };
    let now = || {
        SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos() as u64
    };
    // All begin to count at the same time, which the last one to arrive sets.
    let begin = process.agree(0, now()).most + plan.warm_up.as_nanos() as u64;
    process.fill();
    process.execute_until(|| now() >= begin);
    let end = begin + plan.measured.as_nanos() as u64;
    let before = on_core();
    let executed = process.execute_until(|| now() >= end);
    let on_core = on_core() - before;
    let messages = process.agree(1, executed).sum;
    let held = process.agree(2, process.events.len() as u64).sum;
    assert_eq!(held as usize, plan.processes * MESSAGES, "messages were lost, or came twice");
    Done { messages, on_cores: process.agree(3, on_core).sum }
}

/// For how many nanoseconds this process has had a core. Other programs do not add to this.
fn on_core() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

impl<C: Carrier> Process<'_, C> {
    fn fill(&mut self) {
        for _ in 0..MESSAGES {
            let time = self.below(DELAY[1]);
            let message = self.make();
            self.events.push(Event { time, message });
        }
    }

    fn execute_until(&mut self, is_over: impl Fn() -> bool) -> u64 {
        let mut executed = 0;
        let mut since = Instant::now();
        while !is_over() {
            for _ in 0..BETWEEN_LOOKS {
                self.receive();
                let Some(event) = self.events.pop() else {
                    yield_now();
                    assert!(since.elapsed() < PATIENCE, "no message comes any more");
                    break;
                };
                self.execute(event);
                executed += 1;
            }
            if !self.events.is_empty() {
                since = Instant::now();
            }
        }
        executed
    }

    fn execute(&mut self, event: Event<C::Message>) {
        let Event { time, message } = event;
        let read = match self.plan.use_ {
            Use::Written | Use::Read => message
                .chunks(LINE_BYTES)
                .fold(0, |sum: u64, line| sum.wrapping_add(line[0].into())),
            Use::Passed => {
                message[..8].iter().fold(0, |sum: u64, byte| sum.wrapping_add((*byte).into()))
            }
        };
        black_box(read);
        let message = if self.plan.use_ == Use::Written {
            self.carrier.free(message);
            self.make()
        } else {
            self.made += 1;
            self.carrier.pass_on(message, self.made.to_le_bytes())
        };
        let time = time + LOOKAHEAD + DELAY[0] + self.below(DELAY[1]);
        let to = self.below(self.plan.processes as u64) as usize;
        self.send(to, time, message);
    }

    fn make(&mut self) -> C::Message {
        self.made += 1;
        self.bytes[..8].copy_from_slice(&self.made.to_le_bytes());
        self.carrier.make(&self.bytes)
    }

    fn send(&mut self, to: usize, time: u64, mut message: C::Message) {
        if to == self.me {
            self.events.push(Event { time, message });
            return;
        }
        let mut since = None;
        while let Err(back) = self.carrier.send(to, time, message) {
            message = back;
            // The other process may be waiting for room here.
            self.receive();
            yield_now();
            assert!(
                since.get_or_insert_with(Instant::now).elapsed() < PATIENCE,
                "there is no room for a message"
            );
        }
    }

    fn receive(&mut self) {
        let Process { carrier, events, said, .. } = self;
        let mut signals = Vec::new();
        carrier.receive(&mut |time, message| {
            if time < SIGNALS {
                events.push(Event { time, message });
                return;
            }
            let said = &mut said[(time - SIGNALS) as usize];
            let number = u64::from_le_bytes(message[..8].try_into().expect("these are 8 bytes"));
            *said = Said {
                processes: said.processes + 1,
                sum: said.sum.wrapping_add(number),
                most: said.most.max(number),
            };
            signals.push(message);
        });
        signals.into_iter().for_each(|signal| self.carrier.free(signal));
    }

    /// Sends a number to all processes, waits for theirs, and returns all of them. Everything that
    /// they sent before has arrived by then.
    fn agree(&mut self, stage: usize, number: u64) -> Said {
        let me = self.me;
        for to in (0..self.plan.processes).filter(|&to| to != me) {
            let signal = self.carrier.make(&number.to_le_bytes());
            self.send(to, SIGNALS + stage as u64, signal);
        }
        let since = Instant::now();
        while self.said[stage].processes < self.plan.processes - 1 {
            self.receive();
            yield_now();
            assert!(since.elapsed() < PATIENCE, "another process does not answer");
        }
        let Said { processes, sum, most } = self.said[stage];
        // The sum of times is of no use, and may wrap around.
        Said { processes: processes + 1, sum: sum.wrapping_add(number), most: most.max(number) }
    }

    /// A random number below this one, by xorshift.
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((u128::from(self.random) * u128::from(bound)) >> 64) as u64
    }
}
