//! What happens when memory runs out: the engine unwinds to whoever called it, which gets an error.
//! So nothing that adds to a list has to return a result, and the hot paths pay nothing for it.
//!
//! Whatever adds to a list makes room for it first ([`MakeRoom`](crate::MakeRoom)). If there is
//! none, it unwinds with an [`Exhausted`], past whatever catches panics of models
//! ([`catch_panic`](crate::catch_panic)), to the caller of the step. What one event sends, saves or
//! observes is different, as that event may never have happened: running out there is a fault of
//! the model, deferred like any other until it is certain.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::{Deserted, Exhausted};

/// Calls `run`, and returns an error if memory runs out in it.
///
/// # Errors
/// If memory runs out in `run`. Whatever that was changing must not be used again, but may be
/// dropped.
///
/// # Panics
/// If `run` does.
pub fn catch_exhausted<T>(run: impl FnOnce() -> T) -> Result<T, Exhausted> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(value) => Ok(value),
        Err(panic) => {
            Err(Exhausted::from_panic(panic).unwrap_or_else(|panic| resume_unwind(panic)))
        }
    }
}

/// Calls `run`, and returns an error if it panics.
///
/// # Errors
/// If it panics: the message of the panic.
///
/// # Panics
/// Only if memory runs out in `run`, or if another process is gone [with a lock](crate::Deserted):
/// both go on unwinding.
#[inline]
pub fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Err(panic) if panic.is::<Exhausted>() || panic.is::<Deserted>() => resume_unwind(panic),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_out_passes_by_those_who_catch_panics() {
        let outcome = catch_exhausted(|| catch_panic(|| Exhausted::Numbers.unwind()));
        assert!(matches!(outcome, Err(Exhausted::Numbers)));
        let outcome = catch_unwind(|| catch_panic(|| resume_unwind(Box::new(Deserted))));
        assert!(outcome.is_err_and(|panic| panic.is::<Deserted>()), "no panic of a model");
        let panic = catch_panic(|| panic!("another")).expect_err("it panics");
        assert_eq!(panic.downcast_ref(), Some(&"another"));
        let outcome = catch_unwind(|| catch_exhausted(|| panic!("another")));
        assert_eq!(outcome.expect_err("it panics").downcast_ref(), Some(&"another"));
        assert_eq!(catch_exhausted(|| 7), Ok(7));
    }
}
