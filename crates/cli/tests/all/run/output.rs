//! Where results go: reports, pipes that nobody reads, and disks that are full.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::KEYS;
use crate::support::{Outcome, command, warpline_in};
use tempfile::tempdir;

#[test]
fn a_report_is_written_and_rendered_again() {
    let place = tempdir().unwrap();
    let inside = |arguments: &[&str]| warpline_in(place.path(), arguments);
    let run = inside(&["run", "mm1", "--end", "100", "--report", "deep/out", "--json"]);
    assert_eq!(run.json()["report"], "deep/out/report.html");
    let report = place.path().join("deep/out/report.html");
    assert!(report.is_file() && place.path().join("deep/out/run.json").is_file());
    fs::remove_file(&report).unwrap();
    let again = inside(&["report", "deep/out"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, "report: deep/out/report.html\n"));
    assert!(report.is_file());
    assert_eq!(inside(&["report", "deep/out", "--json"]).json()["report"], "deep/out/report.html");
    let text = inside(&["run", "mm1", "--end", "100", "--report", "deep/out"]);
    assert!(text.stdout.ends_with("report: deep/out/report.html\n"));
    inside(&["report", "deep"]).is_wrong_use(&["deep/run.json"]);
    fs::write(place.path().join("deep/out/run.json"), "{").unwrap();
    inside(&["report", "deep/out"]).is_wrong_use(&["line 1"]);
}

#[test]
fn an_impossible_report_is_refused_before_the_run() {
    let place = tempdir().unwrap();
    fs::write(place.path().join("file"), "in the way").unwrap();
    // A run to this end would take years.
    for directory in ["file", "file/below"] {
        warpline_in(place.path(), &["run", "mm1", "--end", "1e15", "--report", directory])
            .is_wrong_use(&["cannot write a report to", directory]);
    }
}

#[test]
fn results_outlive_a_failing_report() {
    let place = tempdir().unwrap();
    fs::create_dir_all(place.path().join("out/report.html/in the way")).unwrap();
    let run = |more: &[&str]| {
        warpline_in(
            place.path(),
            &[&["run", "mm1", "--end", "100", "--report", "out"], more].concat(),
        )
    };
    let Outcome { code, stdout, stderr } = run(&[]);
    assert_eq!(code, 1);
    assert!(stdout.contains("digest") && !stdout.contains("report:"), "{stdout}");
    assert!(stderr.contains("report.html"), "{stderr}");
    let failed = run(&["--json"]);
    let json = failed.json();
    assert_eq!((failed.code, &json["exit_code"]), (1, &1.into()));
    assert!(
        KEYS.iter().all(|key| json.contains_key(*key))
            && json["error"].as_str().unwrap().contains("report.html")
    );
}

#[test]
fn nobody_needs_to_read_to_the_end() {
    for line in [
        "models",
        "run mm1 --end 100",
        "run mm1 --end 100 --json",
        "run network --help",
        "run nothing --json",
    ] {
        let mut child = command(Path::new("."));
        let child = child.args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        drop(child.stdout.take());
        let left = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(left.stderr).unwrap();
        assert_eq!(
            left.status.code(),
            Some(if line.contains("nothing") { 2 } else { 0 }),
            "{line}: {stderr}"
        );
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output =
        command(Path::new(".")).args(["run", "mm1", "--end", "100"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write to stdout"));
}
