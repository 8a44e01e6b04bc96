use warpline_base::{Figure, LpId};

/// A lengthy event, as seen from outside while it is being executed; see
/// [`Simulation::on_long_event`](crate::Simulation::on_long_event).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LongEvent {
    /// The PE that executes it; `None` in a sequential run, and on a modelled machine, whose PEs take
    /// turns in one thread.
    pub pe: Option<u32>,
    /// Its LP.
    pub lp: LpId,
    /// Its time, in model units.
    pub time: f64,
    /// Which event of its LP it is, counted from 1; 0 is the LP's [`init`](crate::Model::init) or
    /// [`finish`](crate::Model::finish). Modulo 2³².
    pub event: u32,
    /// Whether it is certain to happen. One that is not may have met a state that no right order of
    /// events leads to.
    pub certain: bool,
    /// For how long it has been executed, in seconds of wall time, less those for which its thread
    /// had no core.
    pub seconds: f64,
    /// For how long its thread had no core meanwhile, as others used it, in seconds of wall time.
    pub seconds_without_core: f64,
}

impl std::fmt::Display for LongEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LongEvent { pe, lp, time, event, certain, seconds, seconds_without_core } = self;
        let time = Figure(*time);
        let on = pe.map(|pe| format!(" on PE {pe}")).unwrap_or_default();
        match event {
            0 => write!(f, "init or finish of {lp} at time {time}")?,
            _ => write!(f, "event {event} of {lp} at time {time}")?,
        }
        write!(f, " has been running for {seconds:.0} s{on}")?;
        if *seconds_without_core >= 1.0 {
            write!(f, ", beside {seconds_without_core:.0} s for which others had its core")?;
        }
        match certain {
            true => Ok(()),
            false => f.write_str(
                "; it is executed ahead of others, and may have met a state that no right order of \
                 events leads to: loops in a handler must end, whatever the state",
            ),
        }
    }
}
