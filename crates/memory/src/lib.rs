//! Memory for the engines and for models: event pools, buffers shared between processing elements,
//! rings, payloads, prefetching, huge pages.
//!
//! Its folders use each other in one direction, from the bottom up: `sync` (atomics and locks),
//! `alloc` (memory from the system), `payload`, `portable` (what means the same in every process),
//! `region` (memory that processes share), `wires`, and `events`.
//!
//! Beside `warpline-mpi` and `warpline-rivals`, which call C, this is the one crate that may hold
//! `unsafe` code; each block argues why it is sound.

mod alloc;
#[cfg(all(test, not(loom)))]
mod auto_traits;
mod beat;
mod budget;
mod crash_report;
mod drop_each;
mod events;
mod lend;
mod payload;
mod portable;
mod prefetch;
mod region;
mod sync;
mod unwind;
mod wires;

pub use alloc::{
    Allocator, Exhausted, MakeRoom, check_room, keep_reserve, list_for, list_of, prefer_huge_pages,
    release_reserve,
};
pub use beat::{Activity, Beat};
pub use budget::{Account, Budget};
pub use crash_report::report_crashes;
pub use drop_each::{DropEach, drop_each, try_drop};
pub use events::{
    APART_MOST, Books, Buffers, CancelOutcome, Handle, Image, Pool, PoolKind, PoolOrder,
    PoolSettings, SubPool, buffers, buffers_in, buffers_of,
};
pub use lend::{Lend, Loan};
pub use payload::Payload;
pub use portable::{IsPortable, Portable, Room, Shareable};
pub use prefetch::{prefetch, prefetch_all, prefetch_behind, prefetch_write};
pub use region::{Common, Member, Region, RegionTicket};
pub use sync::{Apart, ApartList, Deserted, SpinGuard, SpinLock};
pub use unwind::{catch_exhausted, catch_panic};
pub use wires::{
    Bell, BlockReader, BlockWriter, CasConsumer, CasCounts, CasProducer, CasProducers, Consumer,
    Drain, Lines, Producer, Refusal, Refused, Registers, blocks, cas_ring, cas_ring_bytes,
    cas_ring_in, lines, pass_over_ring, registers, registers_with_comparators, ring, ring_bytes,
    ring_in,
};
