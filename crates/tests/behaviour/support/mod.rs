//! What several tests use: a model of four LPs whose parts can be replaced one by one, settings as
//! they are typed, and checks of messages.

use serde_json::Value;
use warpline::Settings;
use warpline::prelude::*;

/// All of these words are in a message.
pub(crate) fn assert_words(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{word}` should be in: {text}");
    }
}

/// Settings from `name=value` words, as they would be typed.
pub(crate) fn settings(words: &str) -> Settings {
    let mut settings = Settings::default();
    for (name, value) in words.split_whitespace().filter_map(|word| word.split_once('=')) {
        settings.set(name, value).expect("a setting");
    }
    settings
}

pub(crate) const COUNT: Counter = Counter::slot(0);
pub(crate) const VALUE: Mean = Mean::slot(1);
pub(crate) const ROWS: Table = Table(0);

/// LP 2 is poked at times 1.5, 2.5 and 3.5, by pokes 5, 6 and 7. At the last one it does what the
/// test says.
#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) lps: u32,
    pub(crate) lookahead: f64,
    pub(crate) links: fn(LpId) -> Option<Vec<Link>>,
    pub(crate) weight: fn(LpId) -> f64,
    pub(crate) group: fn(LpId) -> Option<u32>,
    pub(crate) declare: fn(&mut Declarations),
    pub(crate) init: fn(&mut Init<Self>),
    pub(crate) handle: fn(&mut Context<Self>),
    pub(crate) commit: fn(&mut Commit<Self>),
    pub(crate) finish: fn(&mut Finish<Self>),
    pub(crate) results: fn() -> Value,
}

impl Default for Scripted {
    fn default() -> Self {
        Scripted {
            lps: 4,
            lookahead: 0.5,
            links: |_| None,
            weight: |_| 1.0,
            group: |_| None,
            declare: |declare| {
                declare.counter(COUNT, "count", "", "counts").items(3);
                declare.mean(VALUE, "value", "s", "values");
                declare.table(ROWS, "rows", &[("size", "bytes"), ("word", "")]);
            },
            init: |_| {},
            handle: |_| {},
            commit: |_| {},
            finish: |_| {},
            results: || Value::Null,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Poke {
    pub(crate) number: u32,
}

impl Model for Scripted {
    type State = u32;
    type Event = Poke;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        (self.links)(lp)
    }

    fn weight(&self, lp: LpId) -> f64 {
        (self.weight)(lp)
    }

    fn group(&self, lp: LpId) -> Option<u32> {
        (self.group)(lp)
    }

    fn declare(&self, declare: &mut Declarations) {
        (self.declare)(declare);
    }

    fn init(&self, lp: &mut Init<Self>) -> u32 {
        if lp.id().0 == 2 {
            for number in [5, 6, 7] {
                lp.send(2, f64::from(number) - 3.5, Poke { number });
            }
            (self.init)(lp);
        }
        0
    }

    fn handle(&self, pokes: &mut u32, poke: &Poke, lp: &mut Context<Self>) {
        *pokes += 1;
        if poke.number == 7 {
            (self.handle)(lp);
        }
    }

    fn commit(&self, poke: &Poke, lp: &mut Commit<Self>) {
        if poke.number == 7 {
            (self.commit)(lp);
        }
    }

    fn finish(&self, _: &u32, lp: &mut Finish<Self>) {
        if lp.id().0 == 2 {
            (self.finish)(lp);
        }
    }

    fn results(&self, _: &Outcome) -> Results<Self> {
        (self.results)().into()
    }
}
