//! What the processes of an LP share: its resources, containers, stores, gates and values, each in
//! a place of one table.

use std::any::Any;

use warpline_base::LpId;

/// Something that the processes of an LP share.
pub(crate) trait Thing: Any + Send {
    /// What it is, in words, such as "the resource `till`".
    fn describe(&self) -> String;

    /// Whether it tells itself who waits for it.
    fn tells_itself(&self) -> bool {
        false
    }
}

/// Everything that the processes of an LP share.
#[derive(Default)]
pub(crate) struct Things(Vec<Box<dyn Thing>>);

/// The place of a thing, and its LP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThingKey {
    pub(crate) place: u32,
    lp: LpId,
}

impl Things {
    pub(crate) fn add(&mut self, lp: LpId, thing: impl Thing) -> ThingKey {
        self.0.push(Box::new(thing));
        ThingKey { place: self.0.len() as u32 - 1, lp }
    }

    /// # Panics
    /// If it is a thing of another LP.
    #[inline]
    pub(crate) fn get<T: Thing>(&mut self, lp: LpId, key: ThingKey) -> &mut T {
        let found = self.0.get_mut(key.place as usize).filter(|_| key.lp == lp);
        match found.and_then(|thing| (&mut **thing as &mut dyn Any).downcast_mut()) {
            Some(thing) => thing,
            None => of_another_lp(lp, key),
        }
    }

    /// What a thing is, in words.
    pub(crate) fn describe(&self, place: u32) -> String {
        self.0.get(place as usize).map_or_else(String::new, |thing| thing.describe())
    }

    /// Whether a thing tells itself who waits for it.
    pub(crate) fn tells_itself(&self, place: u32) -> bool {
        self.0.get(place as usize).is_some_and(|thing| thing.tells_itself())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cold]
fn of_another_lp(lp: LpId, key: ThingKey) -> ! {
    panic!(
        "{lp} used a resource, store, gate or value that {} had made: only the processes of one LP share \
         such things; LPs tell each other by Sim::send",
        key.lp
    )
}
