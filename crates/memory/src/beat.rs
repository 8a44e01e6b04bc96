//! What a thread of an engine is doing at the moment, for another thread that watches it.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The event that a thread is executing, written by that thread alone and read by whoever watches
/// it.
///
/// All accesses are relaxed: a reader may see a mixture of two events, but it sees a long event as
/// it is.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Beat {
    /// The number of the step, shifted by two; then whether the thread is [executing
    /// ahead](Self::AHEAD) and whether it is [inside](Self::INSIDE) a step at all.
    step: AtomicU64,
    /// The time of the event, in bits.
    time: AtomicU64,
    /// The LP, and the lower half of the number of its event.
    event: AtomicU64,
    /// The system's number for the thread; 0 if unknown.
    thread: AtomicU32,
}

/// What a thread was doing when somebody looked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Activity {
    step: u64,
    /// The LP.
    pub lp: u32,
    /// The time, in model units.
    pub time: f64,
    /// Which event of the LP it is, counted from 1; 0 is its `init`. Modulo 2³².
    pub event: u32,
    /// Whether it may still turn out that the event never happened.
    pub ahead: bool,
}

impl Beat {
    const INSIDE: u64 = 1;
    const AHEAD: u64 = 2;

    /// Begins a step on this thread. If the system ends the program before the step is over, the
    /// crash report names this beat's event.
    #[inline]
    pub fn begin_step(self: &Arc<Self>) {
        make_current(self);
        let step = self.step.load(Ordering::Relaxed) & !(Self::INSIDE | Self::AHEAD);
        self.step.store(step + 4 + Self::INSIDE, Ordering::Relaxed);
    }

    /// Ends the step: the thread looks for work elsewhere, or waits.
    #[inline]
    pub fn end_step(&self) {
        let step = self.step.load(Ordering::Relaxed);
        self.step.store(step & !(Self::INSIDE | Self::AHEAD), Ordering::Relaxed);
    }

    /// Notes that the events that follow in this step may have to be undone.
    #[inline]
    pub fn goes_ahead(&self) {
        self.step.store(self.step.load(Ordering::Relaxed) | Self::AHEAD, Ordering::Relaxed);
    }

    /// Notes that the thread begins the `event`-th event of `lp`.
    #[inline(always)]
    pub fn begin(&self, lp: u32, event: u64, time: f64) {
        self.time.store(time.to_bits(), Ordering::Relaxed);
        self.event.store(u64::from(lp) << 32 | event & u64::from(u32::MAX), Ordering::Relaxed);
    }

    /// The system's number for the thread that works now, or did so last, if known.
    pub fn thread(&self) -> Option<u32> {
        Some(self.thread.load(Ordering::Relaxed)).filter(|thread| *thread != 0)
    }

    /// Which event of its LP was begun last, modulo 2³².
    pub fn event(&self) -> u32 {
        self.event.load(Ordering::Relaxed) as u32
    }

    /// What the thread is doing; `None` if it is not inside a step.
    pub fn read(&self) -> Option<Activity> {
        let step = self.step.load(Ordering::Relaxed);
        let time = self.time.load(Ordering::Relaxed);
        let event = self.event.load(Ordering::Relaxed);
        (step & Self::INSIDE != 0).then_some(Activity {
            step,
            lp: (event >> 32) as u32,
            time: f64::from_bits(time),
            event: event as u32,
            ahead: step & Self::AHEAD != 0,
        })
    }
}

thread_local! {
    /// The current beat of this thread, for the signal handler. It has no destructor, so it can be
    /// read at any time.
    pub(crate) static CURRENT: Cell<*const Beat> = const { Cell::new(ptr::null()) };
    /// Keeps it alive, and clears the pointer when the thread ends.
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept(None)) };
    /// The system's number for this thread, which takes a system call; 0 if unknown.
    static NUMBER: u32 = number();
}

struct Kept(Option<Arc<Beat>>);

fn number() -> u32 {
    #[cfg(all(target_os = "linux", not(miri)))]
    return rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    #[cfg(not(all(target_os = "linux", not(miri))))]
    0
}

impl Drop for Kept {
    fn drop(&mut self) {
        CURRENT.set(ptr::null());
    }
}

/// Makes `beat` the current one of this thread.
#[inline]
fn make_current(beat: &Arc<Beat>) {
    if CURRENT.get() != Arc::as_ptr(beat) {
        change_to(beat);
    }
}

#[cold]
fn change_to(beat: &Arc<Beat>) {
    // A thread that is ending has no beat any more.
    let _ = KEPT.try_with(|kept| {
        CURRENT.set(ptr::null());
        kept.borrow_mut().0 = Some(beat.clone());
        beat.thread.store(NUMBER.try_with(|number| *number).unwrap_or_default(), Ordering::Relaxed);
        CURRENT.set(Arc::as_ptr(beat));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_goes_on_looks_the_same_twice() {
        let beat = Arc::<Beat>::default();
        assert_eq!(beat.read(), None);
        beat.begin_step();
        beat.begin(7, (1 << 32) + 3, 2.5);
        let first = beat.read().unwrap();
        assert_eq!((first.lp, first.time, first.event, first.ahead), (7, 2.5, 3, false));
        assert_eq!(beat.read(), Some(first));
        beat.goes_ahead();
        assert!(beat.read().is_some_and(|now| now.ahead && now != first));
        beat.end_step();
        assert_eq!(beat.read(), None);
        beat.begin_step();
        assert!(
            beat.read().is_some_and(|now| !now.ahead && now != first),
            "a step later it is not the same"
        );
    }

    #[test]
    fn the_current_beat_is_that_of_what_was_begun_last() {
        let beats = [Arc::<Beat>::default(), Arc::default()];
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                for beat in [&beats[0], &beats[1], &beats[1], &beats[0]] {
                    make_current(beat);
                    assert_eq!(CURRENT.get(), Arc::as_ptr(beat));
                    assert_eq!(Arc::strong_count(beat), 2, "it is kept alive");
                }
            });
            worker.join().unwrap();
        });
        assert!(
            beats.iter().all(|beat| Arc::strong_count(beat) == 1),
            "nothing is left of a thread that has ended"
        );
    }
}
