//! What goes from one processing element (PE) to another, or from one thread to all.

mod bell;
mod blocks;
mod cas_ring;
mod lines;
mod registers;
mod ring;

pub use self::bell::Bell;
pub use self::blocks::{BlockReader, BlockWriter, blocks};
pub use self::cas_ring::{
    CasConsumer, CasCounts, CasProducer, CasProducers, Refusal, Refused, cas_ring, cas_ring_bytes,
    cas_ring_in,
};
pub use self::lines::{Lines, lines};
pub use self::registers::{Registers, registers, registers_with_comparators};
pub use self::ring::{Consumer, Drain, Producer, pass_over_ring, ring, ring_bytes, ring_in};
