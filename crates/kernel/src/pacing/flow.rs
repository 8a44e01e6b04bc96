//! Flow control by the sizes of sub-pools: what may be sent ahead to another PE is limited by the
//! buffers for messages to it (R. Fujimoto and K. Panesar, "Buffer management in shared-memory Time
//! Warp systems", PADS 1995, §5 and §6). So a source that is never rolled back cannot fill memory
//! with messages that its receivers have yet to process.
//!
//! An event whose messages find no buffers is undone right after it was executed, and parked: its
//! PE executes nothing ahead, but goes on receiving, sending and finding GVT, until buffers have
//! come back or something earlier has arrived. The paper retries it again and again.
//!
//! **No deadlock.** Certain events may take buffers beyond the size, and so may the event at GVT.
//! Assume that no PE executes anything. Then all that was sent arrives, as no PE stops receiving or
//! handing over, and PEs without anything to execute ask for GVT. With nothing on its way, GVT is
//! the first of all pending events. It is the first on its PE, so no parked event keeps it waiting,
//! unless it is itself the parked one; and as it is at GVT it is executed, buffers or not. So after
//! every computation of GVT at least one event is executed.

use warpline_memory::Handle;

/// An event that waits for buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parked {
    pub(crate) event: Handle,
    /// The PE to which there are too few buffers, and how many are needed.
    pub(crate) to: u32,
    pub(crate) messages: u32,
}

/// What a PE waits for: nothing unless sub-pools have sizes.
///
/// Invariant: a parked event is pending.
#[derive(Debug)]
pub(crate) struct Flow(Option<Box<SizedPools>>);

/// What a PE waits for if sub-pools have sizes.
#[derive(Debug, Default)]
struct SizedPools {
    parked: Option<Parked>,
    /// The PEs to which the event at hand sends messages, and how many. An event sends to few, so
    /// they are found by linear search.
    wanted: Vec<(u32, u32)>,
    /// The PE to which the event checked last lacks buffers, and how many it needs.
    lacking: Option<(u32, u32)>,
}

impl Flow {
    /// `bounded`: sub-pools have sizes.
    pub(crate) fn new(bounded: bool) -> Self {
        Flow(bounded.then(Box::default))
    }

    /// Whether sub-pools have sizes.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Notes that the event at hand sends a message to a PE.
    #[inline]
    pub(crate) fn want(&mut self, to: u32) {
        if let Some(sized) = &mut self.0 {
            sized.want(to);
        }
    }

    /// Whether the event at hand lacks buffers. `has_room` says whether a number of messages to a
    /// PE find buffers.
    pub(crate) fn lacks(&mut self, has_room: impl FnMut(u32, u32) -> bool) -> bool {
        self.0.as_mut().is_some_and(|sized| sized.lacks(has_room))
    }

    /// Parks the event checked last, to wait for what it lacks.
    pub(crate) fn park(&mut self, event: Handle) {
        if let Some(sized) = &mut self.0 {
            sized.parked = sized.lacking.map(|(to, messages)| Parked { event, to, messages });
        }
    }

    #[inline(always)]
    pub(crate) fn parked(&self) -> Option<Parked> {
        self.0.as_ref().and_then(|sized| sized.parked)
    }

    /// Whether an event waits for buffers.
    #[inline(always)]
    pub(crate) fn is_parked(&self) -> bool {
        self.0.as_ref().is_some_and(|sized| sized.parked.is_some())
    }

    /// The parked event is tried again, or is no longer the next.
    pub(crate) fn go_on(&mut self) {
        if let Some(sized) = &mut self.0 {
            sized.parked = None;
        }
    }
}

impl SizedPools {
    #[inline]
    fn want(&mut self, to: u32) {
        match self.wanted.iter_mut().find(|(pe, _)| *pe == to) {
            Some((_, messages)) => *messages += 1,
            None => self.wanted.push((to, 1)),
        }
    }

    fn lacks(&mut self, mut has_room: impl FnMut(u32, u32) -> bool) -> bool {
        self.lacking = None;
        for (to, messages) in self.wanted.drain(..) {
            if !has_room(to, messages) {
                self.lacking = Some((to, messages));
            }
        }
        self.lacking.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_waits_for_the_buffers_of_all_its_messages_to_a_pe() {
        let mut flow = Flow::new(true);
        [2, 1, 2, 3, 2].into_iter().for_each(|to| flow.want(to));
        let mut asked = Vec::new();
        assert!(flow.lacks(|to, messages| {
            asked.push((to, messages));
            to != 2
        }));
        assert_eq!(asked, [(2, 3), (1, 1), (3, 1)]);
        let event = Handle::from_bits(7);
        flow.park(event);
        assert!(
            flow.parked()
                .is_some_and(|parked| (parked.event, parked.to, parked.messages) == (event, 2, 3))
        );
        flow.go_on();
        assert!(flow.parked().is_none());
        // The next event starts anew.
        flow.want(2);
        assert!(!flow.lacks(|to, messages| (to, messages) == (2, 1)));
        assert!(!flow.lacks(|_, _| unreachable!("it sends nothing")));
    }
}
