//! The program of the attack.

mod inside;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use warpline_cases::{Answer, Case};
use warpline_fuzz::attack::{Attack, attack};
use warpline_fuzz::check::{Checked, Checker};
use warpline_fuzz::models::Attacked;

#[global_allocator]
static ALLOCATOR: warpline::Allocator = warpline::Allocator;

/// How long an attack takes by default.
const TIME: Duration = Duration::from_secs(120);

/// The command line. Clap's macros would do this in less code, but whatever else has macros would
/// then be compiled twice: for this program, and for those without them.
fn command_line() -> Command {
    let option = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(name.to_uppercase()).help(help)
    };
    let case = || {
        let words =
            Arg::new("CASE").num_args(1..).required(true).help("The model, and its options");
        words.trailing_var_arg(true).allow_hyphen_values(true)
    };
    let attack = Command::new("attack")
        .about("Runs random cases until time is up; fails if any of them fails")
        .arg(
            option("hours", "How long, in hours; two minutes by default")
                .value_parser(value_parser!(f64)),
        )
        .arg(
            option(
                "seed",
                "The seed of the first model; those that follow have the next seeds. By default, \
                 it is taken from the clock",
            )
            .value_parser(value_parser!(u64)),
        )
        .arg(
            option("jobs", "Cases at a time; as many as there are cores by default")
                .value_parser(value_parser!(usize)),
        )
        .arg(
            option("shrink", "How long each failure is shrunk, in seconds")
                .value_parser(value_parser!(f64))
                .default_value("60"),
        )
        .arg(
            Arg::new("json").long("json").action(ArgAction::SetTrue).help("Prints one JSON object"),
        );
    let times = option("times", "How often").value_parser(value_parser!(u32)).default_value("10");
    Command::new("warpline-fuzz")
        .about(
            "Attacks Warpline: runs random models with random settings, and compares each run with \
             the sequential one",
        )
        .after_help(
            "All commands of `warpline` work here as well, for its models and two more, `nasty` and \
             `nasty-processes`.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(attack)
        .subcommand(
            Command::new("try")
                .about("Runs one case several times, and says how often it fails")
                .arg(times)
                .arg(case()),
        )
        .subcommand(
            Command::new("one")
                .about("Runs one case in this process, and prints its answer")
                .hide(true)
                .arg(case()),
        )
        .subcommand(Command::new("serve").about("Runs the cases on standard input").hide(true))
}

fn main() -> ExitCode {
    let verb = std::env::args().nth(1).unwrap_or_default();
    if !["attack", "try", "one", "serve", "", "-h", "--help"].contains(&verb.as_str()) {
        return warpline::command::of(&Attacked);
    }
    let case = |matches: &ArgMatches| -> Vec<String> {
        matches.get_many::<String>("CASE").into_iter().flatten().cloned().collect()
    };
    match command_line().get_matches().subcommand() {
        Some(("attack", matches)) => attack(&attack_of(matches)),
        Some(("try", matches)) => {
            try_case(matches.get_one("times").copied().unwrap_or_default(), &case(matches))
        }
        Some(("one", matches)) => {
            let refused = |why| Ok(Answer::Refused(why));
            match Case::parse(&case(matches)).map_or_else(refused, |case| inside::run(&case)) {
                Ok(answer) => print_answer(&answer),
                Err(share) => share.end(),
            }
        }
        _ => inside::serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
    }
}

/// The attack that is asked for.
fn attack_of(matches: &ArgMatches) -> Attack {
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let number = |name| matches.get_one::<f64>(name).copied();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Attack {
        seed: matches.get_one("seed").copied().unwrap_or_else(seed_of_now),
        time: number("hours").map_or(TIME, |hours| seconds(hours * 3600.0)),
        jobs: matches.get_one("jobs").copied().unwrap_or_else(cores).max(1),
        shrink_time: seconds(number("shrink").unwrap_or_default()),
        json: matches.get_flag("json"),
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
