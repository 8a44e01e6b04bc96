//! Atomics, shared pointers, cells, memory and locks: the standard ones, or under `cfg(loom)` those
//! whose interleavings are explored.

mod apart;
mod spin_lock;

#[cfg(loom)]
pub(crate) use loom::{
    alloc::{alloc, dealloc},
    cell::UnsafeCell,
    hint::spin_loop,
    sync::Arc,
    sync::atomic::{AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    thread::yield_now,
};
#[cfg(not(loom))]
pub(crate) use std::{
    alloc::{alloc, dealloc},
    hint::spin_loop,
    sync::Arc,
    sync::atomic::{AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    thread::yield_now,
};

pub use self::apart::{Apart, ApartList};
pub(crate) use self::spin_lock::heed;
pub use self::spin_lock::{Deserted, SpinGuard, SpinLock};

/// The standard cell with loom's interface, which distinguishes reads from writes.
#[cfg(not(loom))]
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
