//! The processes of an LP: a table with a place for each.

use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;

use crate::interrupt::{Interrupted, Interrupts};
use crate::keys::{ProcessKey, WaitKey};
use crate::outcomes::Outcomes;
use crate::process::Ended;

/// The coroutine of a process.
pub(crate) type Coroutine = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A place for a process.
pub(crate) struct Place {
    pub(crate) generation: u32,
    /// How many waits the process has.
    pub(crate) waits: u32,
    /// The coroutine; none while it is polled, and if the place is free.
    pub(crate) coroutine: Option<Coroutine>,
    /// Whether the place is in the list of processes to be polled.
    pub(crate) is_queued: bool,
    /// Whether the process cancelled itself.
    pub(crate) is_cancelled: bool,
    pub(crate) is_used: bool,
    /// The process's number among all of its LP.
    number: u64,
    name: Option<Cow<'static, str>>,
    /// Where it was started.
    at: &'static Location<'static>,
    /// The interrupts that it has not seen yet.
    pub(crate) interrupts: Option<Box<Interrupts>>,
    /// Who waits for its end.
    pub(crate) joiners: Vec<WaitKey>,
}

/// The processes of an LP.
#[derive(Default)]
pub(crate) struct Processes {
    places: Vec<Place>,
    free: Vec<u32>,
    started: u64,
    /// What ended processes left.
    pub(crate) outcomes: Outcomes,
}

impl Place {
    /// The first interrupt that the process has not seen yet, which it sees now.
    #[inline]
    pub(crate) fn take_interrupt(&mut self) -> Option<Interrupted> {
        let first = self.interrupts.as_mut()?.take();
        if first.is_none() {
            self.interrupts = None;
        }
        first
    }
}

impl Processes {
    /// How many processes there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// How many processes there have been.
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    /// Adds a process.
    pub(crate) fn add(
        &mut self,
        coroutine: Coroutine,
        name: Option<Cow<'static, str>>,
        at: &'static Location<'static>,
    ) -> ProcessKey {
        let number = self.started;
        self.started += 1;
        if let Some(index) = self.free.pop() {
            let place = &mut self.places[index as usize];
            place.coroutine = Some(coroutine);
            place.is_used = true;
            place.number = number;
            place.name = name;
            place.at = at;
            return ProcessKey { place: index, generation: place.generation };
        }
        self.places.push(Place {
            generation: 0,
            waits: 0,
            coroutine: Some(coroutine),
            is_queued: false,
            is_cancelled: false,
            is_used: true,
            number,
            name,
            at,
            interrupts: None,
            joiners: Vec::new(),
        });
        ProcessKey { place: self.places.len() as u32 - 1, generation: 0 }
    }

    #[inline]
    pub(crate) fn place(&mut self, index: u32) -> &mut Place {
        &mut self.places[index as usize]
    }

    /// The process in this place.
    pub(crate) fn key(&self, index: u32) -> ProcessKey {
        ProcessKey { place: index, generation: self.places[index as usize].generation }
    }

    /// The place of a process that has not ended.
    pub(crate) fn get_mut(&mut self, key: ProcessKey) -> Option<&mut Place> {
        self.places
            .get_mut(key.place as usize)
            .filter(|place| place.is_used && place.generation == key.generation)
    }

    /// How a process ended; `None` if it has not.
    pub(crate) fn ended(&self, key: ProcessKey) -> Option<Ended> {
        let place = &self.places[key.place as usize];
        (place.generation != key.generation).then(|| self.outcomes.how(key))
    }

    /// Ends the process in this place, and returns who waits for that. What it was
    /// interrupted with and did not see is forgotten.
    pub(crate) fn end(&mut self, index: u32, ended: Ended) -> Vec<WaitKey> {
        self.outcomes.note(self.key(index), ended);
        let place = &mut self.places[index as usize];
        place.generation = place.generation.wrapping_add(1);
        place.is_used = false;
        place.is_cancelled = false;
        place.name = None;
        place.interrupts = None;
        self.free.push(index);
        std::mem::take(&mut place.joiners)
    }

    /// What LPs call a process that they tell of: its name, or else its number.
    pub(crate) fn name(&self, key: ProcessKey) -> String {
        let place = self.places.get(key.place as usize);
        let place = place.filter(|place| place.is_used && place.generation == key.generation);
        match place.map(|place| (&place.name, place.number)) {
            Some((Some(name), _)) => name.to_string(),
            Some((None, number)) => format!("process {number}"),
            None => "a process that has ended".to_owned(),
        }
    }

    /// The process in words: by its name, or else by its number and where it was started.
    pub(crate) fn describe(&self, index: u32) -> String {
        let Some(place) = self.places.get(index as usize).filter(|place| place.is_used) else {
            return "a process that has ended".to_owned();
        };
        match &place.name {
            Some(name) => format!("`{name}`"),
            None => format!(
                "process {} (started at {}:{})",
                place.number,
                place.at.file(),
                place.at.line()
            ),
        }
    }
}
