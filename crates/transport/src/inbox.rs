//! One inbox per PE, for runs with so many PEs that a ring between any two would take more memory
//! than the model.
//!
//! Few PEs have one ring per sender and receiver, so that no two senders contend. The memory of
//! these rings grows with the square of the number of PEs: to 6 MB for each of 1024. So from 33 PEs
//! on each has one inbox with a lock instead. There are far more PEs than cores then, so two hardly ever want the same lock at a
//! time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpline_kernel::{Message, MessagePort, Port, Sent, TakeValue, ValueMessage, ValuePort};
use warpline_memory::{APART_MOST, Apart, DropEach, Lines, MakeRoom, Region, lines};

use crate::controls::{ControlPlan, ControlWires, by_shared_memory, control_wires};
use crate::room::UNREAD;

/// Messages to one PE that have yet to be received. Senders and the receiver share the lock.
struct Inbox<E> {
    /// Whether it may hold anything. Set and cleared under the lock.
    filled: AtomicBool,
    mail: Mutex<Mail<E>>,
}

struct Mail<E> {
    messages: Vec<Message>,
    values: DropEach<ValueMessage<E>>,
}

impl<E> Inbox<E> {
    fn new() -> Self {
        Inbox {
            filled: AtomicBool::new(false),
            mail: Mutex::new(Mail { messages: Vec::new(), values: DropEach::default() }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Mail<E>> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A PE's end of the wires where each PE has one inbox.
pub struct InboxPort<E> {
    inboxes: Arc<Box<[Apart<Inbox<E>>]>>,
    me: usize,
    /// Messages by value that have been taken out of this PE's inbox.
    values: DropEach<ValueMessage<E>>,
    kept_back: KeptBack<E>,
    bounds: Lines,
    controls: ControlWires,
}

/// Messages by value that are kept back until they are flushed.
enum KeptBack<E> {
    Apart {
        by_receiver: Vec<DropEach<ValueMessage<E>>>,
        /// The receivers that have any.
        receivers: Vec<u32>,
    },
    /// With their receivers.
    Together(DropEach<(u32, ValueMessage<E>)>),
}

impl<E> KeptBack<E> {
    fn new(pes: usize) -> Self {
        if pes > APART_MOST as usize {
            return KeptBack::Together(DropEach::default());
        }
        let by_receiver = (0..pes).map(|_| DropEach::default()).collect();
        KeptBack::Apart { by_receiver, receivers: Vec::new() }
    }

    fn push(&mut self, to: u32, message: ValueMessage<E>) {
        match self {
            KeptBack::Apart { by_receiver, receivers } => {
                let kept_back = &mut by_receiver[to as usize];
                if kept_back.is_empty() {
                    receivers.make_room(1, UNREAD);
                    receivers.push(to);
                }
                kept_back.make_room(1, UNREAD);
                kept_back.push(message);
            }
            KeptBack::Together(all) => {
                all.make_room(1, UNREAD);
                all.push((to, message));
            }
        }
    }

    fn flush(&mut self, inboxes: &[Apart<Inbox<E>>]) {
        match self {
            KeptBack::Apart { by_receiver, receivers } => {
                for to in receivers.drain(..) {
                    let Apart(inbox) = &inboxes[to as usize];
                    let kept_back = &mut by_receiver[to as usize];
                    let mut mail = inbox.lock();
                    mail.values.make_room(kept_back.len(), UNREAD);
                    mail.values.append(kept_back);
                    inbox.filled.store(true, Ordering::Relaxed);
                }
            }
            KeptBack::Together(all) => {
                for (to, message) in all.drain(..) {
                    let Apart(inbox) = &inboxes[to as usize];
                    let mut mail = inbox.lock();
                    mail.values.make_room(1, UNREAD);
                    mail.values.push(message);
                    inbox.filled.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

/// The ends of the wires of the PEs of a plan.
pub fn inbox_ports<E: Send>(plan: &ControlPlan) -> Vec<InboxPort<E>> {
    let pes = plan.neighbours.len();
    let inboxes = Arc::new((0..pes).map(|_| Apart(Inbox::new())).collect::<Box<[_]>>());
    let own = Region::own();
    let ends =
        lines(&own, pes as u32).into_iter().zip(control_wires(&own, &(0..pes), plan)).enumerate();
    let port = |(me, (bounds, controls))| InboxPort {
        inboxes: inboxes.clone(),
        me,
        values: DropEach::default(),
        kept_back: KeptBack::new(pes),
        bounds,
        controls,
    };
    ends.map(port).collect()
}

impl<E: Send> MessagePort for InboxPort<E> {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        let Apart(inbox) = &self.inboxes[to as usize];
        let mut mail = inbox.lock();
        mail.messages.make_room(messages.len(), UNREAD);
        mail.messages.extend_from_slice(messages);
        // Relaxed: whoever takes the mail locks it first. The receiver sees this in time because of
        // the bound that this PE publishes later, with Release, and that tells it to look.
        inbox.filled.store(true, Ordering::Relaxed);
        messages.len()
    }

    /// Empties this PE's inbox: messages go into `into`, and those by value wait to be
    /// [taken](Self::receive_values).
    fn receive(&mut self, into: &mut Vec<Message>) {
        let Apart(inbox) = &self.inboxes[self.me];
        if !inbox.filled.load(Ordering::Relaxed) {
            return;
        }
        let mut mail = inbox.lock();
        inbox.filled.store(false, Ordering::Relaxed);
        into.make_room(mail.messages.len(), UNREAD);
        into.append(&mut mail.messages);
        self.values.make_room(mail.values.len(), UNREAD);
        self.values.append(&mut mail.values);
    }
}

impl<E: Send> ValuePort<E> for InboxPort<E> {
    fn send_value(&mut self, to: u32, make: impl FnOnce() -> ValueMessage<E>) -> Sent<E> {
        self.kept_back.push(to, make());
        Ok(())
    }

    fn receive_values(&mut self, to: &mut impl TakeValue<E>) {
        self.values.drain(..).for_each(|message| to.take(message));
    }
}

by_shared_memory!(InboxPort: bounds, controls);

impl<E: Send> Port<E> for InboxPort<E> {
    fn flush(&mut self) {
        self.kept_back.flush(&self.inboxes);
        self.controls.flush();
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::thread;

    use warpline_base::{EventKind, LpId, Priority, Sequence, VirtualTime};
    use warpline_kernel::gvt::Tag;
    use warpline_kernel::{Content, Event, MessageKind};
    use warpline_memory::Handle;

    use super::*;
    use crate::Room;

    fn ports<E: Send>(pes: usize) -> Vec<InboxPort<E>> {
        inbox_ports(&ControlPlan {
            neighbours: vec![Vec::new(); pes],
            one_sided: false,
            room: Room::Ample,
        })
    }

    fn message(number: u32) -> Message {
        Message { event: Handle::from_bits(number), tag: Tag::default(), kind: MessageKind::Event }
    }

    #[test]
    fn every_message_arrives_once_whoever_sends_it() {
        const EACH: u32 = 2000;
        let mut views: Vec<InboxPort<u32>> = ports(3);
        let mut receiver = views.remove(1);
        let mut seen = Vec::new();
        thread::scope(|scope| {
            for (mut sender, number) in views.into_iter().zip(0..) {
                scope.spawn(move || {
                    (0..EACH)
                        .for_each(|n| assert_eq!(sender.send(1, &[message(2 * n + number)]), 1))
                });
            }
            while seen.len() < 2 * EACH as usize {
                receiver.receive(&mut seen);
                thread::yield_now();
            }
        });
        let mut numbers: Vec<u32> = seen.iter().map(|message| message.event.bits()).collect();
        for parity in [0, 1] {
            assert!(
                numbers.iter().filter(|number| *number % 2 == parity).is_sorted(),
                "those of one sender keep their order"
            );
        }
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..2 * EACH));
        receiver.receive(&mut seen);
        assert_eq!(seen.len(), 2 * EACH as usize);
    }

    #[test]
    fn values_wait_until_they_are_taken_and_are_dropped_otherwise() {
        let payload = Arc::new(());
        let mut views: Vec<InboxPort<Arc<()>>> = ports(2);
        let value = || {
            let event = Event {
                time: VirtualTime::ZERO,
                sequence: Sequence::first_of(1),
                sender: LpId(0),
                receiver: LpId(1),
                step: 0,
                priority: Priority::NORMAL,
                kind: EventKind::Plain,
                payload: payload.clone(),
            };
            ValueMessage {
                tag: Tag::default(),
                incarnation: NonZeroU32::new(1),
                content: Content::Event(event),
            }
        };
        assert!(views[0].send_value(1, value).is_ok());
        views[0].flush();
        let mut taken = 0;
        views[1].receive_values(&mut |_| taken += 1);
        assert_eq!(taken, 0, "nobody has looked yet");
        views[1].receive(&mut Vec::new());
        assert!(views[0].send_value(1, value).is_ok());
        views[0].flush();
        views[1].receive_values(&mut |_| taken += 1);
        assert_eq!((taken, Arc::strong_count(&payload)), (1, 2));
        drop(views);
        assert_eq!(Arc::strong_count(&payload), 1);
    }
}
