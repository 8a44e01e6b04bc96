//! `warpline new`: projects that build and run at once.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::project::{cargo, lock};
use crate::support::{warpline, warpline_in};
use serde_json::Value;
use tempfile::tempdir;

/// What the project is called.
const NAME: &str = "corner-shop";

#[track_caller]
fn json(project: &Path, line: &str) -> Value {
    let Output { status, stdout, stderr } = cargo(project, NAME, line);
    assert!(status.success(), "{line}: {}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).unwrap()
}

#[test]
fn a_new_project_passes_its_tests_and_runs() {
    // Always the same place, so that cargo replaces what it built there before.
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    let made = warpline_in(&place, &["new", NAME]);
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    assert!(
        made.stdout.contains("cd corner-shop\n  cargo run --release -- run "),
        "{}",
        made.stdout
    );
    let project = place.join(NAME);
    assert!(
        fs::read_to_string(project.join("src/main.rs"))
            .unwrap()
            .contains("warpline::command::<CornerShop>()")
    );
    lock(&project);

    let tests = cargo(&project, NAME, "test --quiet");
    let [out, errors] = [&tests.stdout, &tests.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(tests.status.success() && out.contains("3 passed"), "{out}{errors}");
    assert!(!errors.contains("warning"), "{errors}");
    let alone = json(&project, "run --quiet -- run --end 1000 --json");
    assert_eq!((&alone["model"], &alone["end_time"]), (&"corner-shop".into(), &1000.0.into()));
    assert!(alone["results"]["served"].as_u64().unwrap() > 400, "{alone}");
    let compared = json(&project, "run --quiet -- compare --end 1000 --runs 1 --json");
    assert!(
        compared["same_answer"] == true && compared["parallel"].as_array().unwrap().len() == 2,
        "{compared}"
    );
    assert_eq!(compared["parallel"][0]["digest"], alone["digest"]);
    let refused = cargo(&project, NAME, "run --quiet -- run --arrival-rate 2");
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&refused.stderr)
            .contains("choose `arrival-rate` below `service-rate`")
    );
}

#[test]
fn what_was_written_is_told_to_programs_too() {
    let place = tempdir().unwrap();
    let json = warpline_in(place.path(), &["new", "shop", "--json"]).json();
    let files = ["shop/Cargo.toml", "shop/src/main.rs", "shop/README.md", "shop/.gitignore"];
    assert_eq!((&json["directory"], &json["files"]), (&"shop".into(), &files.to_vec().into()));
    assert!(
        files.iter().all(|file| place.path().join(file).is_file())
            && json["commands"][0] == "cargo run --release -- run"
    );
}

#[test]
fn what_cannot_be_a_project_is_refused_and_nothing_is_touched() {
    let place = tempdir().unwrap();
    fs::create_dir(place.path().join("full")).unwrap();
    fs::write(place.path().join("full/Cargo.toml"), "mine").unwrap();
    fs::write(place.path().join("file"), "mine").unwrap();
    let wrong =
        |name: &str, words: &[&str]| warpline_in(place.path(), &["new", name]).is_wrong_use(words);
    wrong(
        "full",
        &["the directory `full` is not empty, and nothing in it is overwritten; choose another \
             name, or empty it"],
    );
    wrong("file", &["`file` cannot become the project's directory"]);
    wrong("Corner Shop", &["a project cannot be called `Corner Shop`", "such as `corner-shop`"]);
    wrong("while", &["that is a word of the language"]);
    wrong("a/shop", &["it is written into the current directory, such as `shop`"]);
    warpline("new").is_wrong_use(&["<NAME>"]);
    let json = warpline_in(place.path(), &["new", "full", "--json"]);
    assert_eq!((json.code, &json.json()["exit_code"]), (2, &2.into()));
    assert_eq!(fs::read_to_string(place.path().join("full/Cargo.toml")).unwrap(), "mine");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
}
