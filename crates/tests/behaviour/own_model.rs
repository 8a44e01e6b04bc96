//! A program around the model of the README has the whole command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use warpline::serde_json::{self, Value};

/// The program of an example. `cargo test` on the whole workspace has built it; otherwise this does.
fn program(name: &str) -> PathBuf {
    let tests = std::env::current_exe().expect("a test has a path");
    let target =
        tests.parent().and_then(Path::parent).expect("tests lie in a directory of the target's");
    let program = target.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "warpline", "--example", name]);
        assert!(
            build.status().expect("cargo can be started").success(),
            "the example cannot be built"
        );
    }
    program
}

fn run(directory: &Path, line: &str) -> Output {
    run_example("rumour", directory, line)
}

fn run_example(name: &str, directory: &Path, line: &str) -> Output {
    let words = line.split(' ').filter(|word| !word.is_empty());
    Command::new(program(name))
        .args(words)
        .current_dir(directory)
        .output()
        .expect("the program can be started")
}

fn json(directory: &Path, line: &str) -> Value {
    let Output { status, stdout, stderr } = run(directory, line);
    assert!(status.success(), "{line}: {}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).unwrap_or_else(|why| panic!("{line}: {why}"))
}

#[test]
fn the_readme_shows_the_program_that_is_tested() {
    let readme = include_str!("../../../README.md");
    let model = include_str!("../../warpline/examples/rumour/readme.rs");
    assert!(
        readme.contains(&format!("```rust,no_run\n{model}```\n")),
        "README.md has another model than examples/rumour/readme.rs"
    );
    assert!(model.lines().count() <= 40, "{} lines", model.lines().count());
}

/// Starts the examples as the README and the book do; their other commands are tested with the
/// program `warpline`.
#[test]
fn the_examples_run_as_the_documents_start_them() {
    const START: &str = "cargo run --release --example ";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let chapters =
        std::fs::read_dir(root.join("docs/book/src")).unwrap().map(|entry| entry.unwrap().path());
    let documents: Vec<String> = chapters
        .chain([root.join("README.md")])
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    let lines =
        documents.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix(START));
    let directory = tempfile::tempdir().unwrap();
    let mut started = 0;
    for line in lines {
        let (name, arguments) =
            line.split(" #").next().and_then(|code| code.split_once(" -- ")).expect(line);
        let Output { status, stderr, .. } = run_example(name, directory.path(), arguments);
        assert!(status.success(), "{line}: {}", String::from_utf8_lossy(&stderr));
        started += 1;
    }
    assert!(started >= 5, "only {started} lines start an example");
}

#[test]
fn a_program_of_one_model_has_the_whole_command() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let alone = json(place, "run --json");
    assert_eq!(
        (&alone["model"], &alone["parameters"]["people"]),
        (&"rumour".into(), &10_000.into())
    );
    let heard = alone["results"]["heard"].as_u64().unwrap();
    // Each tells three others: the share x of all who hear it solves x = 1 - exp(-3 x), so 0.9405
    // of 10 000, give or take 29 (Daley and Gani, Epidemic Modelling, 1999, for the equation).
    assert!((9290..9520).contains(&heard), "{heard} heard it");
    assert_eq!(json(place, "run rumour --json --threads 2")["digest"], alone["digest"]);
    let few = json(place, "run --people 50 --json --seed 3");
    let compared = json(place, "compare --people 50 --seed 3 --runs 1 --json");
    assert_eq!(compared["parallel"][0]["digest"], few["digest"]);
    let verified = json(place, "verify --people 50 --json");
    assert_eq!(verified["model"], "rumour");
    let shown = json(place, "models show --json");
    assert_eq!(
        (&shown["parameters"][0]["name"], &shown["parameters"][0]["meaning"]),
        (&"people".into(), &"How many people there are.".into())
    );

    std::fs::write(place.join("few.toml"), "seed = 3\n[parameters]\npeople = 50\n").unwrap();
    assert_eq!(json(place, "run few.toml --json")["digest"], few["digest"]);
    let report = run(place, "run few.toml --report out");
    assert!(
        report.status.success()
            && place.join("out/report.html").is_file()
            && place.join("out/run.json").is_file()
    );
    assert!(run(place, "report out").status.success());

    let wrong = run(place, "run --people 0");
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        said.contains("`people` cannot be 0: it must lie in [1, 4294967295]")
            && said.contains("`rumour models show` lists"),
        "{said}"
    );
    let help = String::from_utf8(run(place, "run --help").stdout).unwrap();
    assert!(
        help.contains("--people <VALUE>")
            && help.contains("How many people there are. (default 10000; in [1, 4294967295])"),
        "{help}"
    );
}
