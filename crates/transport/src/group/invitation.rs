use std::env;

use warpline_memory::RegionTicket;

use super::peers;

/// The variable by which a process learns that it is one of several.
pub(super) const INVITATION: &str = "WARPLINE_GROUP";

/// Which of a program's runs of several processes it is. The program may begin several at once, in
/// one order in one process and in another order in another, so it is not the number that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunId {
    /// Its number among those that the first process has begun, from 1.
    pub number: u32,
    /// What tells it from those of other models, parameters or settings, and, among equal ones,
    /// from the others.
    pub hash: u64,
}

/// What a process is told that the first one of its run has started.
#[derive(Clone, Debug, PartialEq)]
pub struct Invitation {
    /// Which one it is.
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
        // Programs that it starts inherit the variable. If the first process is gone, this one must
        // not begin a run of its own.
        let first = invitation.ticket.owner();
        (peers::parent() == Some(first) || !peers::exists(first)).then_some(invitation)
    }

    /// Which one it is.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// What it needs to share memory with the others.
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
