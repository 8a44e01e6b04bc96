//! Comparisons and studies of threads, processes and ranks. Ranks need a build with MPI, and are
//! left out of other builds.
#![cfg(target_os = "linux")]

use serde_json::Value;
use tempfile::tempdir;

use crate::support::{Outcome, command, outcome};

const MPI: bool = cfg!(feature = "mpi");

/// Runs `warpline` where also root may start a launcher. `launcher` names one.
fn warpline(line: &str, launcher: Option<&str>) -> Outcome {
    let directory = tempdir().unwrap();
    let mut command = command(directory.path());
    command
        .args(line.split_whitespace())
        .envs(["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1")));
    launcher.map(|launcher| command.env("MPIRUN", launcher));
    outcome(&mut command)
}

fn list(values: &Value, name: &str) -> Vec<String> {
    values
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one[name].as_str().unwrap_or_default().to_owned())
        .collect()
}

const COMPARE: &str = "compare phold --lps 64 --end 5 --runs 1 --threads 2 --quiet";

#[test]
fn threads_and_processes_are_compared() {
    let json = warpline(
        &format!("{COMPARE} --with conservative,optimistic,threads,processes --json"),
        None,
    )
    .json();
    let parallel = &json["parallel"];
    assert_eq!(list(parallel, "way"), ["threads", "processes"].repeat(2));
    assert!(
        list(parallel, "digest")
            .iter()
            .all(|digest| json["sequential"]["digest"] == *digest.as_str()),
        "{parallel}"
    );
    assert_eq!(json["same_answer"], true);
    assert_eq!(parallel[1]["engine"]["transport"], "processes");
    let text = warpline(
        "compare phold --lps 64 --end 5 --runs 1 --processes 2 --threads 1 --with \
                         optimistic --quiet",
        None,
    )
    .stdout;
    assert!(
        text.contains("optimistic, 2 processes") && text.contains("same answer: yes"),
        "{text}"
    );
}

/// Digests are equal, whichever way messages go.
#[test]
fn ranks_are_compared_too() {
    let compared = warpline(&format!("{COMPARE} --with optimistic,processes,mpi,mpi-copies"), None);
    if !MPI {
        assert_eq!(compared.code, 1);
        let why = "optimistic, 2 ranks by MPI failed: this program was built without MPI";
        assert!(
            compared.stdout.contains(why) && compared.stdout.contains("same answer: yes"),
            "{}",
            compared.stdout
        );
        return;
    }
    assert_eq!(compared.code, 0, "{}{}", compared.stdout, compared.stderr);
    for words in [
        "optimistic, 2 processes",
        "optimistic, 2 ranks by MPI ",
        "optimistic, 2 ranks by MPI, copies",
        "same answer: yes",
    ] {
        assert!(compared.stdout.contains(words), "no `{words}` in {}", compared.stdout);
    }
}

#[test]
fn a_launcher_that_there_is_not_fails_its_rows_alone() {
    let compared = warpline(
        &format!("{COMPARE} --with optimistic,mpi,processes --json"),
        Some("no/such/mpirun"),
    );
    let json = compared.json();
    let errors = list(&json["parallel"], "error");
    let why = if MPI { "cannot start `no/such/mpirun`" } else { "built without MPI" };
    assert!(errors[0].contains(why) && errors[1].is_empty(), "{errors:?}");
    assert_eq!((compared.code, &json["same_answer"]), (1, &true.into()));
}

/// Without a launcher, a study leaves out what needs one, and does the rest.
#[test]
fn studies_do_what_can_be_done() {
    let done = warpline("study gsu/lps --quick --json --quiet", Some("no/such/mpirun"));
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let json = done.json();
    let cases = json["cases"].as_array().unwrap();
    let notes = json["notes"].to_string();
    assert!(
        cases.iter().all(|case| case["event_rate"].is_null() == (case["way"] == "mpi-copies")),
        "{cases:?}"
    );
    assert!(notes.contains("Left out: copies, MPI; "), "{notes}");
    let pes: Vec<&Value> = cases.iter().map(|case| &case["pes"]).collect();
    let variants = if cfg!(feature = "boost") { 4 } else { 3 };
    let expected: Vec<Value> =
        [2, 4, 8].into_iter().flat_map(|pes| vec![Value::from(pes); variants]).collect();
    assert_eq!(pes, expected.iter().collect::<Vec<_>>());
    let refused = warpline("study knl/cas --quick", Some("no/such/mpirun"));
    refused.fails(1, &["all of the study `knl/cas` is about ranks"]);
}

#[test]
fn a_study_of_ranks_gives_the_same_answers() {
    if !MPI {
        return;
    }
    let done = warpline("study gsu/network --quick --json --quiet", None);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let json = done.json();
    for case in json["cases"].as_array().unwrap() {
        assert!(case["event_rate"].as_f64().unwrap() > 0.0, "{case}");
    }
    assert!(
        json["figures"].as_array().unwrap().iter().all(|figure| figure["here"].is_string()),
        "{}",
        json["figures"]
    );
}
