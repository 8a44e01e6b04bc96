//! Tries out a model's undo: events forward, undone, compared, forward again, compared; and
//! compares equal runs.

use std::fmt;
use std::time::Duration;

use warpline_record::StateDigestRecord;

use crate::{Error, Place, Undo};

/// What a successful verification covered.
///
/// ```
/// # use warpline::prelude::*;
/// # struct Clock;
/// # impl Model for Clock {
/// #     type State = u32; type Event = ();
/// #     fn lps(&self) -> u32 { 1 }
/// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, 1.0, ()); 0 }
/// #     fn handle(&self, ticks: &mut u32, _: &(), lp: &mut Context<Self>) { *ticks += 1; lp.send(0, 1.0, ()); }
/// # }
/// let verified = Simulation::new(Clock).verify()?;
/// assert_eq!((verified.model.as_str(), verified.events), ("Clock", 99));
/// assert_eq!(verified.digest, Simulation::new(Clock).run()?.record.digest);
/// # Ok::<(), warpline::VerifyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verification {
    /// The model.
    pub model: String,
    /// The undo method that was tried.
    pub undo: Undo,
    /// Whether nothing undoes events of the model, as all of its LPs are processes: then no event was
    /// tried, and initialisations and whole runs were repeated.
    pub never_undone: bool,
    /// How many events there were.
    pub events: u64,
    /// How many of them were executed, undone and executed again.
    pub tried: u64,
    /// The same by kind of event and kind of LP, the most frequent first.
    pub kinds: Vec<VerifiedKind>,
    /// The kinds of LPs that no event reached.
    pub idle: Vec<String>,
    /// Where it ended, in model units.
    pub virtual_time: f64,
    /// Whether that is the end of the run, as the limits left enough time.
    pub is_whole: bool,
    /// Whether some events were passed over that the limits asked for, as there was no time for
    /// them.
    pub is_short_of_time: bool,
    /// The digest of the history, equal to that of a run to this end.
    pub digest: String,
    /// The digests of final states and statistics, equal to those of a run; of statistics only if
    /// it is whole.
    pub state_digest: StateDigestRecord,
    /// Whether equal states have texts that differ from run to run, in the order of hash maps or in
    /// addresses. It is harmless in a text, and a mistake if a handler depends on it.
    pub order_varies: bool,
}

/// A kind of event, of a kind of LP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifiedKind {
    /// What it is: the variants in its `Debug` text; empty if there are none.
    pub event: String,
    /// The [kind](crate::Model::kind) of the LPs that it reached.
    pub lp: String,
    /// How many there were.
    pub events: u64,
    /// How many of them were tried.
    pub tried: u64,
}

/// How much is to be tried; [`Simulation::verify_within`](crate::Simulation::verify_within) has an
/// example. By default, everything.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VerifyLimits {
    /// So many events of each kind are tried one after the other, and fewer and fewer of later
    /// ones: as many of each stretch that is as long as all before it. `None` for all.
    pub each: Option<u64>,
    /// The wall time after which the run ends where it is. Trials take no more time on a core than
    /// how far the run has come allows, so that late events are tried, too. `None` for any.
    pub patience: Option<Duration>,
    /// The number of events after which the run ends where it is. `None` for any.
    pub most: Option<u64>,
}

/// Why a verification failed; [`Simulation::verify`](crate::Simulation::verify) has an example.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The run itself failed, as it would without verification.
    #[error(transparent)]
    Run(#[from] Error),
    /// An event was not undone or repeated exactly.
    #[error(transparent)]
    Mismatch(Box<Mismatch>),
    /// Two runs that must be equal differ.
    #[error(transparent)]
    Unequal(Box<UnequalRuns>),
}

/// Two runs of one simulation that differ, whatever undoes their events.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnequalRuns {
    /// The model.
    pub model: String,
    /// Where the second run was, such as `in another thread`.
    pub second: &'static str,
    /// What differs: `history`, `final states`, `statistics`.
    pub what: Vec<&'static str>,
    /// The digests of the histories.
    pub digests: [String; 2],
}

/// What differs between two runs that must be equal, and whether the texts of their states do. Runs
/// that are `whole` must have equal statistics, too.
pub fn unequal(
    one: (&str, &StateDigestRecord),
    other: (&str, &StateDigestRecord),
    whole: bool,
) -> (Vec<&'static str>, bool) {
    let (history, end) = one;
    let (other_history, other_end) = other;
    let parts = [
        ("history", history != other_history),
        ("final states", end.content != other_end.content),
        ("statistics", whole && end.statistics != other_end.statistics),
    ];
    let differing = parts.into_iter().filter(|(_, differ)| *differ).map(|(name, _)| name).collect();
    (differing, end.text != other_end.text)
}

impl UnequalRuns {
    /// Runs that differ in `what`.
    #[doc(hidden)]
    pub fn new(
        model: String,
        second: &'static str,
        what: Vec<&'static str>,
        digests: [String; 2],
    ) -> Self {
        UnequalRuns { model, second, what, digests }
    }
}

impl std::error::Error for UnequalRuns {}

impl fmt::Display for UnequalRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnequalRuns { model, second, what, digests: [one, other] } = self;
        write!(
            f,
            "model `{model}`: two equal runs differ in their {}, the second one {second}",
            what.join(", ")
        )?;
        if one != other {
            write!(f, " (digest {one}, and then {other})")?;
        }
        write!(f, ". {UNEQUAL_WHY}")
    }
}

/// What usually makes equal runs differ.
pub const UNEQUAL_WHY: &str = "Something outside the simulation decides. Most often it is the \
                               order of a HashMap or HashSet: take a BTreeMap or BTreeSet, or \
                               sort. It may also be random numbers that are not those of the LP, \
                               the clock, addresses, a file or variable of the system, or what LPs \
                               or runs share, such as a static, an atomic or a Mutex";

/// When a handler writes to the outside world.
pub(crate) const OUTSIDE: &str = "while it was executed twice";

/// The first difference found; [`Simulation::verify`](crate::Simulation::verify) has an example.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Mismatch {
    /// The model.
    pub model: String,
    /// The undo method that was tried.
    pub undo: Undo,
    /// The event.
    pub place: Place,
    /// How many events were tried before it.
    pub events: u64,
    /// What differs, such as `state.queue.len` or `sends[1].delay`.
    pub field: String,
    /// When it differs.
    pub when: &'static str,
    /// The value expected.
    pub expected: String,
    /// The value found.
    pub found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { model, undo, place, events, field, when, expected, found } = self;
        write!(
            f,
            "model `{model}` under --undo {}: {place}: {when}, `{field}` is {found} instead of \
             {expected}",
            undo.name()
        )?;
        write!(f, " ({events} events passed before)")?;
        if *when == OUTSIDE {
            write!(
                f,
                "; that cannot be undone, and events may be executed more than once: use \
                 Context::record, or print and write by when_settled"
            )?;
        }
        if *undo == Undo::Journal && when.starts_with("after undoing") {
            write!(
                f,
                "; whatever events change in a state, they must change by Context::change, a Queue \
                 or a Level"
            )?;
        }
        Ok(())
    }
}
