//! ROSS on clusters of many cores: who sends messages, and how PEs hand them over.
//!
//! B. Williams, A. Eker, K. Chiu and D. Ponomarev, "High-performance PDES on manycore clusters",
//! SIGSIM-PADS 2021.

use warpline::command::{Study, StudyCase, Way};

use super::figures::{figure, gains, gains_over};

/// Turns optimisation 3 off.
const FIXED: &str = "--gvt-interval-control=fixed";

/// How all of these studies differ from their source.
macro_rules! differs {
    ($more:literal) => {
        concat!(
            "the paper had 8 machines of 64 cores with a network between them; here two ranks of \
             one machine stand for machines, share its cores, with their communication threads \
             too, and no message leaves it; batches of up to 16 KiB go by MPI, asynchronously, \
             where ROSS sends each event by itself; ",
            $more
        )
    };
}

/// §3 and §4, Fig. 1 and 2.
pub(super) const VARIANTS: Study = Study {
    name: "knl/variants",
    about: "PHOLD with one event per PE: the first PE sends for its process, or every PE, or a \
            thread that does nothing else",
    source: "Williams, Eker, Chiu and Ponomarev, SIGSIM-PADS 2021, Fig. 1 and §3, §4",
    claim: "where the first PE sends for all, a machine does 3.4 million events/s instead of 36 \
            million, even if no message leaves it; calls of MPI by every thread are no way out, as \
            they wait for each other; a thread that does nothing else, with the other \
            optimisations, is 2 to 16 times as fast",
    differs: differs!("and looking for messages takes no call of the system"),
    model: "phold",
    conditions: |pes| conditions(pes, &[0, 1, 10, 50], &[0, 4000]),
    variants: |_| {
        vec![
            StudyCase::new("worker", ["--preset=ross-cmt"]),
            StudyCase::new("distributed", ["--preset=ross-cmt", "--communication=distributed"]),
            StudyCase::new("dedicated", ["--preset=ross-cmt", "--communication=dedicated"]),
        ]
    },
    figures: |measured| {
        vec![
            figure(
                "dedicated against worker",
                "2 to 16 times, with the other optimisations",
                gains(measured, "%", 2, 0),
            ),
            figure(
                "dedicated against worker, nothing remote",
                "10 times between no communication and worker",
                gains(measured, " 0 %", 2, 0),
            ),
            figure("distributed against worker", "no faster", gains(measured, "%", 1, 0)),
        ]
    },
    ends: [2000.0, 20.0],
    seconds: [2.0, 1.0],
    in_pairs: false,
};

/// §4.1.
pub(super) const CAS: Study = Study {
    name: "knl/cas",
    about: "PHOLD with one event per PE, a thread that does nothing but send and receive: PEs hand \
            it messages in rings of their own, or in one with compare-and-swap",
    source: "Williams, Eker, Chiu and Ponomarev, SIGSIM-PADS 2021, §4.1",
    claim: "a ring in which all PEs of a machine reserve places by compare-and-swap relieves them \
            of waiting for a lock, and the thread of looking into a buffer of each; it is part of \
            an engine that is 2 to 16 times as fast",
    differs: differs!(
        "the rings that the CAS ring is compared with here have no locks either, and there are as \
         few of them as there are PEs"
    ),
    model: "phold",
    conditions: |pes| conditions(pes, &[1, 10, 50, 100], &[0, 4000]),
    variants: |_| {
        vec![
            StudyCase::new(
                "per sender",
                ["--preset=ross-mc-cmt", FIXED, "--communication-ring=per-sender"],
            ),
            StudyCase::new("CAS", ["--preset=ross-mc-cmt", FIXED]),
        ]
    },
    figures: |measured| {
        vec![figure(
            "CAS ring against the others",
            "a part of 2 to 16 times",
            gains(measured, "%", 1, 0),
        )]
    },
    ends: [2000.0, 20.0],
    seconds: [2.0, 1.0],
    in_pairs: false,
};

/// Optimisation 2: several processes on a machine, each with a thread of its own that sends.
pub(super) const THREADS_PER_COMMUNICATOR: Study = Study {
    name: "knl/threads-per-communicator",
    about: "PHOLD with one event per PE: how many PEs a thread that sends and receives has, in few \
            processes and in many",
    source: "Williams, Eker, Chiu and Ponomarev, SIGSIM-PADS 2021, §1 and §4, optimisation 2",
    claim: "one thread for all PEs of a machine saturates as remote communication grows, PEs \
            starve and roll back; with several processes per machine, of which each has its own \
            thread, there is a best number of PEs for each",
    differs: differs!(
        "more threads that send take cores from PEs, which pays only where cores are left"
    ),
    model: "phold",
    conditions: |pes| conditions(pes, &[1, 10, 50], &[0, 4000]),
    variants: |pes| {
        let pes = several(pes);
        let preset = "--preset=ross-mc-cmt";
        vec![
            StudyCase::new(format!("{} PEs, 2 processes", pes / 2), [preset, FIXED]),
            StudyCase::new(
                format!("{} PEs, 2 processes", pes / 4),
                [preset, FIXED, "--communication-threads=2"],
            ),
            StudyCase::new(format!("{} PEs, 4 processes", pes / 4), [preset, FIXED]).processes(4),
            StudyCase::new(format!("1 PE, {pes} processes"), [preset, FIXED]).processes(pes),
        ]
    },
    figures: |measured| {
        let of = |what: &str, variant: usize| {
            figure(what, "a best number in between", gains(measured, "%", variant, 0))
        };
        vec![
            of("two threads in each of 2 processes against one", 1),
            of("4 processes with a thread each against 2", 2),
            of("a process and a thread for each PE against 2", 3),
        ]
    },
    ends: [2000.0, 20.0],
    seconds: [2.0, 2.0],
    in_pairs: false,
};

/// The fixed intervals of the next study, in events.
const INTERVALS: [u32; 3] = [16, 128, 1024];
/// The place of the variant that adapts the interval, behind the fixed ones.
const ADAPTIVE: usize = INTERVALS.len();
/// The ways to communicate; each has all of these variants.
const WAYS: [&str; 2] = ["worker", "dedicated"];

/// Optimisation 3: the interval of GVT.
pub(super) const GVT_INTERVAL: Study = Study {
    name: "knl/gvt-interval",
    about: "PHOLD, the first PE sends for its process, or a thread that does nothing else: fixed \
            intervals of GVT, and one that adapts to how busy PEs are while GVT is found",
    source: "Williams, Eker, Chiu and Ponomarev, SIGSIM-PADS 2021, §1 and §4, optimisation 3",
    claim: "PEs that arrive at the barrier of GVT ahead of a slower thread that sends wait there \
            and execute nothing; with an interval of its own for that thread, which a control loop \
            matches to the CPU utilisation of PEs, both arrive together; with short intervals GVT \
            costs much, and with long ones rollbacks and memory grow; the part of this in the 2 to \
            16 times of all optimisations is not told",
    differs: differs!(
        "with one event per PE as in the paper, PEs would be idle most of the time, and idle PEs \
         ask for GVT whatever the interval is: so each PE has 64 LPs with 4 events each; the \
         thread that sends is no part of the barrier here, but says when PEs meet; and utilisation \
         is counted in steps and events, not read from a clock"
    ),
    model: "phold",
    conditions: |pes| {
        let pes = pes.max(4) / 2 * 2;
        conditions_with(
            pes,
            &[format!("--lps={}", 64 * pes), "--population=4".to_owned()],
            &[1, 10, 50],
            &[0, 1000],
        )
    },
    variants: |_| {
        let variants = |way: &str| {
            let settings = [("--preset=ross-mc-cmt".to_owned()), format!("--communication={way}")];
            let case = |name: String, more: Vec<String>| {
                StudyCase::new(name, [settings.to_vec(), more].concat())
            };
            let fixed = INTERVALS.map(|interval| {
                case(
                    format!("{way}, every {interval} events"),
                    vec![FIXED.to_owned(), format!("--gvt-interval={interval}")],
                )
            });
            fixed.into_iter().chain([case(format!("{way}, adaptive"), vec![])]).collect::<Vec<_>>()
        };
        WAYS.into_iter().flat_map(variants).collect()
    },
    figures: |measured| {
        let all = 0..ADAPTIVE;
        let of = |way: usize| {
            let first = way * (ADAPTIVE + 1);
            let adaptive = first + ADAPTIVE;
            let fixed = all.clone().map(|place| first + place).collect::<Vec<_>>();
            [
                figure(
                    &format!("{}: adaptive against the best fixed interval", WAYS[way]),
                    "about as fast, found by itself",
                    gains_over(measured, adaptive, &fixed, f64::min),
                ),
                figure(
                    &format!("{}: adaptive against the worst fixed interval", WAYS[way]),
                    "a part of 2 to 16 times",
                    gains_over(measured, adaptive, &fixed, f64::max),
                ),
            ]
        };
        (0..WAYS.len()).flat_map(of).collect()
    },
    ends: [1000.0, 40.0],
    seconds: [2.0, 1.0],
    in_pairs: false,
};

/// At least 8 PEs, and a multiple of 4: enough for several processes with some PEs each.
fn several(pes: u32) -> u32 {
    pes.max(8) / 4 * 4
}

/// Remote percentage × granularity, with one LP and one event for each PE.
fn conditions(pes: u32, remote: &[u32], granularity: &[u32]) -> Vec<StudyCase> {
    let pes = several(pes);
    conditions_with(pes, &[format!("--lps={pes}")], remote, granularity)
}

/// Remote percentage × granularity. Each of two processes is a cluster, and a message to the other
/// one is remote.
fn conditions_with(
    pes: u32,
    population: &[String],
    remote: &[u32],
    granularity: &[u32],
) -> Vec<StudyCase> {
    let case = |(granularity, remote): (u32, u32)| {
        let arguments = [
            "--clusters=2".to_owned(),
            format!("--remote={}", f64::from(remote) / 100.0),
            format!("--epg={granularity}"),
            "--undo=reverse".to_owned(),
        ];
        let arguments = population.iter().cloned().chain(arguments);
        StudyCase::new(format!("EPG {granularity}, {remote} %"), arguments)
            .by(Way::MpiCopies)
            .pes(pes)
            .processes(2)
    };
    granularity
        .iter()
        .flat_map(|&granularity| remote.iter().map(move |&remote| (granularity, remote)))
        .map(case)
        .collect()
}
