//! The random numbers of an LP.

use warpline_base::LpId;
use warpline_base::random::{Random, Stream};

/// The random streams of the current LP, positioned at its current event.
#[derive(Debug)]
pub struct Streams {
    /// Counts how often the streams were repositioned, to tell whether another stream's position is
    /// current.
    visit: u64,
    main: Stream,
    /// Streams 1, 2, …, each with the visit in which it was last used; 0 if never.
    others: Vec<(u64, Stream)>,
}

impl Streams {
    pub(crate) fn new(seed: u64) -> Self {
        Streams { visit: 1, main: Stream::new(seed, 0), others: Vec::new() }
    }

    #[inline]
    pub(crate) fn seek(&mut self, lp: LpId, event: u64) {
        self.visit += 1;
        self.main.point(lp, event);
    }

    /// Rewinds all streams to the first draw of the same event.
    pub(crate) fn rewind(&mut self) {
        self.visit += 1;
        self.main.rewind();
    }

    /// Stream 0, the default of models.
    #[inline]
    pub(crate) fn main(&mut self) -> &mut Random {
        self.main.random()
    }

    pub(crate) fn get(&mut self, number: u8) -> &mut Random {
        let Some(index) = usize::from(number).checked_sub(1) else { return self.main() };
        while self.others.len() <= index {
            self.others.push((0, self.main.sibling(0)));
        }
        let (visit, stream) = &mut self.others[index];
        if *visit != self.visit {
            *visit = self.visit;
            *stream = self.main.sibling(number);
        }
        stream.random()
    }

    /// The words that the current event has drawn from each stream, as (stream, words).
    pub fn positions(&self) -> Vec<(u8, u32)> {
        let drawn = self.others.iter().zip(1u8..).filter(|((visit, _), _)| *visit == self.visit);
        [(0, self.main.position())]
            .into_iter()
            .chain(drawn.map(|((_, stream), number)| (number, stream.position())))
            .collect()
    }
}
