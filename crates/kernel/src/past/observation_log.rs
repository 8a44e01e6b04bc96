use warpline_memory::{Exhausted, MakeRoom};
use warpline_model::statistics::{Observation, Observations};

/// How many observations a chunk gets before the next one is begun.
const CHUNK: usize = 1 << CHUNK_BITS;
const CHUNK_BITS: u32 = 8;

/// Where the observations of an event begin: the number of a chunk, and a place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObservationPlace(u32);

impl ObservationPlace {
    /// Places are less than this.
    pub(crate) const LIMIT: u32 = 1 << 31;

    /// The place as a number.
    #[inline]
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// The place of this number.
    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Self {
        ObservationPlace(bits)
    }

    #[inline]
    fn chunk(self) -> usize {
        (self.0 >> CHUNK_BITS) as usize
    }

    #[inline]
    fn from(self) -> usize {
        self.0 as usize % CHUNK
    }
}

/// A list of observations of several events.
#[derive(Debug)]
struct Chunk {
    observations: Vec<Observation>,
    /// How many events have observations in it.
    events: u32,
    /// How many observations an event has, by where they begin.
    lens: [u8; CHUNK],
}

/// The observations of events that may be undone. They stay where the model wrote them, in the list
/// of the context, which is exchanged for another one when it is long enough.
///
/// Invariant: a chunk counts the events whose observations are in it, and is reused when there are
/// none. The context has the list of the current chunk, and that of no other.
///
/// Observations commit hundreds of events later, and copying them meanwhile would cost more than
/// adding them up. Rows, acts and what reverse code saves are rarer, and go into a side record.
#[derive(Debug)]
pub(crate) struct ObservationLog {
    chunks: Vec<Chunk>,
    /// Chunks without observations.
    free: Vec<u32>,
    current: u32,
    /// The capacity of all lists in `chunks`, in observations.
    room: usize,
}

/// How messages to users call the log.
const LOG: &str = "what events that may be undone have observed";

impl Default for ObservationLog {
    fn default() -> Self {
        let mut log = ObservationLog { chunks: Vec::new(), free: Vec::new(), current: 0, room: 0 };
        log.grow();
        log
    }
}

impl ObservationLog {
    /// Keeps what the current event observed, which is not nothing. If it is too much for the log,
    /// it is left alone.
    #[inline]
    pub(crate) fn keep(&mut self, observations: &mut Observations) -> Option<ObservationPlace> {
        let len = u8::try_from(observations.current().len()).ok()?;
        let from = observations.seal().start;
        let chunk = &mut self.chunks[self.current as usize];
        chunk.lens[from % CHUNK] = len;
        chunk.events += 1;
        let place = ObservationPlace(self.current << CHUNK_BITS | from as u32);
        if observations.list.len() >= CHUNK {
            self.turn(observations);
        }
        Some(place)
    }

    /// Begins another chunk, whose list goes to the context.
    #[cold]
    fn turn(&mut self, observations: &mut Observations) {
        let next = self.free.pop().unwrap_or_else(|| self.grow());
        let mut list = std::mem::take(&mut self.chunks[next as usize].observations);
        self.room -= list.capacity();
        list.make_room(CHUNK, LOG);
        let last = std::mem::replace(&mut self.current, next);
        let chunk = &mut self.chunks[last as usize];
        chunk.observations = observations.replace_list(list);
        self.room += chunk.observations.capacity();
        if chunk.events == 0 {
            self.recycle(last);
        }
    }

    /// Adds a chunk, and returns its number.
    #[cold]
    fn grow(&mut self) -> u32 {
        let number = self.chunks.len() as u32;
        if number >= ObservationPlace::LIMIT >> CHUNK_BITS {
            Exhausted::Numbers.unwind();
        }
        self.chunks.make_room(1, LOG);
        self.chunks.push(Chunk { observations: Vec::new(), events: 0, lens: [0; CHUNK] });
        number
    }

    /// The observations of an event. `observations` is the context's list.
    #[inline(always)]
    pub(crate) fn read<'a>(
        &'a self,
        place: ObservationPlace,
        observations: &'a Observations,
    ) -> &'a [Observation] {
        let chunk = &self.chunks[place.chunk()];
        let list = if place.chunk() == self.current as usize {
            &observations.list
        } else {
            &chunk.observations
        };
        &list[place.from()..][..chunk.lens[place.from()].into()]
    }

    /// Forgets the observations of an event, which have been applied or whose event was undone.
    #[inline(always)]
    pub(crate) fn release(&mut self, place: ObservationPlace) {
        let chunk = &mut self.chunks[place.chunk()];
        chunk.events -= 1;
        if chunk.events == 0 && place.chunk() != self.current as usize {
            self.recycle(place.chunk() as u32);
        }
    }

    /// Frees a chunk that has no observations any more.
    #[cold]
    fn recycle(&mut self, number: u32) {
        let observations = &mut self.chunks[number as usize].observations;
        self.room -= observations.capacity();
        observations.clear();
        // Few events need a longer list.
        observations.shrink_to(4 * CHUNK);
        self.room += observations.capacity();
        self.free.make_room(1, LOG);
        self.free.push(number);
    }

    /// Whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.iter().all(|chunk| chunk.events == 0)
    }

    /// How much memory it takes, in bytes, in use or free, without the current chunk.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Observation>() * self.room + size_of::<Chunk>() * self.chunks.capacity()
    }

    /// Frees the memory of chunks that are free.
    pub(crate) fn give_back_room(&mut self) {
        for &number in &self.free {
            self.room -= std::mem::take(&mut self.chunks[number as usize].observations).capacity();
        }
    }
}

#[cfg(test)]
mod tests {
    use warpline_model::{Counter, Observe};

    use super::*;

    struct Lp(Observations);

    impl Observe for Lp {
        fn observations(&mut self) -> &mut Observations {
            &mut self.0
        }
    }

    fn observe(log: &mut ObservationLog, lp: &mut Lp, by: u64, times: usize) -> ObservationPlace {
        (0..times).for_each(|_| lp.count(Counter::slot(0), by));
        log.keep(&mut lp.0).expect("no more than there may be")
    }

    fn counts(log: &ObservationLog, lp: &Lp, place: ObservationPlace) -> Vec<u64> {
        let by = |observation: &Observation| {
            if let Observation::Counter(_, by) = observation { *by } else { 0 }
        };
        log.read(place, &lp.0).iter().map(by).collect()
    }

    #[test]
    fn what_events_observed_stays_as_it_is_until_they_are_over() {
        let mut log = ObservationLog::default();
        let mut lp = Lp(Observations::default());
        let places: Vec<ObservationPlace> = (0..1000)
            .map(|event| observe(&mut log, &mut lp, event, 1 + event as usize % 3))
            .collect();
        for (event, place) in (0..).zip(&places) {
            assert_eq!(counts(&log, &lp, *place), vec![event; 1 + event as usize % 3]);
        }
        assert!(lp.0.is_empty() && log.chunks.len() > 5 && !log.is_empty());
        places.into_iter().for_each(|place| log.release(place));
        assert!(log.is_empty());
    }

    #[test]
    fn chunks_are_used_again_once_none_of_their_events_is_left() {
        let mut log = ObservationLog::default();
        let mut lp = Lp(Observations::default());
        for round in 0..20 {
            let places: Vec<ObservationPlace> =
                (0..CHUNK as u64).map(|event| observe(&mut log, &mut lp, event, 2)).collect();
            // Not in the order of execution, and the first of all last.
            places[1..].iter().rev().for_each(|place| log.release(*place));
            assert_eq!(counts(&log, &lp, places[0]), [0, 0], "round {round}");
            log.release(places[0]);
        }
        assert!(log.chunks.len() <= 5, "{} chunks", log.chunks.len());
        let room = log.chunks.iter().map(|chunk| chunk.observations.capacity()).sum::<usize>();
        assert!(log.room == room && room > 0, "{} of {room}", log.room);
        log.give_back_room();
        assert_eq!(log.room, 0);
    }

    #[test]
    fn what_is_too_much_for_the_log_is_left_alone() {
        let mut log = ObservationLog::default();
        let mut lp = Lp(Observations::default());
        for most in 0..3 {
            let place = observe(&mut log, &mut lp, most, 255);
            assert_eq!(counts(&log, &lp, place), [most; 255]);
        }
        (0..256).for_each(|_| lp.count(Counter::slot(0), 1));
        assert!(log.keep(&mut lp.0).is_none() && lp.0.current().len() == 256);
    }
}
