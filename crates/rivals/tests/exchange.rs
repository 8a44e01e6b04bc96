//! Two processes that exchange messages, and what happens at the limits.

use std::process::{Command, Stdio};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use warpline_rivals::{Error, Message, Segment};

const NAME: &str = "WARPLINE_TEST_SEGMENT";
const ROUNDS: u64 = 5000;
const LENGTHS: [usize; 5] = [0, 8, 100, 5000, 65_536];

fn receive<'s>(segment: &'s Segment, queue: u32) -> (u64, Message<'s>) {
    let since = Instant::now();
    let mut arrived = Vec::new();
    while segment.receive(queue, |time, message| arrived.push((time, message))).unwrap() == 0 {
        yield_now();
        assert!(since.elapsed() < Duration::from_secs(60), "the other process does not answer");
    }
    assert_eq!(arrived.len(), 1, "the other process waits for an answer");
    arrived.remove(0)
}

fn exists(name: &str) -> bool {
    std::path::Path::new("/dev/shm").join(name).exists()
}

/// The other process sends back what it gets, every third time in a new message.
#[test]
#[ignore = "the other process of `messages_go_back_and_forth`"]
fn other_process() {
    let segment = Segment::open(&std::env::var(NAME).expect("a name")).unwrap();
    for round in 0..ROUNDS {
        let (time, mut message) = receive(&segment, 1);
        assert_eq!((time, message.len()), (round, LENGTHS[round as usize % LENGTHS.len()]));
        if round % 3 == 0 {
            let mut other = segment.message(message.len()).unwrap();
            other.copy_from_slice(&message);
            message = other;
        }
        segment.send(0, time + 1, message).unwrap();
    }
}

#[test]
fn messages_go_back_and_forth() {
    let mut segment = Segment::create(1 << 20, 2).unwrap();
    let free = segment.free_bytes();
    let mut other = Command::new(std::env::current_exe().unwrap());
    other
        .args(["--exact", "other_process", "--include-ignored"])
        .env(NAME, segment.name())
        .stdout(Stdio::null());
    let mut other = other.spawn().unwrap();
    for round in 0..ROUNDS {
        let mut message = segment.message(LENGTHS[round as usize % LENGTHS.len()]).unwrap();
        message
            .iter_mut()
            .enumerate()
            .for_each(|(index, byte)| *byte = (round as usize + index) as u8);
        segment.send(1, round, message).unwrap();
        let (time, back) = receive(&segment, 0);
        assert_eq!(time, round + 1);
        assert!(
            back.iter().enumerate().all(|(index, &byte)| byte == (round as usize + index) as u8),
            "round {round}"
        );
        drop(back);
        if round == 0 {
            segment.remove_name();
            assert!(!exists(segment.name()));
        }
    }
    assert!(other.wait().unwrap().success());
    // Deques keep a little memory.
    assert!(
        segment.free_bytes() + 4096 > free,
        "{free} bytes were free, {} are",
        segment.free_bytes()
    );
}

/// The other process takes and frees blocks, until it is killed.
#[test]
#[ignore = "the other process of `a_lock_of_the_dead_is_an_error`"]
fn process_to_be_killed() {
    let segment = Segment::open(&std::env::var(NAME).expect("a name")).unwrap();
    loop {
        segment.message(100).unwrap();
    }
}

/// Sooner or later a process is killed while it holds the allocator's lock. Whoever wants the lock
/// then gets an error.
#[test]
fn a_lock_of_the_dead_is_an_error() {
    let found = (0..200).any(|_| {
        let segment = Segment::create(1 << 20, 1).unwrap();
        let mut other = Command::new(std::env::current_exe().unwrap());
        other
            .args(["--exact", "process_to_be_killed", "--include-ignored"])
            .env(NAME, segment.name())
            .stdout(Stdio::null());
        let mut other = other.spawn().unwrap();
        let since = Instant::now();
        let free = segment.free_bytes();
        while segment.free_bytes() == free && since.elapsed() < Duration::from_secs(60) {
            yield_now();
        }
        other.kill().unwrap();
        other.wait().unwrap();
        let since = Instant::now();
        match segment.message(100) {
            Ok(_) => false,
            Err(error) => {
                assert_eq!(error, Error::Locked);
                assert!(
                    since.elapsed() < Duration::from_secs(30)
                        && error.to_string().contains("is gone"),
                    "{error}"
                );
                true
            }
        }
    });
    assert!(found, "no process was killed while it held the lock");
}

#[test]
fn a_message_that_is_dropped_is_freed() {
    let segment = Segment::create(1 << 20, 1).unwrap();
    let free = segment.free_bytes();
    let message = segment.message(5000).unwrap();
    assert!(segment.free_bytes() + 5000 <= free);
    drop(message);
    assert_eq!(segment.free_bytes(), free);
    for _ in 0..1000 {
        segment.message(500_000).unwrap();
    }
}

#[test]
fn a_full_segment_says_what_to_do() {
    let segment = Segment::create(1 << 20, 1).unwrap();
    let mut kept = Vec::new();
    let error = loop {
        match segment.message(100_000) {
            Ok(message) => kept.push(message),
            Err(error) => break error,
        }
    };
    assert!(kept.len() >= 9, "{} messages", kept.len());
    assert!(matches!(error, Error::Full { wanted: 100_000, bytes: 1_048_576, .. }), "{error:?}");
    assert!(error.to_string().contains("create it with more bytes"), "{error}");
    kept.clear();
    assert!(segment.message(100_000).is_ok());
}

#[test]
fn a_queue_that_cannot_grow_gives_the_message_back() {
    let segment = Segment::create(64 << 10, 1).unwrap();
    let mut messages = Vec::new();
    while let Ok(message) = segment.message(1) {
        messages.push(message);
    }
    let mut sent = 0;
    let mut back = None;
    for message in messages.drain(..) {
        match segment.send(0, sent, message) {
            Ok(()) => sent += 1,
            Err(refused) => {
                back = Some(refused);
                break;
            }
        }
    }
    let (message, error) = back.expect("a deque grows after some messages");
    assert!(matches!(error, Error::Full { wanted: 1, .. }), "{error}");
    assert_eq!(message.len(), 1);
    let mut arrived = Vec::new();
    assert_eq!(segment.receive(0, |time, _| arrived.push(time)).unwrap() as u64, sent);
    assert!(arrived.into_iter().eq(0..sent));
}

#[test]
fn names_go_with_their_creator_and_lead_nowhere_then() {
    let segment = Segment::create(64 << 10, 1).unwrap();
    let name = segment.name().to_owned();
    drop(Segment::open(&name).unwrap());
    assert!(exists(&name), "whoever opens a segment does not remove its name");
    drop(segment);
    assert!(!exists(&name));
    for name in [&*name, "no\0name"] {
        let Err(Error::Segment { name: of, .. }) = Segment::open(name) else {
            panic!("nothing has the name {name:?}")
        };
        assert_eq!(of, name);
    }
    // Too small for what Boost itself needs.
    let error = Segment::create(16, 1).unwrap_err();
    assert!(matches!(error, Error::Segment { .. }), "{error}");
}

#[test]
#[should_panic(expected = "there is no queue 1")]
fn a_queue_that_does_not_exist_is_refused() {
    let segment = Segment::create(64 << 10, 1).unwrap();
    let _ = segment.send(1, 0, segment.message(1).unwrap());
}

#[test]
#[should_panic(expected = "from another segment")]
fn a_message_of_another_segment_is_refused() {
    let [first, second] = [0, 1].map(|_| Segment::create(64 << 10, 1).unwrap());
    let _ = first.send(0, 0, second.message(1).unwrap());
}
