//! PEs that wait for hardware: for registers to let them go on, and for room in mailboxes.

use warpline_base::VirtualTime;
use warpline_machine::Time;

use super::Stepper;
use crate::parallel::any_pe::AnyPe;

/// What registers say, and when PEs can read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterHorizon {
    /// How far they let PEs go.
    time: VirtualTime,
    at: Time,
}

impl Default for RegisterHorizon {
    fn default() -> Self {
        RegisterHorizon { time: VirtualTime::ZERO, at: Time::ZERO }
    }
}

impl Stepper<'_, '_> {
    /// After a step of a PE that ends at a time: if registers let PEs go on, those wake that wait
    /// for it. They read it as soon as it is there, and no sooner.
    pub(super) fn look_at_registers(&mut self, stepped: &mut dyn AnyPe, pe: u32, ends: Time) {
        let core = &mut self.cores[pe as usize];
        core.note_waits_for(stepped.waits_for());
        let Some(horizon) = stepped.horizon_in_registers() else { return };
        let last = self.horizon.time;
        if horizon <= last {
            // It falls when a PE has adopted a verdict, until that PE writes its register again.
            self.horizon.time = horizon;
            let RegisterHorizon { time, at } = self.horizon;
            if at > core.looked() {
                core.note_horizon(time, at.max(ends));
            }
            return;
        }
        let at = ends + self.modelled.machine.lbts_takes(self.cores.len() as u32);
        self.horizon = RegisterHorizon { time: horizon, at };
        for (pe, core) in (0..).zip(&mut self.cores) {
            if core.note_horizon(horizon, at) && core.is_asleep() {
                self.list.schedule(pe, at.max(core.free()));
            }
        }
    }

    /// After a step of a PE that began at `now`: its mailbox has been emptied, and those try again
    /// that waited for room in it.
    pub(super) fn wake_senders(&mut self, pe: u32, now: Time) {
        for sender in self.modelled.wires.has_room(pe) {
            if self.cores[sender as usize].is_blocked() {
                self.list.schedule(sender, now);
            }
        }
    }
}
