use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as StdOrdering};

use super::{AtomicU32, Ordering, UnsafeCell, yield_now};

/// How often a waiter looks again before it yields its core.
const SPINS: u32 = 64;

thread_local! {
    /// Says whether a process of this thread's run is gone that may hold locks, so that nobody will
    /// unlock them.
    static DESERTED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// From now on, this thread unwinds where it waits for a lock once `deserted` says so. Returns what
/// it heeded before.
pub(crate) fn heed(deserted: Option<Arc<AtomicBool>>) -> Option<Arc<AtomicBool>> {
    DESERTED.replace(deserted)
}

fn is_deserted() -> bool {
    DESERTED.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(StdOrdering::Relaxed)))
}

/// The panic value of those who wait for a lock whose holder is gone.
#[derive(Clone, Copy, Debug)]
pub struct Deserted;

/// A lock that is held for a moment only. It may lie in memory that several processes share.
///
/// ```
/// let lock = warpline_memory::SpinLock::new(3);
/// *lock.lock() += 1;
/// let guard = lock.lock();
/// assert_eq!(*guard, 4);
/// assert!(lock.try_lock().is_none());
/// ```
#[derive(Debug)]
pub struct SpinLock<T> {
    locked: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: whoever has the lock is alone with the value.
unsafe impl<T: Send> Sync for SpinLock<T> {}

/// Access to the value of a [`SpinLock`], until it is dropped. Threads may share it only if they
/// may share the value:
///
/// ```compile_fail,E0277
/// let lock = warpline_memory::SpinLock::new(std::cell::Cell::new(3));
/// let guard = lock.lock();
/// std::thread::scope(|scope| {
///     scope.spawn(|| guard.set(4));
///     guard.set(5);
/// });
/// ```
#[derive(Debug)]
pub struct SpinGuard<'l, T> {
    lock: &'l SpinLock<T>,
    /// Makes the guard `Send` and `Sync` as a `&mut T` is. With the lock alone, it would be `Sync`
    /// for values that are not.
    value: PhantomData<&'l mut T>,
}

impl<T: Default> Default for SpinLock<T> {
    fn default() -> Self {
        SpinLock::new(T::default())
    }
}

impl<T> SpinLock<T> {
    /// A lock around a value.
    pub fn new(value: T) -> Self {
        SpinLock { locked: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    /// The value, if nobody else has it now.
    #[inline]
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        // Acquire pairs with the Release of the guard.
        let taken =
            self.locked.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
        // Not `then_some`: a guard that is made and dropped unlocks.
        if taken { Some(SpinGuard { lock: self, value: PhantomData }) } else { None }
    }

    /// The value, once nobody else has it.
    ///
    /// # Panics
    /// If the process that has it [is gone](crate::Region::desert_locks), it unwinds with
    /// [`Deserted`].
    #[inline]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        self.try_lock().unwrap_or_else(|| self.wait())
    }

    #[cold]
    fn wait(&self) -> SpinGuard<'_, T> {
        let mut spins = 0;
        loop {
            // Relaxed: taking the lock synchronises. Reading alone leaves the cache line with those
            // who use it.
            if self.locked.load(Ordering::Relaxed) == 0
                && let Some(guard) = self.try_lock()
            {
                return guard;
            }
            spins += 1;
            if spins < SPINS && !cfg!(loom) {
                std::hint::spin_loop();
                continue;
            }
            if is_deserted() {
                resume_unwind(Box::new(Deserted));
            }
            yield_now();
        }
    }
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock, and is borrowed shared as long as the value.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has the lock, and is borrowed exclusively as long as the value.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Release pairs with the Acquire of `try_lock`.
        self.lock.locked.store(0, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    #[test]
    fn loom_one_at_a_time_has_the_value() {
        loom::model(|| {
            let lock = Arc::new(SpinLock::new(0));
            let other = lock.clone();
            let adds = thread::spawn(move || *other.lock() += 1);
            *lock.lock() += 1;
            adds.join().unwrap();
            assert_eq!(*lock.lock(), 2);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns() {
        let lock = SpinLock::new(0u64);
        let rounds = if cfg!(miri) { 50 } else { 20_000 };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..rounds).for_each(|_| *lock.lock() += 1));
            }
        });
        assert_eq!(*lock.lock(), 4 * rounds);
    }
}
