//! What the processes of an LP wait for: a table with a place for each wait.
//!
//! Invariant: a [`WaitKey`] finds its wait until the wait is removed, and nothing afterwards, as a
//! place has another generation whenever it is used again.

use std::panic::Location;

use warpline_model::Timer;

use crate::keys::{ProcessKey, WaitKey};

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    /// The end of a sleep, whose wake-up is an event.
    Time(f64),
    /// The end of a sleep or a time-out, whose wake-up is a timer.
    Alarm(f64, Timer),
    /// A message.
    Message,
    /// The end of a process.
    Process(ProcessKey),
    /// Something of the LP: a resource, a container, a store, a gate.
    Thing(u32),
    /// A signal, by its name.
    Signal(&'static str),
    /// A condition.
    Condition,
}

/// A wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// Of this place. It is odd while the place is used.
    generation: u32,
    /// The place of the process that waits, or the next free place.
    pub(crate) process: u32,
    /// What has come of it, where that is a number.
    pub(crate) outcome: u64,
    pub(crate) what: What,
    /// Since when.
    pub(crate) since: f64,
    /// Where in the code.
    pub(crate) at: &'static Location<'static>,
    /// Whether what is waited for has come.
    pub(crate) is_over: bool,
    /// Whether the LP has told of it.
    is_told: bool,
}

/// The waits of an LP.
#[derive(Debug)]
pub(crate) struct Waits {
    places: Vec<Wait>,
    /// The first free place.
    free: u32,
    live: u32,
}

/// The end of the list of free places.
const NO_PLACE: u32 = u32::MAX;

impl Default for Waits {
    fn default() -> Self {
        Waits { places: Vec::new(), free: NO_PLACE, live: 0 }
    }
}

impl Waits {
    /// How many waits there are.
    pub(crate) fn len(&self) -> u32 {
        self.live
    }

    /// Adds a wait of `process`.
    #[inline]
    pub(crate) fn add(
        &mut self,
        process: u32,
        what: What,
        since: f64,
        at: &'static Location<'static>,
    ) -> WaitKey {
        self.live += 1;
        if let Some(place) = self.places.get_mut(self.free as usize) {
            let key = WaitKey { place: self.free, generation: place.generation.wrapping_add(1) };
            self.free = place.process;
            place.generation = key.generation;
            place.process = process;
            place.what = what;
            place.since = since;
            place.at = at;
            place.is_over = false;
            place.is_told = false;
            return key;
        }
        self.places.push(Wait {
            generation: 1,
            process,
            outcome: 0,
            what,
            since,
            at,
            is_over: false,
            is_told: false,
        });
        WaitKey { place: self.places.len() as u32 - 1, generation: 1 }
    }

    /// The wait, unless it was removed.
    #[inline]
    pub(crate) fn get(&self, key: WaitKey) -> Option<&Wait> {
        self.places.get(key.place as usize).filter(|wait| wait.generation == key.generation)
    }

    /// The wait, unless it was removed.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: WaitKey) -> Option<&mut Wait> {
        self.places.get_mut(key.place as usize).filter(|wait| wait.generation == key.generation)
    }

    /// Removes a wait and returns it, unless it was removed before.
    #[inline]
    pub(crate) fn remove(&mut self, key: WaitKey) -> Option<Wait> {
        if key.is_none() {
            return None;
        }
        let wait = *self.get(key)?;
        self.free(key);
        Some(wait)
    }

    /// Removes a wait, which there is.
    #[inline]
    pub(crate) fn free(&mut self, key: WaitKey) {
        let place = &mut self.places[key.place as usize];
        place.generation = place.generation.wrapping_add(1);
        place.process = std::mem::replace(&mut self.free, key.place);
        self.live -= 1;
    }

    /// What a process waits for and the LP has not told yet, in the order of the places.
    pub(crate) fn take_untold(&mut self, process: u32) -> Vec<What> {
        let is_new = |wait: &&mut Wait| {
            wait.generation % 2 == 1 && wait.process == process && !wait.is_over && !wait.is_told
        };
        let tell = |wait: &mut Wait| {
            wait.is_told = true;
            wait.what
        };
        self.places.iter_mut().filter(is_new).map(tell).collect()
    }

    /// All waits, in the order of their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Wait> {
        self.places.iter().filter(|wait| wait.generation % 2 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(waits: &mut Waits, process: u32) -> WaitKey {
        waits.add(process, What::Message, 1.5, Location::caller())
    }

    #[test]
    fn a_key_finds_its_wait_and_none_after_it() {
        let mut waits = Waits::default();
        let first = add(&mut waits, 7);
        assert_eq!(waits.get(first).map(|wait| wait.process), Some(7));
        assert!(waits.remove(first).is_some() && waits.remove(first).is_none());
        let second = add(&mut waits, 8);
        assert_eq!((second.place, waits.len()), (first.place, 1));
        assert!(waits.get(first).is_none() && waits.get_mut(second).is_some());
    }

    #[test]
    fn places_are_used_again() {
        let mut waits = Waits::default();
        let keys: Vec<_> = (0..5).map(|process| add(&mut waits, process)).collect();
        keys.iter().for_each(|&key| assert!(waits.remove(key).is_some()));
        (0..5).for_each(|process| assert!(add(&mut waits, process).place < 5));
        assert_eq!(waits.iter().map(|wait| wait.process).collect::<Vec<_>>(), [4, 3, 2, 1, 0]);
    }

    #[test]
    fn no_wait_is_none_of_the_waits() {
        let mut waits = Waits::default();
        assert!(waits.get(WaitKey::NONE).is_none());
        let key = add(&mut waits, 1);
        assert!(waits.remove(WaitKey::NONE).is_none() && !key.is_none());
        waits.remove(key);
        assert!(waits.remove(WaitKey::NONE).is_none());
    }
}
