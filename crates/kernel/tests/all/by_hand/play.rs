//! A model that follows the script of a test.

use warpline_base::random::Stream;
use warpline_model::prelude::*;
use warpline_model::{Change, Changing, Declarations};

/// How many events were handled, according to the statistics.
pub(crate) const HANDLED: Counter = Counter::slot(0);
pub(super) const SEED: u64 = 1;
/// The end of every run.
pub(crate) const END: f64 = 100.0;

/// The receiver, the time, and the event.
pub(crate) type Sent = (u32, f64, &'static str);

/// An event after which the state of its LP cannot be copied.
pub(crate) const NO_COPY: &str = "no copy";

/// The event that an LP has just handled.
pub(crate) fn last(handled: &[&'static str]) -> &'static str {
    handled[handled.len() - 1]
}

/// The state of an LP: the events that it has handled, and the random number that each of them
/// drew.
#[derive(Debug)]
pub(crate) struct Handled {
    pub(crate) labels: Vec<&'static str>,
    pub(super) drawn: Vec<u64>,
}

/// An event does nothing to a state but add to both lists.
impl Journaled for Handled {
    fn restore(&mut self, _: &mut Change<'_>) -> bool {
        self.labels.pop().and(self.drawn.pop()).is_some()
    }
}

impl Clone for Handled {
    fn clone(&self) -> Self {
        assert!(!self.labels.contains(&NO_COPY), "this state cannot be copied");
        Handled { labels: self.labels.clone(), drawn: self.drawn.clone() }
    }
}

/// A model that follows the test's script.
pub(crate) struct Play {
    pub(crate) lps: u32,
    pub(crate) lookahead: f64,
    /// The conservative LPs.
    pub(crate) conservative: &'static [u32],
    /// What an LP sends when it is initialised.
    pub(crate) first: fn(u32) -> Vec<Sent>,
    /// What an LP sends after it has handled these events, the last of them just now. The function
    /// may panic.
    pub(crate) then: fn(&[&'static str]) -> Vec<Sent>,
    /// What an event saves for its reverse code.
    pub(crate) save: fn(&'static str, &mut Context<Play>),
    /// The reverse code of an event, applied to the list of events that its LP has handled.
    pub(crate) reverse: fn(&mut Vec<&'static str>, &'static str, &mut Reverse<Play>),
    /// What happens when an event commits.
    pub(crate) commit: fn(&'static str),
}

impl Play {
    /// Four LPs without events.
    pub(crate) const NOTHING: Play = Play {
        lps: 4,
        lookahead: 0.0,
        conservative: &[],
        first: |_| Vec::new(),
        then: |_| Vec::new(),
        save: |_, _| {},
        reverse: |handled, label, _| assert_eq!(handled.pop(), Some(label)),
        commit: |_| {},
    };
}

impl Default for Play {
    fn default() -> Self {
        Play::NOTHING
    }
}

#[model(journal)]
impl Model for Play {
    type State = Handled;
    type Event = &'static str;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(HANDLED, "handled", "events", "events handled");
    }

    fn init(&self, lp: &mut Init<Self>) -> Handled {
        for (to, at, label) in (self.first)(lp.id().0) {
            lp.send(to, at, label);
        }
        Handled { labels: Vec::new(), drawn: Vec::new() }
    }

    fn handle(&self, handled: &mut Handled, label: &&'static str, lp: &mut Context<Self>) {
        lp.note_change(handled, 1, |log| log.push(0));
        let Handled { labels, drawn } = handled;
        labels.push(label);
        drawn.push(lp.random().next_u64());
        lp.count(HANDLED, 1);
        (self.save)(label, lp);
        for (to, at, label) in (self.then)(labels) {
            lp.send(to, at - lp.now(), label);
        }
    }

    fn reverse(
        &self,
        Handled { labels, drawn }: &mut Handled,
        label: &&'static str,
        lp: &mut Reverse<Self>,
    ) {
        drawn.pop();
        (self.reverse)(labels, label, lp);
    }

    fn commit(&self, label: &&'static str, _: &mut Commit<Self>) {
        (self.commit)(label);
    }
}

/// The random numbers that the first events of an LP draw.
pub(super) fn draws(lp: LpId, events: usize) -> Vec<u64> {
    let mut stream = Stream::new(SEED, 0);
    let draw = |number| {
        stream.point(lp, number);
        stream.random().next_u64()
    };
    (1..=events as u64).map(draw).collect()
}
