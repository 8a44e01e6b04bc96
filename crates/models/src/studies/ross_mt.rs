//! ROSS with threads in place of processes.

use warpline::command::{Study, StudyCase, Way};

use super::figures::{figure, gains};

/// The places of two variants.
const THREADS: usize = 0;
const MPI: usize = 3;

/// D. Jagtap, N. Abu-Ghazaleh and D. Ponomarev, "Optimization of parallel discrete event simulator
/// for multi-core systems", IPDPS 2012, Fig. 5 and 10 to 14.
pub(super) const PROCESSES_AND_THREADS: Study = Study {
    name: "ross-mt/processes-and-threads",
    about: "PHOLD by Time Warp, 0 to 100 % of messages to other PEs: PEs as threads, and as \
            processes that share memory, or copy messages, by MPI or through rings",
    source: "Jagtap, Abu-Ghazaleh and Ponomarev, IPDPS 2012, Fig. 5 and 10 to 14",
    claim: "threads are faster than a process per PE with MPI: up to 3 times on 4 cores with 8 PEs \
            and up to 1.2 times on 48 cores, the more so the more messages are remote; with \
            messages of 500 bytes that are not copied, up to 1.65 times; sending and receiving \
            takes 50 % of the time with MPI and 30 % with threads; at 100 % remote the speed-up \
            over a sequential run is 12 with threads and 10 with MPI on 48 cores",
    differs: "there are as many PEs as cores unless --threads says otherwise; processes of one \
              machine share memory here, and both they and threads share one copy of each message; \
              with MPI alone, GVT is reduced by MPI, and otherwise by messages; what is copied \
              goes in batches of up to 16 KiB, while ROSS sends each event by itself; PEs look for \
              messages in between without a call of MPI",
    model: "phold",
    conditions,
    variants: |_| {
        vec![
            StudyCase::new("threads", ["--preset=ross-mpi", "--barrier=tree"]),
            StudyCase::new("processes", ["--preset=ross-mpi", "--barrier=tree", "--zero-copy=yes"])
                .by(Way::Processes),
            StudyCase::new("processes, copies", ["--preset=ross-mpi", "--barrier=tree"])
                .by(Way::Processes),
            StudyCase::new("MPI", ["--preset=ross-mpi"]).by(Way::MpiCopies),
        ]
    },
    figures: |measured| {
        vec![
            figure(
                "threads against MPI, 8 bytes",
                "up to 3 times on 4 cores, up to 1.2 times on 48",
                gains(measured, " 8 bytes", THREADS, MPI),
            ),
            figure(
                "threads against MPI, 8 bytes, all remote",
                "most of all",
                gains(measured, "100 %, 8 bytes", THREADS, MPI),
            ),
            figure(
                "threads against MPI, 500 bytes",
                "up to 1.65 times",
                gains(measured, "500 bytes", THREADS, MPI),
            ),
        ]
    },
    ends: [4000.0, 2.0],
    seconds: [1.0, 0.5],
    in_pairs: false,
};

/// 1000 LPs for each PE, as in the source. A cluster is a PE.
fn condition(pes: u32, remote: u32, payload: u32) -> StudyCase {
    let arguments = [
        format!("--lps={}", 1000 * pes),
        format!("--clusters={pes}"),
        format!("--remote={}", f64::from(remote) / 100.0),
        format!("--payload={payload}"),
        "--undo=reverse".to_owned(),
    ];
    StudyCase::new(format!("{remote} %, {payload} bytes"), arguments)
}

fn conditions(pes: u32) -> Vec<StudyCase> {
    [(0, 8), (10, 8), (25, 8), (50, 8), (75, 8), (100, 8), (10, 500), (100, 500)]
        .map(|(remote, payload)| condition(pes, remote, payload))
        .into()
}

/// Without any optimisation.
const BASELINE: &str = "--preset=ross-mt-baseline";
/// With all of them.
const OPTIMISED: &str = "--preset=ross-mt";

/// How all studies below differ from their source.
macro_rules! differs {
    ($more:literal) => {
        concat!(
            "the source had a Core i7 with 4 cores and 8 threads, and 48 cores with non-uniform \
             memory; there are as many PEs as cores here unless --threads says otherwise; ",
            $more
        )
    };
}

/// Fig. 6, 8 and 9.
pub(super) const OPTIMISATIONS: Study = Study {
    name: "ross-mt/optimisations",
    about: "PHOLD by Time Warp on threads, 0 to 100 % of messages to other PEs: each optimisation \
            of ROSS-MT alone, and all together",
    source: "Jagtap, Abu-Ghazaleh and Ponomarev, IPDPS 2012, Fig. 6, 8 and 9",
    claim: "all optimisations together make up to 1.5 times on 4 cores, and more than 2.5 times on \
            48; on 48 cores, memory pools that keep apart where memory came from matter most, and \
            the barrier and queues for each sender gain more with more PEs",
    differs: differs!(
        "with few PEs neither locks nor barriers are contended, and there is one memory for all \
         cores; events that are copied do not lie in the pools, so that pools are measured where \
         nothing is copied"
    ),
    model: "phold",
    conditions: |pes| [0, 25, 50, 75, 100].map(|remote| condition(pes, remote, 8)).into(),
    variants: |_| {
        let alone = |name: &str, optimisation: &[&str]| {
            StudyCase::new(name, [&[BASELINE], optimisation].concat())
        };
        vec![
            StudyCase::new("baseline", [BASELINE]),
            alone("barrier", &["--barrier=central"]),
            alone("queue for each sender", &["--mailbox=per-sender"]),
            alone("no copies", &["--messages=shared"]),
            alone(
                "no copies, memory pools",
                &["--messages=shared", "--pool=partitioned", "--pool-order=lifo"],
            ),
            StudyCase::new("all", [OPTIMISED]),
        ]
    },
    figures: |measured| {
        let of = |what: &str, variant: usize, source: &str| {
            figure(what, source, gains(measured, "bytes", variant, 0))
        };
        vec![
            of(
                "all together against the baseline",
                5,
                "up to 1.5 times on 4 cores, more than 2.5 times on 48",
            ),
            of("the barrier alone", 1, "a part of it"),
            of("a queue for each sender alone", 2, "a part of it"),
            of("no copies alone", 3, "little with 8 bytes"),
            of("no copies and memory pools", 4, "pools are most of it on 48 cores"),
        ]
    },
    ends: [4000.0, 2.0],
    seconds: [2.0, 0.5],
    in_pairs: false,
};

/// Fig. 7.
pub(super) const BREAKDOWN: Study = Study {
    name: "ross-mt/breakdown",
    about: "PHOLD by Time Warp: what PEs spend their time on, with threads before and after \
            optimisation, and with a process for each PE and MPI",
    source: "Jagtap, Abu-Ghazaleh and Ponomarev, IPDPS 2012, Fig. 7",
    claim: "sending and receiving takes 50 % of the time with MPI, and 30 % with threads; GVT 25 \
            %, and 18 %",
    differs: differs!(
        "waiting for others is a phase of its own, and the time between two readings of the clock \
         is an estimate from samples"
    ),
    model: "phold",
    conditions: |pes| [10, 50, 100].map(|remote| condition(pes, remote, 8)).into(),
    variants: |_| {
        vec![
            StudyCase::new("threads", [OPTIMISED]),
            StudyCase::new("threads, baseline", [BASELINE]),
            StudyCase::new("MPI", ["--preset=ross-mpi"]).by(Way::MpiCopies),
        ]
    },
    figures: |measured| {
        let share = |variant: usize, names: &[&str]| {
            let all: Option<Vec<f64>> = (0..measured.conditions.len())
                .map(|condition| measured.share(condition, variant, names))
                .collect();
            let all = all.filter(|all| !all.is_empty())?;
            let least = all.iter().copied().fold(f64::INFINITY, f64::min);
            let most = all.iter().copied().fold(0.0, f64::max);
            Some(format!("{:.0} to {:.0} %", 100.0 * least, 100.0 * most))
        };
        vec![
            figure("sending and receiving, threads", "30 %", share(0, &["send", "receive"])),
            figure("sending and receiving, MPI", "50 %", share(2, &["send", "receive"])),
            figure("GVT, threads", "18 %", share(0, &["GVT"])),
            figure("GVT, MPI", "25 %", share(2, &["GVT"])),
            figure("waiting, threads", "not told", share(0, &["idle"])),
            figure("waiting, MPI", "not told", share(2, &["idle"])),
        ]
    },
    ends: [4000.0, 2.0],
    seconds: [2.0, 0.5],
    in_pairs: false,
};

/// Fig. 13.
pub(super) const MESSAGE_SIZE: Study = Study {
    name: "ross-mt/message-size",
    about: "PHOLD by Time Warp with messages of 8 to 50 000 bytes: one copy that threads share, a \
            copy into the receiver's queue, and MPI",
    source: "Jagtap, Abu-Ghazaleh and Ponomarev, IPDPS 2012, Fig. 12 and 13",
    claim: "with messages of 500 bytes that are not copied, threads are up to 1.65 times as fast \
            as MPI",
    differs: differs!(
        "of a message, the bytes beyond the first 8 lie in a block of their own, which threads \
         share in any case: what is copied into a queue is the event"
    ),
    model: "phold",
    conditions: |pes| [8, 100, 500, 5000, 50_000].map(|payload| condition(pes, 50, payload)).into(),
    variants: |_| {
        vec![
            StudyCase::new("shared", [OPTIMISED]),
            StudyCase::new("copies", [OPTIMISED, "--messages=copy"]),
            StudyCase::new("MPI", ["--preset=ross-mpi"]).by(Way::MpiCopies),
        ]
    },
    figures: |measured| {
        vec![
            figure(
                "no copies against MPI, 500 bytes",
                "up to 1.65 times",
                gains(measured, " 500 bytes", 0, 2),
            ),
            figure("no copies against MPI, all sizes", "not told", gains(measured, "bytes", 0, 2)),
            figure("no copies against copies", "not told", gains(measured, "bytes", 0, 1)),
        ]
    },
    ends: [1000.0, 2.0],
    seconds: [3.0, 0.5],
    in_pairs: false,
};

/// Fig. 14.
pub(super) const SPEED_UP: Study = Study {
    name: "ross-mt/speed-up",
    about: "PHOLD by Time Warp, all messages to other PEs: the speed-up of 2, 4 and 8 PEs, as \
            threads and as processes with MPI",
    source: "Jagtap, Abu-Ghazaleh and Ponomarev, IPDPS 2012, Fig. 14",
    claim: "at 100 % remote the speed-up over a sequential run grows linearly, to 12 with threads \
            and 10 with MPI on 48 cores",
    differs: differs!(
        "more PEs than cores take turns; and the speed-up is that over Time Warp on one PE, with \
         1000 LPs for each PE"
    ),
    model: "phold",
    conditions: |_| {
        [2, 4, 8]
            .map(|pes| StudyCase { name: format!("{pes} PEs"), ..condition(pes, 100, 8).pes(pes) })
            .into()
    },
    variants: |_| {
        vec![
            StudyCase::new("threads", [OPTIMISED]),
            StudyCase::new("MPI", ["--preset=ross-mpi"]).by(Way::MpiCopies),
        ]
    },
    figures: |measured| {
        vec![figure("threads against MPI", "1.2 times on 48 cores", gains(measured, "PEs", 0, 1))]
    },
    ends: [2000.0, 2.0],
    seconds: [3.0, 0.5],
    in_pairs: false,
};
