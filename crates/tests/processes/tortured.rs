//! Models with one fault each, in programs that search schedules. What is found must be small, be
//! found again by the same seed, and be repeated by the command that is printed.

use std::process::{Command, Output};

use serde_json::Value;

use super::faults::FAULT;

/// The search of a test. It ends with the first failure.
const SEARCH: &str = "torture --seconds 120 --seed 1 --json --quiet";

/// Runs a program with a fault, and reads the object that it prints.
fn run(fault: &str, line: &str) -> Result<(Option<i32>, Value), String> {
    let this = std::env::current_exe().expect("this program");
    let Output { status, stdout, stderr } =
        Command::new(this).env(FAULT, fault).args(line.split(' ')).output().expect("a process");
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let object = serde_json::from_str(&stdout).map_err(|why| {
        format!("`{line}` with `{fault}` ended with {status}: {why}: {stdout}{stderr}")
    })?;
    Ok((status.code(), object))
}

/// Finds a fault, and repeats it. Returns the failure.
fn find(fault: &str, more: &str, kinds: &[&str], options_most: usize) -> Result<Value, String> {
    let (code, found) = run(fault, &format!("{SEARCH}{more}"))?;
    let failure = found["failure"].clone();
    let kind = failure["kind"].as_str().unwrap_or_default();
    let options = failure["options"].as_object().map_or(usize::MAX, |options| options.len());
    if code != Some(1) || !kinds.contains(&kind) || options > options_most {
        return Err(format!("{fault}: {code:?}, {found}"));
    }
    let command = failure["command"].as_str().unwrap_or_default();
    let (_, arguments) = command.split_once(' ').unwrap_or_default();
    let (code, again) = run(fault, &format!("{arguments} --json"))?;
    if code != Some(1) || again["failure"]["kind"] != failure["kind"] {
        return Err(format!("{fault}: {command} does not repeat {failure}, but gives {again}"));
    }
    let is_same = again["failure"]["why"] == failure["why"];
    if !is_same && kind != "not repeatable" && kind != "crashes" {
        return Err(format!("{fault}: {command} repeats {failure} as {again}"));
    }
    Ok(failure)
}

/// A search finds the same, however many processes it has.
fn find_twice() -> Result<(), String> {
    let of_jobs = |jobs: u32| {
        let more = format!(" --undo reverse --jobs {jobs}");
        find("wrong undo", &more, &["states", "digest"], 6)
    };
    let [one, other] = [of_jobs(1)?, of_jobs(3)?];
    if one == other { Ok(()) } else { Err(format!("{one} and {other}")) }
}

/// A model without a fault that matters passes, and says what was tried.
fn pass() -> Result<(), String> {
    let (code, found) = run("text order", "torture --seconds 3 --pes 5 --json --quiet")?;
    let schedules = found["schedules"].as_u64().unwrap_or_default();
    let by_sync = found["coverage"]["sync"].as_object().map_or(0, |engines| engines.len());
    let passes = code == Some(0)
        && schedules > 0
        && by_sync > 0
        && found["pes_most"].as_u64() <= Some(5)
        && found["failure"].is_null()
        && found["partial"] == false;
    if passes { Ok(()) } else { Err(format!("text order: {code:?}, {found}")) }
}

/// How many searches did not find what they had to, of how many.
pub(crate) fn failed() -> (usize, usize) {
    let searches = [
        find_twice(),
        find("outside", "", &["digest", "states", "results"], 6).map(drop),
        find("hash order", "", &["not repeatable"], 5).map(drop),
        find("crash", " --undo reverse", &["crashes"], 7).map(drop),
        pass(),
    ];
    let failed = searches.iter().filter_map(|search| search.as_ref().err());
    (failed.inspect(|why| eprintln!("{why}")).count(), searches.len())
}
