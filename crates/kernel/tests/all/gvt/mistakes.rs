//! Algorithms with a mistake, and memories with too few places, which the schedules find.

use warpline_base::Moment;
use warpline_kernel::gvt::{Action, AnyGvt, Control, Gvt, GvtAlgorithm, Local, Tag};

use super::{Way, World, four_blocks};

/// A mistake must be found in one of this many schedules.
const SCHEDULES: u64 = 400;

/// An algorithm with a mistake.
struct Broken {
    gvt: AnyGvt,
    mistake: Mistake,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    /// Messages from before the cut that arrive after it do not lower the PE's share.
    ForgetsLateMessages,
    /// Some messages are not counted, neither when they are sent nor when they arrive.
    IgnoresSomeMessages,
    /// Messages are announced when they may have arrived already.
    AnnouncesLate,
    /// The registers rise before what was sent is announced.
    AnnouncesNothing,
}

impl Gvt for Broken {
    fn algorithm(&self) -> GvtAlgorithm {
        self.gvt.algorithm()
    }

    fn sent(&mut self, to: u32, at: impl FnOnce() -> Moment) -> Tag {
        let at = at();
        match self.mistake {
            Mistake::AnnouncesNothing => Tag::default(),
            Mistake::IgnoresSomeMessages if is_odd(at) => Tag::default(),
            _ => self.gvt.sent(to, || at),
        }
    }

    fn announce(&mut self) {
        if self.mistake != Mistake::AnnouncesLate {
            self.gvt.announce();
        }
    }

    fn received(&mut self, tag: Tag, at: impl FnOnce() -> Moment) {
        let at = at();
        match self.mistake {
            Mistake::ForgetsLateMessages => self.gvt.received(tag, || Moment::Never),
            Mistake::AnnouncesNothing => {}
            Mistake::IgnoresSomeMessages if is_odd(at) => {}
            _ => self.gvt.received(tag, || at),
        }
    }

    fn wish(&mut self) {
        self.gvt.wish();
    }

    fn receive_control(&mut self, control: Control) {
        self.gvt.receive_control(control);
    }

    fn advance(&mut self, local: &mut dyn Local) -> Option<Action> {
        self.gvt.advance(local)
    }

    fn neighbours(&self) -> Vec<u32> {
        self.gvt.neighbours()
    }

    fn is_paused(&self) -> bool {
        self.gvt.is_paused()
    }

    fn is_on(&self) -> bool {
        self.gvt.is_on()
    }

    fn epoch(&self) -> u64 {
        self.gvt.epoch()
    }
}

fn is_odd(moment: Moment) -> bool {
    matches!(moment, Moment::Event(key) if key.sequence.event() % 2 == 1)
}

/// Checks that schedules find the mistake of an algorithm's twin.
fn find(way: Way, mistake: Mistake) {
    let fails = |seed| {
        let run = || World::new(seed, |gvt| Broken { gvt, mistake }, way, four_blocks).run();
        std::panic::catch_unwind(run).is_err()
    };
    assert!((0..SCHEDULES).any(fails), "{way:?} GVT that {mistake:?} passes");
}

#[test]
fn mistakes_in_the_algorithms_are_found() {
    for algorithm in [GvtAlgorithm::Asynchronous, GvtAlgorithm::OneSided] {
        find(Way::Together(algorithm), Mistake::ForgetsLateMessages);
    }
    for way in
        [Way::Together(GvtAlgorithm::Synchronous), Way::AtBarrier { sleeps: true }, Way::Ranks]
    {
        find(way, Mistake::IgnoresSomeMessages);
    }
    find(Way::Together(GvtAlgorithm::Gsu), Mistake::AnnouncesLate);
    find(Way::Together(GvtAlgorithm::Gsu), Mistake::AnnouncesNothing);
}

/// With blocks for two rounds of one epoch, or for one round of two epochs, PEs overwrite what has
/// not been read.
#[test]
fn four_blocks_are_needed() {
    let two_blocks: [fn(usize) -> usize; 2] = [|place| place % 2, |place| place / 2];
    for place in two_blocks {
        let fails = |seed| {
            std::panic::catch_unwind(|| {
                World::new(seed, |gvt| gvt, Way::Together(GvtAlgorithm::OneSided), place).run()
            })
            .is_err()
        };
        assert!((0..SCHEDULES).any(fails), "two blocks are enough");
    }
}
