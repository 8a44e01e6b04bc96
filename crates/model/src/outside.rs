use std::fmt;
use std::sync::Arc;

/// What an event does to the outside world [once it is settled](crate::Observe::when_settled).
#[derive(Clone)]
pub struct Act(Arc<dyn Fn() + Send + Sync>);

impl Act {
    pub(crate) fn new(act: impl Fn() + Send + Sync + 'static) -> Self {
        Act(Arc::new(act))
    }

    /// Does it. For engines, which do it once.
    pub fn perform(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Act {
    /// All acts look alike, as nobody can look into them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Act")
    }
}

impl PartialEq for Act {
    /// Whether they are the same act, rather than alike.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
