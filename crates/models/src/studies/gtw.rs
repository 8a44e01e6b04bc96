//! Georgia Tech Time Warp: whose pools the buffers of messages are in.
//!
//! R. Fujimoto and K. Panesar, "Buffer management in shared-memory Time Warp systems", PADS 1995.

use warpline::command::{Measured, Study, StudyCase, StudyFigure};

use super::figures::{figure, gains};

/// The places of the variants in [`variants`].
const RECEIVER: usize = 0;
const SENDER: usize = 1;
const PARTITIONED: usize = 2;
/// Without sizes, and with fossil collection in batches, as in the other two.
const UNLIMITED: usize = 3;

/// How all of these studies differ from their source.
macro_rules! differs {
    ($more:literal) => {
        concat!(
            "the source had a KSR2 of 1993, where a miss took 175 to 600 cycles and the memory of \
             all was a cache of pages; here all cores have the same memory, and a cache that they \
             share holds all buffers; there are as many PEs as cores unless --threads says \
             otherwise, and pools grow as needed, but for the sub-pools; ",
            $more
        )
    };
}

/// How many buffers the sub-pools of a PE have together: eight times what `gtw-partitioned` gives
/// to a pair of PEs.
const OF_PE: u32 = 8192;

fn variants(pes: u32) -> Vec<StudyCase> {
    with_buffers(pes, OF_PE)
}

/// The variants, with `of_pe` buffers in all sub-pools of a PE together.
fn with_buffers(pes: u32, of_pe: u32) -> Vec<StudyCase> {
    let of = |pool: &str| vec![format!("--preset=gtw-{pool}")];
    let sized = [of("partitioned"), vec![format!("--sub-pool={}", (of_pe / pes).max(1))]].concat();
    let unlimited = [of("receiver"), vec!["--pool=partitioned".to_owned()]].concat();
    vec![
        StudyCase::new("receiver pools", of("receiver")),
        StudyCase::new("sender pools", of("sender")),
        StudyCase::new("partitioned pools", sized),
        StudyCase::new("partitioned, no sizes", unlimited),
    ]
}

fn figures(measured: &Measured) -> Vec<StudyFigure> {
    vec![
        figure(
            "partitioned pools against receiver pools",
            "up to 2 times",
            gains(measured, "", PARTITIONED, RECEIVER),
        ),
        figure(
            "partitioned pools against sender pools",
            "up to 2 times",
            gains(measured, "", PARTITIONED, SENDER),
        ),
        figure(
            "partitioned pools that grow, with fossil collection in batches, against sender pools",
            "not told",
            gains(measured, "", UNLIMITED, SENDER),
        ),
        figure(
            "sender pools against receiver pools",
            "ahead, as a curve shows",
            gains(measured, "", SENDER, RECEIVER),
        ),
    ]
}

/// PHOLD with 256 LPs; a cluster is a PE.
fn phold(pes: u32, population: u32, more: &[String]) -> Vec<String> {
    let lps = 256 / pes * pes;
    let own = [
        format!("--lps={lps}"),
        format!("--population={population}"),
        format!("--clusters={pes}"),
        "--lookahead=0".into(),
    ];
    own.into_iter().chain(more.iter().cloned()).collect()
}

/// Fig. 1 and 2.
pub(super) const SEND_TIME: Study = Study {
    name: "gtw/send-time",
    about: "PHOLD by Time Warp with messages of 8 to 4096 bytes: what it adds to the time of an \
            event that its message goes to another PE, with buffers in the pools of receivers, of \
            senders, and partitioned ones",
    source: "Fujimoto and Panesar, PADS 1995, Fig. 1 and 2",
    claim: "a message takes a lock and two rounds of cache misses with receiver pools, and one \
            round with sender pools, whose time is close to that of copying the message from one \
            cache to the other; both grow linearly with the size",
    differs: differs!(
        "what a message adds is the difference to runs in which no message leaves its PE; of its \
         bytes, those beyond the first 8 lie in a block that is passed on and not copied"
    ),
    model: "phold",
    conditions: |pes| {
        let of = |bytes: u32, name: String, remote: u32| {
            StudyCase::new(
                name,
                phold(pes, 4, &[format!("--payload={bytes}"), format!("--remote={remote}")]),
            )
        };
        let both = |bytes: u32| {
            [
                of(bytes, format!("{bytes} bytes, none remote"), 0),
                of(bytes, format!("{bytes} bytes, all remote"), 1),
            ]
        };
        [8, 64, 512, 4096].into_iter().flat_map(both).collect()
    },
    variants,
    figures: |measured| {
        // Every event sends one message. Conditions are pairs: none remote, all remote.
        let added = |pair: &[Vec<Option<f64>>], variant: usize| {
            let time = |rates: &Vec<Option<f64>>| Some(rates.get(variant)?.as_ref()?.recip());
            Some(1e9 * (time(pair.get(1)?)? - time(pair.first()?)?))
        };
        let of = |what: &str, variant: usize, source: &str| {
            let all: Option<Vec<f64>> =
                measured.rates.chunks(2).map(|pair| added(pair, variant)).collect();
            let here = all.filter(|all| !all.is_empty()).map(|all| {
                let times: Vec<String> = all.iter().map(|time| format!("{time:.0}")).collect();
                format!("{} ns more for each event of all PEs together, by size", times.join(", "))
            });
            figure(what, source, here)
        };
        vec![
            of("receiver pools", RECEIVER, "two rounds of misses and a lock"),
            of("sender pools", SENDER, "one round of misses"),
            of("partitioned pools", PARTITIONED, "not in these figures"),
            of("partitioned pools that grow", UNLIMITED, "not in these figures"),
        ]
    },
    ends: [16_000.0, 10.0],
    seconds: [2.0, 0.2],
    in_pairs: false,
};

/// Fig. 3.
pub(super) const RATE: Study = Study {
    name: "gtw/rate",
    about: "PHOLD with 256 LPs and 1024 messages by Time Warp: whose pools the buffers of messages \
            are in, with little and much remote traffic",
    source: "Fujimoto and Panesar, PADS 1995, Fig. 3",
    claim: "sender pools take no lock and one round of cache misses less than receiver pools, and \
            are faster the more processors there are",
    differs: differs!("with two PEs a lock is seldom contended"),
    model: "phold",
    conditions: |pes| {
        let of = |remote: u32| {
            StudyCase::new(
                format!("{remote} % remote"),
                phold(pes, 4, &[format!("--remote={}", f64::from(remote) / 100.0)]),
            )
        };
        [10, 50, 100].map(of).into()
    },
    variants,
    figures,
    ends: [16_000.0, 10.0],
    seconds: [2.0, 0.2],
    in_pairs: false,
};

/// Fig. 4 and 5.
pub(super) const MEMORY: Study = Study {
    name: "gtw/memory",
    about: "PHOLD with 256 LPs by Time Warp: committed event rate with few and many messages, and \
            so with little and much memory for buffers",
    source: "Fujimoto and Panesar, PADS 1995, Fig. 4 and 5",
    claim: "sender and receiver pools lose most of their rate beyond 25 MB, as buffers wander \
            through all of the memory and pages are missed; partitioned pools do not, and lead \
            throughout",
    differs: differs!(
        "buffers are made as they are needed, so that what takes memory is the number of messages; \
         and the buffer freed last is used first, except on the fly, so that few of them wander"
    ),
    model: "phold",
    conditions: |pes| {
        let of = |population: u32| {
            // Runs take equally long.
            let more = ["--remote=0.5".to_owned(), format!("--end={}", 80_000 / population)];
            StudyCase::new(
                format!("{} messages", 256 / pes * pes * population),
                phold(pes, population, &more),
            )
        };
        [4, 64, 512, 2048].map(of).into()
    },
    // Enough for all messages.
    variants: |pes| with_buffers(pes, 1 << 21),
    figures,
    ends: [40.0, 1.0],
    seconds: [3.0, 0.5],
    in_pairs: false,
};

/// Fig. 6.
pub(super) const NEIGHBOURS: Study = Study {
    name: "gtw/neighbours",
    about: "PHOLD with 256 LPs on 8 PEs by Time Warp, whose messages go to the PEs within 1, 2 and \
            3 places: whose pools the buffers are in",
    source: "Fujimoto and Panesar, PADS 1995, Fig. 6",
    claim: "with receiver pools, pages are missed from 100 MB on with one neighbour, 67 MB with 2, \
            and 40 MB with 4: the more PEs a PE hears of, the more of its memory passes through \
            all their caches",
    differs: differs!(
        "pages are not missed, so that only rates can be compared; messages go both ways round the \
         ring of 8 PEs, so that there are 2, 4 and 6 neighbours in place of 1, 2 and 4"
    ),
    model: "phold",
    conditions: |_| {
        let of = |reach: u32| {
            let more = ["--remote=0.9".to_owned(), format!("--reach={reach}")];
            StudyCase::new(format!("{} neighbours", 2 * reach), phold(8, 4, &more)).pes(8)
        };
        [1, 2, 3].map(of).into()
    },
    variants: |_| variants(8),
    figures,
    ends: [3000.0, 5.0],
    seconds: [2.0, 0.3],
    in_pairs: false,
};

/// Fig. 7.
pub(super) const HYPERCUBE: Study = Study {
    name: "gtw/hypercube",
    about: "routing in a hypercube of 128 nodes with 2048 messages in flight, by Time Warp: whose \
            pools the buffers of messages are in",
    source: "Fujimoto and Panesar, PADS 1995, Fig. 7",
    claim: "partitioned pools are fastest in all cases, the more so the more processors there are",
    differs: differs!("nothing is known of the lengths of messages but that they are uniform"),
    model: "hypercube",
    conditions: |_| vec![StudyCase::new("7 dimensions", [] as [&str; 0])],
    variants,
    figures,
    ends: [80_000.0, 20.0],
    seconds: [1.3, 0.3],
    in_pairs: false,
};

/// Fig. 8.
pub(super) const PCS: Study = Study {
    name: "gtw/pcs",
    about: "a network of 1024 radio cells and 25 000 portables, by Time Warp: whose pools the \
            buffers of messages are in",
    source: "Fujimoto and Panesar, PADS 1995, Fig. 8",
    claim: "partitioned pools are fastest, but the difference is small, as some 90 % of messages \
            stay on their processor",
    differs: differs!(
        "cells have one event for whatever a portable does next, and the grid has no edge"
    ),
    model: "pcs",
    conditions: |_| vec![StudyCase::new("1024 cells", [] as [&str; 0])],
    variants,
    figures,
    ends: [3000.0, 5.0],
    seconds: [2.0, 0.3],
    in_pairs: false,
};
