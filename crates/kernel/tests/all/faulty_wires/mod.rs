//! Wires between PEs that can be made to violate their contract.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::rc::Rc;

use warpline_base::random::mix64;
use warpline_base::{EventKey, Moment, VirtualTime};
use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{
    BoundPort, Content, ControlPort, Message, MessageKind, MessagePort, Port, Sent, TakeValue,
    ValueMessage, ValuePort,
};

/// What is wrong with the wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// The n-th anti-message is lost.
    LostAnti(u32),
    /// The n-th message is lost.
    Lost(u32),
    /// The n-th message arrives twice.
    Twice(u32),
    /// The n-th anti-message arrives twice.
    TwiceAnti(u32),
    /// The n-th free buffer that goes back is lost.
    LostEmpty(u32),
    /// From the n-th verdict on, a later GVT is reported than was found.
    LateVerdict(u32),
    /// From the n-th share on, one PE reports that it has nothing to do before the end.
    NothingLeft(u32),
    /// From the n-th on, the bounds that PEs publish are two units of time too high.
    HighBound(u32),
    /// From the n-th on, the bounds that PE 1 publishes take a thousand steps more.
    LateBound(u32),
    /// From the n-th on, the bounds that PE 1 publishes are lost.
    LostBound(u32),
    /// From the n-th on, bounds overtake the messages sent before them, as if they were published
    /// before those messages are handed over.
    HastyBound(u32),
    /// From the n-th round on, if the bound of a round has not arrived, that of the previous round
    /// is taken for it.
    StaleRound(u32),
    /// From the n-th on, anti-messages by value overtake their messages, where these have not
    /// arrived.
    HastyAnti(u32),
    /// The n-th control message is lost. Calls to a parent do not count, as others may call it, or
    /// it may need no call.
    LostControl(u32),
}

/// Bounds in transit, with the steps in which they arrive, and the last that has arrived.
type Bounds = (VecDeque<(u64, u64)>, u64);
/// Bounds for rounds, from the round before the last that was asked for: when they arrive, the
/// rounds, and the bounds.
type Rounds = VecDeque<(u64, u64, u64)>;

/// All wires.
pub(crate) struct Network<E> {
    now: u64,
    dice: u64,
    fault: Fault,
    /// How many messages of the kind to be corrupted have passed.
    passed: u32,
    /// How many of them have been corrupted.
    pub(crate) done: u32,
    messages: Vec<Vec<(u64, Message)>>,
    values: Vec<Vec<(u64, ValueMessage<E>)>>,
    /// By receiver and sender.
    bounds: Vec<Vec<Bounds>>,
    rounds: Vec<Vec<Rounds>>,
    controls: Vec<VecDeque<(u64, u32, Control)>>,
}

/// A PE's end of the wires.
pub(crate) struct Wires<E> {
    /// Messages by value until the next flush, with receivers and arrivals.
    kept_back: Vec<(u32, u64, ValueMessage<E>)>,
    me: u32,
    network: Rc<RefCell<Network<E>>>,
}

pub(crate) fn wires<E>(
    pes: u32,
    seed: u64,
    fault: Fault,
) -> (Rc<RefCell<Network<E>>>, Vec<Wires<E>>) {
    let messages = vec![Vec::new(); pes as usize];
    let controls = vec![VecDeque::new(); pes as usize];
    let values = (0..pes).map(|_| Vec::new()).collect();
    let bounds = vec![vec![(VecDeque::new(), 0); pes as usize]; pes as usize];
    let rounds = vec![vec![VecDeque::new(); pes as usize]; pes as usize];
    let network = Network {
        now: 0,
        dice: mix64(seed),
        fault,
        passed: 0,
        done: 0,
        messages,
        values,
        bounds,
        rounds,
        controls,
    };
    let network = Rc::new(RefCell::new(network));
    let ports =
        (0..pes).map(|me| Wires { me, kept_back: Vec::new(), network: network.clone() }).collect();
    (network, ports)
}

impl<E> Network<E> {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.dice = self.dice.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix64(self.dice) % bound
    }

    pub(crate) fn tick(&mut self) {
        self.now += 1;
    }

    fn arrival(&mut self) -> u64 {
        self.now + if self.below(20) == 0 { self.below(100) } else { self.below(8) }
    }

    /// Lets an anti-message by value overtake its message, if that is still in transit to PE `to`.
    fn overtake(&mut self, to: u32, anti: &EventKey, incarnation: Option<NonZeroU32>) -> bool {
        let is_partner = |message: &ValueMessage<E>| match &message.content {
            Content::Event(event) => (event.key(), message.incarnation) == (*anti, incarnation),
            Content::Anti { .. } | Content::Return { .. } => false,
        };
        let Some((arrival, _)) =
            self.values[to as usize].iter_mut().find(|(_, message)| is_partner(message))
        else {
            return false;
        };
        *arrival = self.now + 200;
        self.done += 1;
        true
    }

    /// Whether the current message is to be corrupted.
    fn strikes(&mut self, n: u32) -> bool {
        self.passed += 1;
        let strikes = self.passed == n;
        self.done += u32::from(strikes);
        strikes
    }

    /// What becomes of a bound that PE `from` publishes: the bound that arrives, and how long it
    /// takes.
    fn published(&mut self, from: u32, bound: u64) -> Option<(u64, u64)> {
        let fault = self.fault;
        let struck = match fault {
            Fault::HighBound(n) | Fault::HastyBound(n) => self.strikes(n) || self.passed > n,
            Fault::LateBound(n) | Fault::LostBound(n) if from == 1 => {
                self.strikes(n) || self.passed > n
            }
            _ => false,
        };
        // A bound does not overtake the messages sent before it: no message takes longer than this.
        match fault {
            Fault::HighBound(_) if struck => Some((too_high(bound), 100)),
            Fault::LateBound(_) if struck => Some((bound, 1100)),
            Fault::HastyBound(_) if struck => Some((bound, 0)),
            Fault::LostBound(_) if struck => None,
            _ => Some((bound, 100)),
        }
    }

    /// How many copies of a message arrive.
    fn copies(&mut self, kind: MessageKind) -> u32 {
        match (self.fault, kind) {
            (Fault::LostAnti(n), MessageKind::Anti)
            | (Fault::Lost(n), MessageKind::Event)
            | (Fault::LostEmpty(n), MessageKind::Empty)
                if self.strikes(n) =>
            {
                0
            }
            (Fault::TwiceAnti(n), MessageKind::Anti) | (Fault::Twice(n), MessageKind::Event)
                if self.strikes(n) =>
            {
                2
            }
            _ => 1,
        }
    }

    /// The fate of a control message.
    fn corrupted(&mut self, to: u32, mut control: Control) -> Option<Control> {
        match (self.fault, &mut control) {
            (Fault::LostControl(_), Control::Begin { from, .. }) if *from > to => {}
            (Fault::LostControl(n), _) if self.strikes(n) => return None,
            // From then on, as GVT must not go back.
            (Fault::LateVerdict(n), Control::Verdict(verdict))
                if self.strikes(n) || self.passed > n =>
            {
                verdict.gvt = later(verdict.gvt);
            }
            (Fault::NothingLeft(n), Control::Share { from: 1, share, .. })
                if self.strikes(n) || self.passed > n =>
            {
                share.least = Moment::Never;
            }
            _ => {}
        }
        Some(control)
    }
}

/// A bound two units of time after this one.
fn too_high(bound: u64) -> u64 {
    let time = VirtualTime::from_bits(bound - 1).get() + 2.0;
    VirtualTime::new(time).expect("it is a time").bits() + 1
}

/// A moment two units of time after another.
fn later(moment: Moment) -> Moment {
    let Moment::Event(mut key) = moment else { return moment };
    key.time = VirtualTime::new(key.time.get() + 2.0).expect("it is a time");
    Moment::Event(key)
}

impl<E: Clone> MessagePort for Wires<E> {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        let network = &mut *self.network.borrow_mut();
        for &message in messages {
            for _ in 0..network.copies(message.kind) {
                let arrival = network.arrival();
                network.messages[to as usize].push((arrival, message));
            }
        }
        messages.len()
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        let network = &mut *self.network.borrow_mut();
        let now = network.now;
        into.extend(
            network.messages[self.me as usize]
                .extract_if(.., |(arrival, _)| *arrival <= now)
                .map(|(_, message)| message),
        );
    }
}

impl<E: Clone> ValuePort<E> for Wires<E> {
    fn send_value(&mut self, to: u32, make: impl FnOnce() -> ValueMessage<E>) -> Sent<E> {
        let message = make();
        let network = &mut *self.network.borrow_mut();
        let again = |content: &Content<E>| match content {
            Content::Event(event) => Content::Event(event.clone()),
            Content::Anti { receiver, key } => Content::Anti { receiver: *receiver, key: *key },
            Content::Return { receiver, key } => Content::Return { receiver: *receiver, key: *key },
        };
        let kind = if matches!(message.content, Content::Event(_)) {
            MessageKind::Event
        } else {
            MessageKind::Anti
        };
        let overtakes = match (network.fault, &message.content) {
            (Fault::HastyAnti(n), Content::Anti { key, .. }) => {
                network.passed += 1;
                network.passed >= n && network.overtake(to, key, message.incarnation)
            }
            _ => false,
        };
        for _ in 0..network.copies(kind) {
            let arrival = if overtakes { network.now } else { network.arrival() };
            let copy = ValueMessage {
                tag: message.tag,
                incarnation: message.incarnation,
                content: again(&message.content),
            };
            self.kept_back.push((to, arrival, copy));
        }
        Ok(())
    }

    fn receive_values(&mut self, to: &mut impl TakeValue<E>) {
        let network = &mut *self.network.borrow_mut();
        let now = network.now;
        let arrived =
            network.values[self.me as usize].extract_if(.., |(arrival, _)| *arrival <= now);
        arrived.for_each(|(_, message)| to.take(message));
    }
}

impl<E: Clone> BoundPort for Wires<E> {
    fn publish(&mut self, bound: u64) {
        let network = &mut *self.network.borrow_mut();
        let Some((bound, takes)) = network.published(self.me, bound) else { return };
        for to in (0..network.bounds.len()).filter(|to| *to != self.me as usize) {
            let arrival = network.now + takes;
            network.bounds[to][self.me as usize].0.push_back((arrival, bound));
        }
    }

    fn publish_round(&mut self, round: u64, bound: u64) {
        let network = &mut *self.network.borrow_mut();
        let Some((bound, takes)) = network.published(self.me, bound) else { return };
        for to in (0..network.bounds.len()).filter(|to| *to != self.me as usize) {
            let arrival = network.now + takes;
            network.rounds[to][self.me as usize].push_back((arrival, round, bound));
        }
    }

    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        let network = &mut *self.network.borrow_mut();
        let now = network.now;
        let bounds = &mut network.rounds[self.me as usize][pe as usize];
        while bounds.front().is_some_and(|(_, old, _)| old + 1 < round) {
            bounds.pop_front();
        }
        let find = |wanted| {
            bounds
                .iter()
                .find(|(arrival, of, _)| *arrival <= now && *of == wanted)
                .map(|(.., bound)| *bound)
        };
        let found = find(round);
        let stale = find(round - 1);
        match network.fault {
            Fault::StaleRound(n) if found.is_none() && stale.is_some() && round >= u64::from(n) => {
                network.done += 1;
                stale
            }
            _ => found,
        }
    }

    fn bound(&mut self, pe: u32) -> u64 {
        let network = &mut *self.network.borrow_mut();
        let now = network.now;
        let (coming, last) = &mut network.bounds[self.me as usize][pe as usize];
        while let Some(&(arrival, bound)) = coming.front()
            && arrival <= now
        {
            *last = bound;
            coming.pop_front();
        }
        *last
    }
}

impl<E: Clone> ControlPort for Wires<E> {
    fn send_control(&mut self, to: u32, control: Control) {
        let network = &mut *self.network.borrow_mut();
        let Some(control) = network.corrupted(to, control) else { return };
        let arrival = network.now + network.dice % 8;
        let waiting = &mut network.controls[to as usize];
        // Control messages do not overtake each other.
        let arrival = waiting
            .iter()
            .filter(|(_, from, _)| *from == self.me)
            .map(|(last, ..)| *last)
            .fold(arrival, u64::max);
        waiting.push_back((arrival, self.me, control));
    }

    fn receive_control(&mut self) -> Option<Control> {
        let network = &mut *self.network.borrow_mut();
        let now = network.now;
        let waiting = &mut network.controls[self.me as usize];
        let place = waiting.iter().position(|(arrival, ..)| *arrival <= now)?;
        Some(waiting.remove(place)?.2)
    }

    fn write(&mut self, to: u32, put: Put) {
        self.send_control(to, put.read(self.me));
    }

    fn written(&mut self) -> Option<(u32, Put)> {
        None
    }
}

impl<E: Clone> Port<E> for Wires<E> {
    fn flush(&mut self) {
        let values = &mut self.network.borrow_mut().values;
        self.kept_back
            .drain(..)
            .for_each(|(to, arrival, message)| values[to as usize].push((arrival, message)));
    }
}
