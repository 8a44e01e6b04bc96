//! The order of events, against expectations worked out by hand.

use warpline::Pending;
use warpline::base::random::mix64;
use warpline::prelude::*;
use warpline_testkit::time_limit;

/// LPs that note the events that reach them. What they send, and when, is a list.
#[derive(Debug, Default)]
struct Script {
    lps: u32,
    unbiased: bool,
    /// What `init` of an LP sends: (from, send).
    first: Vec<(u32, Send)>,
    /// What is sent when an event is handled: (its label, send).
    then: Vec<(&'static str, Send)>,
}

#[derive(Clone, Copy, Debug)]
struct Send {
    to: u32,
    delay: f64,
    priority: i8,
    label: &'static str,
}

fn send(to: u32, delay: f64, label: &'static str) -> Send {
    urgent(to, delay, 0, label)
}

fn urgent(to: u32, delay: f64, priority: i8, label: &'static str) -> Send {
    Send { to, delay, priority, label }
}

impl Model for Script {
    type State = Vec<&'static str>;
    type Event = &'static str;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn unbiased_ties(&self) -> bool {
        self.unbiased
    }

    fn init(&self, lp: &mut Init<Self>) -> Self::State {
        let id = lp.id().0;
        for (_, send) in self.first.iter().filter(|(from, _)| *from == id) {
            lp.send_with_priority(send.to, send.delay, send.priority, send.label);
        }
        Vec::new()
    }

    fn handle(&self, seen: &mut Self::State, label: &&'static str, lp: &mut Context<Self>) {
        seen.push(label);
        for (_, send) in self.then.iter().filter(|(cause, _)| cause == label) {
            lp.send_with_priority(send.to, send.delay, send.priority, send.label);
        }
    }
}

/// What LP 0 saw, in one string.
fn seen(script: impl Fn() -> Script, seed: u64) -> String {
    let _limit = time_limit(seed);
    let run = |pending| {
        Simulation::new(script())
            .end(10.0)
            .seed(seed)
            .pending(pending)
            .run()
            .expect("the script is valid")
    };
    let [heap, ladder] = [Pending::Heap, Pending::Ladder].map(|pending| run(pending).states);
    assert_eq!(heap, ladder);
    heap[0].join(" ")
}

#[test]
fn time_comes_first_in_the_order() {
    let first = vec![(3, send(0, 1.0, "early")), (0, urgent(0, f64::next_up(1.0), -127, "urgent"))];
    assert_eq!(
        seen(|| Script { lps: 4, first: first.clone(), ..Script::default() }, 1),
        "early urgent"
    );
}

#[test]
fn priority_sender_and_sequence_decide_between_equal_times() {
    let first = vec![
        (3, urgent(0, 1.0, -5, "c")),
        (3, urgent(0, 1.0, -127, "b")),
        (0, send(0, 1.0, "d")),
        (2, send(0, 1.0, "f")),
        (2, send(0, 1.0, "g")),
        (1, send(0, 1.0, "e")),
        (1, urgent(0, 1.0, 127, "i")),
        (3, urgent(0, 1.0, 1, "h")),
        // -128 counts as -127.
        (1, urgent(0, 1.0, -128, "a")),
    ];
    assert_eq!(
        seen(|| Script { lps: 4, first: first.clone(), ..Script::default() }, 1),
        "a b c d e f g h i"
    );
}

/// What an LP sends in an earlier event comes before what it sends in a later one.
#[test]
fn the_sequence_follows_the_senders_events() {
    let first = vec![(1, send(1, 2.0, "later")), (1, send(1, 1.0, "earlier"))];
    let then = vec![
        ("later", send(0, 1.0, "b")),
        ("later", send(0, 1.0, "c")),
        ("earlier", send(0, 2.0, "a")),
    ];
    assert_eq!(
        seen(
            || Script { lps: 2, first: first.clone(), then: then.clone(), ..Script::default() },
            1
        ),
        "a b c"
    );
}

/// An event sent without delay happens after all events that were already due at that time, even if
/// it is more urgent.
#[test]
fn a_child_without_delay_comes_after_its_generation() {
    let first = vec![
        (0, send(0, 1.0, "parent")),
        (2, urgent(0, 1.0, 127, "lazy")),
        (1, send(1, 1.0, "aunt")),
    ];
    let then = vec![
        ("parent", urgent(0, 0.0, -127, "child")),
        ("child", urgent(0, 0.0, -127, "grandchild")),
        ("aunt", urgent(0, 0.0, 100, "cousin")),
        ("lazy", urgent(0, 0.0, -126, "heir")),
    ];
    let script =
        || Script { lps: 3, first: first.clone(), then: then.clone(), ..Script::default() };
    assert_eq!(seen(script, 1), "parent lazy child heir cousin grandchild");
}

/// Steps are counted per instant: they start from 0 as soon as time advances.
#[test]
fn steps_start_from_0_when_time_advances() {
    let first = vec![(0, send(0, 1.0, "a")), (1, send(0, 2.0, "x"))];
    let then = vec![("a", send(0, 0.0, "b")), ("b", send(0, 1.0, "c")), ("c", send(0, 0.0, "d"))];
    assert_eq!(
        seen(
            || Script { lps: 2, first: first.clone(), then: then.clone(), ..Script::default() },
            1
        ),
        "a b c x d"
    );
}

/// More hops at one instant than fit into the tie-break prefix of an entry.
#[test]
fn long_chains_stay_in_order() {
    let names = ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"];
    let others = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"];
    let chain = |names: &[&'static str; 10], priority| -> Vec<(&'static str, Send)> {
        names.windows(2).map(|pair| (pair[0], urgent(0, 0.0, priority, pair[1]))).collect()
    };
    let then: Vec<_> = chain(&names, 50).into_iter().chain(chain(&others, -50)).collect();
    let first = vec![(0, send(0, 1.0, "a0")), (0, send(0, 1.0, "b0"))];
    let expected = "a0 b0 b1 a1 b2 a2 b3 a3 b4 a4 b5 a5 b6 a6 b7 a7 b8 a8 b9 a9";
    assert_eq!(
        seen(
            || Script { lps: 1, first: first.clone(), then: then.clone(), ..Script::default() },
            1
        ),
        expected
    );
}

/// Unbiased ties are in the order of a hash of seed, time, step and sender. Priorities still come
/// first, and events of one sender stay in the order in which it sent them.
#[test]
fn unbiased_ties_are_in_the_order_of_a_hash() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut first: Vec<(u32, Send)> =
        (0..6).map(|from| (from, send(0, 1.0, names[from as usize]))).collect();
    first.push((2, send(0, 1.0, "c2")));
    first.extend([(5, urgent(0, 1.0, -1, "urgent")), (0, urgent(0, 1.0, 1, "lazy"))]);
    let script = |unbiased| {
        let first = first.clone();
        move || Script { lps: 6, unbiased, first: first.clone(), ..Script::default() }
    };
    assert_eq!(seen(script(false), 1), "urgent a b c c2 d e f lazy");
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..20 {
        // All are due at time 1, step 0.
        let luck = |from: u64| mix64(seed ^ mix64(1f64.to_bits() ^ mix64(from << 32)));
        let mut senders: Vec<u64> = (0..6).collect();
        senders.sort_by_key(|&from| luck(from));
        let middle: Vec<&str> = senders
            .iter()
            .map(|&from| if from == 2 { "c c2" } else { names[from as usize] })
            .collect();
        let expected = format!("urgent {} lazy", middle.join(" "));
        assert_eq!(seen(script(true), seed), expected, "seed {seed}");
        orders.insert(expected);
    }
    assert!(orders.len() > 10, "the seed decides");
}

/// A run covers [0, end).
#[test]
fn events_at_the_end_are_not_executed() {
    let first = vec![
        (0, send(0, 0.0, "zero")),
        (0, send(0, f64::next_down(10.0), "before")),
        (0, urgent(0, 10.0, -127, "at")),
        (0, send(0, 11.0, "after")),
    ];
    let then = vec![
        ("before", send(0, 0.0, "child")),
        ("child", send(0, f64::next_up(10.0) - 10.0, "at again")),
    ];
    let script =
        || Script { lps: 1, first: first.clone(), then: then.clone(), ..Script::default() };
    assert_eq!(seen(script, 1), "zero before child");
    let run = Simulation::new(script()).end(f64::next_up(10.0)).run().expect("the script is valid");
    assert_eq!(run.states[0].join(" "), "zero before child at at again");
}

/// Every LP has its own history: the same events in another order have another digest.
#[test]
fn the_digest_depends_on_the_order() {
    let digest = |a: f64, b: f64| {
        let script = Script {
            lps: 1,
            first: vec![(0, send(0, a, "a")), (0, send(0, b, "b"))],
            ..Script::default()
        };
        Simulation::new(script).run().expect("the script is valid").record.digest
    };
    assert_ne!(digest(1.0, 2.0), digest(2.0, 1.0));
    assert_eq!(digest(1.0, 2.0), digest(1.0, 2.0));
}
