//! MPI between its start and its end, and who may call it.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::error::{Error, Result};
use super::ffi;

/// Which threads may call MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadLevel {
    /// The program has only one thread.
    Single,
    /// Only the thread that started MPI may call it.
    Funneled,
    /// All threads may, one at a time. Here it means what [`ThreadLevel::Funneled`] does.
    Serialized,
    /// All threads may, at any time.
    Multiple,
}

/// From the lowest to the highest, as the shim counts them.
const LEVELS: [ThreadLevel; 4] =
    [ThreadLevel::Single, ThreadLevel::Funneled, ThreadLevel::Serialized, ThreadLevel::Multiple];

/// Whether MPI has been started in this program.
static STARTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this is the thread that started MPI.
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
}

/// MPI while it can be called: there is one from its start to its end.
pub(crate) struct Session {
    level: ThreadLevel,
    /// Whether MPI has ended, although something may still refer to this.
    is_over: AtomicBool,
    /// How many communicators and arrays of requests there are, those that were leaked included.
    alive: AtomicUsize,
}

impl Session {
    /// Starts MPI. The session must end on this thread.
    pub(crate) fn start(wanted: ThreadLevel) -> Result<Session> {
        // Relaxed: nothing but the flag itself depends on who was first.
        if STARTED.swap(true, Ordering::Relaxed) {
            return Err(Error::AlreadyStarted);
        }
        let mut granted = 0;
        let mut elsewhere = 0;
        // SAFETY: the flag lets only one caller through, ever, and the shim checks whether code
        // outside this crate was faster. The pointers lead to local variables.
        let code =
            unsafe { ffi::warpline_mpi_start(wanted as c_int, &mut granted, &mut elsewhere) };
        if elsewhere != 0 {
            return Err(Error::AlreadyStarted);
        }
        if code != 0 {
            // MPI may not be able to explain the code at this point.
            return Err(Error::Mpi {
                call: "MPI_Init_thread",
                code,
                text: "MPI could not be initialised".to_owned(),
            });
        }
        IS_MAIN.set(true);
        let level = usize::try_from(granted)
            .ok()
            .and_then(|index| LEVELS.get(index))
            .copied()
            .unwrap_or(ThreadLevel::Single);
        Ok(Session { level, is_over: AtomicBool::new(false), alive: AtomicUsize::new(0) })
    }

    pub(crate) fn level(&self) -> ThreadLevel {
        self.level
    }

    /// Makes sure that this thread may call MPI, which is running as there is a session.
    ///
    /// # Panics
    /// If only the thread that started MPI may call it, and this is another one; or if the session
    /// has ended.
    #[inline]
    pub(crate) fn enter(&self) {
        // Relaxed: MPI ends on the thread that started it, when nothing else is left that uses it.
        assert!(!self.is_over.load(Ordering::Relaxed), "MPI has been finished");
        assert!(
            self.is_open(),
            "only the thread that started MPI may use it, as the granted thread level is {:?}",
            self.level
        );
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.level == ThreadLevel::Multiple || IS_MAIN.get()
    }

    /// Whether a destructor may call MPI, and wait there. One that runs because of a panic must
    /// not: the other ranks may be waiting for messages that this one will never send.
    pub(crate) fn may_tidy_up(&self) -> bool {
        self.is_open() && !thread::panicking()
    }

    /// Turns a result of the shim into one of Rust. Call it right after the call, on the same
    /// thread.
    #[inline]
    pub(crate) fn check(&self, call: &'static str, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.error(call, code)) }
    }

    #[cold]
    fn error(&self, call: &'static str, code: c_int) -> Error {
        let mut text = [0_u8; 1024];
        // SAFETY: MPI is running, and this thread has just called it. The shim writes at most as
        // many bytes as there are.
        let length = unsafe {
            ffi::warpline_mpi_error_text(code, text.as_mut_ptr().cast(), text.len() as c_int)
        };
        let text =
            String::from_utf8_lossy(&text[..usize::try_from(length).unwrap_or(0)]).into_owned();
        Error::Mpi {
            call,
            code,
            text: if text.is_empty() {
                "for a reason that MPI has no words for".to_owned()
            } else {
                text
            },
        }
    }

    /// Counts something that must go before MPI is finished.
    pub(crate) fn add(&self) {
        // Relaxed: what is counted is not in use yet.
        self.alive.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self) {
        // Release pairs with the Acquire of `alive`: this thread is done with what was counted.
        self.alive.fetch_sub(1, Ordering::Release);
    }

    /// How many communicators and arrays of requests there are; when none is in use, how many were
    /// leaked.
    pub(crate) fn alive(&self) -> usize {
        // Acquire pairs with the Release of `remove`.
        self.alive.load(Ordering::Acquire)
    }

    /// Ends MPI. Nothing may be left that uses it.
    pub(crate) fn finish(&self) -> Result<()> {
        self.enter();
        assert_eq!(self.alive(), 0, "MPI cannot be finished while it may still write into memory");
        self.is_over.store(true, Ordering::Relaxed);
        // SAFETY: MPI was running, and nothing of this crate is left that uses it, or begins to, as
        // `enter` panics from now on. This is the thread that started MPI, as `Mpi`, which alone
        // calls this, stays on it.
        let code = unsafe { ffi::warpline_mpi_finish() };
        if code == 0 {
            return Ok(());
        }
        Err(Error::Mpi {
            call: "MPI_Finalize",
            code,
            text: "MPI could not be finalised".to_owned(),
        })
    }

    /// Ends all ranks.
    pub(crate) fn abort(&self, code: i32) -> ! {
        self.enter();
        // SAFETY: MPI is running, and this thread may call it.
        unsafe { ffi::warpline_mpi_abort(code) };
        // MPI may fail to end the program, but then its launcher ends all ranks when it finds that
        // this one has gone.
        std::process::abort()
    }
}
