//! Predictions held against measurements. All figures come from the machine file, which was measured
//! with events as those of the first workload, and on threads: processes share memory in the same
//! way. Events of others cost as many times as much as in sequential runs. Time in which others had
//! the cores counts neither here nor there.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use warpline_machine::Machine;
use warpline_record::RunRecord;

use crate::failure::Failure;
use crate::median::median;
use crate::models::catalogue::Catalogue;
use crate::models::program::Program;
use crate::output::{Printout, format};
use crate::process::child;
use crate::settings::{PROCESSES, THREADS};
use crate::verbs::RUN;

/// A way to run a workload.
#[derive(Clone, Copy)]
struct Way {
    engine: &'static str,
    pes: u32,
    /// The option that says how many PEs there are.
    place: &'static str,
}

/// A workload: name, model, options, and its end in full and with `--quick`.
type Workload = (&'static str, &'static str, &'static [&'static str], [f64; 2]);

/// The classic workload in cache, with a large memory, with many events per LP, and with few
/// messages between PEs; and packets in a network.
const WORKLOADS: [Workload; 5] = [
    ("W1", "phold", &["--lps=8192", "--lookahead=0.1"], [500.0, 50.0]),
    ("W2", "phold", &["--lps=1000000", "--lookahead=0.1"], [5.0, 0.5]),
    ("W3", "phold", &["--lps=1024", "--population=16", "--lookahead=0.1"], [250.0, 25.0]),
    (
        "W4",
        "phold",
        &["--lps=8192", "--lookahead=0.1", "--clusters=2", "--remote=0.1"],
        [500.0, 50.0],
    ),
    ("network", "network", &[], [20.0, 2.0]),
];
/// What is predicted: an engine, its PEs, and whether each of them has a thread or a process.
const WAYS: [Way; 6] = [
    Way { engine: "conservative", pes: 1, place: THREADS },
    Way { engine: "conservative", pes: 2, place: THREADS },
    Way { engine: "conservative", pes: 2, place: PROCESSES },
    Way { engine: "optimistic", pes: 1, place: THREADS },
    Way { engine: "optimistic", pes: 2, place: THREADS },
    Way { engine: "optimistic", pes: 2, place: PROCESSES },
];
/// Runs of each kind, in full and with `--quick`.
const TIMES: [usize; 2] = [5, 1];
/// A share of the cores' time below which figures are doubtful.
const CORE_SHARE_LEAST: f64 = 0.95;
/// About how long a run takes, in seconds, in full and with `--quick`.
const SECONDS: [f64; 2] = [0.8, 0.4];

/// Runs that are to be measured and predicted.
pub(super) struct Check {
    executable: PathBuf,
    place: PathBuf,
    about: String,
    quick: bool,
}

/// What was found.
pub(super) struct Found {
    place: PathBuf,
    about: String,
    cases: Vec<Case>,
    /// The least share of their busy time in which the threads of a run had a core.
    core_share: f64,
}

/// A way to run a workload, measured and predicted.
struct Case {
    workload: &'static str,
    way: Way,
    /// How many times as much an event costs as in the first workload.
    event: f64,
    /// Committed events per second in which the threads had a core.
    measured: f64,
    predicted: f64,
}

/// The failure of a machine file that is missing or wrong.
pub(super) fn refused(error: warpline_machine::MachineError) -> Failure {
    Failure::wrong_use(error.to_string())
}

impl Check {
    pub(super) fn new<C: Catalogue>(
        program: &Program<C>,
        place: &Path,
        quick: bool,
    ) -> Result<Self, Failure> {
        for (_, model, ..) in WORKLOADS {
            program.find(model)?;
        }
        let path = place.display().to_string();
        let machine = if place.is_file() {
            warpline_machine::open(&path)
        } else {
            Err(warpline_machine::MachineError::NotCalibrated { path })
        };
        let Machine { about, .. } = machine.map_err(refused)?;
        Ok(Check { executable: child::executable()?, place: place.to_owned(), about, quick })
    }

    pub(super) fn runs(&self) -> u64 {
        let measured = (1 + WAYS.len()) * TIMES[usize::from(self.quick)];
        (WORKLOADS.len() * (measured + WAYS.len())) as u64
    }

    pub(super) fn seconds(&self) -> f64 {
        self.runs() as f64 * SECONDS[usize::from(self.quick)]
    }

    /// Measures and predicts everything; `show` hears which run comes next.
    pub(super) fn conduct(&self, show: &mut dyn FnMut(u64, &str)) -> Result<Found, Failure> {
        let mut cases = Vec::new();
        let mut runs = 0;
        let mut core_share = 1.0_f64;
        let mut first = None;
        for workload in WORKLOADS {
            let mut run = |options: &[String]| {
                let what = format!("{}, {}", workload.0, options[0].trim_start_matches("--"));
                let record = child::run(&mut self.command(workload, options), || show(runs, &what));
                runs += 1;
                core_share = record.iter().map(share).fold(core_share, f64::min);
                record.map_err(|failure| Failure {
                    message: format!("{what}: {}", failure.message),
                    ..failure
                })
            };
            cases.extend(self.workload(workload, &mut first, &mut run)?);
        }
        Ok(Found { place: self.place.clone(), about: self.about.clone(), cases, core_share })
    }

    /// Measures a workload in turn on all engines, and then predicts it. `first` is what an event of
    /// the first workload takes in a sequential run, in seconds.
    fn workload(
        &self,
        (workload, ..): Workload,
        first: &mut Option<f64>,
        run: &mut dyn FnMut(&[String]) -> Result<RunRecord, Failure>,
    ) -> Result<Vec<Case>, Failure> {
        let times = TIMES[usize::from(self.quick)];
        let mut answer = None;
        let mut check = |record: RunRecord| {
            let one = answer.get_or_insert_with(|| record.digest.clone());
            if *one == record.digest {
                return Ok(record);
            }
            Err(Failure::failed(format!(
                "{workload}: answers differ ({one} and {}), which must never be: please report it",
                record.digest
            )))
        };
        let mut alone = Vec::new();
        let mut rates = vec![Vec::new(); WAYS.len()];
        for _ in 0..times {
            let record = check(run(&["--sync=sequential".to_owned()])?)?;
            let seconds = record.loop_seconds * share(&record);
            alone.push(seconds / record.committed_events.max(1) as f64);
            for (rates, Way { engine, pes, place }) in rates.iter_mut().zip(WAYS) {
                let options = [format!("--sync={engine}"), format!("--{place}={pes}")];
                let record = check(run(&options)?)?;
                rates.push(record.event_rate / share(&record));
            }
        }
        let alone = median(alone).unwrap_or_default();
        let event = alone / *first.get_or_insert(alone);
        let mut cases = Vec::new();
        for (rates, way) in rates.into_iter().zip(WAYS) {
            let Way { engine, pes, .. } = way;
            let options = [
                format!("--sync={engine}"),
                format!("--machine={}", self.place.display()),
                format!("--pes={pes}"),
                "--horizon=bounds".to_owned(),
                format!("--machine-scale=event={event},noise={}", Machine::FACTOR_MOST.recip()),
            ];
            let record = check(run(&options)?)?;
            let machine = record.parallel.and_then(|parallel| parallel.machine);
            cases.push(Case {
                workload,
                way,
                event,
                measured: median(rates).unwrap_or_default(),
                predicted: machine.map_or(0.0, |machine| machine.event_rate),
            });
        }
        Ok(cases)
    }

    fn command(&self, (_, model, options, ends): Workload, more: &[String]) -> Command {
        let mut command = Command::new(&self.executable);
        let end = ends[usize::from(self.quick)];
        command.args([RUN, model, "--json", "--quiet"]).arg(format!("--end={end}"));
        command.args(options).args(more);
        command
    }
}

/// The share of their busy time in which the threads of a run had a core.
fn share(record: &RunRecord) -> f64 {
    record.core_share.unwrap_or(1.0)
}

impl Case {
    /// Predicted over measured.
    fn ratio(&self) -> f64 {
        self.predicted / self.measured
    }

    /// How far the prediction is off, whichever way: 0.25 for a ratio of 1.25 or of 1 / 1.25.
    fn error(&self) -> f64 {
        self.ratio().max(self.ratio().recip()) - 1.0
    }
}

impl Found {
    /// The errors, as a median and at most.
    fn errors(&self) -> [f64; 2] {
        let errors: Vec<f64> = self.cases.iter().map(Case::error).collect();
        let most = errors.iter().copied().fold(0.0, f64::max);
        [median(errors).unwrap_or_default(), most]
    }

    pub(super) fn printout(&self, quick: bool) -> Printout {
        Printout { object: self.json(quick), text: self.text(quick), failed: None }
    }

    fn json(&self, quick: bool) -> Value {
        let case = |case: &Case| {
            let Case { workload, way: Way { engine, pes, place }, event, measured, predicted } =
                case;
            json!({
                "workload": workload, "engine": engine, "pes": pes, "of": place, "event_factor": event,
                "measured_event_rate": measured, "predicted_event_rate": predicted,
                "ratio": case.ratio(), "error": case.error(),
            })
        };
        let [middle, most] = self.errors();
        json!({
            "file": self.place.display().to_string(), "about": self.about, "quick": quick,
            "cases": self.cases.iter().map(case).collect::<Vec<_>>(),
            "core_share": self.core_share, "median_error": middle, "greatest_error": most,
        })
    }

    fn text(&self, quick: bool) -> String {
        let head = ["workload", "engine", "PEs", "measured", "predicted", "predicted / measured"];
        let pes = |way: Way| match way.place {
            PROCESSES => format!("{} processes", way.pes),
            _ => way.pes.to_string(),
        };
        let row = |case: &Case| {
            [
                case.workload.to_owned(),
                case.way.engine.to_owned(),
                pes(case.way),
                format::event_rate(case.measured),
                format::event_rate(case.predicted),
                format::significant(case.ratio(), 3),
            ]
        };
        let rows: Vec<[String; 6]> =
            std::iter::once(head.map(str::to_owned)).chain(self.cases.iter().map(row)).collect();
        let [middle, most] = self.errors().map(format::percent);
        let quick = if quick { "; these runs are too short to be sure of anything" } else { "" };
        let lost = if self.core_share < CORE_SHARE_LEAST {
            let lost = format::percent(1.0 - self.core_share);
            format!(
                "Others took up to {lost} of the cores from a run: PEs waited for each other \
                 longer than the model knows of.\n"
            )
        } else {
            String::new()
        };
        format!(
            "{} ({})\n\n{}\nPredictions are off by {middle} in the median, and by {most} at most\
             {quick}.\nEvents cost as many times as much as those of W1 as in sequential runs; all \
             else is from the file.\n{lost}",
            self.place.display(),
            self.about,
            format::columns(&rows, 0)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(measured: f64, predicted: f64) -> Case {
        Case { workload: "W1", way: WAYS[2], event: 1.0, measured, predicted }
    }

    #[test]
    fn errors_count_both_ways() {
        let cases = vec![case(1e6, 1e6), case(2e6, 1e6), case(1e6, 1.5e6)];
        let found =
            Found { place: "this.toml".into(), about: "a machine".into(), cases, core_share: 0.5 };
        assert_eq!(found.errors(), [0.5, 1.0]);
        let printout = found.printout(true);
        assert_eq!(printout.object["cases"][1]["ratio"], 0.5);
        assert_eq!(printout.object["greatest_error"], 1.0);
        for part in [
            "this.toml (a machine)",
            "2 processes",
            "off by 50.0 % in the median, and by 100.0 % at most",
            "Others took up to 50.0 % of the cores",
        ] {
            assert!(printout.text.contains(part), "{}", printout.text);
        }
    }
}
