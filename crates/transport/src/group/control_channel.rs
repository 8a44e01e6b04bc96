//! Control messages, numbers and failure report between processes that share no memory, by MPI.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use warpline_kernel::gvt::AllReduce;
use warpline_mpi::{
    ReceiveLimits, Receiver, SendLimits, SendPool, Sent, Tag, remove_shared_memory,
};

use super::all_reduce::all_reduce;
use super::ranks::{Ranks, in_words};
use crate::Tally;
use crate::couriers::{Carrier, CourierPlan, mpi_carriers};

/// The tag of control messages.
const TAG: Tag = Tag::new(0);
/// What fits into a batch, in bytes. Anything longer is a large message.
const CAPACITY: usize = 16 << 10;
const SENDS: SendLimits = SendLimits { capacity: CAPACITY, batches: 64, large: 8 };
const RECEIVES: ReceiveLimits = ReceiveLimits { capacity: CAPACITY, buffers: 64 };

/// What the channels of processes tell each other.
#[derive(Serialize, Deserialize)]
enum Packet<'n> {
    Message(&'n [u8]),
    /// What the processes near the sender have said in a tally.
    Counters {
        tally: u32,
        counters: Vec<u64>,
    },
    /// Why the sender ends.
    FailureReporter(&'n str),
    /// The sender has said everything.
    Left,
}

/// What has been heard of another process.
#[derive(Debug, Default)]
struct Heard {
    messages: VecDeque<Vec<u8>>,
    /// By tally.
    counters: BTreeMap<u32, Vec<u64>>,
    failure_reporter: Option<String>,
    left: bool,
}

/// This process's end of the channel. Everything is kept until it can be sent; nothing waits.
pub(super) struct MpiControlChannel {
    // Dropped before the ranks, and with them MPI.
    pool: SendPool<'static>,
    receiver: Receiver<'static>,
    /// What is still to be sent, with the rank that is to have it.
    waiting: VecDeque<(u32, Vec<u8>)>,
    /// By process.
    heard: Vec<Heard>,
    /// By tally: what was told last.
    told: BTreeMap<u32, Vec<u64>>,
    /// Whether the processes of a machine share memory.
    shares: bool,
    ranks: Ranks,
}

impl std::fmt::Debug for MpiControlChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MpiControlChannel")
            .field("waiting", &self.waiting.len())
            .field("ranks", &self.ranks)
            .finish_non_exhaustive()
    }
}

impl MpiControlChannel {
    pub(super) fn new(ranks: Ranks, shares: bool) -> Result<Self, String> {
        let pool = SendPool::new(ranks.comm(), SENDS).map_err(in_words)?;
        let receiver = Receiver::new(ranks.comm(), TAG, RECEIVES).map_err(in_words)?;
        let heard = (0..ranks.count()).map(|_| Heard::default()).collect();
        Ok(MpiControlChannel {
            pool,
            receiver,
            waiting: VecDeque::new(),
            heard,
            told: BTreeMap::new(),
            shares,
            ranks,
        })
    }

    pub(super) fn carriers(&self, plan: &CourierPlan) -> Result<Vec<Box<dyn Carrier>>, String> {
        let ranks: Vec<u32> =
            (0..self.ranks.count()).map(|number| self.ranks.rank(number)).collect();
        mpi_carriers(self.ranks.comm(), &ranks, plan)
    }

    pub(super) fn all_reduce(&self) -> Result<Box<dyn AllReduce>, String> {
        all_reduce(self.ranks.comm())
    }

    /// The other processes that pass counters on: one of each machine if those of a machine share
    /// memory, or else all.
    pub(super) fn leaders(&self) -> Vec<u32> {
        let me = self.ranks.number();
        (0..self.ranks.count())
            .filter(|number| {
                *number != me && (!self.shares || self.ranks.is_first_of_machine(*number))
            })
            .collect()
    }

    /// Sends what can be sent, and receives what has arrived.
    pub(super) fn work(&mut self) -> Result<(), String> {
        while let Some((rank, note)) = self.waiting.pop_front() {
            if let Some(note) = self.hand_over(rank, note)? {
                self.waiting.push_front((rank, note));
                break;
            }
        }
        self.pool.progress().map_err(in_words)?;
        let (heard, ranks, mut wrong) = (&mut self.heard, &self.ranks, None);
        let hear = |rank, bytes: &[u8]| match postcard::from_bytes(bytes) {
            Ok(note) => heard[ranks.number_of(rank) as usize].hear(note),
            Err(error) => wrong = Some(format!("what rank {rank} says cannot be read: {error}")),
        };
        self.receiver.poll(hear).map_err(in_words)?;
        wrong.map_or(Ok(()), Err)
    }

    /// Gives the note back if there is no room for it.
    fn hand_over(&mut self, rank: u32, note: Vec<u8>) -> Result<Option<Vec<u8>>, String> {
        if note.len() > CAPACITY {
            return self.pool.send_large(rank, TAG, note).map(Sent::refused).map_err(in_words);
        }
        let mut buffer = self.pool.take().map_err(in_words)?;
        assert!(buffer.write(&note), "it is no longer than the capacity");
        let refused = self.pool.send(rank, TAG, buffer).map_err(in_words)?.refused();
        Ok(refused.map(|_| note))
    }

    fn tell(&mut self, number: u32, note: &Packet<'_>) {
        let bytes = postcard::to_stdvec(note)
            .unwrap_or_else(|error| panic!("a note cannot be written: {error}"));
        self.waiting.push_back((self.ranks.rank(number), bytes));
    }

    fn tell_others(&mut self, note: &Packet<'_>) {
        let me = self.ranks.number();
        (0..self.ranks.count())
            .filter(|number| *number != me)
            .for_each(|number| self.tell(number, note));
    }

    pub(super) fn send_message(&mut self, to: u32, message: &[u8]) {
        self.tell(to, &Packet::Message(message));
    }

    pub(super) fn next_message(&mut self, from: u32) -> Option<Vec<u8>> {
        self.heard[from as usize].messages.pop_front()
    }

    /// Says why this process ends.
    pub(super) fn say(&mut self, text: &str) {
        self.tell_others(&Packet::FailureReporter(text));
    }

    pub(super) fn failure_reporter(&self, number: u32) -> Option<&str> {
        self.heard[number as usize].failure_reporter.as_deref()
    }

    pub(super) fn take_leave(&mut self) {
        self.tell_others(&Packet::Left);
    }

    pub(super) fn has_left(&self, number: u32) -> bool {
        self.heard[number as usize].left
    }

    /// Passes on what processes near this one have said in a tally since the last time, to the
    /// processes `to`, and takes over what these have passed on.
    pub(super) fn exchange(&mut self, number: u32, tally: &Tally, to: &[u32]) {
        let counters = tally.near_counters();
        if self.told.get(&number) != Some(&counters) {
            to.iter().for_each(|process| {
                self.tell(*process, &Packet::Counters { tally: number, counters: counters.clone() })
            });
            self.told.insert(number, counters);
        }
        tally.hear(to.iter().filter_map(|process| {
            self.heard[*process as usize].counters.get(&number).map(Vec::as_slice)
        }));
    }

    /// Whether everything has been sent.
    pub(super) fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.pool.in_flight() == 0
    }

    /// Leaves MPI as it is, as others may be gone. The launcher ends all processes when one ends
    /// without finishing MPI.
    pub(super) fn abandon(self) {
        std::mem::forget(self);
        remove_shared_memory();
    }

    /// Finishes MPI. It waits for the others.
    pub(super) fn finish(self) {
        let MpiControlChannel { pool, receiver, ranks, .. } = self;
        drop((pool, receiver));
        ranks.finish();
    }
}

impl Heard {
    fn hear(&mut self, note: Packet<'_>) {
        match note {
            Packet::Message(message) => self.messages.push_back(message.to_vec()),
            Packet::Counters { tally, counters } => _ = self.counters.insert(tally, counters),
            Packet::FailureReporter(text) => self.failure_reporter = Some(text.to_owned()),
            Packet::Left => self.left = true,
        }
    }
}
