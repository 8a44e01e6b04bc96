//! Runs of models that fail.

use std::fs;

use warpline_run::Configured;
use warpline_run::prelude::*;

use super::*;

/// How to fail.
#[derive(Clone, Debug, PartialEq, Parameters)]
struct Way {
    /// The delay of what is sent.
    #[parameter(default = 1.0)]
    delay: f64,
    /// The event that panics; none if 0.
    #[parameter(range = 0..)]
    panic: u32,
    /// Whether the model cannot be made.
    impossible: bool,
}

const TICKS: Table = Table(0);

/// A clock that may stop ticking.
struct Clock(Way);

impl Model for Clock {
    type State = u32;
    type Event = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.table(TICKS, "ticks", &[("number", "")]);
    }

    fn init(&self, lp: &mut Init<Self>) -> u32 {
        lp.send(0, 1.0, ());
        0
    }

    fn handle(&self, ticks: &mut u32, (): &(), lp: &mut Context<Self>) {
        *ticks += 1;
        lp.record(TICKS, &[Cell::from(u64::from(*ticks))]);
        assert_ne!(*ticks, self.0.panic, "no tick");
        lp.send(0, self.0.delay, ());
    }
}

impl Configure for Clock {
    type Parameters = Way;

    const NAME: &'static str = "clock";
    const ABOUT: &'static str = "a clock that may stop ticking";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 10.0;

    fn configure(way: &Way) -> Result<Self, String> {
        if way.impossible { Err("there is no such clock".into()) } else { Ok(Clock(way.clone())) }
    }
}

fn job(way: Way, settings: Settings) -> Result<FinishedRun, Failure> {
    RunModel { settings: &settings, quiet: true, tells: false, signals: &Signals::listen() }
        .visit(Configured::<Clock>::new(&way))
}

#[test]
fn a_run_returns_its_record_and_tables() {
    let FinishedRun { record, tables, .. } = job(Way::default(), Settings::default()).unwrap();
    assert_eq!((record.committed_events, record.end_time, record.seed), (9, 10.0, 1));
    assert_eq!(tables, ["ticks"]);
}

#[test]
fn a_fault_of_the_model_is_a_failure() {
    let failure = job(Way { delay: -1.0, ..Way::default() }, Settings::default()).unwrap_err();
    assert_eq!(failure.code, Failure::FAILED);
    assert!(failure.message.contains("delay -1"), "{}", failure.message);
    let failure = job(Way { panic: 3, ..Way::default() }, Settings::default()).unwrap_err();
    assert_eq!(failure.code, Failure::FAILED);
    assert!(
        failure.message.contains("no tick") && failure.message.contains("at time 3"),
        "{}",
        failure.message
    );
}

/// In a process of its own, whose panic hook it changes.
#[test]
fn a_panic_of_the_model_is_reported_once() {
    const CHILD: &str = "WARPLINE_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        crate::failure::panics::remember();
        let failure = job(Way { panic: 3, ..Way::default() }, Settings::default()).unwrap_err();
        return output::notify(failure.message);
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args([
        "--exact",
        "run::one_run::tests::a_panic_of_the_model_is_reported_once",
        "--nocapture",
    ]);
    child.env(CHILD, "1").env_remove("RUST_BACKTRACE");
    let printed = String::from_utf8(child.output().unwrap().stderr).unwrap();
    assert_eq!(printed.matches("no tick").count(), 1, "{printed}");
    assert!(
        printed.contains("event 3 of LP 0 at time 3 (())")
            && printed.contains("run/one_run_tests.rs:"),
        "{printed}"
    );
}

#[test]
fn senseless_settings_are_wrong_use() {
    let code = |way, settings| job(way, settings).unwrap_err().code;
    assert_eq!(
        code(Way { impossible: true, ..Way::default() }, Settings::default()),
        Failure::USAGE_ERROR
    );
    assert_eq!(code(Way::default(), Settings::typed(&[("warmup", "11")])), Failure::USAGE_ERROR);
    assert_eq!(code(Way::default(), Settings::typed(&[("undo", "reverse")])), Failure::USAGE_ERROR);
}

#[test]
fn rows_become_files_of_the_report() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("new/report");
    job(Way::default(), Settings::typed(&[("report", report.to_str().unwrap())])).unwrap();
    let rows = fs::read_to_string(report.join("ticks.csv")).unwrap();
    assert_eq!(rows.lines().take(2).collect::<Vec<_>>(), ["time,lp,number", "1,0,1"]);
    assert_eq!(rows.lines().count(), 10);
}

#[test]
fn rows_that_cannot_be_written_are_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("ticks.csv")).unwrap();
    let failure =
        job(Way::default(), Settings::typed(&[("report", directory.path().to_str().unwrap())]))
            .unwrap_err();
    assert_eq!(failure.code, Failure::FAILED);
    assert!(failure.message.contains("ticks.csv"), "{}", failure.message);
}
