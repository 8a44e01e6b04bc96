//! Where events lie: in a pool of one processing element (PE), or in buffers that two PEs share.

mod buffers;
mod handle;
mod image;
mod pool;

#[cfg(all(test, not(loom)))]
pub(crate) use self::buffers::Arena;
pub use self::buffers::{
    APART_MOST, Books, Buffers, CancelOutcome, PoolKind, PoolOrder, PoolSettings, SubPool, buffers,
    buffers_in, buffers_of,
};
pub use self::handle::Handle;
pub use self::image::Image;
pub use self::pool::Pool;
