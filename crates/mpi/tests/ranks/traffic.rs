//! Messages in all directions at once, checked byte by byte.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::yield_now;

use warpline_mpi::{
    Barrier, Comm, Error, LONGEST_MESSAGE, Launch, Mpi, ReceiveLimits, Receiver, Result,
    SendLimits, SendPool, Tag, ThreadLevel,
};

const TAG: Tag = Tag::new(3);
const CAPACITY: usize = 512;

pub(crate) fn send_limits(capacity: usize, batches: usize) -> SendLimits {
    SendLimits { capacity, batches, large: 2 }
}

pub(crate) fn receive_limits(capacity: usize, buffers: usize) -> ReceiveLimits {
    ReceiveLimits { capacity, buffers }
}

/// One of the messages that a rank sends to another one: every length and byte follows from who
/// sends which to whom.
#[derive(Clone, Copy)]
struct Message {
    from: u32,
    to: u32,
    number: u32,
}

impl Message {
    fn mixed(self) -> u64 {
        let seed = u64::from(self.from) << 48 | u64::from(self.to) << 32 | u64::from(self.number);
        let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb) >> 16
    }

    fn is_large(self) -> bool {
        self.number % 97 == 11
    }

    fn length(self) -> usize {
        let mixed = self.mixed() as usize;
        match (self.is_large(), self.number % 50) {
            (true, _) => mixed % 200_000,
            (false, 0) => CAPACITY,
            (false, 1) => 0,
            _ => mixed % (CAPACITY + 1),
        }
    }

    fn bytes(self) -> impl Iterator<Item = u8> {
        let mixed = self.mixed();
        (0..self.length() as u64)
            .map(move |place| (mixed.wrapping_add(place.wrapping_mul(0x9d)) >> (place % 5)) as u8)
    }

    /// Whether it was sent.
    fn send(self, pool: &mut SendPool<'_>) -> Result<bool> {
        if self.is_large() {
            return Ok(pool.send_large(self.to, TAG, self.bytes().collect())?.refused().is_none());
        }
        let mut buffer = pool.take()?;
        let room = buffer.grow(self.length()).expect("it fits");
        room.iter_mut().zip(self.bytes()).for_each(|(place, byte)| *place = byte);
        Ok(pool.send(self.to, TAG, buffer)?.refused().is_none())
    }

    fn check(self, found: &[u8]) {
        assert_eq!(
            found.len(),
            self.length(),
            "message {} of rank {} to {}",
            self.number,
            self.from,
            self.to
        );
        assert!(
            found.iter().copied().eq(self.bytes()),
            "message {} of rank {} to {}",
            self.number,
            self.from,
            self.to
        );
    }
}

/// Each rank sends as many messages to each, itself included, and checks that those it gets are the
/// ones it should get next.
pub(crate) fn everybody_to_everybody(comm: &Comm<'_>, each: u32) -> Result<()> {
    let me = comm.rank();
    let size = comm.size();
    let mut pool = SendPool::new(comm, send_limits(CAPACITY, 8))?;
    let mut receiver = Receiver::new(comm, TAG, receive_limits(CAPACITY, 4))?;
    let mut next = vec![0; size as usize];
    let mut poll = || {
        let handed = receiver.poll(|from, found| {
            let number = &mut next[from as usize];
            Message { from, to: me, number: *number }.check(found);
            *number += 1;
        })?;
        if handed == 0 {
            yield_now();
        }
        Ok(next.iter().all(|&number| number == each))
    };
    for number in 0..each {
        for step in 0..size {
            while !(Message { from: me, to: (me + step) % size, number }).send(&mut pool)? {
                poll()?;
            }
        }
    }
    while !poll()? | (pool.progress()? > 0) {}
    let mut barrier = Barrier::new(comm)?;
    barrier.arrive()?;
    while !barrier.test()? {
        assert!(poll()?, "nothing was left to arrive");
    }
    assert!(poll()?, "nothing was left to arrive");
    Ok(())
}

/// Whoever is handed a message may panic; the next call goes on with the message after it.
pub(crate) fn panic_while_handed_over(comm: &Comm<'_>) -> Result<()> {
    let mut pool = SendPool::new(comm, send_limits(8, 16))?;
    let mut receiver = Receiver::new(comm, TAG, receive_limits(8, 3))?;
    for number in 0..10 {
        let mut buffer = pool.take()?;
        assert!(buffer.write(&[number]));
        assert!(pool.send(comm.rank(), TAG, buffer)?.refused().is_none());
    }
    let mut found = Vec::new();
    let mut panics = 0;
    while found.len() < 10 {
        let poll = catch_unwind(AssertUnwindSafe(|| {
            receiver.poll(|_, message| {
                found.push(message[0]);
                if message[0] % 4 == 1 {
                    std::panic::resume_unwind(Box::new(()));
                }
            })
        }));
        match poll {
            Ok(polled) => drop(polled?),
            Err(_) => panics += 1,
        }
    }
    assert_eq!((found, panics), ((0..10).collect(), 3));
    Ok(())
}

/// Messages of one communicator or tag do not reach receivers of another one.
pub(crate) fn kept_apart(comm: &Comm<'_>) -> Result<()> {
    let me = comm.rank();
    let other = comm.duplicate()?;
    let limits = receive_limits(8, 4);
    let tags = [Tag::new(0), Tag::new(1), Tag::new(Tag::MOST)];
    let mut lanes = Vec::new();
    for comm in [comm, &other] {
        for tag in tags {
            lanes.push((
                SendPool::new(comm, send_limits(8, 4))?,
                Receiver::new(comm, tag, limits)?,
                tag,
            ));
        }
    }
    let to = (me + 1) % comm.size();
    for (number, (pool, _, tag)) in (0..6_u8).zip(&mut lanes).rev() {
        let mut buffer = pool.take()?;
        assert!(buffer.write(&[number]) && pool.send(to, *tag, buffer)?.refused().is_none());
        assert!(pool.send_large(to, *tag, vec![number; 20])?.refused().is_none());
    }
    for (number, (pool, receiver, _)) in (0_u8..).zip(&mut lanes) {
        let mut found = Vec::new();
        while found.len() < 2 || pool.progress()? > 0 {
            receiver.poll(|_, message| found.push(message.to_vec()))?;
        }
        assert_eq!(found, [vec![number], vec![number; 20]]);
    }
    comm.gather(&[])?;
    for (_, receiver, _) in &mut lanes {
        assert_eq!(receiver.poll(|_, message| panic!("{message:?} was not sent"))?, 0);
    }
    Ok(())
}

pub(crate) fn too_long(comm: &Comm<'_>) -> Result<()> {
    let mut pool = SendPool::new(comm, send_limits(8, 4))?;
    let refused = pool.send_large(0, TAG, vec![0; LONGEST_MESSAGE + 1]);
    assert!(matches!(refused, Err(Error::TooLong { bytes }) if bytes == LONGEST_MESSAGE + 1));
    assert!(matches!(
        SendPool::new(comm, send_limits(LONGEST_MESSAGE, 4)),
        Err(Error::TooLong { .. })
    ));
    assert!(matches!(
        Receiver::new(comm, TAG, receive_limits(LONGEST_MESSAGE, 4)),
        Err(Error::TooLong { .. })
    ));
    let nobody =
        catch_unwind(AssertUnwindSafe(|| pool.send_large(comm.size(), TAG, vec![1]).map(drop)));
    assert!(nobody.is_err(), "there is no such rank");
    Ok(())
}

/// Rank 0 sends the longest message to rank 1.
pub(crate) fn longest(launch: Launch) {
    let mpi = Mpi::start(launch, ThreadLevel::Funneled).expect("MPI starts");
    let comm = mpi.world().expect("there is a communicator");
    let step = 4093;
    if mpi.rank() == 0 {
        let mut pool = SendPool::new(&comm, send_limits(8, 4)).expect("there is memory");
        let mut message = vec![0; LONGEST_MESSAGE];
        message.iter_mut().step_by(step).enumerate().for_each(|(place, byte)| *byte = place as u8);
        *message.last_mut().expect("it is not empty") = 77;
        assert!(pool.send_large(1, TAG, message).expect("it is sent").refused().is_none());
    } else {
        let mut receiver =
            Receiver::new(&comm, TAG, receive_limits(8, 4)).expect("there is memory");
        let mut check = |_, message: &[u8]| {
            assert_eq!((message.len(), message.last()), (LONGEST_MESSAGE, Some(&77)));
            assert!(
                message[..LONGEST_MESSAGE - 1]
                    .iter()
                    .step_by(step)
                    .enumerate()
                    .all(|(place, &byte)| byte == place as u8)
            );
        };
        while receiver.poll(&mut check).expect("it is received") == 0 {}
    }
}
