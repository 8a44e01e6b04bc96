//! A run in a process of its own.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value};
use warpline_record::RunRecord;

use crate::failure::Failure;

/// How often `meanwhile` is called.
const TICK: Duration = Duration::from_millis(250);
/// The stack of the thread that waits for the child, in bytes.
const STACK: usize = 1 << 18;

/// The program of this process, to be started again.
pub(crate) fn executable() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|cause| {
        Failure::failed(format!("cannot find the executable of this command: {cause}"))
    })
}

/// Runs a command that prints a run as one object, and calls `meanwhile` now and then until it
/// ends.
pub(crate) fn run(command: &mut Command, meanwhile: impl FnMut()) -> Result<RunRecord, Failure> {
    let program = command.get_program().to_owned();
    let output = output(command, meanwhile)
        .map_err(|cause| Failure::failed(format!("cannot start {}: {cause}", program.display())))?;
    let object = object(&output.stdout);
    if !output.status.success() {
        return Err(failure(&output, object.as_ref()));
    }
    object.and_then(record).ok_or_else(|| {
        Failure::failed(format!(
            "{} succeeded, but did not print a run; has the program been replaced meanwhile?",
            program.display()
        ))
    })
}

fn output(command: &mut Command, mut meanwhile: impl FnMut()) -> io::Result<Output> {
    command.stdin(Stdio::null());
    thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        let waiting = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
            let _running = running;
            command.output()
        })?;
        while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            meanwhile();
        }
        waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The one object that a command printed. A launcher may have printed other lines.
fn object(printed: &[u8]) -> Option<Map<String, Value>> {
    printed.split(|byte| *byte == b'\n').find_map(|line| serde_json::from_slice(line).ok())
}

/// Reads a run as `--json` prints it, which leaves out what only reports need.
fn record(mut object: Map<String, Value>) -> Option<RunRecord> {
    for left_out in ["progress", "views"] {
        object.entry(left_out).or_insert_with(|| Value::Array(Vec::new()));
    }
    serde_json::from_value(Value::Object(object)).ok()
}

/// Why a command failed, in its own words.
fn failure(output: &Output, object: Option<&Map<String, Value>>) -> Failure {
    let Some(code) = output.status.code() else {
        let status = output.status;
        return Failure::failed(format!(
            "a run was killed ({status}): if not by you, then perhaps by the system, because \
             memory ran out"
        ));
    };
    let said = String::from_utf8_lossy(&output.stderr);
    // Launchers draw lines around what they say.
    let said: Vec<&str> = said
        .trim()
        .trim_start_matches("error: ")
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    let said = said.join("\n");
    let reported = object
        .and_then(|object| object.get("error"))
        .and_then(Value::as_str)
        .unwrap_or(said.trim());
    let message = if reported.is_empty() {
        format!("a run failed with exit status {code}, without a message")
    } else {
        reported.to_owned()
    };
    Failure { code: u8::try_from(code).unwrap_or(Failure::FAILED), ..Failure::failed(message) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::sample;

    fn shell(script: &str) -> Result<RunRecord, Failure> {
        run(Command::new("sh").args(["-c", script]), || {})
    }

    #[test]
    fn a_run_is_read_as_it_is_printed() {
        for record in [sample::sequential(1e6), sample::optimistic(2e6)] {
            let printed = Value::Object(record.summary()).to_string();
            assert_eq!(shell(&format!("echo '{printed}'")).unwrap(), record);
        }
    }

    #[test]
    fn a_failure_is_passed_on_in_its_own_words() {
        let failed =
            |script| shell(script).map_err(|failure| (failure.message, failure.code)).unwrap_err();
        let both = r#"echo 'error: oh no' >&2; echo '{"error":"oh no","exit_code":2}'; exit 2"#;
        assert_eq!(failed(both), ("oh no".into(), 2));
        assert_eq!(failed("echo 'error: oh no' >&2; exit 1"), ("oh no".into(), 1));
        let launched = r#"echo Begun.; echo '{"error":"oh no","exit_code":2}'; echo -----; exit 2"#;
        assert_eq!(failed(launched), ("oh no".into(), 2));
        assert_eq!(
            failed("echo -------- >&2; echo no slots >&2; echo -------- >&2; exit 1"),
            ("no slots".into(), 1)
        );
        assert_eq!(
            failed("exit 7"),
            ("a run failed with exit status 7, without a message".into(), 7)
        );
    }

    #[test]
    fn a_run_that_was_killed_is_reported_as_killed() {
        let failure = shell("kill -9 $$").unwrap_err();
        assert_eq!(failure.code, Failure::FAILED);
        assert!(failure.message.starts_with("a run was killed (signal: 9"), "{}", failure.message);
    }

    #[test]
    fn other_output_and_missing_programs_are_reported() {
        for script in ["true", "echo '{}'", "echo no"] {
            assert!(
                shell(script)
                    .unwrap_err()
                    .message
                    .starts_with("sh succeeded, but did not print a run")
            );
        }
        let failure = run(&mut Command::new("no/such/program"), || {}).unwrap_err();
        assert!(
            failure.message.starts_with("cannot start no/such/program: "),
            "{}",
            failure.message
        );
    }

    #[test]
    fn something_else_goes_on_during_a_run() {
        let mut times = 0;
        let object = sample::sequential(1.0).summary();
        let script = format!("sleep 0.6; echo '{}'", Value::Object(object));
        run(Command::new("sh").args(["-c", &script]), || times += 1).unwrap();
        assert!(times >= 1);
    }
}
