use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{UnreadableEvent, ValueMessage};
use warpline_memory::DropEach;

/// Arrivals from far PEs for one PE. Its courier locks it once per batch.
pub(super) struct Inbox<E>(Arc<Shared<E>>);

struct Shared<E> {
    has_news: AtomicBool,
    arrivals: Mutex<Arrivals<E>>,
}

/// Everything that has arrived and has not been taken.
pub(super) struct Arrivals<E> {
    values: DropEach<ValueMessage<E>>,
    unreadable: VecDeque<UnreadableEvent>,
    controls: VecDeque<Control>,
    puts: VecDeque<(u32, Put)>,
}

impl<E> Default for Arrivals<E> {
    fn default() -> Self {
        Arrivals {
            values: DropEach::default(),
            unreadable: VecDeque::new(),
            controls: VecDeque::new(),
            puts: VecDeque::new(),
        }
    }
}

impl<E> Arrivals<E> {
    fn is_empty(&self) -> bool {
        self.values.is_empty()
            && self.unreadable.is_empty()
            && self.controls.is_empty()
            && self.puts.is_empty()
    }

    pub(super) fn add_value(&mut self, message: ValueMessage<E>) {
        self.values.push(message);
    }

    pub(super) fn add_unreadable(&mut self, event: UnreadableEvent) {
        self.unreadable.push_back(event);
    }

    pub(super) fn add_control(&mut self, control: Control) {
        self.controls.push_back(control);
    }

    pub(super) fn add_put(&mut self, from: u32, put: Put) {
        self.puts.push_back((from, put));
    }

    /// Passes on all messages by value.
    #[inline]
    pub(super) fn take_values(&mut self, take: impl FnMut(ValueMessage<E>)) {
        self.values.drain(..).for_each(take);
    }

    pub(super) fn next_unreadable(&mut self) -> Option<UnreadableEvent> {
        self.unreadable.pop_front()
    }

    pub(super) fn next_control(&mut self) -> Option<Control> {
        self.controls.pop_front()
    }

    pub(super) fn next_put(&mut self) -> Option<(u32, Put)> {
        self.puts.pop_front()
    }

    /// Takes over what is in `other`. If it has no values, it swaps lists instead of copying.
    #[inline]
    fn take_over(&mut self, other: &mut Self) {
        if self.values.is_empty() {
            std::mem::swap(&mut self.values, &mut other.values);
        } else {
            self.values.append(&mut other.values);
        }
        self.unreadable.append(&mut other.unreadable);
        self.controls.append(&mut other.controls);
        self.puts.append(&mut other.puts);
    }
}

impl<E> Clone for Inbox<E> {
    fn clone(&self) -> Self {
        Inbox(self.0.clone())
    }
}

impl<E> Default for Inbox<E> {
    fn default() -> Self {
        Inbox(Arc::new(Shared { has_news: AtomicBool::new(false), arrivals: Mutex::default() }))
    }
}

impl<E> Inbox<E> {
    fn lock(&self) -> MutexGuard<'_, Arrivals<E>> {
        self.0.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves what the courier has read into the inbox.
    pub(super) fn add(&self, read: &mut Arrivals<E>) {
        if read.is_empty() {
            return;
        }
        self.lock().take_over(read);
        // Release pairs with the Acquire of `take`. So a PE that sees a bound published later also
        // sees this.
        self.0.has_news.store(true, Ordering::Release);
    }

    /// Moves all that has arrived to `arrived`.
    #[inline]
    pub(super) fn take(&self, arrived: &mut Arrivals<E>) {
        if !self.0.has_news.load(Ordering::Acquire) {
            return;
        }
        let mut shared = self.lock();
        self.0.has_news.store(false, Ordering::Relaxed);
        arrived.take_over(&mut shared);
    }
}
