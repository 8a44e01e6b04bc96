//! Lines of shell in documents: what each of them starts, and how those that would take long are
//! cut short.

use std::fs;
use std::path::Path;

use crate::support::warpline;

/// What a line does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Runs `warpline` with these arguments.
    Warpline(Vec<String>),
    /// The same, started by a launcher of MPI programs. It is run without the launcher, which not
    /// every machine has; `mpi.rs` tests ranks.
    Launched(Vec<String>),
    /// Runs an example of the library with these arguments; tested in `own_model.rs`, beside the
    /// examples.
    Example(String),
    /// Runs the program of the project that the reader makes, with these arguments.
    Project(Vec<String>),
    /// Runs the project's tests.
    ProjectTests,
    /// Goes to a directory.
    GoTo(String),
    /// Makes a target of the Makefile. Targets take minutes, and other tests do what they do.
    Make(String),
    /// Installs a crate of this workspace, which would take minutes.
    Install(String),
    /// Hands a script to Slurm, which no machine for tests has.
    Submit,
}

/// Reads a line; `None` if it has no command.
pub(super) fn read(line: &str) -> Option<Line> {
    let code = line.split(" #").next().unwrap_or_default();
    if code.starts_with('#') {
        return None;
    }
    let words: Vec<&str> = code.split_whitespace().collect();
    let owned =
        |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    Some(match words.as_slice() {
        [] => return None,
        ["warpline", rest @ ..] => Line::Warpline(owned(rest)),
        ["mpirun", "-np", _, program, rest @ ..] | ["srun", program, rest @ ..]
            if program.ends_with("warpline") =>
        {
            Line::Launched(owned(rest))
        }
        ["cargo", "run", "--release", "--example", name, "--", ..] => {
            Line::Example((*name).to_owned())
        }
        ["cargo", "run", "--release", "--", rest @ ..] => Line::Project(owned(rest)),
        ["cargo", "test"] => Line::ProjectTests,
        ["cd", to] => Line::GoTo((*to).to_owned()),
        ["make", target, ..] => Line::Make((*target).to_owned()),
        ["cargo", "install", "--path", path, ..] => Line::Install((*path).to_owned()),
        ["sbatch", _] => Line::Submit,
        _ => panic!("no test knows what to do with `{line}`"),
    })
}

/// How many times as short the runs of commands are that would take long.
const SHORTER: f64 = 1000.0;

/// The arguments of a command that would take long, with an earlier end, a single run of each
/// engine, and few replications. `default_end` is that of the model.
pub(super) fn shortened(arguments: &[String], default_end: f64) -> Vec<String> {
    let mut short = arguments.to_vec();
    let command = arguments.first().map(String::as_str).unwrap_or_default();
    if command == "torture" {
        let times = ["--hours", "--minutes"];
        for at in (0..short.len()).filter(|at| times.contains(&&*arguments[*at])) {
            short[at] = "--seconds".to_owned();
            short[at + 1] = "2".to_owned();
        }
        return short;
    }
    let mut set = |option: &str, value: String, always: bool| match short
        .iter()
        .position(|word| word == option)
    {
        Some(at) => short[at + 1] = value,
        None if always => short.extend([option.to_owned(), value]),
        None => {}
    };
    if ["run", "verify", "explain", "compare"].contains(&command) {
        set("--end", (default_end / SHORTER).to_string(), true);
        set("--runs", "1".to_owned(), command == "compare");
        set("--replications", "3".to_owned(), false);
    }
    short
}

/// The default end of a model, or of the model of a scenario in `directory`.
pub(super) fn default_end(directory: &Path, model_or_scenario: &str) -> f64 {
    let scenario = directory.join(model_or_scenario);
    let model = match fs::read_to_string(&scenario) {
        Ok(text) => text
            .lines()
            .find_map(|line| line.strip_prefix("model = "))
            .map(|name| name.trim_matches('"').to_owned()),
        Err(_) => Some(model_or_scenario.to_owned()),
    };
    let model = model.unwrap_or_else(|| panic!("{model_or_scenario} names no model"));
    warpline(&format!("models show {model} --json")).json()["default_end"].as_f64().unwrap()
}

/// The first line of `expected` that was not printed. `…` stands for anything, and a space for any
/// number of spaces.
pub(super) fn missing<'e>(expected: &'e str, printed: &str) -> Option<&'e str> {
    let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let printed: Vec<String> = printed.lines().map(plain).collect();
    let matches = |wanted: &str, line: &str| {
        let mut rest = line;
        wanted.split('…').all(|part| {
            rest.find(part.trim()).is_some_and(|at| {
                rest = &rest[at + part.trim().len()..];
                true
            })
        })
    };
    expected
        .lines()
        .filter(|line| !line.trim().is_empty())
        .find(|line| !printed.iter().any(|one| matches(&plain(line), one)))
}

#[test]
fn lines_are_read_without_their_comments() {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(read("warpline run mm1   # a queue"), Some(Line::Warpline(words("run mm1"))));
    assert_eq!(
        read("mpirun -np 4 target/release/warpline run phold"),
        Some(Line::Launched(words("run phold")))
    );
    assert_eq!((read("# nothing"), read("")), (None, None));
}

#[test]
fn commands_that_take_long_end_earlier() {
    let short = |line: &str| {
        shortened(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), 1000.0).join(" ")
    };
    assert_eq!(short("run mm1 --end 500 --seed 2"), "run mm1 --end 1 --seed 2");
    assert_eq!(short("compare mm1"), "compare mm1 --end 1 --runs 1");
    assert_eq!(short("run mm1 --replications 30"), "run mm1 --replications 3 --end 1");
    assert_eq!(short("models show mm1"), "models show mm1");
}

#[test]
fn output_is_compared_line_by_line() {
    assert_eq!(missing("served  50 … people\n", "x\nserved 50 – people\n"), None);
    assert_eq!(missing("served 51\n", "x\nserved 50 – people\n"), Some("served 51"));
}
