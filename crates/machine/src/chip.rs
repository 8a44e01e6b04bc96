//! What a chip may have in hardware for parallel simulation, after G. Riley, "Hardware Supported
//! Multi-Core Communications for Efficient Parallel Discrete Event Simulations", final technical
//! report, Georgia Institute of Technology. Both devices serve the cores of a node.

use crate::Time;

/// The registers of a Global Synchronization Unit (E. Lynch, G. Riley, "Hardware supported time
/// synchronization in multi-core architectures", PADS 2009), and the comparators that find the
/// least of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterUnit {
    /// What an instruction costs its core that writes registers: the minimum outstanding event of
    /// its own, or count and minimum of the messages to another.
    pub write: Time,
    /// What an instruction costs that reads LBTS.
    pub read: Time,
    /// How long a rank of comparators takes. N registers have lg N ranks, and cores see a new LBTS
    /// so much later. Reading does not wait for them.
    pub rank: Time,
}

/// Mailboxes in hardware, one for each core, for messages that are not copied: their senders
/// allocate them in memory that cores share, and pass on where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailboxUnit {
    /// How many messages a mailbox holds.
    pub slots: u32,
    /// How long a core waits at most for room in a full mailbox. Then a flag says that the
    /// instruction has failed, and the message is sent without the unit.
    pub wait: Time,
    /// What the instruction costs that puts a message into a mailbox.
    pub send: Time,
    /// What the instruction costs that takes one out.
    pub receive: Time,
    /// What the instruction costs that allocates a message.
    pub allocate: Time,
    /// What it costs to change a usage count: once when a message is sent, and once when its
    /// receiver has done with it, which frees it.
    pub count: Time,
}

impl RegisterUnit {
    /// How long the comparators of so many registers take.
    pub fn compare(&self, registers: u32) -> Time {
        self.rank * u64::from(registers.next_power_of_two().ilog2())
    }
}

impl MailboxUnit {
    /// What a message costs its sender, if there is room.
    pub fn sending(&self) -> Time {
        self.allocate + self.count + self.send
    }

    /// What it costs its receiver.
    pub fn receiving(&self) -> Time {
        self.receive + self.count
    }
}
