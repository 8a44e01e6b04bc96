use crate::Synchronisation;

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Engine {
    /// How it keeps LPs in step: one of those that run, not the choice among them.
    pub(crate) sync: Synchronisation,
    /// The number of its PEs; 1 for the sequential one.
    pub(crate) pes: u32,
}

impl Engine {
    pub(crate) const SEQUENTIAL: Engine = Engine { sync: Synchronisation::Sequential, pes: 1 };

    pub(crate) fn is_sequential(self) -> bool {
        self.sync == Synchronisation::Sequential
    }
}

/// The engine of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EngineChoice {
    pub(crate) engine: Engine,
    /// How many events a core executes per second, where that has been measured.
    pub(crate) event_rate: Option<f64>,
}

impl From<Engine> for EngineChoice {
    fn from(engine: Engine) -> Self {
        EngineChoice { engine, event_rate: None }
    }
}
