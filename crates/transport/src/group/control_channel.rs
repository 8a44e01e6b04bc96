//! Control messages, counters and failure reports between processes that share no memory, by MPI.

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
/// The bytes of a batch. Any longer packet goes as a large message.
const CAPACITY: usize = 16 << 10;
const SENDS: SendLimits = SendLimits { capacity: CAPACITY, batches: 64, large: 8 };
const RECEIVES: ReceiveLimits = ReceiveLimits { capacity: CAPACITY, buffers: 64 };

/// A packet from one process to another.
#[derive(Serialize, Deserialize)]
enum Packet<'n> {
    Message(&'n [u8]),
    /// The shares of the processes near the sender in a tally.
    Counters {
        tally: u32,
        counters: Vec<u64>,
    },
    /// Why the sender ends.
    Failure(&'n str),
    /// The sender has said everything.
    Left,
}

/// What has been heard from another process.
#[derive(Debug, Default)]
struct Heard {
    messages: VecDeque<Vec<u8>>,
    /// By tally.
    counters: BTreeMap<u32, Vec<u64>>,
    failure: Option<String>,
    left: bool,
}

/// This process's end of the channel. Everything is kept until it can be sent; nothing waits.
pub(super) struct MpiControlChannel {
    // Pool and receiver are dropped before the ranks, and so before MPI.
    pool: SendPool<'static>,
    receiver: Receiver<'static>,
    /// Packets that have yet to be sent, with the ranks they go to.
    waiting: VecDeque<(u32, Vec<u8>)>,
    /// By process.
    heard: Vec<Heard>,
    /// By tally: the counters told last.
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

    /// The other processes that pass counters on: the first of each machine if the processes of a
    /// machine share memory, otherwise all.
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
        while let Some((rank, packet)) = self.waiting.pop_front() {
            if let Some(packet) = self.hand_over(rank, packet)? {
                self.waiting.push_front((rank, packet));
                break;
            }
        }
        self.pool.progress().map_err(in_words)?;
        let mut wrong = None;
        let hear = |rank, bytes: &[u8]| match postcard::from_bytes(bytes) {
            Ok(packet) => self.heard[self.ranks.number_of(rank) as usize].hear(packet),
            Err(error) => wrong = Some(format!("what rank {rank} says cannot be read: {error}")),
        };
        self.receiver.poll(hear).map_err(in_words)?;
        wrong.map_or(Ok(()), Err)
    }

    /// Sends a packet, or gives it back if there is no room for it.
    fn hand_over(&mut self, rank: u32, packet: Vec<u8>) -> Result<Option<Vec<u8>>, String> {
        if packet.len() > CAPACITY {
            return self.pool.send_large(rank, TAG, packet).map(Sent::refused).map_err(in_words);
        }
        let mut buffer = self.pool.take().map_err(in_words)?;
        assert!(buffer.write(&packet), "it is no longer than the capacity");
        let refused = self.pool.send(rank, TAG, buffer).map_err(in_words)?.refused();
        Ok(refused.map(|_| packet))
    }

    fn tell(&mut self, number: u32, packet: &Packet<'_>) {
        let bytes = postcard::to_stdvec(packet)
            .unwrap_or_else(|error| panic!("a packet cannot be written: {error}"));
        self.waiting.push_back((self.ranks.rank(number), bytes));
    }

    fn tell_others(&mut self, packet: &Packet<'_>) {
        let me = self.ranks.number();
        (0..self.ranks.count())
            .filter(|number| *number != me)
            .for_each(|number| self.tell(number, packet));
    }

    pub(super) fn send_message(&mut self, to: u32, message: &[u8]) {
        self.tell(to, &Packet::Message(message));
    }

    pub(super) fn next_message(&mut self, from: u32) -> Option<Vec<u8>> {
        self.heard[from as usize].messages.pop_front()
    }

    /// Says why this process ends.
    pub(super) fn say(&mut self, text: &str) {
        self.tell_others(&Packet::Failure(text));
    }

    pub(super) fn failure_of(&self, number: u32) -> Option<&str> {
        self.heard[number as usize].failure.as_deref()
    }

    pub(super) fn take_leave(&mut self) {
        self.tell_others(&Packet::Left);
    }

    pub(super) fn has_left(&self, number: u32) -> bool {
        self.heard[number as usize].left
    }

    /// Exchanges a tally with the processes `others`: tells them the shares of the processes near
    /// this one if those have changed, and takes theirs over.
    pub(super) fn exchange(&mut self, number: u32, tally: &Tally, others: &[u32]) {
        let counters = tally.near_counters();
        if self.told.get(&number) != Some(&counters) {
            others.iter().for_each(|process| {
                self.tell(*process, &Packet::Counters { tally: number, counters: counters.clone() })
            });
            self.told.insert(number, counters);
        }
        tally.hear(others.iter().filter_map(|process| {
            self.heard[*process as usize].counters.get(&number).map(Vec::as_slice)
        }));
    }

    /// Whether everything has been sent.
    pub(super) fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.pool.in_flight() == 0
    }

    /// Leaves MPI unfinished, as others may be gone. The launcher ends all processes when one ends
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
    fn hear(&mut self, packet: Packet<'_>) {
        match packet {
            Packet::Message(message) => self.messages.push_back(message.to_vec()),
            Packet::Counters { tally, counters } => _ = self.counters.insert(tally, counters),
            Packet::Failure(text) => self.failure = Some(text.to_owned()),
            Packet::Left => self.left = true,
        }
    }
}
