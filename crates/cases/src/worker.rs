//! Processes that run cases, so that one that hangs or crashes takes nothing with it.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::answer::Answer;
use crate::case::Case;

/// A case gets this many times as much wall time as core time.
const WALL: u32 = 6;
/// The interval at which the time of a case is checked.
const GLANCE: Duration = Duration::from_millis(200);
/// What a line with an answer begins with. A model may print others.
const ANSWER: &str = "answer: ";
/// How many bytes are kept of the end of a program's output.
const LAST_OUTPUT: usize = 600;

/// A process that runs one case after the other. It starts with the first.
#[derive(Debug)]
pub struct Worker {
    start: fn() -> Result<Command>,
    process: Option<Serving>,
}

#[derive(Debug)]
struct Serving {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    errors: Receiver<String>,
}

/// Why there is no answer.
enum Silence {
    TimeIsUp,
    Cancelled,
    ProcessIsGone,
}

impl Serving {
    /// Waits for an answer until the limit, in core time, or a larger one by the clock.
    fn answer(
        &self,
        limit: Duration,
        goes_on: &dyn Fn() -> bool,
    ) -> std::result::Result<String, Silence> {
        let begin = Instant::now();
        let used = cpu_time(self.child.id());
        loop {
            match self.lines.recv_timeout(GLANCE) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(Silence::ProcessIsGone),
                Err(RecvTimeoutError::Timeout) if !goes_on() => return Err(Silence::Cancelled),
                Err(RecvTimeoutError::Timeout) => {
                    if cpu_time(self.child.id()).saturating_sub(used) > limit
                        || begin.elapsed() > limit * WALL
                    {
                        return Err(Silence::TimeIsUp);
                    }
                }
            }
        }
    }
}

/// The CPU time of all threads of a process; zero where the system does not say.
fn cpu_time(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"))
        .unwrap_or_default();
    // The 12th and 13th field after the name, which is in parentheses and may contain anything.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_secs_f64(ticks as f64 / ticks_per_second())
}

#[cfg(unix)]
fn ticks_per_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

#[cfg(not(unix))]
fn ticks_per_second() -> f64 {
    100.0
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    /// A worker whose process is started by this command, and [serves](serve).
    pub fn new(start: fn() -> Result<Command>) -> Self {
        Worker { start, process: None }
    }

    /// The CPU time of its process.
    pub fn cpu_time(&self) -> Duration {
        self.process.as_ref().map_or(Duration::ZERO, |serving| cpu_time(serving.child.id()))
    }

    /// Runs a case with this limit of core time, and a larger one of wall time, as others
    /// may use the cores.
    pub fn run(&mut self, case: &Case, limit: Duration) -> Answer {
        self.run_while(case, limit, &|| true).unwrap_or(Answer::Signalled)
    }

    /// The same for as long as `goes_on` says so, which is asked now and then; `None` if it does
    /// not.
    pub fn run_while(
        &mut self,
        case: &Case,
        limit: Duration,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Answer> {
        match self.ask(case, limit, goes_on) {
            Ok(answer) => Some(answer),
            Err(answer) => {
                self.process = None;
                answer
            }
        }
    }

    /// Ends its process. The next case gets a new one.
    pub fn renew(&mut self) {
        self.process = None;
    }

    fn ask(
        &mut self,
        case: &Case,
        limit: Duration,
        goes_on: &dyn Fn() -> bool,
    ) -> std::result::Result<Answer, Option<Answer>> {
        let crashed = |what: String| Some(Answer::Crashed(what));
        if self.process.is_none() {
            let started = (self.start)().and_then(start);
            self.process =
                Some(started.map_err(|cause| crashed(format!("cannot start: {cause}")))?);
        }
        let Some(serving) = &mut self.process else { unreachable!("it has just been started") };
        let asked = serde_json::to_string(case)
            .map_err(std::io::Error::from)
            .and_then(|line| writeln!(serving.stdin, "{line}"))
            .and_then(|()| serving.stdin.flush());
        let line = match asked {
            Ok(()) => serving.answer(limit, goes_on),
            Err(_) => Err(Silence::ProcessIsGone),
        };
        match line {
            Ok(line) => {
                serde_json::from_str(&line).map_err(|cause| crashed(format!("no answer: {cause}")))
            }
            Err(Silence::TimeIsUp) => Err(Some(Answer::Hung { seconds: limit.as_secs_f64() })),
            Err(Silence::Cancelled) => Err(None),
            Err(Silence::ProcessIsGone) => {
                let status = serving
                    .child
                    .wait()
                    .map_or_else(|cause| cause.to_string(), |status| status.to_string());
                Err(crashed(format!("{status}: {}", serving.errors.recv().unwrap_or_default())))
            }
        }
    }
}

fn start(mut command: Command) -> Result<Serving> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        unreachable!("all three are pipes")
    };
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let Some(answer) = line.strip_prefix(ANSWER) else { continue };
            if sender.send(answer.to_owned()).is_err() {
                break;
            }
        }
    });
    Ok(Serving { child, stdin, lines, errors: last_output(stderr) })
}

/// The end of a program's output, once it is complete.
pub fn last_output(mut stream: impl Read + Send + 'static) -> Receiver<String> {
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

/// Runs the cases on standard input, one a line, and prints the answer to each. It ends with them,
/// or when `run` has no answer.
///
/// # Errors
/// If the answers cannot be written.
pub fn serve(mut run: impl FnMut(&Case) -> Option<Answer>) -> Result<()> {
    for line in std::io::stdin().lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(case) => run(&case),
            Err(why) => Some(Answer::Refused(why.to_string())),
        };
        let Some(answer) = answer else { break };
        // Not locked before, as the model may print, too.
        let mut stdout = std::io::stdout().lock();
        let text = serde_json::to_string(&answer)?;
        stdout.write_all(format!("\n{ANSWER}{text}\n").as_bytes())?;
        stdout.flush()?;
    }
    Ok(())
}
