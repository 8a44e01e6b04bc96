//! Figures of a machine times a factor: to see how much a prediction depends on them, and for
//! events that cost more or less than those that the machine was measured with.

use crate::{Costs, Level, Machine, MailboxUnit, Noise, RegisterUnit, Time};

/// Figures that are scaled together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureGroup {
    /// Latencies and hops.
    Latency,
    /// Bandwidths, of copying, too, and how many messages a network card sends in a time.
    Bandwidth,
    /// What an event costs.
    Event,
    /// What messages and turns cost cores.
    Messages,
    /// What undoing costs, and being able to.
    Undo,
    /// What finding GVT and publishing bounds cost, in hardware, too.
    Gvt,
    /// How long interruptions last, and by how much stragglers are slower.
    Noise,
}

impl FigureGroup {
    /// All of them.
    pub const ALL: [FigureGroup; 7] = [
        FigureGroup::Latency,
        FigureGroup::Bandwidth,
        FigureGroup::Event,
        FigureGroup::Messages,
        FigureGroup::Undo,
        FigureGroup::Gvt,
        FigureGroup::Noise,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            FigureGroup::Latency => "latency",
            FigureGroup::Bandwidth => "bandwidth",
            FigureGroup::Event => "event",
            FigureGroup::Messages => "messages",
            FigureGroup::Undo => "undo",
            FigureGroup::Gvt => "gvt",
            FigureGroup::Noise => "noise",
        }
    }
}

impl Machine {
    /// The largest factor of [`scaled`](Self::scaled); its inverse is the least.
    pub const FACTOR_MOST: f64 = 1e6;

    /// The machine with these figures times a factor.
    ///
    /// ```
    /// use warpline_machine::FigureGroup::{Bandwidth, Event};
    /// let machine = warpline_machine::open("cray-xt5")?;
    /// let faster = machine.scaled(Event, 0.5).scaled(Bandwidth, 2.0);
    /// assert_eq!(faster.costs.event * 2, machine.costs.event);
    /// assert_eq!(faster.far.per_byte * 2.0, machine.far.per_byte);
    /// # Ok::<(), warpline_machine::MachineError>(())
    /// ```
    ///
    /// # Panics
    /// If the factor is not from 1 / [`FACTOR_MOST`](Self::FACTOR_MOST) to that.
    #[must_use]
    pub fn scaled(&self, group: FigureGroup, factor: f64) -> Machine {
        assert!(
            (Self::FACTOR_MOST.recip()..=Self::FACTOR_MOST).contains(&factor),
            "figures are scaled by {factor}"
        );
        let mut machine = self.clone();
        let Machine { near, far, hop, domain_latency, costs, noise, registers, mailboxes, .. } =
            &mut machine;
        let by = |factor: f64, times: &mut [&mut Time]| {
            times.iter_mut().for_each(|time| **time = time.scaled(factor));
        };
        match group {
            FigureGroup::Latency => {
                by(factor, &mut [&mut near.latency, &mut far.latency, hop, domain_latency]);
            }
            FigureGroup::Bandwidth => {
                by(factor.recip(), &mut [&mut far.gap]);
                for Level { per_byte, copy_per_byte, .. } in [near, far] {
                    *per_byte /= factor;
                    *copy_per_byte /= factor;
                }
            }
            FigureGroup::Event => by(factor, &mut [&mut costs.event]),
            FigureGroup::Messages => {
                let Costs { send, receive, turn, .. } = costs;
                by(factor, &mut [&mut near.overhead, &mut far.overhead, send, receive, turn]);
                if let Some(MailboxUnit { send, receive, allocate, count, .. }) = mailboxes {
                    by(factor, &mut [send, receive, allocate, count]);
                }
            }
            FigureGroup::Undo => {
                by(factor, &mut [&mut costs.undo, &mut costs.copy, &mut costs.commit]);
            }
            FigureGroup::Gvt => {
                let Costs { gvt_step, remote_write, register_read, .. } = costs;
                by(factor, &mut [gvt_step, remote_write, register_read]);
                if let Some(RegisterUnit { write, read, rank }) = registers {
                    by(factor, &mut [write, read, rank]);
                }
            }
            FigureGroup::Noise => {
                let Noise { every, lasts, slowdown, .. } = noise;
                // Cores must get more done than they are kept from.
                *lasts = lasts.scaled(factor).min(every.scaled(0.5));
                *slowdown = 1.0 + (slowdown.max(1.0) - 1.0) * factor;
            }
        }
        machine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_hardware_are_scaled_with_what_they_are_for() {
        let chip = crate::open("multicore-gsu-mailboxes").expect("it is built in");
        let registers = |group| chip.scaled(group, 2.0).registers.expect("it has them");
        let mailboxes = |group| chip.scaled(group, 2.0).mailboxes.expect("it has them");
        let unit = chip.registers.expect("it has them");
        let box_unit = chip.mailboxes.expect("it has them");
        assert_eq!(registers(FigureGroup::Gvt).write, unit.write * 2);
        assert_eq!(mailboxes(FigureGroup::Messages).sending(), box_unit.sending() * 2);
        for other in FigureGroup::ALL.into_iter().filter(|group| *group != FigureGroup::Gvt) {
            assert_eq!(registers(other), unit, "{}", other.name());
        }
    }
}
