use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use warpline::prelude::*;

/// The plant: its parameters, and the log.
#[derive(Clone)]
pub(crate) struct Plant {
    tanks: u32,
    level_of_alarm: f64,
    bursts_at: f64,
    log: Arc<Log>,
}

/// The parameters of the plant.
#[derive(Clone, Parameters)]
pub(crate) struct Setup {
    /// How many tanks there are.
    #[parameter(default = 1000, range = 1..)]
    pub(crate) tanks: u32,
    /// The level at which a tank reports.
    #[parameter(default = 9.0, unit = "m", range = 0.0..)]
    pub(crate) alarm: f64,
    /// The level at which a tank bursts, which ends the run with an error.
    #[parameter(default = 1e9, unit = "m", range = 0.0..)]
    pub(crate) bursts_at: f64,
    /// The file of the log.
    #[parameter(default = "live.log")]
    pub(crate) log: String,
}

/// Lines go to a file and to the terminal.
struct Log {
    path: PathBuf,
    file: Mutex<Option<File>>,
}

impl Log {
    /// Writes a line.
    ///
    /// # Panics
    /// If it cannot be written.
    fn write(&self, line: &str) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || {
            File::create(&self.path).unwrap_or_else(|why| panic!("{}: {why}", self.path.display()))
        };
        writeln!(file.get_or_insert_with(open), "{line}").expect("the log can be written");
        eprintln!("{line}");
    }
}

/// What happens.
#[derive(Clone, Copy, Debug, Portable)]
pub(crate) enum Event {
    /// To a tank: water flows in from another one, or from outside.
    Water { metres: f64 },
    /// To the control room: a tank reports its level.
    Report { level: f64 },
}

/// An LP.
#[derive(Clone, Debug)]
pub(crate) enum Lp {
    /// A tank and its level.
    Tank { level: f64 },
    /// The control room, and how many reports it has had.
    ControlRoom { reports: u32 },
}

impl Plant {
    fn control_room(&self) -> LpId {
        LpId(self.tanks)
    }
}

#[model]
impl Model for Plant {
    type State = Lp;
    type Event = Event;

    fn lps(&self) -> u32 {
        self.tanks + 1
    }

    fn lookahead(&self) -> f64 {
        0.01
    }

    fn kind(&self, lp: LpId) -> &str {
        if lp == self.control_room() { "control room" } else { "tank" }
    }

    fn is_conservative(&self, lp: LpId) -> bool {
        lp == self.control_room()
    }

    fn init(&self, lp: &mut Init<Self>) -> Lp {
        if lp.id() == self.control_room() {
            return Lp::ControlRoom { reports: 0 };
        }
        let first = lp.random().exponential(1.0);
        lp.send(lp.id(), first, Event::Water { metres: 1.0 });
        Lp::Tank { level: 0.0 }
    }

    fn handle(&self, state: &mut Lp, event: &Event, lp: &mut Context<Self>) {
        match (state, event) {
            (Lp::Tank { level }, Event::Water { metres }) => {
                *level += metres;
                if *level >= self.bursts_at {
                    return lp.fail(format!("the tank bursts at {level:.2} m"));
                }
                if *level >= self.level_of_alarm {
                    lp.send(self.control_room(), 0.01, Event::Report { level: *level });
                }
                let out = lp.random().uniform() * *level;
                let to = lp.random().below(self.tanks);
                let later = lp.random().exponential(1.0);
                *level -= out;
                lp.send(
                    to,
                    0.01 + later,
                    Event::Water { metres: out + if *level < 1.0 { 0.5 } else { 0.0 } },
                );
            }
            (Lp::ControlRoom { reports }, Event::Report { level }) => {
                *reports += 1;
                let line = format!("{:.3} s: report {reports}, a tank at {level:.2} m", lp.now());
                let log = self.log.clone();
                lp.when_settled(move || log.write(&line));
            }
            (state, event) => lp.fail(format!("{state:?} cannot deal with {event:?}")),
        }
    }
}

impl Configure for Plant {
    type Parameters = Setup;

    const NAME: &'static str = "plant";
    const ABOUT: &'static str =
        "tanks that pour water into each other, and a control room with a live log";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 200.0;

    fn configure(setup: &Setup) -> Result<Self, String> {
        let log = Log { path: setup.log.clone().into(), file: Mutex::new(None) };
        Ok(Plant {
            tanks: setup.tanks,
            level_of_alarm: setup.alarm,
            bursts_at: setup.bursts_at,
            log: Arc::new(log),
        })
    }
}
