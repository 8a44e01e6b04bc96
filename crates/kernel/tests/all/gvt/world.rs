//! All PEs and what is on its way between them. Whatever happens next is drawn, and whenever a PE
//! adopts a GVT, all that must hold is checked.

use std::collections::{BTreeMap, VecDeque};

use super::dice::{Dice, Habits};
use super::pe::{Event, Message, Pe};
use super::ranks::ranks;
use warpline_base::random::mix64;
use warpline_base::{EventKey, LpId, Moment, Priority, Sequence, TieBreak, VirtualTime};
use warpline_kernel::gvt::{
    Action, AnyGvt, Barrier, Control, Gvt, GvtAlgorithm, Hierarchy, Local, Put, Tag, Verdict, Work,
};
use warpline_memory::Region;

/// More steps than any schedule takes: one that needs more hangs.
const STEPS: u64 = 1_000_000;

pub(super) struct World<G> {
    dice: Dice,
    habits: Habits,
    ties: TieBreak,
    pes: Vec<Pe>,
    gvts: Vec<G>,
    network: Vec<Message>,
    wires: BTreeMap<(u32, u32), VecDeque<Control>>,
    /// What has been written into a PE's memory and not been read yet, by its owner, the writer and
    /// the place.
    written: BTreeMap<(u32, u32, usize), Put>,
    /// The place that a block is written to, which differs only in a faulty memory.
    place: fn(usize) -> usize,
    /// Control messages sent, by the epoch they are about.
    sent_controls: BTreeMap<u64, u64>,
    verdicts: Vec<Verdict>,
    made: u64,
    total: Work,
    /// The earliest fault now, and when the last verdict was first adopted.
    failures: (Moment, Moment),
}

/// How PEs find GVT.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// By an algorithm of all PEs.
    Together(GvtAlgorithm),
    /// At one barrier.
    AtBarrier {
        /// Whether they sleep there.
        sleeps: bool,
    },
    /// At a barrier in each of several ranks, and by reductions over all of them.
    Ranks,
}

/// Where the word for a jump start lies, behind the blocks.
const JUMP_START: usize = 4;

impl<G: Gvt> World<G> {
    pub(super) fn new(
        seed: u64,
        make: impl Fn(AnyGvt) -> G,
        way: Way,
        place: fn(usize) -> usize,
    ) -> Self {
        let mut dice = Dice(mix64(seed));
        let count = 1 + dice.index(17);
        let ties = if dice.percent(50) { TieBreak::BySender } else { TieBreak::Unbiased { seed } };
        let habits = Habits {
            ordered: dice.percent(50),
            careful: [0, 50, 95, 100][dice.index(4)],
            wish: 1 + dice.below(20),
            weights: std::array::from_fn(|_| [1, 3, 10, 30][dice.index(4)]),
        };
        let pes: Vec<Pe> = (0..count).map(|_| Pe { ties, ..Pe::default() }).collect();
        let hierarchy = Hierarchy::new(count as u32, 1 + dice.below(count as u64) as u32);
        let gvts = match way {
            Way::Together(algorithm) => AnyGvt::all(&Region::own(), algorithm, hierarchy, ties),
            Way::AtBarrier { sleeps } => {
                let barrier = Barrier::new(&Region::own(), count as u32, sleeps);
                AnyGvt::all_at(&barrier, count as u32, ties)
            }
            Way::Ranks => ranks(&mut dice, count as u32, ties),
        };
        let gvts = gvts.into_iter().map(make).collect();
        let failures = (Moment::Never, Moment::Never);
        let mut world = World {
            dice,
            habits,
            ties,
            pes,
            gvts,
            network: Vec::new(),
            wires: BTreeMap::new(),
            written: BTreeMap::new(),
            place,
            sent_controls: BTreeMap::new(),
            verdicts: Vec::new(),
            made: 0,
            total: Work::default(),
            failures,
        };
        for _ in 0..1 + world.dice.below(2 * count as u64) {
            let pe = world.dice.index(count);
            let event = world.event(0, 4);
            world.pes[pe].pending.push(event);
        }
        world
    }

    /// A new event after the time `now`. There are few different times, so that many are equal.
    fn event(&mut self, now: u64, fuel: u32) -> Event {
        let time = VirtualTime::from_bits(now + 1 + self.dice.below(8));
        self.made += 1;
        Event {
            key: EventKey {
                time,
                step: 0,
                priority: Priority::NORMAL,
                sender: LpId(self.dice.below(5) as u32),
                sequence: Sequence::first_of(self.made),
            },
            fuel,
        }
    }

    fn send(&mut self, from: usize, to: usize, event: Event, anti: bool) {
        let tag = Tag::from_bits(self.gvts[from].sent(to as u32, || event.at()).bits());
        self.gvts[from].announce();
        self.network.push(Message { to, event, anti, tag });
    }

    fn execute(&mut self, pe: usize) {
        if self.gvts[pe].is_paused() || self.pes[pe].pending.is_empty() {
            let waits = u64::from(self.gvts[pe].is_on());
            for work in [&mut self.pes[pe].work, &mut self.total] {
                work.idle_steps += 1;
                work.waiting_steps += waits;
            }
            return;
        }
        let pending = &self.pes[pe].pending;
        let least =
            (0..pending.len()).min_by(|&a, &b| self.ties.compare(&pending[a].key, &pending[b].key));
        let any = self.dice.index(pending.len());
        let chosen =
            if self.dice.percent(self.habits.careful) { least.unwrap_or(any) } else { any };
        let event = self.pes[pe].pending.swap_remove(chosen);
        let mut sent = Vec::new();
        for _ in 0..if event.fuel > 0 { self.dice.below(3) } else { 0 } {
            let caused = self.event(event.key.time.bits(), event.fuel - 1);
            let to = self.dice.index(self.pes.len());
            sent.push((to, caused));
            if to == pe {
                self.pes[pe].pending.push(caused)
            } else {
                self.send(pe, to, caused, false)
            }
        }
        self.pes[pe].executed.push((event, sent));
        self.pes[pe].work.processed += 1;
        self.total.processed += 1;
        if self.dice.percent(1) {
            let failure = self.pes[pe].failure().earlier(event.at(), self.ties);
            let Moment::Event(key) = failure else {
                unreachable!("an event is no later than itself")
            };
            self.pes[pe].failure = Some(key);
            self.failures.0 = self.failures.0.earlier(failure, self.ties);
        }
    }

    fn receive(&mut self, Message { to, event, anti, tag }: Message) {
        if let Some(verdict) = self.verdicts.last() {
            assert!(
                !event.at().is_before(&verdict.gvt, self.ties),
                "a message arrived for a moment before GVT"
            );
        }
        self.gvts[to].received(tag, || event.at());
        if anti {
            self.cancel(to, event);
        } else if let Some(early) = self.pes[to].early.iter().position(|&key| key == event.key) {
            self.pes[to].early.swap_remove(early);
        } else {
            // Some LPs of the PE have already executed later events.
            self.roll_back(to, event.at());
            self.pes[to].pending.push(event);
        }
    }

    fn cancel(&mut self, pe: usize, event: Event) {
        if self.pes[pe].executed.iter().any(|(done, _)| done.key == event.key) {
            self.roll_back(pe, event.at());
        }
        let pending = &mut self.pes[pe].pending;
        match pending.iter().position(|other| other.key == event.key) {
            Some(found) => drop(pending.swap_remove(found)),
            None => self.pes[pe].early.push(event.key),
        }
    }

    /// Undoes what was executed at or after `to`, by all LPs or only by that of `to`, and cancels
    /// what that sent.
    fn roll_back(&mut self, pe: usize, to: Moment) {
        let Moment::Event(straggler) = to else { return };
        let all = self.dice.percent(50);
        while let Some(found) = self.pes[pe].executed.iter().position(|(done, _)| {
            let later = !done.at().is_before(&to, self.ties);
            later && (all || done.key.sender == straggler.sender)
        }) {
            let (event, sent) = self.pes[pe].executed.swap_remove(found);
            self.pes[pe].work.rolled_back += 1;
            self.total.rolled_back += 1;
            self.pes[pe].pending.push(event);
            for (receiver, caused) in sent {
                if receiver == pe {
                    self.cancel(pe, caused)
                } else {
                    self.send(pe, receiver, caused, true)
                }
            }
        }
    }

    fn advance(&mut self, pe: usize) -> bool {
        let Some(action) = self.gvts[pe].advance(&mut self.pes[pe]) else { return false };
        match action {
            Action::Send { to, control } => {
                assert!(
                    to != pe as u32 && to < self.pes.len() as u32,
                    "PE {pe} sends PE {to} a control message"
                );
                *self.sent_controls.entry(control.epoch()).or_default() += 1;
                self.wires.entry((pe as u32, to)).or_default().push_back(control);
            }
            Action::Write { to, put } => {
                assert!(
                    to != pe as u32 && to < self.pes.len() as u32,
                    "PE {pe} writes into the memory of PE {to}"
                );
                let place = match put {
                    Put::JumpStart(_) => JUMP_START,
                    Put::Block { place, .. } => (self.place)(place),
                };
                let unread = self.written.insert((to, pe as u32, place), put);
                assert!(
                    place == JUMP_START || unread.is_none(),
                    "PE {pe} overwrites what PE {to} has not read yet"
                );
            }
            Action::Adopt(verdict) => self.adopt(pe, verdict),
        }
        true
    }

    fn adopt(&mut self, pe: usize, verdict: Verdict) {
        let pending = self
            .pes
            .iter_mut()
            .fold(Moment::Never, |least, pe| least.earlier(pe.least(), self.ties));
        let truth = self
            .network
            .iter()
            .fold(pending, |least, message| least.earlier(message.event.at(), self.ties));
        assert!(
            !truth.is_before(&verdict.gvt, self.ties),
            "GVT is {:?}, but there is an event at {truth:?}",
            verdict.gvt
        );
        let adopted = self.pes[pe].verdicts.len();
        assert_eq!(verdict.epoch, adopted as u64, "an epoch was skipped or closed twice");
        match self.verdicts.get(adopted) {
            Some(first) => assert_eq!(*first, verdict, "PEs adopt different verdicts"),
            None => {
                if let Some(before) = self.verdicts.last() {
                    assert!(!verdict.gvt.is_before(&before.gvt, self.ties), "GVT regresses");
                }
                let (now, before) = self.failures;
                assert!(
                    !verdict.failure.is_before(&now, self.ties),
                    "a failure that no PE reported"
                );
                assert!(!before.is_before(&verdict.failure, self.ties), "a failure was forgotten");
                self.failures.1 = now;
                self.verdicts.push(verdict);
            }
        }
        self.pes[pe].verdicts.push(verdict);
        self.pes[pe].executed.retain(|(event, _)| !event.at().is_before(&verdict.gvt, self.ties));
    }

    fn deliver(&mut self) -> bool {
        if self.network.is_empty() {
            return false;
        }
        let chosen = self.dice.index(self.network.len());
        let message = self.network.swap_remove(chosen);
        self.receive(message);
        true
    }

    fn deliver_control(&mut self) -> bool {
        if !self.written.is_empty() {
            let read = self.dice.index(self.written.len());
            let (&place, &put) = self.written.iter().nth(read).expect("it is in the map");
            self.written.remove(&place);
            self.gvts[place.0 as usize].receive_control(put.read(place.1));
            return true;
        }
        let full: Vec<_> =
            self.wires.iter().filter(|(_, wire)| !wire.is_empty()).map(|(&ends, _)| ends).collect();
        if full.is_empty() {
            return false;
        }
        let ends = full[self.dice.index(full.len())];
        let wire = self.wires.get_mut(&ends).expect("it is in the map");
        let chosen = if self.habits.ordered { 0 } else { self.dice.index(wire.len()) };
        let control = wire.remove(chosen).expect("it is on the wire");
        self.gvts[ends.1 as usize].receive_control(control);
        true
    }

    fn step(&mut self) {
        let pe = self.dice.index(self.pes.len());
        if self.dice.below(1000) < self.habits.wish {
            self.gvts[pe].wish();
        }
        let mut drawn = self.dice.below(self.habits.weights.iter().sum());
        let chosen = self.habits.weights.iter().position(|&weight| {
            let here = drawn < weight;
            drawn = drawn.saturating_sub(weight);
            here
        });
        match chosen {
            Some(0) => self.execute(pe),
            Some(1) => drop(self.deliver()),
            Some(2) => drop(self.deliver_control()),
            _ => drop(self.advance(pe)),
        }
    }

    fn is_done(&self) -> bool {
        self.network.is_empty() && self.pes.iter().all(|pe| pe.pending.is_empty())
    }

    /// Lets the algorithm finish, as nothing more will happen.
    fn quiesce(&mut self) {
        let mut still = 0;
        for _ in 0..STEPS {
            let received = self.deliver_control();
            let advanced = (0..self.pes.len()).filter(|&pe| self.advance(pe)).count();
            still = if received || advanced > 0 { 0 } else { still + 1 };
            // At a barrier, PEs do something without an action, and results over ranks are late.
            if still > 60 {
                assert!(self.gvts.iter().all(|gvt| !gvt.is_on() && !gvt.is_paused()), "a PE hangs");
                return;
            }
        }
        panic!("the algorithm does not terminate");
    }

    pub(super) fn run(mut self) -> Vec<Verdict> {
        for step in 0.. {
            assert!(step < STEPS, "GVT or the simulation does not terminate");
            if self.is_done() {
                break;
            }
            self.step();
        }
        self.quiesce();
        // A single PE, whichever it is, must get all others to join.
        let before = self.verdicts.len();
        let pe = self.dice.index(self.pes.len());
        self.gvts[pe].wish();
        self.gvts[pe].wish();
        self.quiesce();
        assert_eq!(self.verdicts.len(), before + 1, "one wish, one epoch");
        let last = self.verdicts[before];
        assert_eq!(last.gvt, Moment::Never, "nothing is left to do");
        assert!(last.rounds <= 2, "{} rounds with nothing in flight", last.rounds);
        assert_eq!(last.failure, self.failures.0);
        assert!(self.pes.iter().all(|pe| pe.verdicts == self.verdicts), "a PE missed a verdict");
        assert!(self.gvts.iter().all(|gvt| gvt.epoch() == before as u64 + 1));
        let work = self.verdicts.iter().fold(Work::default(), |sum, verdict| sum + verdict.work);
        assert_eq!(work, self.total, "work is counted once");
        let ends: u64 = self.gvts.iter().map(|gvt| gvt.neighbours().len() as u64).sum();
        for verdict in &self.verdicts {
            // A call to each neighbour; then in each round a share, the next round or the verdict.
            let most = ends * (1 + u64::from(verdict.rounds));
            let sent_controls = self.sent_controls.get(&verdict.epoch).copied().unwrap_or(0);
            assert!(
                sent_controls <= most,
                "{sent_controls} messages for {} rounds of {} PEs",
                verdict.rounds,
                self.pes.len()
            );
        }
        self.verdicts
    }
}
