//! Starts this program by `mpirun`, and checks what comes of it.

use std::io::Read;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Far more than any part takes.
const TIME_LIMIT: Duration = Duration::from_secs(180);

/// What is to come of a part.
struct Expected {
    /// The exit code; or, where the launcher chooses it, any but 0.
    code: Option<i32>,
    /// What the ranks say. MPICH's launcher may drop what a rank says right before it ends all
    /// ranks, so this is checked only with Open MPI.
    text: &'static str,
}

const SUCCESS: Expected = Expected { code: Some(0), text: "" };

pub(crate) fn run_all() -> ExitCode {
    let tcp: &[&str] =
        if is_open_mpi() { &["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"] } else { &[] };
    let mut tests = Tests::default();
    tests.successes("default wires", &[]);
    if is_open_mpi() {
        tests.successes("TCP", tcp);
    }
    tests.check("kept for good, 3 ranks", launch(3, &[], "for-good"), SUCCESS);
    tests.failures();
    // It takes about 4 GiB of memory.
    if std::env::var_os("WARPLINE_LONGEST").is_some() {
        tests.check("the longest message", launch(2, &[], "longest"), SUCCESS);
        tests.check("the longest message, TCP", launch(2, tcp, "longest"), SUCCESS);
    }
    if tests.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Tests {
    failed: u32,
}

impl Tests {
    fn check(&mut self, name: &str, command: Command, expected: Expected) {
        let start = Instant::now();
        match judge(command, &expected) {
            Ok(()) => println!("test {name} ... ok ({:.1} s)", start.elapsed().as_secs_f64()),
            Err(problem) => {
                println!("test {name} ... FAILED: {problem}");
                self.failed += 1;
            }
        }
    }

    fn successes(&mut self, wires: &str, options: &[&str]) {
        for ranks in [1, 2, 3, 4, 8] {
            let name = format!("ordinary use, {ranks} ranks, {wires}");
            self.check(&name, launch(ranks, options, "ordinary"), SUCCESS);
        }
        for ranks in [2, 4] {
            let name = format!("several threads, {ranks} ranks, {wires}");
            self.check(&name, launch(ranks, options, "threads"), SUCCESS);
        }
    }

    fn failures(&mut self) {
        for (name, ranks, part, text) in [
            ("a panic ends all ranks", 3, "panic", "this rank panics"),
            ("an early panic ends all ranks", 3, "panic-early", "this rank panics"),
            ("a leak ends all ranks", 2, "leak", "has left messages unfinished"),
            ("a batch that is too long is an error", 2, "truncate", "as expected: MPI_Test failed"),
        ] {
            self.check(name, launch(ranks, &[], part), Expected { code: None, text });
        }
        let abort = Expected { code: Some(7), text: "" };
        self.check("an abort has its exit code", launch(3, &[], "abort"), abort);
        if is_open_mpi() {
            let mut alone = this_program("other-launcher");
            alone.env("PMI_RANK", "0").env("PMI_SIZE", "4");
            self.check("a launcher of another library is an error", alone, SUCCESS);
        }
    }
}

fn mpirun() -> String {
    std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".to_owned())
}

fn is_open_mpi() -> bool {
    let output = Command::new(mpirun())
        .arg("--version")
        .output()
        .expect("there is an mpirun, or MPIRUN says where");
    String::from_utf8_lossy(&output.stdout).contains("Open MPI")
}

fn this_program(part: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.arg(format!("part:{part}"));
    command
}

fn launch(ranks: u32, options: &[&str], part: &str) -> Command {
    let mut command = Command::new(mpirun());
    if is_open_mpi() {
        command.args(["--oversubscribe", "--allow-run-as-root"]);
    }
    let program = this_program(part);
    command
        .args(["-np", &ranks.to_string()])
        .args(options)
        .arg(program.get_program())
        .args(program.get_args());
    command
}

fn judge(mut command: Command, expected: &Expected) -> Result<(), String> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut stderr = child.stderr.take().expect("it is a pipe");
    let mut stdout = child.stdout.take().expect("it is a pipe");
    let drain = thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    let drain_stdout = thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
    let code = wait(&mut child)?;
    let text = drain.join().expect("reading does not panic").map_err(|error| error.to_string())?;
    drain_stdout.join().expect("reading does not panic").map_err(|error| error.to_string())?;
    let as_expected = expected.code.map_or(code != Some(0), |expected| code == Some(expected));
    if as_expected && (text.contains(expected.text) || !is_open_mpi()) {
        return Ok(());
    }
    Err(format!("exit code {code:?}, and it said:\n{text}"))
}

fn wait(child: &mut Child) -> Result<Option<i32>, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status.code());
        }
        if start.elapsed() > TIME_LIMIT {
            // The launcher ends its ranks when it is asked to end, but not when it is killed.
            let asked = Command::new("kill").arg(child.id().to_string()).status();
            return Err(format!("it was not over after {} s ({asked:?})", TIME_LIMIT.as_secs()));
        }
        thread::sleep(Duration::from_millis(10));
    }
}
