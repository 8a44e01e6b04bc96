//! Memory for the engines and for models: event pools, buffers shared between processing elements, rings, payloads, prefetching, huge pages.
//!
//! Beside `warpline-mpi` and `warpline-rivals`, which call C, this is the one crate that may hold `unsafe` code; each block argues why it is sound.

mod allocator;
mod apart;
mod area;
mod arena;
#[cfg(all(test, not(loom)))]
mod auto_traits;
mod beat;
mod bell;
mod blocks;
mod books;
mod budget;
mod buffers;
mod cas_ring;
mod common;
mod crash_report;
mod drop_each;
mod exhausted;
mod files;
mod image;
mod lines;
mod mapping;
mod pages;
mod payload;
mod pool;
mod portable;
mod prefetch;
mod region;
mod registers;
mod reserve;
mod ring;
mod segment;
mod shareable;
mod sharing;
mod spin_lock;
mod sync;
mod ticket;

pub use allocator::Allocator;
pub use apart::{Apart, ApartList};
pub use beat::{Activity, Beat};
pub use bell::Bell;
pub use blocks::{BlockReader, BlockWriter, blocks};
pub use books::Books;
pub use budget::{Account, Budget};
pub use buffers::{Buffers, CancelOutcome, PoolKind, PoolOrder, PoolSettings, SubPool, buffers, buffers_in};
pub use cas_ring::{CasConsumer, CasCounts, CasProducer, Refusal, Refused, cas_ring};
pub use common::Common;
pub use crash_report::report_crashes;
pub use drop_each::{DropEach, drop_each, try_drop};
pub use exhausted::{Exhausted, MakeRoom, catch_exhausted, catch_panic, check_room, list_for, list_of};
pub use image::Image;
pub use lines::{Lines, lines};
pub use pages::prefer_huge_pages;
pub use payload::Payload;
pub use pool::{Handle, Pool};
pub use portable::{IsPortable, Portable, Room};
pub use prefetch::{prefetch, prefetch_write};
pub use region::Region;
pub use registers::{Registers, registers};
pub use reserve::{keep_reserve, release_reserve};
pub use ring::{Consumer, Drain, Producer, pass_over_ring, ring, ring_bytes, ring_in};
pub use shareable::Shareable;
pub use sharing::{give_back_payloads, share_payloads, unshare_payloads};
pub use spin_lock::{Deserted, SpinGuard, SpinLock, desert_locks};
pub use ticket::RegionTicket;
