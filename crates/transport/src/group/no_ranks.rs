//! Stand-ins for ranks and their channel in programs that are built without MPI.

use warpline_kernel::gvt::AllReduce;
use warpline_mpi::Launch;

use crate::Tally;
use crate::couriers::{Carrier, CourierPlan};

/// There are none without MPI.
#[derive(Debug)]
pub enum Ranks {}

impl Ranks {
    /// Refuses to start.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: Launch, _: bool) -> Result<Option<Self>, String> {
        Err("this program was built without MPI; build it with the feature `mpi` (`make mpi`)"
            .to_owned())
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        match *self {}
    }

    /// Whether all threads may call MPI, and not only the one that has started it.
    pub fn may_thread(&self) -> bool {
        match *self {}
    }

    /// The number of this one.
    pub fn number(&self) -> u32 {
        match *self {}
    }

    /// How many cores all of them have together.
    pub fn cores(&self) -> u32 {
        match *self {}
    }

    /// How many of them each machine has, if all have equally many.
    pub fn per_machine(&self) -> Option<u32> {
        match *self {}
    }
}

/// There is none without MPI.
#[derive(Debug)]
pub(super) enum MpiControlChannel {}

impl MpiControlChannel {
    pub(super) fn work(&mut self) -> Result<(), String> {
        match *self {}
    }

    pub(super) fn carriers(&self, _: &CourierPlan) -> Result<Vec<Box<dyn Carrier>>, String> {
        match *self {}
    }

    pub(super) fn all_reduce(&self) -> Result<Box<dyn AllReduce>, String> {
        match *self {}
    }

    pub(super) fn leaders(&self) -> Vec<u32> {
        match *self {}
    }

    pub(super) fn send_message(&mut self, _: u32, _: &[u8]) {
        match *self {}
    }

    pub(super) fn next_message(&mut self, _: u32) -> Option<Vec<u8>> {
        match *self {}
    }

    pub(super) fn say(&mut self, _: &str) {
        match *self {}
    }

    pub(super) fn failure_of(&self, _: u32) -> Option<&str> {
        match *self {}
    }

    pub(super) fn take_leave(&mut self) {
        match *self {}
    }

    pub(super) fn has_left(&self, _: u32) -> bool {
        match *self {}
    }

    pub(super) fn exchange(&mut self, _: u32, _: &Tally, _: &[u32]) {
        match *self {}
    }

    pub(super) fn is_done(&self) -> bool {
        match *self {}
    }

    pub(super) fn abandon(self) {
        match self {}
    }

    pub(super) fn finish(self) {
        match self {}
    }
}
