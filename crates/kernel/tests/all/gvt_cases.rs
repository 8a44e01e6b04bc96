//! Small cases of GVT, worked out by hand.

mod caught;

use std::collections::VecDeque;

use warpline_base::{EventKey, LpId, Moment, Priority, Sequence, TieBreak, VirtualTime};
use warpline_kernel::gvt::{
    Action, AnyGvt, Barrier, Control, Gvt, GvtAlgorithm, Hierarchy, Local, Verdict, Work,
};
use warpline_memory::Region;

const TIES: TieBreak = TieBreak::BySender;

fn at(time: u64) -> Moment {
    let time = VirtualTime::from_bits(time);
    Moment::Event(EventKey {
        time,
        step: 0,
        priority: Priority::NORMAL,
        sender: LpId(0),
        sequence: Sequence::first_of(1),
    })
}

/// More turns than any case takes: one that needs more hangs.
const TURNS: u32 = 1000;

/// A PE with one pending event.
struct Still {
    least: Moment,
    failure: Moment,
    work: Work,
}

impl Still {
    fn until(least: Moment) -> Self {
        Still {
            least,
            failure: Moment::Never,
            work: Work { processed: 1, rolled_back: 2, steps: 3, idle_steps: 4, waiting_steps: 5 },
        }
    }
}

impl Local for Still {
    fn least(&mut self) -> Moment {
        self.least
    }

    fn failure(&self) -> Moment {
        self.failure
    }

    fn take_work(&mut self) -> Work {
        std::mem::take(&mut self.work)
    }
}

/// All algorithms, and synchronous GVT at a barrier.
fn all(pes: u32) -> Vec<Vec<AnyGvt>> {
    let region = Region::own();
    let hierarchy = Hierarchy::new(pes, pes);
    let of = |&algorithm| AnyGvt::all(&region, algorithm, hierarchy, TIES);
    let at_barrier = AnyGvt::all_at(&Barrier::new(&region, pes, false), pes, TIES);
    GvtAlgorithm::ALL.iter().map(of).chain([at_barrier]).collect()
}

/// All PEs, joined by wires on which every message takes one turn.
struct Machine {
    pes: Vec<(AnyGvt, Still)>,
    wires: VecDeque<(u32, Control)>,
    adopted: Vec<Verdict>,
}

impl Machine {
    /// PE i waits for the moment 10 + i. All of them form one group.
    fn new(pes: u32, algorithm: GvtAlgorithm) -> Self {
        Machine::with(Hierarchy::new(pes, pes), algorithm)
    }

    fn with(hierarchy: Hierarchy, algorithm: GvtAlgorithm) -> Self {
        Machine::of(AnyGvt::all(&Region::own(), algorithm, hierarchy, TIES))
    }

    fn of(gvts: Vec<AnyGvt>) -> Self {
        let pes = (0..).zip(gvts).map(|(me, gvt)| (gvt, Still::until(at(10 + me)))).collect();
        Machine { pes, wires: VecDeque::new(), adopted: Vec::new() }
    }

    fn advance(&mut self, pe: usize) {
        let (gvt, local) = &mut self.pes[pe];
        for actions in 0.. {
            let Some(action) = gvt.advance(local) else { break };
            assert!(actions < 10_000, "actions without end");
            match action {
                Action::Send { to, control } => self.wires.push_back((to, control)),
                Action::Write { to, put } => self.wires.push_back((to, put.read(pe as u32))),
                Action::Adopt(verdict) => self.adopted.push(verdict),
            }
        }
    }

    /// Delivers what is in transit now, and lets PEs react.
    fn turn(&mut self) {
        for (to, control) in std::mem::take(&mut self.wires) {
            self.pes[to as usize].0.receive_control(control);
            self.advance(to as usize);
        }
    }

    /// Lets a PE ask for GVT, and returns how many turns pass until nothing is in transit.
    fn wish(&mut self, pe: usize) -> u32 {
        self.pes[pe].0.wish();
        self.advance(pe);
        let mut turns = 0;
        while !self.wires.is_empty() {
            assert!(turns < 10_000, "messages without end");
            self.turn();
            turns += 1;
            assert!(turns < TURNS, "GVT does not terminate");
        }
        turns
    }
}

#[test]
fn one_pe_needs_no_messages() {
    for gvts in all(1) {
        let algorithm = gvts[0].algorithm();
        let mut machine = Machine::of(gvts);
        assert_eq!(machine.wish(0), 0, "{algorithm:?} GVT of one PE needs no messages");
        machine.pes[0].1 = Still { failure: at(11), ..Still::until(Moment::Never) };
        machine.wish(0);
        let found: Vec<_> = machine
            .adopted
            .iter()
            .map(|verdict| (verdict.epoch, verdict.gvt, verdict.failure))
            .collect();
        assert_eq!(found, [(0, at(10), Moment::Never), (1, Moment::Never, at(11))]);
        assert_eq!(machine.adopted[1].work, Still::until(Moment::Never).work);
    }
}

/// Among 1023 PEs, a tree of fan-in 8 is four levels deep; groups of 16 have two levels, and 64
/// leaders six stages; without groups there are nine stages, and PEs beyond the first 512. A call
/// crosses that once, up to twice in trees, and so does each round.
#[test]
fn a_wish_spreads_in_one_traversal_of_the_hierarchy() {
    for (group, across) in [(1023, 8), (16, 10), (1, 11)] {
        for (algorithm, rounds) in [
            (GvtAlgorithm::Asynchronous, 1),
            (GvtAlgorithm::OneSided, 1),
            (GvtAlgorithm::Synchronous, 2),
        ] {
            for pe in [0, 1, 511, 700, 1022] {
                let mut machine = Machine::with(Hierarchy::new(1023, group), algorithm);
                let turns = machine.wish(pe);
                assert!(
                    turns <= across * (1 + rounds),
                    "{algorithm:?} GVT takes {turns} turns from PE {pe} with groups of {group}"
                );
                assert_eq!(machine.adopted.len(), 1023);
                for verdict in &machine.adopted {
                    assert_eq!((verdict.epoch, verdict.rounds, verdict.gvt), (0, rounds, at(10)));
                    assert_eq!(
                        verdict.work,
                        Work {
                            processed: 1023,
                            rolled_back: 2046,
                            steps: 3069,
                            idle_steps: 4092,
                            waiting_steps: 5115
                        }
                    );
                }
            }
        }
    }
}

#[test]
fn a_wish_during_a_computation_is_dropped() {
    for (algorithm, is_paused, turns) in [
        (GvtAlgorithm::Asynchronous, false, 3),
        (GvtAlgorithm::OneSided, false, 3),
        (GvtAlgorithm::Synchronous, true, 5),
    ] {
        let mut machine = Machine::new(2, algorithm);
        assert!(!machine.pes[0].0.is_paused());
        machine.pes[0].0.wish();
        machine.advance(0);
        assert!(machine.pes[0].0.is_on());
        assert_eq!(machine.pes[0].0.is_paused(), is_paused);
        assert_eq!(machine.wish(0), turns, "a wish during a computation starts no other");
        assert_eq!(machine.adopted.len(), 2);
        assert!(
            machine.pes.iter().all(|(gvt, _)| !gvt.is_on() && !gvt.is_paused() && gvt.epoch() == 1)
        );
    }
}

/// Two PEs of a butterfly exchange their shares at the same time.
#[test]
fn partners_need_no_answer() {
    let mut machine = Machine::with(Hierarchy::new(2, 1), GvtAlgorithm::Asynchronous);
    assert_eq!(machine.wish(0), 3, "a call there and one back, and a share");
    assert_eq!(machine.adopted.len(), 2);
}

#[test]
fn a_message_across_the_cut_counts() {
    let mut machine = Machine::new(2, GvtAlgorithm::Asynchronous);
    let tag = machine.pes[1].0.sent(0, || at(11));
    machine.pes[0].0.wish();
    machine.advance(0);
    machine.turn();
    machine.turn();
    machine.turn();
    assert!(machine.adopted.is_empty(), "a message is in flight");
    machine.pes[0].0.received(tag, || at(3));
    machine.wish(0);
    assert!(
        machine.adopted.iter().all(|verdict| verdict.gvt == at(3) && verdict.rounds > 1),
        "{:?}",
        machine.adopted
    );
}

#[test]
fn a_message_from_after_the_cut_counts_in_its_own_epoch() {
    let mut machine = Machine::new(2, GvtAlgorithm::Asynchronous);
    machine.pes[0].0.wish();
    machine.advance(0);
    let tag = machine.pes[0].0.sent(1, || at(10));
    machine.pes[1].0.received(tag, || unreachable!("it is pending at the cut"));
    machine.wish(0);
    assert_eq!(machine.adopted.iter().map(|verdict| verdict.rounds).collect::<Vec<_>>(), [1, 1]);
    machine.wish(1);
    assert_eq!(machine.adopted.iter().map(|verdict| verdict.rounds).collect::<Vec<_>>(), [1; 4]);
}

#[test]
fn every_algorithm_can_be_chosen_at_run_time() {
    for (mut gvt, place) in all(2).into_iter().map(|mut gvts| gvts.remove(0)).zip(0..) {
        let algorithm = gvt.algorithm();
        let at_barrier = place == GvtAlgorithm::ALL.len();
        assert_eq!(algorithm, *GvtAlgorithm::ALL.get(place).unwrap_or(&GvtAlgorithm::Synchronous));
        let mut local = Still::until(at(5));
        assert_eq!((gvt.is_on(), gvt.is_paused(), gvt.epoch()), (false, false, 0));
        let by_messages = !at_barrier && !algorithm.needs_shared_memory();
        assert_eq!(gvt.neighbours(), if by_messages { vec![1] } else { vec![] });
        gvt.sent(1, || at(6));
        gvt.announce();
        gvt.wish();
        let begin = Control::Begin { from: 0, epoch: 0 };
        let first = gvt.advance(&mut local);
        assert_eq!(first.is_some(), by_messages, "{algorithm:?}");
        if by_messages {
            match algorithm {
                GvtAlgorithm::Asynchronous | GvtAlgorithm::Synchronous => {
                    assert_eq!(first, Some(Action::Send { to: 1, control: begin }));
                }
                GvtAlgorithm::OneSided => {
                    assert_eq!(first, Some(Action::Write { to: 1, put: begin.into() }));
                }
                _ => {}
            }
        }
        assert_eq!(
            (gvt.advance(&mut local), gvt.is_on(), gvt.is_paused(), gvt.epoch()),
            (None, true, gvt.stops_pes(), 1)
        );
        assert_eq!(gvt.stops_pes(), algorithm == GvtAlgorithm::Synchronous);
        assert_eq!(gvt.waits_at_barrier().is_some(), at_barrier);
    }
}

/// Anybody can read LBTS from the registers at any time: it covers what is pending and what is on
/// its way. PEs set the registers every few steps.
#[test]
fn lbts_can_be_read_at_any_moment() {
    let mut machine = Machine::new(3, GvtAlgorithm::Gsu);
    let lbts = |machine: &Machine| match &machine.pes[2].0 {
        AnyGvt::Gsu(gvt) => gvt.lbts(),
        other => panic!("{other:?}"),
    };
    assert_eq!(lbts(&machine), Some(Moment::Init(LpId(0))), "nobody has set a register yet");
    let settle = |machine: &mut Machine, pe| (0..20).for_each(|_| machine.advance(pe));
    (0..3).for_each(|pe| settle(&mut machine, pe));
    assert_eq!(lbts(&machine), Some(at(10)));
    let tag = machine.pes[0].0.sent(1, || at(11));
    machine.pes[0].1.least = at(50);
    settle(&mut machine, 0);
    assert_eq!(lbts(&machine), Some(at(11)));
    machine.pes[1].0.received(tag, || at(11));
    machine.pes[1].1.least = at(40);
    settle(&mut machine, 1);
    assert_eq!(lbts(&machine), Some(at(12)));
    assert!(machine.adopted.is_empty(), "nobody has asked for a verdict");
}

/// A share given before the parent's cut would miss what the parent sends until then, and another
/// reduction would be needed. The same goes for a partner.
#[test]
fn a_share_waits_for_the_parent_or_the_first_partner() {
    for group in [1, 2] {
        for algorithm in [GvtAlgorithm::Asynchronous, GvtAlgorithm::Synchronous] {
            let mut gvt =
                AnyGvt::all(&Region::own(), algorithm, Hierarchy::new(2, group), TIES).remove(1);
            let mut local = Still::until(at(1));
            gvt.wish();
            let action = gvt.advance(&mut local);
            assert_eq!(
                action,
                Some(Action::Send { to: 0, control: Control::Begin { from: 1, epoch: 0 } })
            );
            assert_eq!(
                gvt.advance(&mut local),
                None,
                "{algorithm:?} GVT gives a share before the other has begun"
            );
            gvt.receive_control(Control::Begin { from: 0, epoch: 0 });
            let action = gvt.advance(&mut local);
            assert!(
                matches!(
                    action,
                    Some(Action::Send {
                        to: 0,
                        control: Control::Share { from: 1, epoch: 0, round: 0, .. }
                    })
                ),
                "{action:?}"
            );
        }
    }
}

/// Rounds are numbered from 0 in every epoch, however many there are.
#[test]
fn rounds_are_numbered_from_0_in_every_epoch() {
    // One more where the counts of two rounds are compared; partners need no turn for an answer.
    for (group, algorithm, rounds) in [
        (2, GvtAlgorithm::Asynchronous, 6),
        (2, GvtAlgorithm::Synchronous, 7),
        (1, GvtAlgorithm::Asynchronous, 11),
        (1, GvtAlgorithm::OneSided, 11),
        (1, GvtAlgorithm::Synchronous, 12),
    ] {
        let mut machine = Machine::with(Hierarchy::new(2, group), algorithm);
        for epoch in 0..3 {
            let tag = machine.pes[1].0.sent(0, || at(11));
            machine.pes[0].0.wish();
            machine.advance(0);
            (0..10).for_each(|_| machine.turn());
            assert!(machine.adopted.is_empty(), "a message is in flight");
            machine.pes[0].0.received(tag, || at(11));
            machine.wish(0);
            let adopted = std::mem::take(&mut machine.adopted);
            let found: Vec<_> =
                adopted.iter().map(|verdict| (verdict.epoch, verdict.rounds)).collect();
            assert_eq!(found, [(epoch, rounds); 2], "{algorithm:?} GVT with groups of {group}");
        }
    }
}
