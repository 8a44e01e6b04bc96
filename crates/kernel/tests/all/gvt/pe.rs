//! A PE that executes events, and undoes them.

use warpline_base::{EventKey, Moment, TieBreak};
use warpline_kernel::gvt::{Local, Tag, Verdict, Work};

/// An event, and how many generations may follow it.
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) key: EventKey,
    pub(super) fuel: u32,
}

impl Event {
    pub(super) fn at(&self) -> Moment {
        Moment::Event(self.key)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Message {
    pub(super) to: usize,
    pub(super) event: Event,
    pub(super) anti: bool,
    pub(super) tag: Tag,
}

#[derive(Default)]
pub(super) struct Pe {
    pub(super) pending: Vec<Event>,
    /// What was executed and not committed, with what it sent.
    pub(super) executed: Vec<(Event, Vec<(usize, Event)>)>,
    /// Anti-messages that arrived before their messages.
    pub(super) early: Vec<EventKey>,
    pub(super) failure: Option<EventKey>,
    pub(super) work: Work,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) ties: TieBreak,
}

impl Local for Pe {
    fn least(&mut self) -> Moment {
        self.pending.iter().fold(Moment::Never, |least, event| least.earlier(event.at(), self.ties))
    }

    fn failure(&self) -> Moment {
        self.failure.map_or(Moment::Never, Moment::Event)
    }

    fn take_work(&mut self) -> Work {
        std::mem::take(&mut self.work)
    }
}
