use std::env;

use warpline_memory::RegionTicket;

use super::peers;

/// The variable by which a process learns that it is one of several.
pub(super) const INVITATION: &str = "WARPLINE_GROUP";

/// The invitation from the first process of a run to one that it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Invitation {
    /// The number of the process.
    number: u32,
    /// Which of the program's runs of several processes it is for, from 1.
    run: u32,
    ticket: RegionTicket,
}

impl Invitation {
    /// The invitation of this process, if it has one: if the first process of a group has started
    /// it.
    pub fn of_this_process() -> Option<Self> {
        let text = env::var(INVITATION).ok()?;
        let (number, rest) = text.split_once('/')?;
        let (run, ticket) = rest.split_once('/')?;
        let invitation = Invitation {
            number: number.parse().ok()?,
            run: run.parse().ok()?,
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

    /// Which of the program's runs of several processes it is for, from 1.
    pub fn run(&self) -> u32 {
        self.run
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
