//! What a run leaves behind: one serialisable record, which the command, the report and other
//! programs read.

pub mod counters;
mod deferred;
mod lost_delays;
mod null;
mod parallel;
mod progress;
mod provenance;
mod replications;
mod results;
mod run_record;
mod series;
mod stretches;
mod stuck;
mod study;
mod told;
mod views;

pub use self::deferred::Deferred;
pub use self::lost_delays::LostDelays;
pub use self::progress::{ProgressSample, SpeculationSample};
pub use self::replications::{Replication, Replications};
pub use self::results::{ResultField, ResultList, ResultTree};
pub use self::run_record::{
    KindRecord, Partial, RecordSummary, ResultNote, RunRecord, SettingNote, StateDigestRecord,
};
pub use self::series::{Series, SeriesKind};
pub use self::stretches::EngineStretch;
pub use self::stuck::Stuck;
pub use self::study::{Fact, StudyRecord};
pub use self::told::{Deed, Told};
pub use self::views::{
    Bar, BarsView, GridView, HistogramView, LinesView, MapLink, MapNode, MapView, TableView, View,
};
pub use crate::parallel::{
    CommunicationRecord, Distribution, GvtIntervalRecord, MachineRecord, MachineSensitivity,
    MachineShares, MemoryRecord, ParallelRecord, PeCounter, PeRecord, Phases, QUANTILES, Rollbacks,
    SharedRingRecord, Spread, ThrottleRecord, TimeLine, TimeLines, quantiles,
};
pub use crate::provenance::Provenance;
