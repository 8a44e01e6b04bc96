//! Pools that are full, and pools and receivers that are dropped while they are busy.

use std::thread::{sleep, yield_now};
use std::time::Duration;

use warpline_mpi::{Comm, Receiver, Result, SendLimits, SendPool, Sent, Tag};

use crate::traffic::{receive_limits, send_limits};

const TAG: Tag = Tag::new(7);
/// Longer than what MPI libraries send before they know that there is room for it.
const LONG: usize = 256 << 10;

/// Each rank sends to the next one, which does not receive yet: a pool takes on only so much.
pub(crate) fn full(comm: &Comm<'_>) -> Result<()> {
    let to = (comm.rank() + 1) % comm.size();
    let limits = SendLimits { capacity: LONG, batches: 3, large: 1 };
    let mut pool = SendPool::new(comm, limits)?;
    let mut receiver = Receiver::new(comm, TAG, receive_limits(LONG, 1))?;
    // One goes into the receiver's only buffer, and the others wait.
    let most = 4;
    let mut sent = 0;
    let refused = loop {
        let mut buffer = pool.take()?;
        buffer.grow(LONG).expect("it is the capacity").fill(sent);
        match pool.send(to, TAG, buffer)? {
            Sent::Started => sent += 1,
            Sent::Full(buffer) if sent >= most => break buffer,
            Sent::Full(_) => yield_now(),
        }
    };
    sleep(Duration::from_millis(20));
    let refused = pool.send(to, TAG, refused)?.refused().expect("it is still full");
    assert_eq!((sent, pool.in_flight()), (most, 3));
    assert!(
        refused.len() == LONG && refused.iter().all(|&byte| byte == sent),
        "it comes back as it was"
    );
    let large = pool.send_large(to, TAG, vec![9; 3 * LONG])?.refused().expect("it is full for all");
    // Nobody receives before all have come so far.
    comm.gather(&[])?;
    let mut found = 0;
    while found < most || pool.progress()? > 0 {
        receiver.poll(|_, message| {
            assert!(
                message.len() == LONG && message.iter().all(|&byte| byte == found),
                "message {found}"
            );
            found += 1;
        })?;
    }
    comm.gather(&[])?;
    assert!(pool.send(to, TAG, refused)?.refused().is_none(), "there is room again");
    assert!(pool.send_large(to, TAG, large)?.refused().is_none(), "there is room again");
    let mut lengths = Vec::new();
    while lengths.len() < 2 || pool.progress()? > 0 {
        receiver.poll(|_, message| {
            assert!(message.iter().all(|&byte| byte == if lengths.is_empty() { most } else { 9 }));
            lengths.push(message.len());
        })?;
    }
    assert_eq!(lengths, [LONG, 3 * LONG]);
    Ok(())
}

/// The same with large messages, which are announced but not received yet.
pub(crate) fn full_of_large(comm: &Comm<'_>) -> Result<()> {
    let to = (comm.rank() + 1) % comm.size();
    let mut pool = SendPool::new(comm, SendLimits { capacity: 8, batches: 20, large: 2 })?;
    let mut receiver = Receiver::new(comm, TAG, receive_limits(8, 2))?;
    for number in 0..2 {
        assert!(pool.send_large(to, TAG, vec![number; LONG])?.refused().is_none());
    }
    let refused = pool.send_large(to, TAG, vec![2; LONG])?.refused().expect("two are in flight");
    assert_eq!(refused, vec![2; LONG]);
    // One that fits into a buffer still finds room, but is not handed over before those.
    let mut buffer = pool.take()?;
    assert!(buffer.write(&[2]) && pool.send(to, TAG, buffer)?.refused().is_none());
    comm.gather(&[])?;
    let mut found = 0;
    while found < 3 || pool.progress()? > 0 {
        receiver.poll(|_, message| {
            assert!(
                message.len() == if found < 2 { LONG } else { 1 }
                    && message.iter().all(|&byte| byte == found),
                "message {found}"
            );
            found += 1;
        })?;
    }
    Ok(())
}

/// Pools are dropped with long messages in flight, and receivers with receives posted: nothing is
/// lost that comes later.
pub(crate) fn dropped_in_flight(comm: &Comm<'_>) -> Result<()> {
    let me = comm.rank();
    let size = comm.size();
    drop(Receiver::new(comm, TAG, receive_limits(LONG, 5))?);
    comm.gather(&[])?;
    let mut receiver = Receiver::new(comm, TAG, receive_limits(LONG, 6))?;
    for round in 0..2 {
        let mut pool = SendPool::new(comm, send_limits(LONG, 3))?;
        for number in 0..3 {
            let mut buffer = pool.take()?;
            buffer.grow(LONG).expect("it is the capacity").fill(3 * round + number);
            assert!(pool.send((me + 1) % size, TAG, buffer)?.refused().is_none());
        }
    }
    let mut found = 0;
    while found < 6 {
        receiver.poll(|from, message| {
            assert_eq!((from, message.len()), ((me + size - 1) % size, LONG));
            assert!(message.iter().all(|&byte| byte == found), "message {found}");
            found += 1;
        })?;
    }
    comm.gather(&[]).map(drop)
}
