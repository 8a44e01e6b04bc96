//! Effects of LPs on the outside world, in several processes: the same as in one process, in the
//! same order.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use warpline::LpId;
use warpline::base::random::Random;
use warpline::prelude::*;
use warpline_testkit::matrix::{Configuration, Copies, Parallel, simulation};
use warpline_testkit::random_model::Diary;
use warpline_testkit::{Settings, Story};

use crate::{Ended, avoid_common_memory};

const LINES: Table = Table(0);
/// The end of most runs. Runs to the long end have more acts and rows than may wait at a time.
const END: f64 = 40.0;
const LONG_END: f64 = 2000.0;

/// LPs that print, write to a file and record rows, in init, in events and at the end.
struct Announcer {
    lps: u32,
    diary: Diary,
    goes_wrong: Option<Wrong>,
}

/// What goes wrong at LP 2, in its seventh event or at its end.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Act,
    Event,
    ActAtEnd,
    End,
}

impl Announcer {
    fn from_seed(seed: u64, directory: &Path) -> Self {
        let goes_wrong =
            [None, Some(Wrong::Act), Some(Wrong::Event), Some(Wrong::ActAtEnd), Some(Wrong::End)]
                [(seed % 5) as usize];
        Announcer {
            lps: 4 + (seed % 6) as u32,
            diary: Diary::new(directory.join("diary")),
            goes_wrong,
        }
    }

    fn announce(&self, lp: &mut impl Observe, text: String, ends_line: bool) {
        self.diary.note(lp, text.clone());
        lp.when_settled(move || if ends_line { println!("{text}") } else { print!("{text}, ") });
    }

    fn story(self) -> Story {
        const LEAST_DELAY: f64 = 0.0625;
        let lps = self.lps;
        let announcer = Arc::new(self);
        let [begins, acts, ends] = [0; 3].map(|_| announcer.clone());
        Story::new(lps)
            .lookahead(LEAST_DELAY)
            .declare(|declare| declare.table(LINES, "lines", &[("line", "")]))
            .init(move |lp| {
                let id = lp.id();
                lp.send(id, 0.5, id.0.into());
                begins.announce(lp, format!("{id} begins"), id.0.is_multiple_of(2));
                0
            })
            .handle(move |seen, event, lp| {
                *seen += 1;
                acts.act(*seen, event, lp);
                let to = lp.random().below(lps);
                let delay = LEAST_DELAY + lp.random().exponential(0.5);
                let to = if lp.random().bernoulli(0.5) { lp.id() } else { LpId(to) };
                lp.send(to, delay, event + 1);
            })
            .reverse(|seen, _, _| *seen -= 1)
            .finish(move |seen, lp| ends.end(seen, lp))
    }

    fn act(&self, seen: u64, event: u64, lp: &mut Context<Story>) {
        let id = lp.id();
        let now = lp.now();
        for part in 0..lp.random().below(4) {
            let text = format!("{now} {id} {seen} {event} {part}");
            match lp.random().below(3) {
                0 => lp.record(LINES, &[text.into()]),
                more => self.announce(lp, text, more == 1),
            }
        }
        if id.0 == 2 && seen == 7 {
            match self.goes_wrong {
                Some(Wrong::Act) => lp.when_settled(|| panic!("the printer is on fire")),
                Some(Wrong::Event) => panic!("LP 2 has had enough"),
                _ => {}
            }
        }
    }

    fn end(&self, seen: u64, lp: &mut Finish<Story>) {
        let id = lp.id();
        self.announce(lp, format!("{id} ends after {seen}"), true);
        lp.record(LINES, &["the end".into()]);
        match self.goes_wrong.filter(|_| id.0 == 2) {
            Some(Wrong::ActAtEnd) => lp.when_settled(|| panic!("the printer is burnt down")),
            Some(Wrong::End) => panic!("LP 2 does not want to end"),
            _ => {}
        }
    }
}

/// How many processes there are for a seed.
pub(crate) fn processes(seed: u64, launched: bool) -> u32 {
    let least = if launched { 2 } else { 1 };
    least + Random::new(seed, LpId(2), 1).below(5 - least)
}

/// Runs the model of a seed, alone or in several processes, and writes the outcome to a file.
pub(crate) fn announce(
    seed: u64,
    directory: &Path,
    processes: Option<(u32, bool)>,
) -> Result<(), Ended> {
    let end = if seed % 10 == 5 { LONG_END } else { END };
    let mut random = Random::new(seed, LpId(0), 1);
    let settings = Settings::new(seed, end);
    let parallel = processes.map(|(processes, launched)| {
        let copies = (processes > 1 && random.bernoulli(0.5)).then(|| Copies::draw(&mut random));
        let mut parallel = Parallel {
            pes: 1 + random.below(2),
            processes,
            copies,
            cluster: None,
            ..Parallel::cluster(&mut random)
        };
        if launched && copies.is_some() {
            avoid_common_memory(&mut parallel);
        }
        parallel
    });
    let configuration = Configuration { pending: Pending::Ladder, parallel, changes: None };
    let outcome =
        match simulation(Announcer::from_seed(seed, directory).story(), &settings, configuration)
            .run()
        {
            Ok(run) => format!(
                "{} {} {:?}\n{:?}\n",
                run.record.digest,
                run.record.committed_events,
                run.incomplete.map(|error| error.to_string()),
                run.tables
            ),
            Err(Error::Share(share)) => return Err(Ended::Share(share)),
            Err(error) => error.to_string(),
        };
    fs::write(directory.join("outcome"), outcome)
        .map_err(|cause| format!("{configuration:?}: {cause}").into())
}

/// The process that an act of LP 1 kills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Victim {
    /// The first, which waits for the act.
    First,
    /// Its own, which performs the act.
    Own,
    /// The one after its own, which would act next.
    Next,
}

impl Victim {
    pub(crate) const ALL: [Victim; 3] = [Victim::First, Victim::Own, Victim::Next];

    fn number(self) -> u32 {
        self as u32
    }
}

/// The tick at which a process is killed.
const DEADLY: u64 = 5;

/// Three LPs with clocks, in a process each. Each tick is noted outside; at the fifth tick of LP 1,
/// a process is killed.
fn killing(directory: &'static Path, victim: Victim) -> Story {
    Story::new(3)
        .init(|lp| {
            lp.send(lp.id(), 1.0, 0);
            0
        })
        .handle(move |ticks, _, lp| {
            *ticks += 1;
            let id = lp.id().0;
            let tick = *ticks;
            if tick == 1 {
                let file = directory.join(format!("process {id}"));
                lp.when_settled(move || fs::write(&file, std::process::id().to_string()).unwrap());
            }
            if id == 1 && tick == DEADLY {
                lp.when_settled(move || kill(directory, victim));
            }
            Diary::new(directory.join("diary")).note(lp, format!("{tick} {id}"));
            lp.send(lp.id(), 1.0, 0);
        })
}

/// Kills a process, and waits until it is gone.
fn kill(directory: &Path, victim: Victim) {
    let process =
        fs::read_to_string(directory.join(format!("process {}", victim.number()))).unwrap();
    // Where the system reports no ends of children, there is no status.
    let _ = std::process::Command::new("kill").args(["-KILL", &process]).status();
    while is_there(&process) {
        std::thread::yield_now();
    }
}

fn is_there(process: &str) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// The run in which a process is killed, and which must give this reason. Returns in the first
/// process, unless that is the victim.
pub(crate) fn be_killed(victim: Victim, directory: &Path, why: &str) -> Result<(), Ended> {
    let directory: &'static Path = Box::leak(directory.to_owned().into_boxed_path());
    match Simulation::new(killing(directory, victim)).end(1e9).processes(3).threads(1).run() {
        Err(Error::Process { lost, .. }) if lost.number == victim.number() && lost.why == why => {
            Ok(())
        }
        Err(error) => Err(Ended::of(error, |error| format!("{victim:?}: {error:?}"))),
        Ok(run) => Err(format!("{victim:?}: {}", run.record.digest).into()),
    }
}

/// Whether all processes of a killed run are gone soon, and have had the effects of all events
/// before the kill, and no others.
pub(crate) fn check_killed(victim: Victim, directory: &Path) -> Result<(), String> {
    let since = std::time::Instant::now();
    let processes =
        (0..3).map(|number| fs::read_to_string(directory.join(format!("process {number}"))));
    for process in processes.collect::<Result<Vec<_>, _>>().map_err(|cause| cause.to_string())? {
        while is_there(&process) {
            if since.elapsed() > std::time::Duration::from_secs(30) {
                return Err(format!("process {process} goes on"));
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    let before = (1..DEADLY).flat_map(|tick| (0..3).map(move |id| (tick, id))).chain([(DEADLY, 0)]);
    // If its process survives, LP 1 notes its own tick as well.
    let all = before.chain((victim != Victim::Own).then_some((DEADLY, 1)));
    let expected: String = all.map(|(tick, id)| format!("{tick} {id}\n")).collect();
    let found = fs::read_to_string(directory.join("diary")).map_err(|cause| cause.to_string())?;
    if found == expected {
        Ok(())
    } else {
        Err(format!("they did outside:\n{found}where only this came before:\n{expected}"))
    }
}
