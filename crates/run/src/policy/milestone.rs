use crate::machine::core_time::CoreTime;

/// How far a run has come, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Milestone {
    /// Seconds since the event loop began.
    pub(crate) seconds: f64,
    /// In model time.
    pub(crate) virtual_time: f64,
    /// Events.
    pub(crate) committed: u64,
    /// Pending events, where that is known.
    pub(crate) pending: Option<usize>,
    /// The work of the busiest PE compared with the mean, where that is known.
    pub(crate) unevenness: Option<f64>,
    /// The time of all threads of the segment.
    pub(crate) core_time: CoreTime,
}
