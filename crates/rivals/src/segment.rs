//! A segment of shared memory, with one allocator and a queue for each receiver.

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::ffi::{self, Arrival};
use crate::heap::Heap;
use crate::{Error, Message, Result};

/// How many messages are taken out of a queue under one lock.
const TAKEN_AT_ONCE: usize = 64;
/// The most bytes of a message from Boost.
const TEXT_BYTES: usize = 256;

/// Shared memory of a fixed size.
///
/// It has a name until its creator calls [`remove_name`](Self::remove_name), after all have opened
/// it. From then on it goes with the last process that has it open, however that process ends.
/// Before, it goes when its creator drops it, also in a panic, but stays if the creator is killed.
/// If a process is killed while it holds one of Boost's locks, the others get [`Error::Locked`]
/// after 5 s.
pub struct Segment {
    heap: Heap,
    queues: u32,
    name: CString,
    /// Whether this process has to remove the name.
    has_name: bool,
}

impl Segment {
    /// Creates a segment with this many queues. Of its bytes, Boost needs some for itself.
    ///
    /// # Errors
    /// [`Error::Segment`].
    pub fn create(bytes: usize, queues: u32) -> Result<Self> {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        // Relaxed: the number only has to be unique.
        let name = format!(
            "warpline-rival-{}-{}",
            std::process::id(),
            CREATED.fetch_add(1, Ordering::Relaxed)
        );
        let name = CString::new(name).expect("a name has no zero byte");
        let mut text: [c_char; TEXT_BYTES] = [0; TEXT_BYTES];
        // SAFETY: the name ends with a zero byte, and there is as much room for text as is said.
        let opened = unsafe {
            ffi::warpline_boost_create(
                name.as_ptr(),
                bytes as u64,
                queues,
                text.as_mut_ptr(),
                text.len(),
            )
        };
        let heap = Heap(NonNull::new(opened).ok_or_else(|| no_segment(&name, &text))?);
        Ok(Segment { heap, queues, name, has_name: true })
    }

    /// Opens the segment with this name.
    ///
    /// # Errors
    /// [`Error::Segment`].
    pub fn open(name: &str) -> Result<Self> {
        let Ok(name) = CString::new(name) else {
            return Err(Error::Segment {
                name: name.to_owned(),
                reason: "a name has no zero byte".to_owned(),
            });
        };
        let mut text: [c_char; TEXT_BYTES] = [0; TEXT_BYTES];
        let mut queues = 0;
        // SAFETY: the name ends with a zero byte, the number is a local variable, and there is as
        // much room for text as is said.
        let opened = unsafe {
            ffi::warpline_boost_open(name.as_ptr(), &mut queues, text.as_mut_ptr(), text.len())
        };
        let heap = Heap(NonNull::new(opened).ok_or_else(|| no_segment(&name, &text))?);
        Ok(Segment { heap, queues, name, has_name: false })
    }

    /// The name by which other processes open it.
    pub fn name(&self) -> &str {
        self.name.to_str().expect("it was made of text")
    }

    /// Removes the name. No process can open the segment any more; those that have, keep it.
    pub fn remove_name(&mut self) {
        if std::mem::take(&mut self.has_name) {
            // SAFETY: the name ends with a zero byte.
            unsafe { ffi::warpline_boost_remove(self.name.as_ptr()) };
        }
    }

    /// A new message of this many bytes, which have whatever values were in memory there.
    ///
    /// # Errors
    /// [`Error::Full`] and [`Error::Locked`].
    #[inline]
    pub fn message(&self, length: usize) -> Result<Message<'_>> {
        let mut bytes = std::ptr::null_mut();
        // SAFETY: the segment is open, and there is room for an address.
        let outcome = unsafe {
            ffi::warpline_boost_allocate(self.heap.0.as_ptr(), length.max(1) as u64, &mut bytes)
        };
        let bytes = NonNull::new(bytes)
            .filter(|_| outcome == ffi::DONE)
            .ok_or_else(|| self.refused(outcome, length))?;
        // SAFETY: the allocator has just given the block to this caller alone, and it has at least
        // this many bytes.
        Ok(unsafe { Message::holding(&self.heap, bytes, length) })
    }

    /// Sends a message, with a time, to the receiver that has this queue.
    ///
    /// # Errors
    /// The message, with [`Error::Full`] (queues lie in the segment, too) or [`Error::Locked`].
    ///
    /// # Panics
    /// If there is no such queue, or if the message is from another segment.
    #[inline]
    pub fn send<'s>(
        &'s self,
        queue: u32,
        time: u64,
        message: Message<'s>,
    ) -> std::result::Result<(), (Message<'s>, Error)> {
        self.check(queue);
        assert!(message.is_in(&self.heap), "the message is from another segment");
        let (bytes, length) = message.into_parts();
        let record = Arrival { time, length: length as u64, bytes: bytes.as_ptr() };
        // SAFETY: the segment is open and has this queue. The bytes lie in it, so that an offset
        // leads there in every process.
        let outcome = unsafe { ffi::warpline_boost_send(self.heap.0.as_ptr(), queue, &record) };
        if outcome == ffi::DONE {
            return Ok(());
        }
        // SAFETY: the parts are those of the message, and no queue has taken them.
        let message = unsafe { Message::holding(&self.heap, bytes, length) };
        Err((message, self.refused(outcome, length)))
    }

    /// Passes on the messages in a queue, oldest first, with their times, and returns their number.
    /// It waits only for processes that are using the queue right now.
    ///
    /// # Errors
    /// [`Error::Locked`].
    ///
    /// # Panics
    /// If there is no such queue. If `take` panics, some messages may never be freed.
    #[inline]
    pub fn receive<'s>(
        &'s self,
        queue: u32,
        mut take: impl FnMut(u64, Message<'s>),
    ) -> Result<usize> {
        self.check(queue);
        let mut all = 0;
        loop {
            let mut arrivals =
                [Arrival { time: 0, length: 0, bytes: std::ptr::null_mut() }; TAKEN_AT_ONCE];
            let into = arrivals.as_mut_ptr();
            let mut count = 0;
            // SAFETY: the segment is open and has this queue, there is room for as many as is said,
            // and the number is a local variable.
            let outcome = unsafe {
                ffi::warpline_boost_receive(
                    self.heap.0.as_ptr(),
                    queue,
                    into,
                    TAKEN_AT_ONCE,
                    &mut count,
                )
            };
            for Arrival { time, length, bytes } in arrivals.into_iter().take(count) {
                let bytes = NonNull::new(bytes).expect("a record leads to a message");
                // SAFETY: only `send` writes records, each of a message that it gave away. The
                // record has left the queue, so nobody else finds it, and this process maps the
                // block at the address that the offset leads to.
                take(time, unsafe { Message::holding(&self.heap, bytes, length as usize) });
            }
            all += count;
            match outcome {
                ffi::DONE if count == TAKEN_AT_ONCE => {}
                ffi::DONE => return Ok(all),
                _ => return Err(Error::Locked),
            }
        }
    }

    /// How many of its bytes are free.
    pub fn free_bytes(&self) -> u64 {
        self.room().1
    }

    /// All bytes, and those that are free.
    fn room(&self) -> (u64, u64) {
        let mut bytes = 0;
        let mut free = 0;
        // SAFETY: the segment is open, and both numbers are local variables.
        unsafe { ffi::warpline_boost_room(self.heap.0.as_ptr(), &mut bytes, &mut free) };
        (bytes, free)
    }

    #[inline]
    fn check(&self, queue: u32) {
        assert!(queue < self.queues, "there is no queue {queue}, but {} of them", self.queues);
    }

    /// Why a message of this length was refused.
    #[cold]
    fn refused(&self, outcome: std::ffi::c_int, wanted: usize) -> Error {
        if outcome != ffi::FULL {
            return Error::Locked;
        }
        let (bytes, free) = self.room();
        Error::Full { wanted, free, bytes }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        self.remove_name();
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Segment({})", self.name())
    }
}

fn no_segment(name: &CStr, text: &[c_char; TEXT_BYTES]) -> Error {
    let reason =
        text.iter().map(|&letter| letter as u8).take_while(|&letter| letter != 0).collect();
    let reason = String::from_utf8(reason).unwrap_or_else(|_| "Boost gave no reason".to_owned());
    Error::Segment { name: name.to_string_lossy().into_owned(), reason }
}
