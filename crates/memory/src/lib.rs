//! Memory for the engines: event pools, prefetching, huge pages.
//!
//! This is the one crate of the engine that may hold `unsafe` code; each block argues why it is sound.

mod pages;
mod pool;
mod prefetch;

pub use pages::prefer_huge_pages;
pub use pool::{Handle, Pool, PoolFull};
pub use prefetch::prefetch;
