//! How timers are stopped and resumed. They always lie in the pool, as no other PE has to do with
//! them.

use warpline_memory::Handle;

use super::{Location, Status, Store, locate, out_of_turn};

impl<E> Store<E> {
    /// The status of an event, if it lies in the pool.
    fn status(&self, handle: Handle) -> Option<Status> {
        match locate(handle) {
            Location::Local(handle) => Some(self.own.get(handle).status),
            Location::Shared(_) => None,
        }
    }

    fn set_status(&mut self, handle: Handle, status: Status) {
        if let Location::Local(handle) = locate(handle) {
            self.own.get_mut(handle).status = status;
        }
    }

    /// Stops a pending timer.
    pub(crate) fn stop(&mut self, timer: Handle) {
        match self.status(timer) {
            Some(Status::Pending) => self.set_status(timer, Status::Stopped),
            _ => out_of_turn("executed"),
        }
    }

    /// Stops a stopped timer for good. Returns whether its turn has come before, so that it is over.
    pub(crate) fn stop_for_good(&mut self, timer: Handle) -> bool {
        match self.status(timer) {
            Some(Status::Stopped) => {
                self.set_status(timer, Status::StoppedForGood);
                false
            }
            Some(Status::StoppedAtItsTurn) => {
                self.set_status(timer, Status::Cancelled);
                true
            }
            _ => out_of_turn("stopped"),
        }
    }

    /// Makes a stopped timer pending again. Returns whether its turn had come, so that it is to
    /// return to the pending set.
    pub(crate) fn resume(&mut self, timer: Handle) -> bool {
        let at_its_turn = match self.status(timer) {
            Some(Status::Stopped) => false,
            Some(Status::StoppedAtItsTurn) => true,
            _ => out_of_turn("resumed"),
        };
        self.set_status(timer, Status::Pending);
        at_its_turn
    }

    /// The turn of a cancelled event has come. Returns whether it is a stopped timer, which is kept.
    pub(crate) fn keeps_stopped(&mut self, handle: Handle) -> bool {
        let stopped = self.status(handle) == Some(Status::Stopped);
        if stopped {
            self.set_status(handle, Status::StoppedAtItsTurn);
        }
        stopped
    }
}
