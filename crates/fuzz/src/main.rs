//! The program of the attack.

mod inside;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use warpline_cases::{Answer, Case};
use warpline_fuzz::attack::{Attack, attack};
use warpline_fuzz::check::{Checked, Checker};
use warpline_fuzz::models::Attacked;

#[global_allocator]
static ALLOCATOR: warpline::Allocator = warpline::Allocator;

/// Attacks Warpline: runs random models with random settings, and compares each run with the
/// sequential one.
#[derive(Debug, Parser)]
#[command(
    after_help = "All commands of `warpline` work here as well, for its models and one more, `nasty`."
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Runs random cases until time is up; fails if any of them fails.
    Attack {
        /// How long, in hours.
        #[arg(long, default_value_t = 2.0 / 60.0)]
        hours: f64,
        /// The seed of the first model; those that follow have the next seeds. By default, it is
        /// taken from the clock.
        #[arg(long)]
        seed: Option<u64>,
        /// Cases at a time; as many as there are cores by default.
        #[arg(long)]
        jobs: Option<usize>,
        /// How long each failure is shrunk, in seconds.
        #[arg(long, default_value_t = 60.0)]
        shrink: f64,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Runs one case several times, and says how often it fails.
    Try {
        /// How often.
        #[arg(long, default_value_t = 10)]
        times: u32,
        /// The model, and its options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        case: Vec<String>,
    },
    /// Runs one case in this process, and prints its answer.
    #[command(hide = true)]
    One {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        case: Vec<String>,
    },
    /// Runs the cases on standard input.
    #[command(hide = true)]
    Serve,
}

fn main() -> ExitCode {
    let verb = std::env::args().nth(1).unwrap_or_default();
    if !["attack", "try", "one", "serve", "", "-h", "--help"].contains(&verb.as_str()) {
        return warpline::command::of(&Attacked);
    }
    match Arguments::parse().verb {
        Verb::Attack { hours, seed, jobs, shrink, json } => {
            let seconds =
                |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            let cores = || std::thread::available_parallelism().map_or(1, usize::from);
            attack(&Attack {
                seed: seed.unwrap_or_else(seed_of_now),
                time: seconds(hours * 3600.0),
                jobs: jobs.unwrap_or_else(cores).max(1),
                shrink_time: seconds(shrink),
                json,
            })
        }
        Verb::Try { times, case } => try_case(times, &case),
        Verb::One { case } => {
            let refused = |why| Ok(Answer::Refused(why));
            match Case::parse(&case).map_or_else(refused, |case| inside::run(&case)) {
                Ok(answer) => print_answer(&answer),
                Err(share) => share.end(),
            }
        }
        Verb::Serve => inside::serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
    }
}

/// A seed that differs from call to call.
fn seed_of_now() -> u64 {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    now.as_secs() << 16
}

fn print_answer(answer: &Answer) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    let printed = serde_json::to_writer(&mut stdout, answer)
        .map_err(std::io::Error::from)
        .and_then(|()| stdout.write_all(b"\n"));
    printed.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn try_case(times: u32, words: &[String]) -> ExitCode {
    let case = match Case::parse(words) {
        Ok(case) => case,
        Err(why) => {
            eprintln!("error: {why}");
            return ExitCode::from(2);
        }
    };
    let mut checker = Checker::default();
    let mut failed = 0;
    for run in 1..=times {
        match checker.check(&case) {
            Ok(Checked::Equal { slow: Some(ratio) }) => {
                println!("run {run}: equal, {ratio:.1} times as long as it should take")
            }
            Ok(checked) => println!("run {run}: {checked:?}"),
            Err(wrong) => {
                failed += 1;
                println!("run {run}: {wrong}");
            }
        }
    }
    println!("{failed} of {times} runs fail");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
