//! The processes of an LP: a table with a place for each.

pub(crate) mod frame;
pub(crate) mod interrupt;
pub(crate) mod outcomes;
pub(crate) mod process;

use std::any::TypeId;
use std::borrow::Cow;
use std::panic::Location;
use std::pin::Pin;

use crate::keys::{ProcessKey, WaitKey};
use crate::processes::frame::Frame;
use crate::processes::interrupt::{Interrupted, Interrupts};
use crate::processes::outcomes::Outcomes;
use crate::processes::process::Ended;

/// The frame of a process's coroutine.
pub(crate) type PinnedFrame = Pin<Box<dyn Frame>>;

/// So many frames of ended processes are kept for others, besides as many as there are processes.
const SPARE_FRAMES: usize = 64;

/// A place for a process.
pub(crate) struct Place {
    pub(crate) generation: u32,
    /// The frame of the coroutine; none while it is polled. A free place may have one, too.
    pub(crate) frame: Option<PinnedFrame>,
    /// The type of the frame, as an index into the table of types.
    frame_type: u32,
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
///
/// Invariant: a place is used, or free with a frame and in the list of its type, or free without a
/// frame and in `bare`.
#[derive(Default)]
pub(crate) struct Processes {
    places: Vec<Place>,
    /// The types of frames that there have been.
    frame_types: Vec<FrameType>,
    /// The free places without a frame.
    bare: Vec<u32>,
    /// How many free places have a frame.
    spare: usize,
    started: u64,
    /// What ended processes left.
    pub(crate) outcomes: Outcomes,
}

/// A type of frames.
struct FrameType {
    id: TypeId,
    /// The free places with such a frame.
    free: Vec<u32>,
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
        self.places.len() - self.bare.len() - self.spare
    }

    /// How many processes there have been.
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    /// Adds a process, whose coroutine is in `frame`.
    #[inline]
    pub(crate) fn add<F: Frame + 'static>(
        &mut self,
        mut frame: F,
        name: Option<Cow<'static, str>>,
        at: &'static Location<'static>,
    ) -> ProcessKey {
        let frame_type = self.frame_type(TypeId::of::<F>());
        let spare = self.frame_types[frame_type as usize].free.pop();
        let Some(index) = spare.or_else(|| self.bare.pop()) else {
            return self.add_place(Box::pin(frame), frame_type, name, at);
        };
        let place = &mut self.places[index as usize];
        match &mut place.frame {
            Some(old) => {
                self.spare -= 1;
                old.as_mut().refill(&mut frame);
            }
            none => *none = Some(Box::pin(frame)),
        }
        place.frame_type = frame_type;
        place.is_used = true;
        place.number = self.started;
        place.name = name;
        place.at = at;
        self.started += 1;
        ProcessKey { place: index, generation: place.generation }
    }

    /// Adds a process in a new place.
    fn add_place(
        &mut self,
        frame: PinnedFrame,
        frame_type: u32,
        name: Option<Cow<'static, str>>,
        at: &'static Location<'static>,
    ) -> ProcessKey {
        self.places.push(Place {
            generation: 0,
            frame: Some(frame),
            frame_type,
            is_queued: false,
            is_cancelled: false,
            is_used: true,
            number: self.started,
            name,
            at,
            interrupts: None,
            joiners: Vec::new(),
        });
        self.started += 1;
        ProcessKey { place: self.places.len() as u32 - 1, generation: 0 }
    }

    /// The index of a type of frames. An LP has few.
    #[inline]
    fn frame_type(&mut self, id: TypeId) -> u32 {
        let known = self.frame_types.iter().position(|frame_type| frame_type.id == id);
        let index = known.unwrap_or_else(|| {
            self.frame_types.push(FrameType { id, free: Vec::new() });
            self.frame_types.len() - 1
        });
        index as u32
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

    /// Ends the process in this place, and returns who waits for that. Its frame is kept for others,
    /// unless there are many. What it was interrupted with and did not see is forgotten.
    #[inline]
    pub(crate) fn end(&mut self, index: u32, frame: PinnedFrame, ended: Ended) -> Vec<WaitKey> {
        self.outcomes.note(self.key(index), ended);
        let is_kept = self.spare < self.len() + SPARE_FRAMES;
        let place = &mut self.places[index as usize];
        place.generation = place.generation.wrapping_add(1);
        place.is_used = false;
        place.is_queued = false;
        place.is_cancelled = false;
        place.name = None;
        if place.interrupts.is_some() {
            place.interrupts = None;
        }
        if is_kept {
            place.frame = Some(frame);
            self.spare += 1;
            self.frame_types[place.frame_type as usize].free.push(index);
        } else {
            self.bare.push(index);
        }
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

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::ptr::from_ref;
    use std::task::{Context, Poll};

    use super::*;

    /// A frame of which there may be several types.
    struct Number<const TYPE: u8>(u32);

    impl<const TYPE: u8> Frame for Number<TYPE> {
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            Poll::Pending
        }

        fn clear(self: Pin<&mut Self>) {}

        fn refill(mut self: Pin<&mut Self>, frame: &mut dyn Any) {
            self.0 = frame.downcast_ref::<Self>().expect("it is of this type").0;
        }
    }

    fn add<const TYPE: u8>(processes: &mut Processes, number: u32) -> ProcessKey {
        processes.add(Number::<TYPE>(number), None, Location::caller())
    }

    fn address(processes: &mut Processes, key: ProcessKey) -> *const () {
        let frame = processes.place(key.place).frame.as_deref();
        from_ref(frame.expect("the process has a frame")).cast()
    }

    fn end(processes: &mut Processes, key: ProcessKey) {
        let frame = processes.place(key.place).frame.take().expect("the process has a frame");
        assert!(processes.end(key.place, frame, Ended::Finished).is_empty());
    }

    #[test]
    fn a_process_takes_over_the_frame_of_one_of_its_type() {
        let mut processes = Processes::default();
        let first = add::<0>(&mut processes, 1);
        let frame = address(&mut processes, first);
        end(&mut processes, first);
        let other = add::<1>(&mut processes, 2);
        let second = add::<0>(&mut processes, 3);
        assert_eq!((address(&mut processes, second), second.place), (frame, first.place));
        assert_ne!((second.generation, other.place), (first.generation, first.place));
        assert_eq!((processes.len(), processes.started()), (2, 3));
        assert_eq!(processes.ended(first), Some(Ended::Finished));
        assert_eq!(processes.ended(second), None);
    }

    #[test]
    fn no_more_frames_are_kept_than_there_are_processes_and_some() {
        let mut processes = Processes::default();
        let keys: Vec<_> = (0..1000).map(|number| add::<0>(&mut processes, number)).collect();
        for (ended, &key) in keys.iter().enumerate() {
            end(&mut processes, key);
            assert_eq!(processes.len(), 999 - ended);
        }
        let kept = |place: &Place| place.frame.is_some();
        assert_eq!(processes.places.iter().filter(|place| kept(place)).count(), processes.spare);
        assert!(processes.spare < 600, "{} frames are kept", processes.spare);
        // All places are used again, with a frame or without.
        (0..1000).for_each(|number| _ = add::<0>(&mut processes, number));
        assert_eq!((processes.places.len(), processes.spare, processes.len()), (1000, 0, 1000));
    }
}
