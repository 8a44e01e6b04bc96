//! Mailboxes between threads: ours, and queues of `rtrb` and `crossbeam-queue` in their place.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use crossbeam_queue::{ArrayQueue, SegQueue};
use warpline_bench::measuring::{alternate, tell};
use warpline_kernel::gvt::Tag;
use warpline_kernel::{Message, MessageKind, MessagePort};
use warpline_memory::{Handle, Region};
use warpline_transport::{ControlPlan, Room, cas_ports, inbox_ports, ring_ports};

const KINDS: [&str; 6] = ["per-sender", "shared", "cas", "rtrb", "array-queue", "seg-queue"];
/// The mailbox that others are compared with: the default.
const OURS: usize = 0;
/// How many messages are sent in a measurement of the rate.
const MESSAGES: u32 = 10_000_000;
/// How many round trips are made in a measurement of the latency.
const ROUND_TRIPS: u32 = 300_000;
/// How many messages a rival holds: as many as a ring of ours between two PEs.
const ROOM: usize = 4096;

/// The end of one thread.
trait End: Send {
    /// Sends as many as there is room for, starting with the first.
    fn send(&mut self, to: usize, messages: &[Message]) -> usize;

    fn receive(&mut self, into: &mut Vec<Message>);
}

impl<P: MessagePort + Send> End for P {
    fn send(&mut self, to: usize, messages: &[Message]) -> usize {
        MessagePort::send(self, to as u32, messages)
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        MessagePort::receive(self, into);
    }
}

/// A ring of `rtrb` for each sender and receiver.
struct Rtrb {
    to: Vec<Option<rtrb::Producer<Message>>>,
    from: Vec<rtrb::Consumer<Message>>,
}

impl End for Rtrb {
    fn send(&mut self, to: usize, messages: &[Message]) -> usize {
        let Some(ring) = &mut self.to[to] else { return 0 };
        messages.iter().position(|message| ring.push(*message).is_err()).unwrap_or(messages.len())
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        for ring in &mut self.from {
            while let Ok(message) = ring.pop() {
                into.push(message);
            }
        }
    }
}

/// A queue of several producers for each receiver.
struct Queues<Q> {
    me: usize,
    queues: Arc<Vec<Q>>,
}

impl End for Queues<ArrayQueue<Message>> {
    fn send(&mut self, to: usize, messages: &[Message]) -> usize {
        messages
            .iter()
            .position(|message| self.queues[to].push(*message).is_err())
            .unwrap_or(messages.len())
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        into.extend(std::iter::from_fn(|| self.queues[self.me].pop()));
    }
}

impl End for Queues<SegQueue<Message>> {
    fn send(&mut self, to: usize, messages: &[Message]) -> usize {
        messages.iter().for_each(|message| self.queues[to].push(*message));
        messages.len()
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        into.extend(std::iter::from_fn(|| self.queues[self.me].pop()));
    }
}

fn boxed<'e, T: End + 'e>(ends: impl IntoIterator<Item = T>) -> Vec<Box<dyn End + 'e>> {
    ends.into_iter().map(|end| Box::new(end) as Box<dyn End>).collect()
}

fn queues<Q>(threads: usize, queue: fn() -> Q) -> impl Iterator<Item = Queues<Q>> {
    let queues: Arc<Vec<Q>> = Arc::new((0..threads).map(|_| queue()).collect());
    (0..threads).map(move |me| Queues { me, queues: queues.clone() })
}

fn ends(kind: &str, threads: usize) -> Vec<Box<dyn End>> {
    let plan =
        ControlPlan { neighbours: vec![Vec::new(); threads], one_sided: false, room: Room::Ample };
    match kind {
        "per-sender" => boxed(ring_ports::<u64>(
            &Region::own(),
            None,
            (&(0..threads as u32), &(0..threads as u32)),
            &plan,
        )),
        "shared" => boxed(inbox_ports::<u64>(&plan)),
        "cas" => boxed(cas_ports::<u64>(&plan)),
        "rtrb" => boxed(rtrb_ends(threads)),
        "array-queue" => boxed(queues(threads, || ArrayQueue::new(ROOM))),
        _ => boxed(queues(threads, SegQueue::new)),
    }
}

fn rtrb_ends(threads: usize) -> Vec<Rtrb> {
    let none = |_| Rtrb { to: (0..threads).map(|_| None).collect(), from: Vec::new() };
    let mut ends: Vec<Rtrb> = (0..threads).map(none).collect();
    for from in 0..threads {
        for to in (0..threads).filter(|to| *to != from) {
            let (producer, consumer) = rtrb::RingBuffer::new(ROOM);
            ends[from].to[to] = Some(producer);
            ends[to].from.push(consumer);
        }
    }
    ends
}

fn message(number: u32) -> Message {
    Message { event: Handle::from_bits(number), tag: Tag::default(), kind: MessageKind::Event }
}

/// Prints throughput by senders and batch, and latency.
pub(crate) fn compare() {
    println!(
        "Mailboxes, million messages per second, by senders to one receiver and messages handed \
         over at once; in brackets by per-sender\n"
    );
    println!("{:<12} {}", "", KINDS.map(|kind| format!("{kind:>19}")).join(""));
    for (senders, batch) in [("1", "1"), ("1", "16"), ("3", "1"), ("3", "16")] {
        print_row(&format!("{senders} by {batch}"), &["mailbox", senders, batch], |rate| {
            rate / 1e6
        });
    }
    println!("\nNanoseconds for a message from one thread to another, and back, by half\n");
    print_row("", &["mailbox-latency"], |rate| 0.5e9 / rate);
    println!();
}

fn print_row(name: &str, words: &[&'static str], of: fn(f64) -> f64) {
    let rivals: Vec<Vec<&str>> =
        KINDS.iter().map(|kind| [&words[..1], &[*kind], &words[1..]].concat()).collect();
    let measured = alternate(&rivals);
    let all = measured.iter().map(|measurement| {
        format!(
            "{:>11.1} ({:>5.2})",
            of(measurement.rate),
            of(measurement.rate) / of(measured[OURS].rate)
        )
    });
    println!("{name:<12} {}", all.collect::<Vec<_>>().join(""));
}

/// Sends messages from this many threads to one.
pub(crate) fn measure(kind: &str, senders: &str, batch: &str) {
    let [senders, batch] =
        [senders, batch].map(|number| number.parse::<usize>().expect("a number"));
    let mut ends = ends(kind, senders + 1).into_iter();
    let mut receiver = ends.next().expect("one end for each thread");
    let each = MESSAGES as usize / senders;
    let start = Instant::now();
    thread::scope(|scope| {
        for mut sender in ends {
            scope.spawn(move || {
                let messages = vec![message(7); batch];
                let mut left = each;
                while left > 0 {
                    let sent = sender.send(0, &messages[..batch.min(left)]);
                    left -= sent;
                    if sent == 0 {
                        thread::yield_now();
                    }
                }
            });
        }
        let mut received = 0;
        let mut found = Vec::new();
        let mut idle = 0;
        while received < each * senders {
            receiver.receive(&mut found);
            received += found.len();
            idle = if found.is_empty() { idle + 1 } else { 0 };
            found.clear();
            if idle > 64 {
                thread::yield_now();
            }
        }
    });
    tell((each * senders) as f64 / start.elapsed().as_secs_f64());
}

/// Sends a message back and forth.
pub(crate) fn measure_latency(kind: &str) {
    let [mut one, mut other] = <[Box<dyn End>; 2]>::try_from(ends(kind, 2)).ok().expect("two ends");
    let over = AtomicBool::new(false);
    let start = Instant::now();
    let answer = |end: &mut Box<dyn End>, to: usize, over: &AtomicBool| {
        let mut found = Vec::new();
        let mut idle = 0u32;
        while found.is_empty() && !over.load(Ordering::Relaxed) {
            end.receive(&mut found);
            idle += 1;
            if idle.is_multiple_of(1024) {
                thread::yield_now();
            }
        }
        assert!(
            found.len() <= 1 && (found.is_empty() || end.send(to, &found) == 1),
            "there is room for one"
        );
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                answer(&mut other, 0, &over);
            }
        });
        one.send(1, &[message(7)]);
        (0..ROUND_TRIPS).for_each(|_| answer(&mut one, 1, &over));
        over.store(true, Ordering::Relaxed);
    });
    tell(f64::from(ROUND_TRIPS) / start.elapsed().as_secs_f64());
}
