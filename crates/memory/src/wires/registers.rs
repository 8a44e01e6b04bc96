use crate::{Apart, Common, Region, Shareable, SpinGuard, SpinLock};

/// One PE's view of the registers of a Global Synchronization Unit in software (E. Lynch and G.
/// Riley, "Hardware supported time synchronization in multi-core architectures", PADS 2009). `T` is
/// a point in the order of events.
///
/// A PE has a register for its minimum outstanding event (MOE), and two banks of a transient
/// message count (TMC) and a minimum outstanding message (MOM) each. Messages to a PE are announced
/// in one bank until the other is empty, and then in that one. So a bank becomes empty now and
/// then, even under steady traffic, and its minimum is cleared. The hardware has one bank, as its
/// PEs stop at LBTS and let traffic drain.
///
/// The hardware reads all registers in the same clock tick. Here they are read one after the other,
/// twice. If none has fallen between its two readings, the least of the first readings was a lower
/// bound for all of them at the moment between the two passes.
///
/// ```
/// let mut registers = warpline_memory::registers(&warpline_memory::Region::own(), 2, 0, u64::MAX);
/// let before = |a: &u64, b: &u64| a < b;
/// registers[0].settle([0; 2], 7, before);
/// registers[1].settle([0; 2], 9, before);
/// assert_eq!(registers[0].least(before), Some((7, u64::MAX)));
/// // PE 0 sends PE 1 a message for 8, and has nothing before 20 any more.
/// registers[0].announce(1, 0, 1, 8, before);
/// registers[0].settle([0; 2], 20, before);
/// assert_eq!(registers[1].least(before), Some((9, 8)));
/// // It is received and dealt with.
/// registers[1].settle([1, 0], 9, before);
/// assert_eq!(registers[1].least(before), Some((9, u64::MAX)));
/// ```
///
/// Each PE's registers have a lock of their own. A unit in hardware serialises its instructions.
/// One lock for all PEs would do the same, and make them queue for it. Where all PEs are in one
/// thread, nobody queues: then there may be [comparators](registers_with_comparators), as in
/// hardware, so that a reading does not take as many steps as there are PEs.
#[derive(Debug)]
pub struct Registers<T> {
    files: Files<T>,
    comparators: Option<Comparators<T>>,
    me: usize,
    never: T,
}

/// The registers of all PEs, each on cache lines of its own.
type Files<T> = Common<[Apart<SpinLock<RegisterFile<T>>>]>;

/// A tree of minima, under one lock. The first node is not used, the second is the root, and the
/// children of node `n` are nodes `2n` and `2n + 1`. The leaves are the registers of PEs.
#[derive(Debug)]
struct Comparators<T> {
    unit: Common<SpinLock<()>>,
    /// The least MOE and the least MOM below each node.
    nodes: Common<[SpinLock<Least<T>>]>,
}

impl<T> Clone for Comparators<T> {
    fn clone(&self) -> Self {
        Comparators { unit: self.unit.clone(), nodes: self.nodes.clone() }
    }
}

#[derive(Clone, Copy, Debug)]
struct Least<T> {
    event: T,
    message: T,
}

// SAFETY: these are points in the order of events, which are shareable.
unsafe impl<T: Shareable> Shareable for Least<T> {}

impl<T: Copy> Comparators<T> {
    /// The registers of a PE have changed to these. Whoever calls this holds the lock of the unit.
    fn set(&self, pe: usize, least: Least<T>, before: impl Fn(&T, &T) -> bool) {
        let mut node = self.nodes.len() / 2 + pe;
        *self.nodes[node].lock() = least;
        while node > 1 {
            node /= 2;
            let a = *self.nodes[2 * node].lock();
            let b = *self.nodes[2 * node + 1].lock();
            *self.nodes[node].lock() = Least {
                event: earlier(a.event, b.event, &before),
                message: earlier(a.message, b.message, &before),
            };
        }
    }

    fn least(&self) -> (T, T) {
        let _unit = self.unit.lock();
        let Least { event, message } = *self.nodes[1].lock();
        (event, message)
    }
}

/// The registers of a PE. Those that other PEs write come first, next to the lock, on as few cache
/// lines as possible.
#[derive(Debug)]
#[repr(C)]
struct RegisterFile<T> {
    /// The bank in which messages are announced.
    open: u8,
    /// How often the least of the registers has fallen.
    falls: u64,
    banks: [Bank<T>; 2],
    /// MOE.
    event: T,
}

#[derive(Clone, Copy, Debug)]
struct Bank<T> {
    /// TMC.
    in_transit: u64,
    /// MOM: the least message announced since the bank was last empty.
    message: T,
}

// SAFETY: these are numbers and points in the order of events, which are shareable.
unsafe impl<T: Shareable> Shareable for RegisterFile<T> {}

/// The views of this many PEs. Nothing is in transit; every MOE is `first`. `never` comes after
/// everything.
pub fn registers<T: Copy + Shareable + Send + 'static>(
    region: &Region,
    pes: u32,
    first: T,
    never: T,
) -> Vec<Registers<T>> {
    let bank = Bank { in_transit: 0, message: never };
    let file = |_| {
        Apart(SpinLock::new(RegisterFile { event: first, banks: [bank; 2], open: 0, falls: 0 }))
    };
    let files = region.place_list(pes as usize, file);
    let views = (0..pes as usize).map(|me| Registers {
        files: files.clone(),
        comparators: None,
        me,
        never,
    });
    views.collect()
}

/// The same, with comparators: a reading takes as long however many PEs there are, and all PEs queue
/// for one lock.
pub fn registers_with_comparators<T: Copy + Shareable + Send + 'static>(
    region: &Region,
    pes: u32,
    first: T,
    never: T,
) -> Vec<Registers<T>> {
    let mut views = registers(region, pes, first, never);
    let width = (pes as usize).next_power_of_two();
    // Leaves without a PE say nothing. All others are alike, and so is what is above any of them.
    let is_above = |node: usize| {
        let leaf = node << (width.ilog2() - node.max(1).ilog2());
        leaf.saturating_sub(width) < pes as usize
    };
    let node = |node| {
        let event = if is_above(node) { first } else { never };
        SpinLock::new(Least { event, message: never })
    };
    let unit = region.place(SpinLock::new(()));
    let comparators = Comparators { unit, nodes: region.place_list(2 * width, node) };
    views.iter_mut().for_each(|view| view.comparators = Some(comparators.clone()));
    views
}

impl<T: Copy> RegisterFile<T> {
    fn message(&self, before: impl Fn(&T, &T) -> bool) -> T {
        let [a, b] = self.banks.map(|bank| bank.message);
        earlier(a, b, before)
    }

    fn least(&self, before: impl Fn(&T, &T) -> bool) -> T {
        earlier(self.message(&before), self.event, before)
    }

    fn change(&mut self, before: impl Fn(&T, &T) -> bool, change: impl FnOnce(&mut Self)) {
        let was = self.least(&before);
        change(self);
        self.falls += u64::from(before(&self.least(&before), &was));
    }
}

fn earlier<T>(a: T, b: T, before: impl Fn(&T, &T) -> bool) -> T {
    if before(&b, &a) { b } else { a }
}

impl<T: Copy> Registers<T> {
    fn file(&self, pe: usize) -> SpinGuard<'_, RegisterFile<T>> {
        self.files[pe].0.lock()
    }

    /// Announces messages to PE `to`, the least of them at `least`, in the bank that the last
    /// announcement to that PE returned; at first 0. Returns the bank for the next one. To be
    /// called before the messages are handed over, and before this PE's MOE rises above what caused
    /// them.
    ///
    /// # Panics
    /// If there is no such PE or bank.
    pub fn announce(
        &self,
        to: u32,
        bank: u8,
        messages: u64,
        least: T,
        before: impl Fn(&T, &T) -> bool,
    ) -> u8 {
        let _unit = self.unit();
        let file = &mut *self.file(to as usize);
        let bank = usize::from(bank);
        file.banks[bank].in_transit += messages;
        if before(&least, &file.banks[bank].message) {
            file.change(&before, |file| file.banks[bank].message = least);
            self.compare(to as usize, file, before);
        }
        file.open
    }

    /// Locks the unit, if there are comparators. Otherwise the registers of each PE are locked.
    fn unit(&self) -> Option<SpinGuard<'_, ()>> {
        self.comparators.as_ref().map(|comparators| comparators.unit.lock())
    }

    /// Has the comparators look at registers of a PE, which have changed.
    fn compare(&self, pe: usize, file: &RegisterFile<T>, before: impl Fn(&T, &T) -> bool) {
        if let Some(comparators) = &self.comparators {
            let least = Least { event: file.event, message: file.message(&before) };
            comparators.set(pe, least, before);
        }
    }

    /// The bank in which messages to PE `to` are best announced now.
    ///
    /// # Panics
    /// If there is no such PE.
    pub fn open_bank(&self, to: u32) -> u8 {
        self.file(to as usize).open
    }

    /// Sets this PE's registers, when it has received this many messages of each bank, and `event`
    /// is its least event, with them.
    ///
    /// # Panics
    /// If more messages were received than announced.
    pub fn settle(&self, received: [u64; 2], event: T, before: impl Fn(&T, &T) -> bool) {
        let me = self.me;
        let never = self.never;
        let _unit = self.unit();
        let file = &mut *self.file(me);
        file.change(&before, |file| {
            for (bank, received) in file.banks.iter_mut().zip(received) {
                let sent = bank.in_transit;
                let left = sent.checked_sub(received).unwrap_or_else(|| {
                    panic!("PE {me} received {received} messages, but only {sent} were sent")
                });
                *bank = Bank {
                    in_transit: left,
                    message: if left == 0 { never } else { bank.message },
                };
            }
            file.event = event;
        });
        self.compare(me, file, &before);
        if file.banks[usize::from(1 - file.open)].in_transit == 0 {
            file.open = 1 - file.open;
        }
    }

    /// The least MOE and the least MOM, if no PE's registers fell while they were read. The lesser
    /// of the two is LBTS at some moment during the call.
    pub fn least(&self, before: impl Fn(&T, &T) -> bool) -> Option<(T, T)> {
        if let Some(comparators) = &self.comparators {
            return Some(comparators.least());
        }
        let mut event = self.never;
        let mut message = self.never;
        let mut falls = 0u64;
        for pe in 0..self.files.len() {
            let file = self.file(pe);
            event = earlier(event, file.event, &before);
            message = earlier(message, file.message(&before), &before);
            falls += file.falls;
        }
        // Falls are only added to, so equal sums mean that there was none.
        let again = (0..self.files.len()).map(|pe| self.file(pe).falls).sum::<u64>();
        (again == falls).then_some((event, message))
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::ring;

    fn before(a: &u64, b: &u64) -> bool {
        a < b
    }

    fn look(registers: &Registers<u64>) {
        if let Some((event, message)) = registers.least(before) {
            assert_eq!(event.min(message), 5, "LBTS passes an event");
        }
    }

    /// A PE sends its only event to another while somebody looks: LBTS never passes it. Read once
    /// only, the registers let it slip by: this test fails without the second pass, and if MOE
    /// rises before the announcement.
    #[test]
    fn loom_what_is_sent_is_seen() {
        loom::model(|| {
            let mut views = registers(&Region::own(), 2, 5, u64::MAX);
            let receiver = views.remove(0);
            let sender = views.remove(0);
            receiver.settle([0; 2], u64::MAX, before);
            let sender = thread::spawn(move || {
                sender.announce(0, 0, 1, 5, before);
                sender.settle([0; 2], u64::MAX, before);
            });
            look(&receiver);
            sender.join().unwrap();
        });
    }

    /// A PE passes an event on as soon as it has received it.
    #[test]
    fn loom_what_is_passed_on_is_seen() {
        loom::model(|| {
            let mut views = registers(&Region::own(), 2, 5, u64::MAX);
            let receiver = views.remove(0);
            let sender = views.remove(0);
            let files = sender.files.clone();
            let reader = Registers { files, comparators: None, me: 1, never: u64::MAX };
            let (mut to, mut from) = ring(2);
            sender.announce(0, 0, 1, 5, before);
            sender.settle([0; 2], u64::MAX, before);
            receiver.settle([0; 2], u64::MAX, before);
            assert!(to.push(5u64));
            let relay = thread::spawn(move || {
                assert_eq!(from.drain().map(|events| events.count()), Some(1));
                receiver.settle([1, 0], 5, before);
                receiver.announce(1, 0, 1, 5, before);
                receiver.settle([0; 2], u64::MAX, before);
            });
            look(&reader);
            relay.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn before(a: &u64, b: &u64) -> bool {
        a < b
    }

    /// However many messages are on their way at any time, old ones do not hold up LBTS for ever.
    #[test]
    fn steady_traffic_holds_nothing_up() {
        let views = registers(&Region::own(), 2, 0, u64::MAX);
        let mut banks = Vec::new();
        let mut bank = 0;
        for time in 1..=100 {
            // Two messages are always in transit.
            banks.push(bank);
            bank = views[0].announce(1, bank, 1, 10 * time, before);
            views[0].settle([0; 2], 10 * time, before);
            if let Some(arrived) = banks.len().checked_sub(3) {
                let mut received = [0; 2];
                received[usize::from(banks[arrived])] = 1;
                views[1].settle(received, u64::MAX, before);
            }
            let (event, message) = views[0].least(before).expect("nothing falls meanwhile");
            let least = event.min(message);
            assert!(time < 5 || least >= 10 * (time - 4), "LBTS is {least} at {time}");
        }
    }

    /// Comparators find at any moment what a reading of all registers finds.
    #[test]
    fn comparators_find_the_least_of_all_registers() {
        let (most, rounds) = if cfg!(miri) { (3, 20) } else { (13, 200) };
        for pes in [1, 2, 3, 5, 8, 13].into_iter().filter(|pes| *pes <= most) {
            let plain = registers(&Region::own(), pes, 0, u64::MAX);
            let compared = registers_with_comparators(&Region::own(), pes, 0, u64::MAX);
            let mut word = u64::from(pes);
            let mut draw = |below: u64| {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                (word >> 33) % below
            };
            let mut in_transit = vec![[0; 2]; pes as usize];
            let mut banks = vec![0; pes as usize];
            for _ in 0..rounds {
                let from = draw(pes.into()) as usize;
                let to = draw(pes.into()) as usize;
                let time = draw(50);
                in_transit[to][usize::from(banks[to])] += 1;
                let announced = [&plain, &compared]
                    .map(|views| views[from].announce(to as u32, banks[to], 1, time, before));
                assert_eq!(announced[0], announced[1]);
                banks[to] = announced[0];
                let received =
                    if draw(2) == 0 { std::mem::take(&mut in_transit[to]) } else { [0; 2] };
                let event = draw(60);
                for views in [&plain, &compared] {
                    views[to].settle(received, event, before);
                }
                banks[to] = plain[from].open_bank(to as u32);
                assert_eq!(compared[from].least(before), plain[to].least(before), "{pes} PEs");
            }
        }
    }

    #[test]
    #[should_panic(expected = "PE 1 received 2 messages, but only 1 were sent")]
    fn a_message_that_was_not_announced_is_caught() {
        let views = registers(&Region::own(), 2, 0u64, u64::MAX);
        views[0].announce(1, 0, 1, 3, before);
        views[1].settle([2, 0], 3, before);
    }

    #[test]
    fn a_register_that_falls_is_noticed() {
        let views = registers(&Region::own(), 3, 4u64, u64::MAX);
        let falls = || (0..3).map(|pe| views[0].file(pe).falls).sum::<u64>();
        views[0].settle([0; 2], 9, before);
        assert_eq!((falls(), views[1].least(before)), (0, Some((4, u64::MAX))));
        views[2].announce(0, 0, 1, 8, before);
        assert_eq!(falls(), 1);
        views[2].announce(0, 0, 1, 8, before);
        views[0].settle([2, 0], 8, before);
        assert_eq!(falls(), 1, "MOE takes over from MOM");
    }
}
