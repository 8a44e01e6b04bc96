//! Tries out a model's undo: every event forward, undone, compared, forward again, compared.

use std::fmt;

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
pub struct Verification {
    /// The model.
    pub model: String,
    /// The undo method that was tried.
    pub undo: Undo,
    /// How many events were executed, undone and executed again.
    pub events: u64,
    /// How far they reach, in model units: the end of the run, or the time of the last event tried.
    pub virtual_time: f64,
    /// The digest of the history, equal to that of a run.
    pub digest: String,
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
}

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
        write!(f, "model `{model}` under --undo {}: {place}: {when}, `{field}` is {found} instead of {expected}", undo.name())?;
        write!(f, " ({events} events passed before)")?;
        if *undo == Undo::Journal && when.starts_with("after undoing") {
            write!(f, "; whatever events change in a state, they must change by Context::change, a Queue or a Level")?;
        }
        Ok(())
    }
}
