use warpline_base::VirtualTime;
use warpline_memory::{Handle, MakeRoom};

use crate::Cancellation;
use crate::past::side_records::SideRecordId;

/// What an undone event had sent. It is kept in the side record until the event is executed again
/// or dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingCancellation {
    /// The event, which is pending.
    pub(crate) event: Handle,
    pub(crate) time: VirtualTime,
    pub(crate) side_record: SideRecordId,
}

/// What undone events had sent and has neither been cancelled nor sent again.
///
/// Invariant: the events are pending, and the earliest of each KP is on top of its stack. For a KP
/// undoes events from the last to the first; a PE executes pending events in order, so those left
/// of a KP are no earlier than any that it has executed; and an event that leaves the pending set
/// for any other reason leaves the stack, too.
///
/// For the next event of the pending set, the stack is searched up to its time, and not just at the
/// top: of two events with one key, one of which is about to be cancelled, either may come first.
#[derive(Debug)]
pub(crate) struct PendingCancellations {
    /// By KP; none under aggressive cancellation.
    stacks: Vec<Vec<PendingCancellation>>,
    /// The number of entries in all stacks.
    len: usize,
    selector: Selector,
}

/// How messages to users call what is kept.
const KEPT: &str = "what undone events may send again";

impl PendingCancellations {
    pub(crate) fn new(cancellation: Cancellation, kps: usize) -> Self {
        let kps = if cancellation == Cancellation::Aggressive { 0 } else { kps };
        let mut stacks = Vec::new();
        stacks.make_room(kps, KEPT);
        stacks.resize_with(kps, Vec::new);
        PendingCancellations { stacks, len: 0, selector: Selector::new(cancellation) }
    }

    /// Whether anything is kept.
    #[inline(always)]
    pub(crate) fn is_any(&self) -> bool {
        self.len > 0
    }

    /// Whether to copy what is sent to other PEs now, so that it can be kept.
    #[inline(always)]
    pub(crate) fn copies(&mut self) -> bool {
        self.selector.mode != Mode::Never && self.selector.takes(Turn::Send)
    }

    /// Whether to keep what an event had sent when the event is undone. `copied` says whether some
    /// of it was copied for that.
    #[inline]
    pub(crate) fn keeps(&mut self, copied: bool) -> bool {
        self.selector.mode != Mode::Never && (copied || self.selector.takes(Turn::Undo))
    }

    /// Keeps what an event of a KP had sent. The event comes before all others that are kept for
    /// that KP.
    pub(crate) fn push(&mut self, k: usize, kept: PendingCancellation) {
        self.stacks[k].make_room(1, KEPT);
        self.stacks[k].push(kept);
        self.len += 1;
    }

    /// The index of an event in its KP's stack, if anything is kept for it. The event is the next
    /// of the pending set.
    fn find(&self, k: usize, event: Handle, time: VirtualTime) -> Option<usize> {
        let stack = self.stacks.get(k)?;
        let soon = stack
            .iter()
            .rev()
            .take_while(|kept| kept.time <= time)
            .position(|kept| kept.event == event)?;
        Some(stack.len() - 1 - soon)
    }

    /// Whether anything is kept for the next event of the pending set.
    #[inline]
    pub(crate) fn has(&self, k: usize, event: Handle, time: VirtualTime) -> bool {
        self.len > 0 && self.find(k, event, time).is_some()
    }

    /// Takes out what is kept for the next event of the pending set, if anything.
    pub(crate) fn take(
        &mut self,
        k: usize,
        event: Handle,
        time: VirtualTime,
    ) -> Option<PendingCancellation> {
        let place = self.find(k, event, time)?;
        self.len -= 1;
        Some(self.stacks[k].remove(place))
    }

    /// Takes out what is kept for the events of a KP from a time on.
    pub(crate) fn take_from(&mut self, k: usize, time: VirtualTime) -> Vec<PendingCancellation> {
        let Some(stack) = self.stacks.get_mut(k) else { return Vec::new() };
        let earlier = stack.iter().rev().take_while(|kept| kept.time < time).count();
        let kept: Vec<PendingCancellation> = stack.drain(..stack.len() - earlier).collect();
        self.len -= kept.len();
        kept
    }

    /// Notes how many of the messages that were kept were sent again, and how many were not.
    pub(crate) fn note(&mut self, sent_again: u64, cancelled: u64) {
        self.selector.note(sent_again, cancelled);
    }
}

/// Selects between aggressive and lazy cancellation: decides whether it pays to keep what undone
/// events had sent.
///
/// The two thresholds are those of R. Rajan, R. Radhakrishnan and P. Wilsey, "Dynamic cancellation:
/// selecting Time Warp cancellation strategies at runtime", Int. J. Simulation Practice and Theory,
/// 1999. They differ so that the mode does not flip back and forth. In that paper, PEs compare
/// everything even while they cancel at once; here they keep what a sample of events had sent.
#[derive(Debug)]
struct Selector {
    mode: Mode,
    adapts: bool,
    /// Sends, and undone events, since the last sample of each kind.
    turns: [u32; 2],
    sent_again: u64,
    cancelled: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Nothing is ever kept.
    Never,
    /// Only samples are kept.
    Samples,
    /// Everything is kept.
    Always,
}

/// What samples are taken of.
#[derive(Clone, Copy)]
enum Turn {
    Send,
    Undo,
}

impl Selector {
    /// One in this many is a sample.
    const SAMPLE: u32 = 16;
    /// The mode is selected anew after this many messages.
    const ENOUGH: u64 = 64;
    /// From this share of messages sent again on, everything is kept.
    const PAYS: f64 = 0.45;
    /// Below this share, only samples are kept.
    const DOES_NOT_PAY: f64 = 0.2;

    fn new(cancellation: Cancellation) -> Self {
        let mode = match cancellation {
            Cancellation::Aggressive => Mode::Never,
            Cancellation::Lazy => Mode::Always,
            Cancellation::Dynamic => Mode::Samples,
        };
        Selector {
            mode,
            adapts: cancellation == Cancellation::Dynamic,
            turns: [0; 2],
            sent_again: 0,
            cancelled: 0,
        }
    }

    /// Whether to keep what is at hand, as everything is kept or this is a sample.
    fn takes(&mut self, turn: Turn) -> bool {
        if self.mode == Mode::Always {
            return true;
        }
        let turn = &mut self.turns[turn as usize];
        *turn = (*turn + 1) % Self::SAMPLE;
        *turn == 0
    }

    /// Counts messages that were kept, and selects the mode anew after enough of them.
    fn note(&mut self, sent_again: u64, cancelled: u64) {
        self.sent_again += sent_again;
        self.cancelled += cancelled;
        let all = self.sent_again + self.cancelled;
        if !self.adapts || all < Self::ENOUGH {
            return;
        }
        let share = self.sent_again as f64 / all as f64;
        if share >= Self::PAYS {
            self.mode = Mode::Always;
        } else if share < Self::DOES_NOT_PAY {
            self.mode = Mode::Samples;
        }
        self.sent_again = 0;
        self.cancelled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(time: f64) -> VirtualTime {
        VirtualTime::new(time).expect("a time")
    }

    fn kept(event: u32, at: f64) -> PendingCancellation {
        PendingCancellation {
            event: Handle::from_bits(event),
            time: time(at),
            side_record: SideRecordId::NONE,
        }
    }

    #[test]
    fn what_is_kept_is_found_when_the_turn_of_its_event_comes() {
        let mut stacks = PendingCancellations::new(Cancellation::Lazy, 2);
        [(0, kept(9, 4.0)), (1, kept(8, 3.0)), (0, kept(7, 2.0)), (0, kept(6, 2.0))]
            .into_iter()
            .for_each(|(k, kept)| stacks.push(k, kept));
        let found = |stacks: &PendingCancellations, k, event, at| {
            stacks.has(k, Handle::from_bits(event), time(at))
        };
        assert!(
            found(&stacks, 0, 6, 2.0) && found(&stacks, 0, 7, 2.0),
            "both are at the same time"
        );
        assert!(
            !found(&stacks, 0, 9, 2.0) && !found(&stacks, 1, 7, 3.0) && !found(&stacks, 0, 5, 2.0)
        );
        let mut take = |k, event, at| {
            stacks.take(k, Handle::from_bits(event), time(at)).map(|kept| kept.event.bits())
        };
        assert_eq!(
            [take(0, 7, 2.0), take(0, 7, 2.0), take(0, 6, 2.0), take(0, 9, 3.0)],
            [Some(7), None, Some(6), None]
        );
        assert_eq!(
            (stacks.take_from(0, time(4.5)).len(), stacks.take_from(0, time(4.0)).len()),
            (0, 1)
        );
        assert!(stacks.is_any());
        assert!(stacks.take_from(1, time(0.0)).len() == 1 && !stacks.is_any());
    }

    #[test]
    fn the_latest_are_taken_from_a_time_on() {
        let mut stacks = PendingCancellations::new(Cancellation::Lazy, 1);
        (1..=5).rev().for_each(|event| stacks.push(0, kept(event, event.into())));
        let taken: Vec<_> =
            stacks.take_from(0, time(3.0)).iter().map(|kept| kept.event.bits()).collect();
        assert_eq!((taken, stacks.len), (vec![5, 4, 3], 2));
        assert!(stacks.has(0, kept(1, 1.0).event, time(1.0)));
    }

    #[test]
    fn nothing_is_kept_where_all_is_cancelled_at_once() {
        let mut stacks = PendingCancellations::new(Cancellation::Aggressive, 4);
        assert!((0..100).all(|_| !stacks.copies() && !stacks.keeps(false)));
        let event = kept(1, 1.0).event;
        assert!(
            !stacks.has(3, event, time(1.0))
                && stacks.take(3, event, time(1.0)).is_none()
                && stacks.take_from(3, time(0.0)).is_empty()
        );
        stacks.note(1000, 0);
        assert!(!stacks.keeps(false));
    }

    #[test]
    fn a_pe_does_what_has_paid() {
        let mut stacks = PendingCancellations::new(Cancellation::Dynamic, 1);
        let share =
            |stacks: &mut PendingCancellations| (0..160).filter(|_| stacks.keeps(false)).count();
        assert_eq!(
            (share(&mut stacks), (0..160).filter(|_| stacks.copies()).count()),
            (10, 10),
            "samples"
        );
        assert!(stacks.keeps(true), "what has been copied is compared");
        stacks.note(63, 0);
        assert_eq!(share(&mut stacks), 10, "too few to tell");
        stacks.note(1, 0);
        assert_eq!(share(&mut stacks), 160);
        stacks.note(20, 44);
        assert_eq!(share(&mut stacks), 160, "neither good nor bad");
        stacks.note(0, 64);
        assert_eq!(share(&mut stacks), 10);
        let mut lazy = PendingCancellations::new(Cancellation::Lazy, 1);
        lazy.note(0, 1000);
        assert_eq!(share(&mut lazy), 160);
    }
}
