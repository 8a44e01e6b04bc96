//! The log of what events have changed in the states of LPs, to undo it.
//!
//! When an event is done, the changes that the context has listed go to the end of a ring of words,
//! of which each PE has one. Rollback reads the words from the end. The record of an event notes
//! where its words begin, instead of a copy of the state. Events in the safe lane log nothing.
//!
//! An event that fails or panics is undone in the same way, as every change is logged before it is
//! made. So under a journal no state is copied, no event is executed again, and payloads are
//! dropped on commit.

use std::collections::VecDeque;

use warpline_memory::MakeRoom;

/// A place in the log, counted from the start of the run. It fills a word, as a record has it where
/// others have the copy of a state: anything aligned otherwise would be copied in pieces, for which
/// the core has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogPlace(u64);

/// What the events of a history have changed, in the order of execution, in words that only the
/// context understands.
///
/// The words of an event begin at the place that its record notes, and end where those of the next
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
        let from = self.index(from);
        let to = self.index(to);
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

    /// Gives back memory that is not in use.
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
