use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Region;
use crate::Exhausted;
use crate::payload::give_back;
use crate::payload::shared::{self, Memory};
use crate::sync::heed;

/// A program may have several runs at once, so each thread says in which it takes part.
impl Region {
    /// From now on, new [payloads](crate::Payload) of threads that [enter](Self::enter) lie here, if
    /// processes share this region, and go from one to another without a copy. It changes nothing
    /// if they lie here already.
    ///
    /// # Panics
    /// If there is no memory, it [unwinds](Exhausted::unwind).
    pub fn share_payloads(&self) {
        let Some(segment) = self.segment() else { return };
        if shared::begin(segment.area()).is_none() {
            Exhausted::Memory { what: "payloads that processes share", bytes: 1 << 20 }.unwind();
        }
    }

    /// From now on, no new payloads lie here. The memory stays as long as this process has a payload
    /// here, however long it keeps the region. To be called in all processes; in the one that goes
    /// on, when the others have ended.
    pub fn unshare_payloads(&self) {
        let Some(segment) = self.segment() else { return };
        give_back();
        shared::end(segment.area());
    }

    /// This thread takes part as long as the result lives. Its new payloads lie here, if they are
    /// [shared](Self::share_payloads), and it does not wait for locks that are
    /// [deserted](Self::desert_locks). Earlier payloads have to be
    /// [moved here](crate::Payload::make_common) before other processes can read them.
    pub fn enter(&self) -> Member {
        let segment = self.segment();
        Member {
            _region: self.clone(),
            memory: shared::enter(segment.map(|segment| segment.area())),
            deserted: heed(segment.map(|segment| segment.deserted().clone())),
            of_this_thread: PhantomData,
        }
    }

    /// Makes all threads of this process that take part and wait for a
    /// [`SpinLock`](crate::SpinLock) unwind with [`Deserted`](crate::Deserted). To be called when
    /// another process has died, which may have held one.
    pub fn desert_locks(&self) {
        // Relaxed: nothing else is read by it.
        self.segment().iter().for_each(|segment| segment.deserted().store(true, Ordering::Relaxed));
    }
}

/// The part of a thread in what processes share, until it is dropped.
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
        // The thread would do so at its very end, for which nobody waits.
        give_back();
    }
}
