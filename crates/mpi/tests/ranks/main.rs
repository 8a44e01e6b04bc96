//! Tests of several ranks. Started plainly, this starts itself by `mpirun`, several times and with
//! several numbers of ranks; started by `mpirun`, it is one of these ranks and does what its
//! argument names.

mod collective;
mod failures;
mod ordinary;
mod pools;
mod runner;
mod threads;
mod traffic;

use std::process::ExitCode;

use warpline_mpi::Launch;

fn main() -> ExitCode {
    match (Launch::detect(), std::env::args().nth(1)) {
        (Some(launch), Some(part)) if part.starts_with("part:") => {
            take_part(launch, &part["part:".len()..])
        }
        _ => runner::run_all(),
    }
}

fn take_part(launch: Launch, part: &str) -> ExitCode {
    match part {
        "ordinary" => ordinary::run(launch),
        "for-good" => ordinary::for_good(launch),
        "threads" => threads::run(launch),
        "longest" => traffic::longest(launch),
        "panic" => failures::panics(launch),
        "panic-early" => failures::panics_early(launch),
        "leak" => failures::leaks(launch),
        "truncate" => failures::truncates(launch),
        "abort" => failures::aborts(launch),
        "other-launcher" => failures::other_launcher(launch),
        unknown => panic!("there is no part {unknown}"),
    }
    ExitCode::SUCCESS
}
