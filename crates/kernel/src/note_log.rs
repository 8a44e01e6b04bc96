use std::ops::Range;

use warpline_memory::MakeRoom;
use warpline_model::statistics::{Note, Notes};

/// How many observations a chunk has before the next one is begun.
const CHUNK: usize = 256;

/// Where the observations of an event are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoteSpan {
    chunk: u32,
    from: u16,
    len: u16,
}

impl NoteSpan {
    fn range(self) -> Range<usize> {
        usize::from(self.from)..usize::from(self.from) + usize::from(self.len)
    }

    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// A list of observations of several events.
#[derive(Debug, Default)]
struct Chunk {
    notes: Vec<Note>,
    /// How many events have observations in it.
    events: u32,
}

/// The observations of events that may be undone. They stay where the model wrote them, in the list of the context, which is exchanged for
/// another one when it is long enough.
///
/// Invariant: a chunk counts the events whose observations are in it, and is used again once there are none. The list of the current chunk is
/// that of the context, and no other part has one.
#[derive(Debug)]
pub(crate) struct NoteLog {
    chunks: Vec<Chunk>,
    /// Chunks without observations.
    free: Vec<u32>,
    current: u32,
}

/// What the log is to whoever runs a model.
const LOG: &str = "what events that may be undone have observed";

impl Default for NoteLog {
    fn default() -> Self {
        NoteLog { chunks: vec![Chunk::default()], free: Vec::new(), current: 0 }
    }
}

impl NoteLog {
    /// Keeps what the event at hand observed, unless that is more than a span can tell of.
    #[inline]
    pub(crate) fn keep(&mut self, notes: &mut Notes) -> Option<NoteSpan> {
        let len = u16::try_from(notes.current().len()).ok()?;
        let from = notes.seal().start as u16;
        let span = NoteSpan { chunk: self.current, from, len };
        self.chunks[self.current as usize].events += 1;
        if notes.list.len() >= CHUNK {
            self.turn(notes);
        }
        Some(span)
    }

    /// Begins another chunk.
    #[cold]
    fn turn(&mut self, notes: &mut Notes) {
        let next = self.free.pop().unwrap_or_else(|| {
            self.chunks.make_room(1, LOG);
            self.chunks.push(Chunk::default());
            self.chunks.len() as u32 - 1
        });
        let mut list = std::mem::take(&mut self.chunks[next as usize].notes);
        list.make_room(CHUNK, LOG);
        let last = std::mem::replace(&mut self.current, next);
        let chunk = &mut self.chunks[last as usize];
        chunk.notes = notes.replace_list(list);
        if chunk.events == 0 {
            self.recycle(last);
        }
    }

    /// The observations of an event; `notes` are those of the context.
    #[inline]
    pub(crate) fn read<'a>(&'a self, span: NoteSpan, notes: &'a Notes) -> &'a [Note] {
        let list = if span.chunk == self.current { &notes.list } else { &self.chunks[span.chunk as usize].notes };
        &list[span.range()]
    }

    /// The observations of an event have been applied, or the event has been undone.
    #[inline]
    pub(crate) fn release(&mut self, span: NoteSpan) {
        let chunk = &mut self.chunks[span.chunk as usize];
        chunk.events -= 1;
        if chunk.events == 0 && span.chunk != self.current {
            self.recycle(span.chunk);
        }
    }

    #[cold]
    fn recycle(&mut self, number: u32) {
        let notes = &mut self.chunks[number as usize].notes;
        notes.clear();
        // Few events observe so much.
        notes.shrink_to(4 * CHUNK);
        self.free.make_room(1, LOG);
        self.free.push(number);
    }

    /// How much memory it takes, in bytes, in use or free, without the current chunk.
    pub(crate) fn bytes(&self) -> usize {
        let notes: usize = self.chunks.iter().map(|chunk| chunk.notes.capacity()).sum();
        size_of::<Note>() * notes + size_of::<Chunk>() * self.chunks.capacity()
    }

    /// Frees the memory of chunks that are free.
    pub(crate) fn give_back_room(&mut self) {
        for &number in &self.free {
            self.chunks[number as usize].notes = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use warpline_model::{Counter, Observe};

    use super::*;

    struct Lp(Notes);

    impl Observe for Lp {
        fn notes(&mut self) -> &mut Notes {
            &mut self.0
        }
    }

    fn observe(log: &mut NoteLog, lp: &mut Lp, by: u64, times: usize) -> NoteSpan {
        (0..times).for_each(|_| lp.count(Counter::slot(0), by));
        log.keep(&mut lp.0).expect("no more than a span can tell of")
    }

    fn counts(log: &NoteLog, lp: &Lp, span: NoteSpan) -> Vec<u64> {
        let by = |note: &Note| if let Note::Count { by, .. } = note { *by } else { 0 };
        log.read(span, &lp.0).iter().map(by).collect()
    }

    #[test]
    fn what_events_observed_stays_as_it_is_until_they_are_over() {
        let (mut log, mut lp) = (NoteLog::default(), Lp(Notes::default()));
        let spans: Vec<NoteSpan> = (0..1000).map(|event| observe(&mut log, &mut lp, event, 1 + event as usize % 3)).collect();
        for (event, span) in (0..).zip(&spans) {
            assert_eq!(counts(&log, &lp, *span), vec![event; 1 + event as usize % 3]);
        }
        assert!(lp.0.is_empty() && log.chunks.len() > 5);
    }

    #[test]
    fn chunks_are_used_again_once_none_of_their_events_is_left() {
        let (mut log, mut lp) = (NoteLog::default(), Lp(Notes::default()));
        for round in 0..20 {
            let spans: Vec<NoteSpan> = (0..CHUNK as u64).map(|event| observe(&mut log, &mut lp, event, 2)).collect();
            // In another order than they were executed in, and the first of all last.
            spans[1..].iter().rev().for_each(|span| log.release(*span));
            assert_eq!(counts(&log, &lp, spans[0]), [0, 0], "round {round}");
            log.release(spans[0]);
        }
        assert!(log.chunks.len() <= 5, "{} chunks", log.chunks.len());
    }

    #[test]
    fn an_event_may_observe_more_than_a_chunk_and_what_a_span_cannot_tell_of_is_left_alone() {
        let (mut log, mut lp) = (NoteLog::default(), Lp(Notes::default()));
        let span = observe(&mut log, &mut lp, 7, 10 * CHUNK);
        assert_eq!((counts(&log, &lp, span).len(), lp.0.list.len()), (10 * CHUNK, 0));
        (0..1 << 16).for_each(|_| lp.count(Counter::slot(0), 1));
        assert!(log.keep(&mut lp.0).is_none() && lp.0.current().len() == 1 << 16);
    }

    #[test]
    fn a_span_takes_a_word() {
        assert_eq!(size_of::<NoteSpan>(), 8);
    }
}
