use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::Shareable;

/// Wakes threads that sleep until it rings. It may lie in memory that several processes share.
///
/// ```
/// use std::time::Duration;
/// let bell = warpline_memory::Bell::default();
/// let heard = bell.rung();
/// bell.ring();
/// bell.sleep(heard, Duration::from_secs(3600)); // it has rung already
/// ```
#[derive(Debug, Default)]
pub struct Bell(AtomicU32);

// SAFETY: a number.
unsafe impl Shareable for Bell {}

impl Bell {
    /// How often it has rung, modulo 2³².
    pub fn rung(&self) -> u32 {
        // Acquire pairs with the Release of `ring`.
        self.0.load(Ordering::Acquire)
    }

    /// Rings, and wakes all who sleep.
    pub fn ring(&self) {
        // Release pairs with the Acquire of `rung`.
        self.0.fetch_add(1, Ordering::Release);
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            use rustix::thread::futex::{Flags, wake};
            // It cannot fail with an address that is mapped.
            let _ = wake(&self.0, Flags::empty(), i32::MAX as u32);
        }
    }

    /// Sleeps until it has rung more than `rung` times, or for `most`; perhaps less.
    pub fn sleep(&self, rung: u32, most: Duration) {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            use rustix::thread::futex::{Flags, Timespec, wait};
            let most =
                Timespec { tv_sec: most.as_secs() as i64, tv_nsec: i64::from(most.subsec_nanos()) };
            // Whatever ends it, the caller looks again.
            let _ = wait(&self.0, Flags::empty(), rung, Some(&most));
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        if self.rung() == rung {
            std::thread::sleep(most.min(Duration::from_micros(100)));
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;

    #[test]
    fn who_sleeps_is_woken() {
        let bell = Bell::default();
        let since = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| {
                while bell.rung() == 0 {
                    bell.sleep(0, Duration::from_secs(600));
                }
            });
            thread::sleep(Duration::from_millis(10));
            bell.ring();
        });
        assert!(since.elapsed() < Duration::from_secs(300), "it slept on");
    }
}
