//! What is drawn: options from a stream of random numbers, and from them how several PEs run a
//! model. Values lie at the ends of their ranges, where mistakes are.

use std::fmt::Display;

use warpline_base::LpId;
use warpline_base::random::Random;
use warpline_run::GvtAlgorithm;

use crate::case::Case;

/// A case in the making, and the stream that draws it.
#[derive(Debug)]
pub struct Draw {
    /// The case so far.
    pub case: Case,
    /// The stream.
    pub random: Random,
}

impl Draw {
    /// Goes on with a case, by stream `number` among those of a seed.
    pub fn new(case: Case, seed: u64, number: u64) -> Self {
        Draw { case, random: Random::new(seed, LpId(number as u32), (number >> 32) as u8) }
    }

    /// One of these words. A word that stands twice is twice as likely.
    pub fn word(&mut self, words: &str) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        words[self.random.below(words.len() as u32) as usize].to_owned()
    }

    /// Adds an option.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Display) -> Self {
        self.case = self.case.with(name, value);
        self
    }

    /// Adds an option with one of these words.
    #[must_use]
    pub fn pick(mut self, name: &str, words: &str) -> Self {
        let value = self.word(words);
        self.with(name, value)
    }

    /// Adds an option with a number below `most`.
    #[must_use]
    pub fn number(mut self, name: &str, most: u32) -> Self {
        let number = self.random.below(most);
        self.with(name, number)
    }

    /// Adds some of these options, each with this probability.
    #[must_use]
    pub fn some(mut self, share: f64, options: &[(&str, &str)]) -> Self {
        for (name, words) in options {
            if self.random.bernoulli(share) {
                self = self.pick(name, words);
            }
        }
        self
    }

    /// The probability with which each option of a case is drawn: low in some cases, so that the
    /// defaults are tried with one thing changed, and high in others.
    pub fn share(&mut self) -> f64 {
        [0.05, 0.15, 0.4][self.random.below(3) as usize]
    }
}

/// What every engine has.
pub fn of_engines(draw: Draw, share: f64) -> Draw {
    draw.some(share, &[("pending", "heap ladder"), ("stack", "4 16")])
}

/// What several PEs have under the engine `sync`, wherever they are.
pub fn of_pes(draw: Draw, share: f64, sync: &str) -> Draw {
    let draw = draw.some(
        share,
        &[
            ("batch", "1 2 3 16 128"),
            ("messages", "auto copy shared value"),
            ("pool-order", "lifo fifo"),
        ],
    );
    engine(pool(gvt(draw, share), share, sync), share, sync)
}

/// A modelled machine: a flat network, a torus or fat trees, with nodes of 12 to 64 cores.
pub fn of_machine(draw: Draw) -> Draw {
    draw.pick("machine", "loggops-default cray-xt5 infiniband knl-10gbe")
}

/// A case without options that a modelled machine refuses, if it has one.
pub fn suit_machine(mut case: Case) -> Case {
    if case.get("machine").is_none() {
        return case;
    }
    if !matches!(case.get("messages"), Some("auto" | "copy")) {
        case = case.replace("messages", None);
    }
    if case.get("horizon") != Some("bounds") && case.get("use-lookahead") != Some("no") {
        case = case.replace("gvt-interval", None);
    }
    case
}

/// How and how often GVT is found.
fn gvt(draw: Draw, share: f64) -> Draw {
    let mut draw = draw.some(
        share,
        &[("gvt-interval", "1 3 50 1000"), ("gvt-interval-control", "fixed adaptive")],
    );
    let all: Vec<_> = GvtAlgorithm::ALL.iter().copied().map(GvtAlgorithm::name).collect();
    let gvt = draw.word(&format!("none none synchronous {}", all.join(" ")));
    match gvt.as_str() {
        "none" => draw,
        "synchronous" => draw.with("gvt", gvt).some(0.6, &[("barrier", "condvar central tree")]),
        _ => draw.with("gvt", gvt),
    }
}

/// Where free buffers wait.
fn pool(mut draw: Draw, share: f64, sync: &str) -> Draw {
    let pool = draw.word("none none partitioned sender receiver");
    match pool.as_str() {
        "none" => draw,
        "partitioned" if sync == "optimistic" || sync == "mixed" => {
            draw.with("pool", pool).some(share, &[("sub-pool", "unlimited 1 5 adaptive")])
        }
        _ => draw.with("pool", pool),
    }
}

/// Options that only some engines use.
fn engine(mut draw: Draw, share: f64, sync: &str) -> Draw {
    match sync {
        "conservative" if draw.random.bernoulli(0.3) => {
            let horizon = if draw.random.bernoulli(0.5) { "gvt" } else { "both" };
            return draw
                .with("horizon", horizon)
                .some(0.5, &[("gvt-start", "on-demand at-once")])
                .some(0.3, &[("jump-start", "no yes"), ("gvt-groups", "no yes")]);
        }
        "conservative" => return draw.some(share, &[("conservative", "windows free-running")]),
        "auto" => return draw,
        "mixed" => draw = draw.some(0.7, &[("conservative-lps", "all none 0 0-2 1,3")]),
        _ => {}
    }
    draw.some(
        share,
        &[("undo", "copy reverse journal"), ("cancellation", "aggressive lazy dynamic")],
    )
    .some(
        share,
        &[
            ("kps", "1 2 7"),
            ("copy-interval", "auto 1 3 100"),
            ("fossil-collection", "on-the-fly batch"),
        ],
    )
    .some(share, &[("window", "1e-9 0.01 0.5 1e9"), ("go-ahead", "always auto")])
    .some(share.max(0.3), &[("use-lookahead", "no yes")])
    .some(share.max(0.2), &[("horizon", "gvt both bounds"), ("gvt-start", "on-demand at-once")])
    .some(share, &[("jump-start", "no yes"), ("gvt-groups", "no yes")])
}
