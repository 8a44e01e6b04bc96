//! What a PE knows of the memory budget of its machine.
//!
//! Whatever has not committed can be undone, which frees its memory: with nothing executed beyond
//! GVT, the PEs together hold what a sequential engine would, plus their fixed parts. (D.
//! Jefferson, "Virtual time II: storage management in conservative and optimistic systems", PODC
//! 1990; S. Das and R. Fujimoto, "Adaptive memory management and optimism control in Time Warp",
//! ACM TOMACS 7(2), 1997.)

use warpline_base::{LpId, Sequence};
use warpline_memory::{Account, Exhausted, MakeRoom};

/// Memory is short when less than one part in this many of the budget is left. That part is
/// reserved for certain events.
const SPARE: u64 = 8;
/// How many verdicts in a row may find the budget exceeded before the run gives up: it takes a few
/// until all PEs have undone what they can, and others have dropped what that cancels.
const PATIENCE: u32 = 16;

/// Keeps a PE within the budget of its machine, if there is one.
///
/// Invariant: it decides nothing but how far the PE goes beyond GVT.
#[derive(Debug, Default)]
pub(crate) struct MemoryControl {
    account: Option<Account>,
    /// How many bytes all PEs have taken, as of the last look.
    taken: u64,
    /// Memory was short at the last look.
    short: bool,
    /// The PE had to stop because of that, and waits for GVT.
    waits: bool,
    /// Events that have come back, by sender and sequence number: the events that sent them are to
    /// be undone.
    returned: Vec<(LpId, Sequence)>,
    /// How many verdicts in a row have found the PE waiting with nothing left to undo.
    lean: u32,
    /// How many verdicts in a row have found the budget exceeded.
    exceeded: u32,
    /// The budget was exceeded at a look since the last verdict.
    overdrawn: bool,
    /// A batch of events has been executed since the last verdict although memory was short.
    had_batch: bool,
    /// How many events had been undone when cancelled ones were last dropped.
    undone: u64,
}

impl MemoryControl {
    /// Lets the PE draw on this account.
    pub(crate) fn begin(&mut self, account: Account) {
        self.account = Some(account);
    }

    /// Whether there is a budget.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.account.is_some()
    }

    /// Notes how many bytes the PE has.
    #[inline]
    pub(crate) fn settle(&mut self, bytes: usize) {
        if let Some(account) = &mut self.account {
            self.taken = account.settle(bytes as u64);
            let limit = account.budget().limit();
            self.short = self.taken > limit - limit / SPARE;
            self.overdrawn |= self.taken > limit;
        }
    }

    /// How many bytes all PEs had taken at the last look.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// How many bytes all PEs could take, as of the last look, before memory is short.
    #[inline]
    pub(crate) fn left(&self) -> u64 {
        let limit = self.account.as_ref().map_or(u64::MAX, |account| account.budget().limit());
        (limit - limit / SPARE).saturating_sub(self.taken)
    }

    /// Notes whether the PE has to stop, as it finds no room for what it would execute.
    #[inline]
    pub(crate) fn set_waits(&mut self, waits: bool) {
        self.waits = waits;
    }

    /// Whether the PE had to stop since this was last asked.
    pub(crate) fn take_waits(&mut self) -> bool {
        std::mem::take(&mut self.waits)
    }

    /// Whether events have been undone since cancelled ones were last dropped, so that it may pay
    /// to drop them now; `undone` counts all.
    pub(crate) fn may_drop(&self, undone: u64) -> bool {
        undone > self.undone
    }

    /// Notes that cancelled events are dropped now.
    pub(crate) fn note_dropped(&mut self, undone: u64) {
        self.undone = undone;
    }

    /// Whether memory is short: nothing should grow unless it must.
    #[inline(always)]
    pub(crate) fn is_short(&self) -> bool {
        self.short
    }

    /// Whether the budget is exceeded.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.account.as_ref().is_some_and(|account| self.taken > account.budget().limit())
    }

    /// Whether the budget has been exceeded since the last verdict, if only for a moment. One PE
    /// may see it exceeded when another does not, and all have to give back what they can.
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.overdrawn
    }

    /// Whether the last verdict found the budget exceeded, and what was undone then was not enough.
    pub(crate) fn was_exceeded(&self) -> bool {
        self.exceeded > 0
    }

    /// Notes that an event sent by LP `sender` has come back.
    #[cold]
    pub(crate) fn note_returned(&mut self, sender: LpId, sequence: Sequence) {
        self.returned.make_room(1, "events that have come back");
        self.returned.push((sender, sequence));
    }

    pub(crate) fn take_returned(&mut self) -> Vec<(LpId, Sequence)> {
        std::mem::take(&mut self.returned)
    }

    /// Notes a verdict, and whether the PE waits for memory with nothing left to undo. Returns
    /// whether to send events back now. As that looks through all pending events, it is done less
    /// and less often.
    pub(crate) fn should_send_back(&mut self, waits: bool) -> bool {
        self.lean = if waits { self.lean.saturating_add(1) } else { 0 };
        self.lean.is_power_of_two()
    }

    /// Whether a new GVT may bring room that is needed.
    #[inline]
    pub(crate) fn wants_gvt(&self) -> bool {
        self.waits || self.short && self.is_exceeded()
    }

    /// Whether a batch of events may be executed although memory is short: one for each verdict.
    pub(crate) fn take_batch(&mut self) -> bool {
        !std::mem::replace(&mut self.had_batch, true)
    }

    /// Notes a verdict, on which the PE has undone what it can.
    ///
    /// # Errors
    /// If the budget has been exceeded for too many verdicts in a row.
    pub(crate) fn judge(&mut self) -> Result<(), Exhausted> {
        self.had_batch = false;
        self.overdrawn = false;
        self.exceeded = if self.is_exceeded() { self.exceeded + 1 } else { 0 };
        match &self.account {
            Some(account) if self.exceeded > PATIENCE => Err(account.budget().exceeded(self.taken)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use warpline_memory::{Budget, Region};

    use super::*;

    #[test]
    fn memory_is_short_before_the_budget_is_exceeded() {
        let budget = Budget::new(&Region::own(), 800, 0);
        let mut memory_control = MemoryControl::default();
        memory_control.settle(900);
        assert!(
            !memory_control.is_on() && !memory_control.is_short() && !memory_control.is_exceeded(),
            "without a budget"
        );
        memory_control.begin(budget.account());
        for (bytes, short, exceeded) in [
            (700, false, false),
            (701, true, false),
            (800, true, false),
            (801, true, true),
            (10, false, false),
        ] {
            memory_control.settle(bytes);
            assert_eq!(
                (memory_control.is_short(), memory_control.is_exceeded()),
                (short, exceeded),
                "{bytes}"
            );
        }
        assert!(memory_control.is_overdrawn(), "it was");
        assert_eq!(
            (memory_control.judge(), memory_control.is_overdrawn(), memory_control.was_exceeded()),
            (Ok(()), false, false)
        );
    }

    #[test]
    fn a_run_gives_up_only_if_nothing_helps() {
        let budget = Budget::new(&Region::own(), 800, 0);
        let mut memory_control = MemoryControl::default();
        memory_control.begin(budget.account());
        for round in 0..3 {
            memory_control.settle(801);
            assert!((0..PATIENCE).all(|_| memory_control.judge().is_ok()), "{round}");
            memory_control.settle(800);
            assert_eq!(memory_control.judge(), Ok(()));
        }
        memory_control.settle(900);
        assert_eq!(
            (0..=PATIENCE).filter_map(|_| memory_control.judge().err()).collect::<Vec<_>>(),
            [Exhausted::Budget { limit: 800, needed: 900 }]
        );
    }

    #[test]
    fn a_batch_is_executed_for_each_verdict() {
        let budget = Budget::new(&Region::own(), 800, 0);
        let mut memory_control = MemoryControl::default();
        assert_eq!(memory_control.left(), u64::MAX - u64::MAX / SPARE, "without a budget");
        memory_control.begin(budget.account());
        memory_control.settle(790);
        assert_eq!([memory_control.take_batch(), memory_control.take_batch()], [true, false]);
        assert_eq!(memory_control.judge(), Ok(()));
        assert_eq!([memory_control.take_batch(), memory_control.take_batch()], [true, false]);
        for (taken, left) in [(0, 700), (650, 50), (790, 0)] {
            memory_control.settle(taken);
            assert_eq!(memory_control.left(), left, "{taken}");
        }
    }
}
