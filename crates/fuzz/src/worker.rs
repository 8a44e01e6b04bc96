//! Processes that run cases, so that one that hangs or crashes takes nothing with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::answer::{Answer, Done};
use crate::case::{Case, Hooks};

/// A case gets this many times as much wall time as core time.
const WALL: u32 = 6;
/// The interval at which the time of a case is checked.
const GLANCE: Duration = Duration::from_millis(200);
/// How many bytes are kept of the end of a program's output.
const LAST_OUTPUT: usize = 600;

/// A process that runs one case after the other. It starts with the first.
#[derive(Default)]
pub(crate) struct Worker {
    process: Option<Serving>,
}

struct Serving {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    errors: Receiver<String>,
}

impl Serving {
    /// Waits for an answer until the limit, in core time, or a larger one by the clock.
    fn answer(&self, limit: Duration) -> Result<String, RecvTimeoutError> {
        let begin = Instant::now();
        let used = cpu_time(self.child.id());
        loop {
            match self.lines.recv_timeout(GLANCE) {
                Err(RecvTimeoutError::Timeout) => {
                    if cpu_time(self.child.id()).saturating_sub(used) > limit
                        || begin.elapsed() > limit * WALL
                    {
                        return Err(RecvTimeoutError::Timeout);
                    }
                }
                answer => return answer,
            }
        }
    }
}

/// In `/proc`, Linux counts time in hundredths of a second, whatever its clock does.
const TICKS_PER_SECOND: f64 = 100.0;

/// The CPU time of all threads of a process.
fn cpu_time(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"))
        .unwrap_or_default();
    // The 12th and 13th field after the name, which is in parentheses and may contain anything.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_secs_f64(ticks as f64 / TICKS_PER_SECOND)
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    /// The CPU time of its process.
    pub(crate) fn cpu_time(&self) -> Duration {
        self.process.as_ref().map_or(Duration::ZERO, |serving| cpu_time(serving.child.id()))
    }

    /// Runs a case with this limit of core time, and a [larger one](WALL) of wall time, as others
    /// may use the cores.
    pub(crate) fn run(&mut self, case: &Case, limit: Duration) -> Answer {
        if case.is_outside() {
            return run_outside(case, limit * WALL);
        }
        match self.ask(case, limit) {
            Ok(answer) => answer,
            Err(answer) => {
                self.process = None;
                answer
            }
        }
    }

    fn ask(&mut self, case: &Case, limit: Duration) -> Result<Answer, Answer> {
        if self.process.is_none() {
            self.process =
                Some(start().map_err(|cause| Answer::Crashed(format!("cannot start: {cause}")))?);
        }
        let Some(serving) = &mut self.process else { unreachable!("it has just been started") };
        let asked = writeln!(serving.stdin, "{case}").and_then(|()| serving.stdin.flush());
        let line = match asked {
            Ok(()) => serving.answer(limit),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        match line {
            Ok(line) => serde_json::from_str(&line)
                .map_err(|cause| Answer::Crashed(format!("no answer: {cause}"))),
            Err(RecvTimeoutError::Timeout) => Err(Answer::Hung { seconds: limit.as_secs_f64() }),
            Err(RecvTimeoutError::Disconnected) => {
                let status = serving
                    .child
                    .wait()
                    .map_or_else(|cause| cause.to_string(), |status| status.to_string());
                Err(Answer::Crashed(format!(
                    "{status}: {}",
                    serving.errors.recv().unwrap_or_default()
                )))
            }
        }
    }
}

fn start() -> std::io::Result<Serving> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("serve")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        unreachable!("all three are pipes")
    };
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(Serving { child, stdin, lines, errors: last_output(stderr) })
}

/// The end of a program's output, once it is complete.
fn last_output(mut stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, end) = channel();
    std::thread::spawn(move || {
        let mut last = Vec::new();
        let mut some = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut some) {
            last.extend_from_slice(&some[..count]);
            last.drain(..last.len().saturating_sub(LAST_OUTPUT));
        }
        // The receiver may be gone.
        let _ = sender.send(String::from_utf8_lossy(&last).trim().to_owned());
    });
    end
}

/// Runs a case in a process of its own, or several.
fn run_outside(case: &Case, limit: Duration) -> Answer {
    let hooks = match case.sorted() {
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
