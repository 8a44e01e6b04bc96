use std::borrow::Cow;
use std::fmt;

/// Why [`Sim::interruptible`](crate::Sim::interruptible) ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupted {
    reason: Cow<'static, str>,
    is_preemption: bool,
}

impl Interrupted {
    pub(crate) fn by(reason: Cow<'static, str>) -> Self {
        Interrupted { reason, is_preemption: false }
    }

    pub(crate) fn preempted(resource: Cow<'static, str>) -> Self {
        Interrupted { reason: resource, is_preemption: true }
    }

    /// The reason that whoever interrupted the process gave; after a preemption, the name of the
    /// resource that was taken away.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether a [`Resource`](crate::Resource) that the process held was taken away.
    pub fn is_preemption(&self) -> bool {
        self.is_preemption
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_preemption {
            write!(f, "the resource `{}` was taken away", self.reason)
        } else {
            write!(f, "interrupted: {}", self.reason)
        }
    }
}

impl std::error::Error for Interrupted {}
