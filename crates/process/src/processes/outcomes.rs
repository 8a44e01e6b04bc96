//! What ended processes left.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use crate::keys::ProcessKey;
use crate::processes::process::Ended;

/// What ended processes left: which of them were cancelled, and the values of the others unless
/// that is `()`. It is kept until the run ends, as any process may ask at any time.
#[derive(Default)]
pub(crate) struct Outcomes {
    values: BTreeMap<ProcessKey, Box<dyn Any + Send>>,
    cancelled: BTreeSet<ProcessKey>,
}

impl Outcomes {
    /// A process has come to its end with this value.
    pub(crate) fn keep<R: Send + 'static>(&mut self, process: ProcessKey, value: R) {
        if !is_unit(&value) {
            self.values.insert(process, Box::new(value));
        }
    }

    /// A process has ended.
    #[inline]
    pub(crate) fn note(&mut self, process: ProcessKey, ended: Ended) {
        if ended == Ended::Cancelled {
            self.cancelled.insert(process);
        }
    }

    /// How a process ended that has.
    pub(crate) fn how(&self, process: ProcessKey) -> Ended {
        if self.cancelled.contains(&process) { Ended::Cancelled } else { Ended::Finished }
    }

    /// The value of a process that has ended; `None` if it was cancelled.
    pub(crate) fn value<R: Clone + 'static>(&self, process: ProcessKey) -> Option<R> {
        if self.how(process) == Ended::Cancelled {
            return None;
        }
        let unit: &dyn Any = &();
        let value = self.values.get(&process).map(|value| &**value as &dyn Any);
        unit.downcast_ref().or_else(|| value?.downcast_ref()).cloned()
    }
}

/// Whether a value is `()`, of which nothing is kept.
#[inline]
pub(crate) fn is_unit<R: 'static>(value: &R) -> bool {
    (value as &dyn Any).is::<()>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_and_nothing_of_the_cancelled() {
        let mut outcomes = Outcomes::default();
        let process = |place| ProcessKey { place, generation: 3 };
        outcomes.keep(process(1), "fish".to_owned());
        outcomes.keep(process(2), ());
        outcomes.note(process(3), Ended::Cancelled);
        for _ in 0..2 {
            assert_eq!(outcomes.value::<String>(process(1)).as_deref(), Some("fish"));
        }
        assert_eq!(outcomes.value::<()>(process(1)), Some(()), "who does not ask for the value");
        assert_eq!((outcomes.value::<()>(process(2)), outcomes.values.len()), (Some(()), 1));
        assert_eq!(outcomes.value::<()>(process(3)), None);
        assert_eq!(outcomes.value::<String>(process(3)), None);
    }
}
