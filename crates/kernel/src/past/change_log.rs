//! What events have changed in the states of LPs, so that it can be undone.
//!
//! When an event is done, the list of changes that the context has written goes to the end of one
//! ring of words per PE. Rollback reads the words from behind. A record of the history holds where
//! its words begin, in the place of a copy of the state. Events in the safe lane log nothing.
//!
//! An event that fails or panics is undone in the same way, as every change was logged before it
//! happened. So under a journal nothing is copied or executed again, and payloads are dropped on
//! commit.

use std::collections::VecDeque;

use warpline_memory::MakeRoom;

/// A place in the log, counted from the start of the run. It fills a word: a record holds it where
/// others hold the copy of a state, and what is aligned otherwise is copied in pieces that a core
/// has to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogPlace(u64);

/// What the events of a history have changed, in the order of execution, in words that mean
/// something to the context alone.
///
/// Those of an event begin at the place that its record holds, and end where those of the next
/// record begin.
#[derive(Debug, Default)]
pub(crate) struct ChangeLog {
    words: VecDeque<u64>,
    /// The place of the first word.
    first: u64,
}

impl ChangeLog {
    /// The place of the next word.
    #[inline]
    pub(crate) fn end(&self) -> LogPlace {
        LogPlace(self.first + self.words.len() as u64)
    }

    /// Adds what an event has changed, and empties the list.
    #[inline]
    pub(crate) fn append(&mut self, changes: &mut Vec<u64>) {
        self.words.make_room(changes.len(), "the log of changes that may be undone");
        self.words.extend(changes.drain(..));
    }

    /// Copies what lies between two places to the end of a list.
    pub(crate) fn read(&self, from: LogPlace, to: LogPlace, into: &mut Vec<u64>) {
        let (from, to) = (self.index(from), self.index(to));
        into.make_room(to - from, "the log of changes that may be undone");
        into.extend(self.words.range(from..to));
    }

    /// Removes everything from a place on.
    pub(crate) fn truncate(&mut self, place: LogPlace) {
        self.words.truncate(self.index(place));
    }

    /// Reclaims everything before a place.
    pub(crate) fn reclaim_before(&mut self, place: LogPlace) {
        self.words.drain(..self.index(place));
        self.first = place.0;
    }

    /// How much memory it takes, in bytes, in use or free.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<u64>() * self.words.capacity()
    }

    /// Gives memory back that is not in use.
    pub(crate) fn give_back_room(&mut self) {
        self.words.shrink_to_fit();
    }

    fn index(&self, place: LogPlace) -> usize {
        (place.0 - self.first) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(log: &ChangeLog, from: LogPlace, to: LogPlace) -> Vec<u64> {
        let mut words = Vec::new();
        log.read(from, to, &mut words);
        words
    }

    #[test]
    fn places_stay_what_they_are_wherever_the_log_is_shortened() {
        let mut log = ChangeLog::default();
        let mut places = vec![log.end()];
        for event in 0..4u64 {
            log.append(&mut vec![event; event as usize]);
            places.push(log.end());
        }
        assert_eq!(places[4], LogPlace(6));
        assert_eq!(
            (read(&log, places[0], places[1]), read(&log, places[3], places[4])),
            (vec![], vec![3, 3, 3])
        );
        log.reclaim_before(places[2]);
        assert_eq!((log.words.len(), read(&log, places[2], places[3])), (5, vec![2, 2]));
        log.truncate(places[3]);
        assert_eq!((log.end(), read(&log, places[2], places[3])), (places[3], vec![2, 2]));
        log.append(&mut vec![7]);
        log.reclaim_before(places[3]);
        assert_eq!(read(&log, places[3], log.end()), [7]);
    }
}
