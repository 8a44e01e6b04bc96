//! The plan of a measurement, and how the processes learn of it.

use std::time::Duration;

use super::rival::{Rival, Use};

/// Messages that each process begins with.
pub(super) const MESSAGES: usize = 100;

/// The plan of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) rival: Rival,
    pub(super) bytes: usize,
    pub(super) use_: Use,
    pub(super) processes: usize,
    pub(super) warm_up: Duration,
    pub(super) measured: Duration,
}

impl Plan {
    pub(super) fn write(&self, me: usize, ticket: &str) -> String {
        let rival = Rival::ALL.iter().find(|one| one.0 == self.rival).map_or("", |one| one.1);
        let use_ = Use::ALL.iter().find(|one| one.0 == self.use_).map_or("", |one| one.1);
        let [warm_up, measured] = [self.warm_up, self.measured].map(|time| time.as_micros());
        format!(
            "{rival} {} {use_} {} {warm_up} {measured} {me} {ticket}",
            self.bytes, self.processes
        )
    }

    /// A plan, the number of the process that has to follow it, and how to find the others.
    pub(super) fn read(text: &str) -> Option<(Self, usize, &str)> {
        let words: Vec<&str> = text.splitn(8, ' ').collect();
        let &[rival, bytes, use_, processes, warm_up, measured, me, ticket] = &words[..] else {
            return None;
        };
        let time = |micros: &str| micros.parse().map(Duration::from_micros).ok();
        let plan = Plan {
            rival: rival.parse().ok()?,
            bytes: bytes.parse().ok()?,
            use_: use_.parse().ok()?,
            processes: processes.parse().ok()?,
            warm_up: time(warm_up)?,
            measured: time(measured)?,
        };
        Some((plan, me.parse().ok()?, ticket))
    }

    /// The bytes of Boost's segment: twice those of all messages, and some for queues and the
    /// allocator itself.
    #[cfg(feature = "boost")]
    pub(super) fn segment_bytes(&self) -> usize {
        2 * self.messages() * (self.bytes + 64) + (4 << 20)
    }

    pub(super) fn messages(&self) -> usize {
        self.processes * MESSAGES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        for (rival, _) in Rival::ALL {
            for (use_, ..) in Use::ALL {
                let plan = Plan {
                    rival,
                    bytes: 8,
                    use_,
                    processes: 3,
                    warm_up: Duration::from_millis(1),
                    measured: Duration::from_micros(7),
                };
                assert_eq!(Plan::read(&plan.write(2, "a ticket")), Some((plan, 2, "a ticket")));
            }
        }
        assert_eq!(Plan::read("zero-copy 8 read 2 1 1 0"), None);
    }
}
