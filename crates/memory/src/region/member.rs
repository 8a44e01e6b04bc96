use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Region;
use crate::Exhausted;
use crate::payload::give_back;
use crate::payload::shared::{self, Memory};
use crate::sync::heed;

/// What processes share is a run's, and a program may have several runs. Which of them a thread
/// takes part in, it says itself.
impl Region {
    /// Has the payloads of all threads that [enter](Self::enter) from now on lie here, if this is
    /// shared. They go from process to process without a copy. It changes nothing if they do
    /// already.
    ///
    /// # Panics
    /// If there is no memory, it [unwinds](Exhausted::unwind).
    pub fn share_payloads(&self) {
        let Some(segment) = self.segment() else { return };
        if shared::begin(segment.area()).is_none() {
            Exhausted::Memory { what: "payloads that processes share", bytes: 1 << 20 }.unwind();
        }
    }

    /// Has no new payloads lie here. Those that do stay as long as this process has any, however
    /// long it keeps the region. To be called in all processes; in the one that goes on, when the
    /// others have ended.
    pub fn unshare_payloads(&self) {
        let Some(segment) = self.segment() else { return };
        give_back();
        shared::end(segment.area());
    }

    /// Has this thread take part, as long as the result lives: new [payloads](crate::Payload) of its
    /// own lie here, if they are [shared](Self::share_payloads), and it does not wait for locks
    /// that are [deserted](Self::desert_locks). Payloads that were made before have to be
    /// [moved](crate::Payload::make_common) here before others can read them.
    pub fn enter(&self) -> Member {
        let segment = self.segment();
        Member {
            _region: self.clone(),
            memory: shared::enter(segment.map(|segment| segment.area())),
            deserted: heed(segment.map(|segment| segment.deserted().clone())),
            of_this_thread: PhantomData,
        }
    }

    /// Has all threads of this process that take part unwind with [`Deserted`](crate::Deserted)
    /// where they wait for a [`SpinLock`](crate::SpinLock): to be called when another process has
    /// died, which may have had it.
    pub fn desert_locks(&self) {
        // Relaxed: nothing else is read by it.
        self.segment().iter().for_each(|segment| segment.deserted().store(true, Ordering::Relaxed));
    }
}

/// A thread's part in what processes share, until it is dropped.
#[derive(Debug)]
#[must_use = "the thread takes part as long as this lives"]
pub struct Member {
    /// It stays mapped as long.
    _region: Region,
    /// Where its payloads lay before.
    memory: Option<Memory>,
    /// What it heeded before.
    deserted: Option<Arc<AtomicBool>>,
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for Member {
    fn drop(&mut self) {
        shared::go_back(self.memory);
        heed(self.deserted.take());
        // Who waits for the thread does not wait until it has done so as it ends.
        give_back();
    }
}
