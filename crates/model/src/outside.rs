use std::fmt;
use std::sync::Arc;

/// An effect on the outside world, performed [once its event is
/// settled](crate::Observe::when_settled).
#[derive(Clone)]
pub struct Act(Arc<dyn Fn() + Send + Sync>);

impl Act {
    pub(crate) fn new(act: impl Fn() + Send + Sync + 'static) -> Self {
        Act(Arc::new(act))
    }

    /// Performs it. Engines call this once.
    pub fn perform(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Act {
    /// All acts look alike, because a closure cannot be inspected.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Act")
    }
}

impl PartialEq for Act {
    /// Whether both are the same act, not merely alike.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
