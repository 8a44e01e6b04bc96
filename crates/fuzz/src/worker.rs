//! Runs cases: most in a process that runs one after the other, and those that need it in processes
//! of their own.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use warpline_cases::worker::last_output;
use warpline_cases::{Answer, Case, Done};

use crate::case::{Hooks, is_outside, sorted};

/// A case gets this many times as much wall time as core time.
pub(crate) const WALL: u32 = 6;

/// Runs cases.
pub(crate) struct Worker(warpline_cases::Worker);

impl Default for Worker {
    fn default() -> Self {
        Worker(warpline_cases::Worker::new(|| {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("serve").env("RUST_BACKTRACE", "0");
            Ok(command)
        }))
    }
}

impl Worker {
    /// The CPU time of its process.
    pub(crate) fn cpu_time(&self) -> Duration {
        self.0.cpu_time()
    }

    /// Runs a case with this limit of core time, and a [larger one](WALL) of wall time, as others
    /// may use the cores.
    pub(crate) fn run(&mut self, case: &Case, limit: Duration) -> Answer {
        if is_outside(case) { run_outside(case, limit * WALL) } else { self.0.run(case, limit) }
    }
}

/// Runs a case in a process of its own, or several.
fn run_outside(case: &Case, limit: Duration) -> Answer {
    let hooks = match sorted(case) {
        Ok(sorted) => sorted.hooks,
        Err(why) => return Answer::Refused(why),
    };
    match try_outside(case, &hooks, limit) {
        Ok(answer) => answer,
        Err(cause) => Answer::Crashed(format!("cannot start: {cause}")),
    }
}

fn try_outside(case: &Case, hooks: &Hooks, limit: Duration) -> std::io::Result<Answer> {
    let mut child = command(case, hooks)?
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (Some(mut stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        unreachable!("both are pipes")
    };
    let errors = last_output(stderr);
    let (sender, texts) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        // Output that is not text is not an answer.
        let _ = stdout.read_to_string(&mut text);
        let _ = sender.send(text);
    });
    disturb(&child, hooks);
    let text = match texts.recv_timeout(limit) {
        Ok(text) => text,
        Err(_) => {
            let family = descendants(child.id());
            family.iter().for_each(|pid| send(*pid, Signal::KILL));
            let _ = child.kill();
            child.wait()?;
            return Ok(Answer::Hung { seconds: limit.as_secs_f64() });
        }
    };
    let status = child.wait()?;
    if hooks.signal_after.is_some() && status.signal() == Some(Signal::TERM.as_raw()) {
        return Ok(Answer::Signalled);
    }
    let crashed = || Answer::Crashed(format!("{status}: {}", errors.recv().unwrap_or_default()));
    let Some(line) = text.lines().last() else { return Ok(crashed()) };
    if hooks.signal_after.is_none() {
        return Ok(serde_json::from_str(line).unwrap_or_else(|_| crashed()));
    }
    Ok(of_command(line, status.code(), hooks.kill_after.is_some()).unwrap_or_else(crashed))
}

/// The answer in what `run --json` prints. If one of its processes was `killed`, an error says so.
fn of_command(line: &str, code: Option<i32>, killed: bool) -> Option<Answer> {
    let Ok(Value::Object(record)) = serde_json::from_str(line) else { return None };
    let error = record.get("error").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(match code? {
        0 | 130 | 143 if record.contains_key("digest") => {
            Answer::Done(Box::new(Done::of_record(&record)))
        }
        2 => Answer::Refused(error),
        _ if killed => Answer::Lost(error),
        _ => Answer::Failed(error),
    })
}

/// The command that runs a case. Only `run`, as users type it, handles signals; other cases get a
/// command of the attack's own.
fn command(case: &Case, hooks: &Hooks) -> std::io::Result<Command> {
    let program = std::env::current_exe()?;
    let mut command = match hooks.ranks {
        Some(ranks) => {
            let mut launcher = Command::new("mpirun");
            launcher
                .args(["--allow-run-as-root", "--oversubscribe", "-np"])
                .arg(ranks.to_string())
                .arg(program);
            launcher
        }
        None => Command::new(program),
    };
    if hooks.signal_after.is_some() {
        let typed =
            Hooks::table().iter().fold(case.clone(), |case, hook| case.replace(&hook.name, None));
        command.arg("run").args(typed.words()).args(["--json", "--quiet", "--state-digest", "yes"]);
    } else {
        command.arg("one").args(case.words());
    }
    Ok(command)
}

/// Signals or kills processes of a run, as its case says.
fn disturb(child: &Child, hooks: &Hooks) {
    let wait = |milliseconds: f64| Duration::from_secs_f64(milliseconds / 1000.0);
    if let Some(after) = hooks.signal_after {
        std::thread::sleep(wait(after));
        send(child.id(), Signal::TERM);
    }
    if let Some(after) = hooks.kill_after {
        let begin = Instant::now();
        std::thread::sleep(wait(after));
        // Any but the first, which answers.
        let victims = descendants(child.id());
        if let Some(victim) =
            victims.get(begin.elapsed().subsec_nanos() as usize % victims.len().max(1))
        {
            send(*victim, Signal::KILL);
        }
    }
}

fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may be gone already.
        let _ = kill_process(pid, signal);
    }
}

/// The processes that a process has started, and those that they have.
fn descendants(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for task in std::fs::read_dir(Path::new("/proc").join(pid.to_string()).join("task"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
            found.push(child);
            found.extend(descendants(child));
        }
    }
    found
}
