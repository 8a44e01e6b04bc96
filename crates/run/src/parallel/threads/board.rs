//! What PEs' threads tell the thread that watches them.
//!
//! *Rows are merged by moment* in the watching thread. PEs post committed rows once per GVT. The
//! watcher passes on those before the GVT before the last, before which nothing can fail any more:
//! so the rows of a run that fails are those of a sequential run. When too many have been posted,
//! the threads wake the watcher and wait until it has written the previous ones. What models do
//! outside (acts) goes the same way.

use std::sync::Mutex;

use warpline_base::Moment;
use warpline_kernel::MomentRow;
use warpline_memory::Apart;

use crate::parallel::status::PeStatus;

/// Where a PE's thread posts its progress and rows. Locked once per GVT, and hardly ever by two
/// threads at a time.
pub(crate) type Board = Apart<Mutex<Notice>>;

#[derive(Default)]
pub(crate) struct Notice {
    pub(crate) status: PeStatus,
    /// All rows before this moment have been posted, and are final.
    pub(crate) settled: Option<Moment>,
    pub(crate) rows: Vec<MomentRow>,
}
