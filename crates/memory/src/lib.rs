//! Memory for the engines: event pools, buffers shared between processing elements, rings, prefetching, huge pages.
//!
//! This is the one crate of the engine that may hold `unsafe` code; each block argues why it is sound.

mod apart;
mod arena;
mod beat;
mod books;
mod buffers;
mod drop_each;
mod last_words;
mod lines;
mod pages;
mod pool;
mod prefetch;
mod ring;
mod sync;

pub use apart::Apart;
pub use beat::{Activity, Beat};
pub use books::Books;
pub use buffers::{Buffers, CancelOutcome, buffers};
pub use drop_each::{DropEach, drop_each, try_drop};
pub use last_words::say_last_words;
pub use lines::{Lines, lines};
pub use pages::prefer_huge_pages;
pub use pool::{Handle, Pool, PoolFull};
pub use prefetch::{prefetch, prefetch_write};
pub use ring::{Consumer, Drain, Producer, ring};
