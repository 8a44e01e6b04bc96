use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use crate::keys::ProcessKey;
use crate::processes::process::Process;

/// Why [`Sim::interruptible`](crate::Sim::interruptible) ended early.
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupted {
    reason: Cow<'static, str>,
    by: ProcessKey,
    held_since: Option<f64>,
}

impl Interrupted {
    pub(crate) fn by(by: ProcessKey, reason: Cow<'static, str>) -> Self {
        Interrupted { reason, by, held_since: None }
    }

    /// A resource was taken away that the process held since then.
    pub(crate) fn preempted(by: ProcessKey, resource: Cow<'static, str>, since: f64) -> Self {
        Interrupted { reason: resource, by, held_since: Some(since) }
    }

    /// The reason that whoever interrupted the process gave; after a preemption, the name of the
    /// resource that was taken away.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Who interrupted the process: after a preemption, who asked for the resource.
    pub fn interrupter(&self) -> Process {
        Process::new(self.by)
    }

    /// Whether a [`Resource`](crate::Resource) that the process held was taken away.
    pub fn is_preemption(&self) -> bool {
        self.held_since.is_some()
    }

    /// After a preemption, the time from which the process held the resource, in model units.
    pub fn held_since(&self) -> Option<f64> {
        self.held_since
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_preemption() {
            write!(f, "the resource `{}` was taken away", self.reason)
        } else {
            write!(f, "interrupted: {}", self.reason)
        }
    }
}

impl std::error::Error for Interrupted {}

/// The interrupts that a process has not seen yet.
#[derive(Default)]
pub(crate) struct Interrupts(VecDeque<Interrupted>);

impl Interrupts {
    pub(crate) fn add(&mut self, why: Interrupted) {
        self.0.push_back(why);
    }

    pub(crate) fn take(&mut self) -> Option<Interrupted> {
        self.0.pop_front()
    }
}
