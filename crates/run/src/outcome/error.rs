use std::fmt;
use std::path::PathBuf;

use warpline_base::{Figure, LpId};
use warpline_kernel::panic_message;
use warpline_kernel::{FailedEvent, Position};
pub(crate) use warpline_kernel::{event_text, remember_panics};
use warpline_memory::{Exhausted, catch_exhausted, catch_panic, check_room};
use warpline_model::Fault;
use warpline_report::ReportError;
use warpline_transport::Lost;

use crate::settings::SettingError;
use crate::{LongEvent, Share};

/// Why a run did not reach its end.
///
/// ```
/// # use warpline::prelude::*;
/// use warpline::{Fault, Place};
/// # struct Shop;
/// # impl Model for Shop {
/// #     type State = (); type Event = u32;
/// #     fn lps(&self) -> u32 { 1 }
/// #     fn init(&self, lp: &mut Init<Self>) { lp.send(0, 2.5, 7); }
/// fn handle(&self, _: &mut (), order: &u32, lp: &mut Context<Self>) {
///     lp.fail(format!("there is no item {order}; see the catalogue"));
/// }
/// # }
/// match Simulation::new(Shop).end(-1.0).run().unwrap_err() {
///     Error::Setting(why) => assert!(why.starts_with("`end` cannot be `-1`: it takes a finite number greater than 0")),
///     other => panic!("{other}"),
/// }
/// let error = Simulation::new(Shop).run().unwrap_err();
/// assert!(error.to_string().starts_with("model `Shop`: event 1 of LP 0 at time 2.5 (7) failed: there is no item 7"));
/// let Error::Fault(failure) = error else { panic!() };
/// assert_eq!(failure.fault, Fault::Failed("there is no item 7; see the catalogue".into()));
/// assert_eq!(failure.place, Place::Event { lp: LpId(0), time: 2.5, number: Some(1), payload: "7".into() });
/// assert_eq!((failure.time, failure.committed), (2.5, 0));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting of the run, or a declaration of the model, makes no sense. Nothing was simulated.
    #[error("{0}")]
    Setting(String),
    /// The model made a mistake.
    #[error(transparent)]
    Fault(Box<Failure>),
    /// Memory ran out.
    #[error("{}{why}; {}", during(.place), advice(.place, .why))]
    Memory {
        /// Where the simulation was; `None` before it began and after it ended.
        place: Option<Position>,
        /// What ran out.
        why: Exhausted,
    },
    /// The system refuses a thread.
    #[error(
        "the system refuses thread {number} of {threads}: {cause}; ask for fewer threads, or raise \
         the limits on processes and memory"
    )]
    Thread {
        /// Which one, from 1.
        number: usize,
        /// How many the run was to have.
        threads: usize,
        /// The system's error.
        cause: std::io::Error,
    },
    /// An event took longer than [it may](crate::Simulation::event_limit). Its thread cannot be
    /// stopped, and goes on until the program ends.
    #[error(
        "{0}; raise --event-limit if it needs more time; there are no results, and rows that were \
         written to files before stay there"
    )]
    LongEvent(Box<LongEvent>),
    /// [Replications](crate::Simulation::replicate) were stopped before the first of them had ended.
    #[error("stopped before the first run had ended: there are no results")]
    Stopped,
    /// The run was [told to end](crate::StopSwitch), but came no further. Threads of it may go on
    /// until the program ends.
    #[error(
        "the run was told to end, but came no further for {seconds} s, so it was given up; there \
         are no results; rows that were written to files before stay there"
    )]
    NoEnd {
        /// For how long.
        seconds: u64,
    },
    /// The run was given up, as nobody waits for it any more.
    #[error("the run was given up, as nobody waits for it any more")]
    Abandoned,
    /// A process of the run is gone, so that the others cannot go on. What LPs had not yet done
    /// [outside](crate::Observe::when_settled), in whatever process, is never done.
    #[error("{lost}; GVT had reached time {}; there are no results; rows that were written to \
             files before stay there", Figure::from(.gvt))]
    Process {
        /// Which one, and why.
        lost: Lost,
        /// How far the run had come, in model time.
        gvt: f64,
    },
    /// No failure: this process has done its [share] of a run of several, whose results the first
    /// process has. It is to end now.
    ///
    /// [share]: Share
    #[error("{0}")]
    Share(Share),
    /// MPI cannot carry the messages of the run.
    #[error("messages between processes cannot be sent: {cause}")]
    Communication {
        /// What MPI, or another carrier, says.
        cause: String,
    },
    /// The system refuses the processes of the run, or the memory that they would share.
    #[error(
        "the system refuses a run of {processes} processes: {cause}; use threads, or raise the \
         limits on processes and address space"
    )]
    Processes {
        /// How many the run was to have.
        processes: u32,
        /// The system's error.
        cause: std::io::Error,
    },
    /// A file of rows could not be written.
    #[error(
        "cannot write rows to {path}: {cause}; free some space or choose another directory (rows \
         before this one may be incomplete)"
    )]
    Rows {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// The results of finished [replications](crate::Simulation::replicate) wait in a file for the
    /// last one, and could not be written.
    #[error(
        "the results of finished runs cannot be kept in {}: {cause}; free some space, or name \
         another directory in TMPDIR; there are no results",
        std::env::temp_dir().display()
    )]
    Kept {
        /// The system's error.
        cause: std::io::Error,
    },
    /// What an event does [to the outside world](crate::Observe::when_settled) panicked.
    #[error(
        "what {lp} does to the outside world at time {} panicked: {why}; nothing was done there \
         after it, but the run went on",
        Figure::from(.time)
    )]
    Act {
        /// The LP.
        lp: LpId,
        /// The time of its event, in model units.
        time: f64,
        /// The message of the panic.
        why: String,
    },
    /// A trace could not be written.
    #[error("cannot write the trace to {path}: {cause}; free some space or name another file")]
    Trace {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// A report could not be written.
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl From<SettingError> for Error {
    fn from(error: SettingError) -> Self {
        Error::Setting(error.to_string())
    }
}

impl Error {
    /// Checks that there is memory for this many LPs with their states.
    ///
    /// # Errors
    /// If there is not.
    pub(crate) fn check_states<L>(lps: u32) -> Result<(), Self> {
        within_memory(|| {
            check_room::<L>(lps as usize, "the states of LPs");
            Ok(())
        })
    }

    /// The system refuses a thread, numbered from 0.
    pub(crate) fn no_thread(number: usize, threads: usize, cause: std::io::Error) -> Self {
        Error::Thread { number: number + 1, threads, cause }
    }
}

/// Calls code of the model, or anything else that may panic. If memory runs out in it, unwinding
/// goes on.
///
/// # Errors
/// The message of its panic.
pub(crate) fn catch_message<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let mut call = Some(call);
    let mut result = None;
    catch_message_of(&mut || result = call.take().map(|call| call()))?;
    match result {
        Some(result) => Ok(result),
        None => unreachable!("it has been called"),
    }
}

/// Compiled once, whatever is called.
fn catch_message_of(call: &mut dyn FnMut()) -> Result<(), String> {
    catch_panic(call).map_err(panic_message)
}

/// Calls `run`, and turns a lack of memory into an error.
///
/// # Errors
/// Those of `run`, or [`Error::Memory`] if memory runs out.
pub(crate) fn within_memory<T, E: From<Error>>(run: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_exhausted(run).unwrap_or_else(|why| Err(Error::Memory { place: None, why }.into()))
}

/// Where memory ran out, in words.
fn during(place: &Option<Position>) -> String {
    let place = place.map(|Position { lp, time, pending }| {
        format!("at {lp}, time {}, with {pending} events in memory: ", Figure(time))
    });
    place.unwrap_or_default()
}

/// What to do when memory has run out.
fn advice(place: &Option<Position>, why: &Exhausted) -> &'static str {
    match place {
        _ if matches!(why, Exhausted::Budget { .. }) => {
            "raise --memory, or make the model smaller; there are no results; rows that were \
             written to files before stay there"
        }
        None => "use fewer LPs or a larger machine; there are no results",
        Some(_) => {
            "the model starts with more events than fit, sends more than it consumes, or wants a \
             larger machine; there are no results; rows that were written to files before stay \
             there"
        }
    }
}

/// A mistake of the model, where and when; [`Error`] has an example.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "model `{model}`: {} {fault}\n  {committed} events were committed up to time {}; \
     there are no results; rows that were written to files before stay there",
    culprit(.place, .fault),
    Figure::from(.time)
)]
pub struct Failure {
    /// The model.
    pub model: String,
    /// Where in the model.
    pub place: Place,
    /// The virtual time, in model units.
    pub time: f64,
    /// The mistake.
    pub fault: Fault,
    /// How many events had committed before.
    pub committed: u64,
}

/// The place in words.
fn culprit(place: &Place, fault: &Fault) -> String {
    match fault {
        Fault::CounterOverflow { .. } => "the run as a whole".to_owned(),
        _ => place.to_string(),
    }
}

/// Which code of the model was running; [`Error`] has an example.
///
/// ```
/// use warpline::{LpId, Place};
/// let place = Place::Event { lp: LpId(0), time: 2.5, number: Some(9), payload: "Arrival".into() };
/// assert_eq!(place.to_string(), "event 9 of LP 0 at time 2.5 (Arrival)");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Place {
    /// [`Model::init`](crate::Model::init) of an LP.
    Init(LpId),
    /// An event.
    Event {
        /// The receiver.
        lp: LpId,
        /// Its time, in model units.
        time: f64,
        /// Which event of its LP it is, counted from 1; `None` if its payload panicked on being
        /// dropped, after it was over.
        number: Option<u64>,
        /// Its payload, formatted by `Debug`.
        payload: String,
    },
    /// [`Model::finish`](crate::Model::finish) of an LP.
    Finish(LpId),
    /// [`Model::results`](crate::Model::results) or [`Model::views`](crate::Model::views). For a [`Fault::CounterOverflow`] no code at all:
    /// it is a fault of the run as a whole, found after the last event and before these.
    Results,
}

impl Place {
    pub(crate) fn event(lp: LpId, time: f64, FailedEvent { number, payload }: FailedEvent) -> Self {
        Place::Event { lp, time, number, payload }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Init(lp) => write!(f, "init of {lp}"),
            Place::Event { lp, time, number, payload } => {
                match number {
                    Some(number) => write!(f, "event {number}")?,
                    None => f.write_str("an event")?,
                }
                write!(f, " of {lp} at time {} ({payload})", Figure(*time))
            }
            Place::Finish(lp) => write!(f, "finish of {lp}"),
            Place::Results => write!(f, "making the results"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_the_whole_run_are_distinguished_from_those_of_code() {
        let first_line = |fault| {
            let failure = Failure {
                model: "shop".into(),
                place: Place::Results,
                time: 10.0,
                fault,
                committed: 3,
            };
            failure.to_string().lines().next().map(str::to_owned)
        };
        let overflow = "model `shop`: the run as a whole brought counter `sold` beyond the largest \
                        count, 18446744073709551615; count in a larger unit, or use several \
                        counters";
        assert_eq!(
            first_line(Fault::CounterOverflow { name: "sold".into() }).as_deref(),
            Some(overflow)
        );
        assert_eq!(
            first_line(Fault::Panic("no till".into())).as_deref(),
            Some("model `shop`: making the results panicked: no till")
        );
    }
}
