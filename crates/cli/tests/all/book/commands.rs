//! Runs the commands of the README and of all chapters but the tutorial, each chapter in a
//! directory of its own. `docs/book/README.md` says what the blocks and their marks mean.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::tempdir;

use super::blocks::{Block, blocks};
use super::shell::{Line, default_end, missing, read, shortened};
use super::{chapter_names, document, root};
use crate::support::{command, output, warpline_in};

/// Files of the reader that commands name, and files of the project in their place.
const FILES: [(&str, &str); 5] = [
    ("my-backbone.json", "crates/models/tests/topologies/sndlib-polska.json"),
    ("zoo.graphml", "crates/topology/tests/odd/ring.graphml"),
    ("edges.csv", "crates/topology/tests/odd/edges.csv"),
    ("till.csv", "crates/series/tests/odd/till.csv"),
    ("unsorted.csv", "crates/series/tests/odd/unsorted.csv"),
];

macro_rules! documents {
    ($($test:ident: $path:literal,)*) => {
        $(
            #[test]
            fn $test() {
                run_all($path);
            }
        )*

        const TESTED: &[&str] = &[$($path),*];
    };
}

documents! {
    the_readme: "README.md",
    introduction: "docs/book/src/introduction.md",
    models: "docs/book/src/models.md",
    coroutines: "docs/book/src/coroutines.md",
    ranks: "docs/book/src/ranks.md",
    running: "docs/book/src/running.md",
    engines: "docs/book/src/engines.md",
    settings: "docs/book/src/settings.md",
    topologies: "docs/book/src/topologies.md",
    traces: "docs/book/src/traces.md",
    processes: "docs/book/src/processes.md",
    memory: "docs/book/src/memory.md",
    machines: "docs/book/src/machines.md",
    studies: "docs/book/src/studies.md",
    speed: "docs/book/src/speed.md",
    simpy: "docs/book/src/simpy.md",
    ross: "docs/book/src/ross.md",
    guarantees: "docs/book/src/guarantees.md",
    errors: "docs/book/src/errors.md",
}

#[test]
fn every_chapter_is_tested() {
    let tested = |name: &String| {
        name == "tutorial.md" || TESTED.iter().any(|path| path.ends_with(&format!("/{name}")))
    };
    let missed: Vec<String> = chapter_names().into_iter().filter(|name| !tested(name)).collect();
    assert_eq!(missed, Vec::<String>::new());
}

fn run_all(path: &str) {
    let directory = tempdir().unwrap();
    for (name, from) in FILES {
        fs::copy(root().join(from), directory.path().join(name)).unwrap();
    }
    let mut printed = None;
    for block in blocks(&document(path)) {
        let place = format!("{path}:{}", block.line);
        match block.language.as_str() {
            "sh" => printed = run_block(directory.path(), &block, &place),
            "bash" => check_script(directory.path(), &block, &place),
            "toml" => printed = Some(run_scenario(directory.path(), &block, &place)),
            "text" => {
                let printed: String = printed
                    .take()
                    .unwrap_or_else(|| panic!("{place}: no command above prints this"));
                assert_eq!(missing(&block.text, &printed), None, "{place}: not in\n{printed}");
            }
            // The code of other tools is there to be compared with.
            "rust" | "python" => {}
            other => panic!("{place}: no test knows blocks of `{other}`"),
        }
    }
}

/// Runs the lines of a block, and returns what the last one printed.
fn run_block(directory: &Path, block: &Block, place: &str) -> Option<String> {
    let mut printed = None;
    for line in block.text.lines().filter_map(read) {
        printed = run_line(directory, block, line, place).or(printed);
    }
    printed
}

fn run_line(directory: &Path, block: &Block, line: Line, place: &str) -> Option<String> {
    match line {
        Line::Warpline(arguments) | Line::Launched(arguments) => {
            let arguments =
                if block.is_marked("long") { short(directory, &arguments) } else { arguments };
            return Some(run(directory, &arguments, block.is_marked("fails"), place));
        }
        Line::Example(name) => assert!(
            root().join("crates/warpline/examples").join(&name).is_dir(),
            "{place}: no example {name}"
        ),
        Line::Make(target) => assert!(
            document("Makefile").contains(&format!("\n{target}:")),
            "{place}: no target {target}"
        ),
        Line::Install(path) => {
            assert!(root().join(&path).join("Cargo.toml").is_file(), "{place}: no crate in {path}")
        }
        Line::Submit => {}
        Line::Project(_) | Line::ProjectTests | Line::GoTo(_) => {
            panic!("{place}: only the tutorial has a project")
        }
    }
    None
}

fn short(directory: &Path, arguments: &[String]) -> Vec<String> {
    let takes_model =
        ["run", "verify", "torture", "explain", "compare"].contains(&arguments[0].as_str());
    shortened(arguments, if takes_model { default_end(directory, &arguments[1]) } else { 0.0 })
}

fn run(directory: &Path, arguments: &[String], fails: bool, place: &str) -> String {
    if let [study, _, ..] = arguments
        && study == "study"
    {
        return check_study(directory, arguments, place);
    }
    let roots =
        ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1"));
    let Output { status, stdout, stderr } = output(command(directory).args(arguments).envs(roots));
    let printed = [stdout, stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    // Without MPI, a comparison with ranks fails, but has its other rows.
    let lacks_mpi =
        !cfg!(feature = "mpi") && printed.contains("this program was built without MPI");
    assert!(
        status.code().is_some() && (status.success() != (fails || lacks_mpi)),
        "{place}: {arguments:?} ends with {status}\n{printed}"
    );
    printed
}

/// Checks that the command of a study is understood. A study takes minutes, and seconds with
/// `--quick`; `studies.rs` runs one. Here it is refused, as its report cannot be written.
fn check_study(directory: &Path, arguments: &[String], place: &str) -> String {
    let mut arguments = arguments.to_vec();
    let at = arguments.iter().position(|word| word == "--report").unwrap_or(arguments.len());
    arguments.splice(
        at..(at + 2).min(arguments.len()),
        ["--report".to_owned(), "/dev/null/report".to_owned()],
    );
    let refused = warpline_in(directory, &arguments).stderr;
    assert!(refused.contains("cannot write a report to /dev/null/report"), "{place}: {refused}");
    refused
}

/// Writes a scenario to the file that its first line names, and runs it.
fn run_scenario(directory: &Path, block: &Block, place: &str) -> String {
    let name = block.text.lines().next().and_then(|line| line.strip_prefix("# "));
    let name = name.unwrap_or_else(|| panic!("{place}: the first line names no file")).to_owned();
    fs::write(directory.join(&name), &block.text).unwrap();
    run(directory, &short(directory, &["run".to_owned(), name]), block.is_marked("fails"), place)
}

/// Checks the syntax of a script, and runs the commands that it starts with `srun`.
fn check_script(directory: &Path, block: &Block, place: &str) {
    let checked = Command::new("bash").args(["-n", "-c", &block.text]).output().unwrap();
    assert!(checked.status.success(), "{place}: {}", String::from_utf8_lossy(&checked.stderr));
    let mut started = 0;
    for line in block.text.lines().filter(|line| line.starts_with("srun ")) {
        let Some(Line::Launched(arguments)) = read(line) else { panic!("{place}: {line}") };
        run(directory, &short(directory, &arguments), false, place);
        started += 1;
    }
    assert!(started > 0, "{place}: the script starts nothing");
}
