//! PEs that wait for registers to let them go on.

use warpline_base::VirtualTime;
use warpline_machine::{Machine, Time};

use super::core::Core;
use super::event_list::EventList;
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

impl RegisterHorizon {
    /// After a step of a PE that ends at a time: if registers let PEs go on, those wake that wait
    /// for it. They read it as soon as it is there, and no sooner.
    pub(super) fn look(
        &mut self,
        machine: &Machine,
        (stepped, pe, ends): (&mut dyn AnyPe, u32, Time),
        cores: &mut [Core],
        list: &mut EventList,
    ) {
        let core = &mut cores[pe as usize];
        core.note_waits_for(stepped.waits_for());
        let Some(horizon) = stepped.horizon_in_registers() else { return };
        let rises = horizon > self.time;
        self.time = horizon;
        if !rises {
            // It falls when a PE has adopted a verdict, until that PE writes its register again.
            if self.at > core.looked() {
                core.note_horizon(horizon, self.at.max(ends));
            }
            return;
        }
        let at = ends + machine.lbts_takes(cores.len() as u32);
        self.at = at;
        for (pe, core) in (0..).zip(cores) {
            if core.note_horizon(horizon, at) && core.is_asleep() {
                list.schedule(pe, at.max(core.free()));
            }
        }
    }
}
