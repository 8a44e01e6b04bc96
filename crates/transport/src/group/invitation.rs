use std::env;

use warpline_memory::RegionTicket;

use super::peers;

/// The variable by which a process learns that it is one of several.
pub(super) const INVITATION: &str = "WARPLINE_GROUP";

/// Which of a program's runs of several processes it is. The program may begin several at once, in
/// one order in one process and in another order in another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunId {
    /// Its number in the first process, from 1, for people: it may differ in others.
    pub number: u32,
    /// A hash of model, parameters and settings, and of its number among runs that look alike.
    pub hash: u64,
}

/// The invitation from the first process of a run to one that it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Invitation {
    /// The number of the process.
    number: u32,
    run: RunId,
    ticket: RegionTicket,
}

impl Invitation {
    /// The invitation of this process, if it has one: if the first process of a group has started
    /// it.
    pub fn of_this_process() -> Option<Self> {
        let text = env::var(INVITATION).ok()?;
        let (number, rest) = text.split_once('/')?;
        let (run, rest) = rest.split_once('/')?;
        let (hash, ticket) = rest.split_once('/')?;
        let invitation = Invitation {
            number: number.parse().ok()?,
            run: RunId { number: run.parse().ok()?, hash: hash.parse().ok()? },
            ticket: ticket.parse().ok()?,
        };
        // Programs that this process starts inherit the variable, but have another parent. If the
        // first process is gone, this one must not begin a run of its own.
        let first = invitation.ticket.owner();
        (peers::parent() == Some(first) || !peers::exists(first)).then_some(invitation)
    }

    /// The number of the process.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// What the process needs to share memory with the others.
    pub(super) fn ticket(&self) -> &RegionTicket {
        &self.ticket
    }

    /// Whether it is for this run, whatever its number is here.
    pub fn is_for(&self, run: RunId) -> bool {
        self.run.hash == run.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_invitation_there_is_none() {
        assert_eq!(Invitation::of_this_process(), None);
    }
}
