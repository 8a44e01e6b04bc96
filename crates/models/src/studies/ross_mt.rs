//! ROSS with threads in place of processes.

use warpline::command::{Study, StudyCase, Way};

use super::{figure, gains};

/// The variants: the number of each in what follows is its place.
const THREADS: usize = 0;
const MPI: usize = 3;

/// D. Jagtap, N. Abu-Ghazaleh and D. Ponomarev, "Optimization of parallel discrete event simulator for multi-core systems", IPDPS 2012, Fig. 5
/// and 10 to 14.
pub(super) const PROCESSES_AND_THREADS: Study = Study {
    name: "ross-mt/processes-and-threads",
    about: "PHOLD by Time Warp, 0 to 100 % of messages to other PEs: PEs as threads, and as processes that share memory, or copy messages, by MPI \
            or through rings",
    source: "Jagtap, Abu-Ghazaleh and Ponomarev, IPDPS 2012, Fig. 5 and 10 to 14",
    claim: "threads are faster than a process per PE with MPI: up to 3 times on 4 cores with 8 PEs and up to 1.2 times on 48 cores, the more so the \
            more messages are remote; with messages of 500 bytes that are not copied, up to 1.65 times; sending and receiving takes 50 % of the \
            time with MPI and 30 % with threads; at 100 % remote the speed-up over a sequential run is 12 with threads and 10 with MPI on 48 cores",
    differs: "there are as many PEs as cores unless --threads says otherwise; processes of one machine share memory here, and both they and \
              threads share one copy of each message; with MPI alone, GVT is reduced by MPI, and otherwise by messages; what is copied goes in batches of up to 16 KiB, while ROSS sends each event by itself; PEs look for \
              messages in between without a call of MPI",
    model: "phold",
    conditions,
    variants: |_| {
        vec![
            StudyCase::new("threads", ["--preset=ross-mpi", "--barrier=tree"]),
            StudyCase::new("processes", ["--preset=ross-mpi", "--barrier=tree", "--zero-copy=yes"]).by(Way::Processes),
            StudyCase::new("processes, copies", ["--preset=ross-mpi", "--barrier=tree"]).by(Way::Processes),
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
            figure("threads against MPI, 8 bytes, all remote", "most of all", gains(measured, "100 %, 8 bytes", THREADS, MPI)),
            figure("threads against MPI, 500 bytes", "up to 1.65 times", gains(measured, "500 bytes", THREADS, MPI)),
        ]
    },
    ends: [4000.0, 2.0],
    seconds: [1.0, 0.5],
};

/// 1000 LPs for each PE, as in the source. A cluster is a PE.
fn conditions(pes: u32) -> Vec<StudyCase> {
    let case = |(remote, payload): (u32, u32)| {
        let arguments = [
            format!("--lps={}", 1000 * pes),
            format!("--clusters={pes}"),
            format!("--remote={}", f64::from(remote) / 100.0),
            format!("--payload={payload}"),
            "--undo=reverse".to_owned(),
        ];
        StudyCase::new(format!("{remote} %, {payload} bytes"), arguments)
    };
    [(0, 8), (10, 8), (25, 8), (50, 8), (75, 8), (100, 8), (10, 500), (100, 500)].map(case).into()
}
