use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use warpline_base::LpId;
use warpline_memory::MakeRoom;

use crate::statistics::STATISTICS;

/// The number of LPs or items per chunk.
const CHUNK: usize = 64;

/// The open levels of one slot: the value of each, and since when. [`Level`](crate::Level)s are in
/// the states of LPs, where no engine sees them. So the engine closes these at the end of the run.
///
/// One level per LP (or per item, if there are several items) has a place of its own. All others go
/// into a table.
///
/// A change tells the old value, since when it was held, and the new value. A level that does not
/// start at 0 is opened in `init`, so levels that never change are closed too.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "ListedLevels", into = "ListedLevels")]
pub(super) struct OpenLevels {
    by_item: bool,
    chunks: Vec<Option<Box<[Option<OpenLevel>; CHUNK]>>>,
    others: HashMap<(u32, LpId), Vec<OpenLevel>>,
}

/// A level that keeps its value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::statistics) struct OpenLevel {
    pub(in crate::statistics) lp: LpId,
    pub(super) since: f64,
    pub(super) value: f64,
}

/// Open levels as a list, for serialisation.
#[derive(Serialize, Deserialize)]
struct ListedLevels {
    by_item: bool,
    levels: Vec<(u32, OpenLevel)>,
}

impl From<OpenLevels> for ListedLevels {
    fn from(open: OpenLevels) -> Self {
        ListedLevels { by_item: open.by_item, levels: open.iter().collect() }
    }
}

impl From<ListedLevels> for OpenLevels {
    fn from(listed: ListedLevels) -> Self {
        let mut open =
            OpenLevels { by_item: listed.by_item, chunks: Vec::new(), others: HashMap::new() };
        listed.levels.into_iter().for_each(|(item, level)| open.open(item, level));
        open
    }
}

impl OpenLevels {
    pub(super) fn new(items: u32) -> Self {
        OpenLevels { by_item: items > 1, chunks: Vec::new(), others: HashMap::new() }
    }

    /// The place for the level of an LP and an item, which another level may occupy.
    fn place(&mut self, item: u32, lp: LpId) -> &mut Option<OpenLevel> {
        let index = self.index(item, lp);
        if index / CHUNK >= self.chunks.len() {
            self.chunks.make_room(index / CHUNK + 1 - self.chunks.len(), STATISTICS);
            self.chunks.resize(index / CHUNK + 1, None);
        }
        &mut self.chunks[index / CHUNK].get_or_insert_with(|| Box::new([None; CHUNK]))
            [index % CHUNK]
    }

    #[inline]
    fn index(&self, item: u32, lp: LpId) -> usize {
        if self.by_item { item as usize } else { lp.index() }
    }

    /// Replaces the level `before` by `now`. Returns whether the level is new here.
    #[inline]
    pub(super) fn change(&mut self, item: u32, before: OpenLevel, now: OpenLevel) -> bool {
        let index = self.index(item, now.lp);
        let chunk = self.chunks.get_mut(index / CHUNK).and_then(Option::as_mut);
        match chunk.map(|chunk| &mut chunk[index % CHUNK]) {
            Some(Some(level)) if *level == before => {
                *level = now;
                false
            }
            _ => self.change_other(item, before, now),
        }
    }

    #[cold]
    #[inline(never)]
    fn change_other(&mut self, item: u32, before: OpenLevel, now: OpenLevel) -> bool {
        let others = self.others.get_mut(&(item, now.lp));
        match others.and_then(|others| others.iter_mut().find(|other| **other == before)) {
            Some(other) => *other = now,
            None => {
                self.open(item, now);
                return true;
            }
        }
        false
    }

    /// Adds a level.
    pub(super) fn open(&mut self, item: u32, level: OpenLevel) {
        let place = self.place(item, level.lp);
        if place.is_none() {
            *place = Some(level);
            return;
        }
        self.others.make_room(1, STATISTICS);
        let others = self.others.entry((item, level.lp)).or_default();
        others.make_room(1, STATISTICS);
        others.push(level);
    }

    /// All open levels, with their items.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, OpenLevel)> {
        let item = |index: usize| if self.by_item { index as u32 } else { 0 };
        let places = self.chunks.iter().enumerate().flat_map(|(chunk, places)| {
            let places = places.iter().flat_map(|places| places.iter()).enumerate();
            places.filter_map(move |(index, place)| Some((chunk * CHUNK + index, (*place)?)))
        });
        let others = self
            .others
            .iter()
            .flat_map(|((item, _), others)| others.iter().map(|level| (*item, *level)));
        places.map(move |(index, level)| (item(index), level)).chain(others)
    }

    /// Takes out all open levels, with their items.
    pub(super) fn take(&mut self) -> Vec<(u32, OpenLevel)> {
        let all = self.iter().collect();
        self.clear();
        all
    }

    pub(super) fn clear(&mut self) {
        self.chunks.clear();
        self.others.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(lp: u32, since: f64, value: f64) -> OpenLevel {
        OpenLevel { lp: LpId(lp), since, value }
    }

    fn sorted(levels: &OpenLevels) -> Vec<(u32, u32, f64, f64)> {
        let mut all: Vec<_> = levels
            .iter()
            .map(|(item, level)| (item, level.lp.0, level.since, level.value))
            .collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    }

    #[test]
    fn every_level_is_followed_however_many_share_a_place() {
        for items in [1, 3] {
            let mut levels = OpenLevels::new(items);
            // Two levels of LP 70 and one of LP 500, for item 0.
            levels.open(0, level(500, 0.0, 1.0));
            let changes = [
                (level(70, 0.0, 0.0), level(70, 1.0, 2.0), true),
                (level(70, 0.0, 0.0), level(70, 1.5, 4.0), true),
                (level(500, 0.0, 1.0), level(500, 2.0, 3.0), false),
                (level(70, 1.5, 4.0), level(70, 3.0, 5.0), false),
                (level(70, 1.0, 2.0), level(70, 4.0, 6.0), false),
            ];
            for (before, now, is_new) in changes {
                assert_eq!(levels.change(0, before, now), is_new, "{now:?}");
            }
            let expected = [(0, 70, 3.0, 5.0), (0, 70, 4.0, 6.0), (0, 500, 2.0, 3.0)];
            assert_eq!(sorted(&levels), expected, "{items} items");
            let mut merged = OpenLevels::new(items);
            merged.open(0, level(70, 3.5, 8.0));
            levels.iter().for_each(|(item, level)| merged.open(item, level));
            assert_eq!(
                sorted(&merged),
                [&expected[..1], &[(0, 70, 3.5, 8.0)], &expected[1..]].concat()
            );
            levels.clear();
            assert_eq!(levels.iter().count(), 0);
        }
    }
}
