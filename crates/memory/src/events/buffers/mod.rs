//! Buffers that two PEs share: one copy of a message for both.

mod arena;
mod books;
mod pools;
mod retired;
mod slot;
mod status;
mod view;

#[cfg(all(test, not(loom)))]
pub(crate) use self::arena::Arena;
pub use self::books::Books;
pub use self::pools::{APART_MOST, PoolKind, PoolOrder, PoolSettings, SubPool};
pub use self::status::CancelOutcome;
pub use self::view::{Buffers, buffers, buffers_in, buffers_of};
