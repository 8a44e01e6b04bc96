//! What a step has done, by the counts of its PE, and what that costs.

use warpline_kernel::Counts;
use warpline_machine::{Machine, Time};
use warpline_transport::{Opened, Sent};

/// What a PE has done so far, or in a step, as far as the machine charges for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    processed: u64,
    /// Executed ahead, with what it takes to undo it.
    ahead: u64,
    repeated: u64,
    undone: u64,
    /// Committed of those executed ahead.
    committed_ahead: u64,
    received: u64,
    registers_read: u64,
    registers_written: u64,
    pub(super) verdicts: u64,
}

impl Done {
    pub(super) fn of(counts: &Counts) -> Self {
        Done {
            processed: counts.processed,
            ahead: counts.ahead(),
            repeated: counts.repeated,
            undone: counts.rolled_back,
            committed_ahead: counts.committed.saturating_sub(counts.certain),
            received: counts.messages_received + counts.anti_received,
            verdicts: counts.gvt_epochs,
            registers_read: counts.register_reads,
            registers_written: counts.register_writes,
        }
    }

    pub(super) fn since(self, before: Done) -> Done {
        Done {
            processed: self.processed - before.processed,
            ahead: self.ahead - before.ahead,
            repeated: self.repeated - before.repeated,
            undone: self.undone - before.undone,
            committed_ahead: self.committed_ahead.saturating_sub(before.committed_ahead),
            received: self.received - before.received,
            verdicts: self.verdicts - before.verdicts,
            registers_read: self.registers_read - before.registers_read,
            registers_written: self.registers_written - before.registers_written,
        }
    }

    /// Whether there is anything but accesses to registers, which a PE makes while it waits.
    pub(super) fn any(self) -> bool {
        Done { registers_read: 0, registers_written: 0, ..self } != Done::default()
    }

    /// Whether there is anything but events that have been received.
    pub(super) fn more_than_mail(self) -> bool {
        Done { received: 0, ..self }.any()
    }
}

/// How time is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) computing: Time,
    pub(super) messages: Time,
    pub(super) gvt: Time,
    pub(super) undo: Time,
}

impl Spent {
    /// What a step of one of so many PEs costs from the time on at which it has taken in its
    /// messages.
    pub(super) fn of(machine: &Machine, pes: u32, did: Done, sent: Sent) -> Self {
        let costs = &machine.costs;
        let registers = machine.lbts_read(pes) * did.registers_read
            + machine.register_write() * did.registers_written;
        Spent {
            computing: costs.event * (did.processed + did.repeated),
            messages: costs.turn + sent.sending,
            gvt: costs.gvt_step * did.verdicts + registers + sent.gvt,
            undo: costs.copy * did.ahead
                + costs.undo * did.undone
                + costs.commit * did.committed_ahead,
        }
    }

    pub(super) fn all(&self) -> Time {
        self.computing + self.messages + self.gvt + self.undo
    }

    /// Adds what another step cost, and what it took to take in its messages; all of it as many
    /// times as long as the core is slower.
    pub(super) fn add(&mut self, step: &Spent, opened: &Opened, slowdown: Slowdown) {
        self.computing += slowdown.of(step.computing);
        self.messages += slowdown.of(step.messages) + opened.receiving;
        self.gvt += slowdown.of(step.gvt) + opened.gvt;
        self.undo += slowdown.of(step.undo);
    }
}

/// How many times as long a core takes, in whole thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slowdown(u64);

impl Slowdown {
    pub(super) fn new(times: f64) -> Self {
        Slowdown((times * 1000.0).round() as u64)
    }

    pub(super) fn of(self, time: Time) -> Time {
        if self.0 == 1000 {
            return time;
        }
        let picoseconds = u128::from(time.as_picoseconds()) * u128::from(self.0) / 1000;
        Time::picoseconds(picoseconds as u64)
    }
}
