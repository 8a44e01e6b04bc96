use super::Handle;
use crate::alloc::{Exhausted, MakeRoom, list_for};
use crate::{DropEach, prefer_huge_pages, prefetch};

/// Values that come and go in any order.
///
/// A freed slot is the next one to be taken (LIFO), while it is still in the cache. The pool knows
/// which slots are free. Using a stale handle panics, as it is a bug in the engine that could give
/// wrong answers. Values that are left when the pool is dropped are dropped [one by
/// one](crate::drop_each).
#[derive(Debug)]
pub struct Pool<T> {
    places: DropEach<PoolSlot<T>>,
    free: Vec<u32>,
}

/// The numbers of free slots that there is room for once there is one.
const FREE_LEAST: usize = 32;

/// A slot that fits into a cache line never straddles two, which would cost a large model a quarter
/// of its speed.
#[derive(Debug)]
#[repr(align(64))]
struct PoolSlot<T>(Option<T>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { places: DropEach::default(), free: Vec::new() }
    }
}

impl<T> Pool<T> {
    /// Puts a value into a free slot.
    ///
    /// # Panics
    /// If there is no number or no memory for another value, it [unwinds](Exhausted::unwind).
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> Handle {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize].0 = Some(value);
                Handle::from_bits(place)
            }
            None => self.grow(value),
        }
    }

    fn grow(&mut self, value: T) -> Handle {
        let Some(place) = number(self.places.len()) else { Exhausted::Numbers.unwind() };
        if self.places.len() == self.places.capacity() {
            self.move_out();
        }
        self.places.push(PoolSlot(Some(value)));
        Handle::from_bits(place)
    }

    /// Moves to larger memory, for which huge pages are requested before it is touched.
    #[cold]
    fn move_out(&mut self) {
        let [double, little] = larger(self.places.len());
        let mut places = Vec::new();
        if places.try_reserve_exact(double).is_err() {
            places = list_for(little, "events");
        }
        prefer_huge_pages(&mut places);
        places.append(&mut self.places);
        self.places = places.into();
    }

    /// Several at once, as in many small pools each would otherwise grow again and again.
    #[cold]
    #[inline(never)]
    fn grow_free(&mut self) {
        let more = if self.free.is_empty() { FREE_LEAST } else { 1 };
        self.free.make_room(more, "the numbers of free slots");
    }

    /// The value of a handle.
    ///
    /// # Panics
    /// Like all methods here that take a handle, if it has no value.
    #[inline]
    pub fn get(&self, handle: Handle) -> &T {
        match &self.places[handle.bits() as usize].0 {
            Some(value) => value,
            None => stale(handle),
        }
    }

    /// The value of a handle, to be changed.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle) -> &mut T {
        match &mut self.places[handle.bits() as usize].0 {
            Some(value) => value,
            None => stale(handle),
        }
    }

    /// Replaces the value of a handle.
    #[inline(always)]
    pub fn replace(&mut self, handle: Handle, value: T) {
        match &mut self.places[handle.bits() as usize].0 {
            Some(old) => *old = value,
            None => stale(handle),
        }
    }

    /// Takes a value out and frees its slot.
    #[inline]
    pub fn remove(&mut self, handle: Handle) -> T {
        match self.places[handle.bits() as usize].0.take() {
            Some(value) => {
                if self.free.len() == self.free.capacity() {
                    self.grow_free();
                }
                self.free.push(handle.bits());
                value
            }
            None => stale(handle),
        }
    }

    /// Fetches the cache line of a value, if the handle has one.
    #[inline]
    pub fn prefetch(&self, handle: Handle) {
        if let Some(place) = self.places.get(handle.bits() as usize) {
            prefetch(place);
        }
    }

    /// Gives back the memory of free slots behind the last one in use.
    pub fn give_back_room(&mut self) {
        let used = self.places.iter().rposition(|slot| slot.0.is_some()).map_or(0, |last| last + 1);
        self.free.retain(|&place| (place as usize) < used);
        self.free.shrink_to_fit();
        let mut places = self.places.take();
        places.truncate(used);
        places.shrink_to_fit();
        self.places = places.into();
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many slots there are, in use and free.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// How much memory the slots take, in bytes; those that have never been used do not count.
    pub fn bytes(&self) -> usize {
        size_of::<PoolSlot<T>>() * self.places.len() + size_of::<u32>() * self.free.capacity()
    }
}

/// The values, in no particular order.
impl<T> IntoIterator for Pool<T> {
    type Item = T;
    type IntoIter = Values<T>;

    fn into_iter(self) -> Values<T> {
        Values(self.places.into_iter())
    }
}

/// Iterator over the values of a [`Pool`].
#[derive(Debug)]
pub struct Values<T>(std::vec::IntoIter<PoolSlot<T>>);

impl<T> Iterator for Values<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.0.find_map(|slot| slot.0)
    }
}

/// The number of the slot after this many, if there is one. The last number of 32 bits is never
/// used.
fn number(places: usize) -> Option<u32> {
    u32::try_from(places).ok().filter(|&place| place < u32::MAX)
}

/// How many slots to make room for when there are this many: twice as many, or somewhat more if
/// there is no memory for that.
fn larger(places: usize) -> [usize; 2] {
    [2 * places.max(32), places + places / 8 + 32]
}

#[cold]
fn stale(handle: Handle) -> ! {
    panic!("no value at {handle:?}: it was taken out before")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_places_are_reused_last_first() {
        let mut pool = Pool::default();
        let handles: Vec<Handle> = (0..4).map(|n| pool.insert(n)).collect();
        assert_eq!(pool.remove(handles[1]), 1);
        assert_eq!(pool.remove(handles[3]), 3);
        assert_eq!(pool.insert(10), handles[3]);
        assert_eq!(pool.insert(11), handles[1]);
        assert_eq!((pool.len(), pool.places()), (4, 4));
        assert_eq!(
            handles.iter().map(|&handle| *pool.get(handle)).collect::<Vec<_>>(),
            [0, 11, 2, 10]
        );
    }

    #[test]
    fn a_pool_gives_up_what_is_left_in_it() {
        let mut pool = Pool::default();
        let handles: Vec<Handle> = (0..4).map(|n| pool.insert(n)).collect();
        pool.remove(handles[1]);
        assert_eq!(pool.into_iter().collect::<Vec<_>>(), [0, 2, 3]);
    }

    #[test]
    fn a_value_is_replaced_in_its_place() {
        let mut pool = Pool::default();
        let [first, second] = [1, 2].map(|n| pool.insert(n));
        pool.replace(first, 3);
        assert_eq!((*pool.get(first), *pool.get(second), pool.len()), (3, 2, 2));
    }

    #[test]
    fn a_pool_moves_when_it_is_full_to_twice_the_size() {
        let mut pool = Pool::default();
        assert!(pool.is_empty());
        let mut moves = Vec::new();
        for n in 0..1000 {
            let before = pool.places.capacity();
            pool.insert(n);
            if pool.places.capacity() != before {
                moves.push((n, pool.places.capacity()));
            }
        }
        assert!(!pool.is_empty());
        assert_eq!(moves, [(0, 64), (64, 128), (128, 256), (256, 512), (512, 1024)]);
    }

    #[test]
    fn memory_behind_the_last_value_can_be_given_back() {
        let mut pool = Pool::default();
        let count = if cfg!(miri) { 100 } else { 1000 };
        let handles: Vec<Handle> = (0..count).map(|n| pool.insert(n)).collect();
        handles
            .iter()
            .filter(|handle| ![3, 7].contains(&handle.bits()))
            .for_each(|handle| _ = pool.remove(*handle));
        pool.give_back_room();
        assert_eq!((pool.places(), pool.len(), pool.places.capacity()), (8, 2, 8));
        assert_eq!((*pool.get(handles[3]), *pool.get(handles[7])), (3, 7));
        // All six free slots are used again before there are new ones.
        let mut places: Vec<u32> = (0..7).map(|n| pool.insert(n).bits()).collect();
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2, 4, 5, 6, 8]);
        (0..9).for_each(|place| _ = pool.remove(Handle::from_bits(place)));
        pool.give_back_room();
        assert_eq!((pool.places(), pool.bytes(), pool.insert(1)), (0, 0, Handle::from_bits(0)));
    }

    #[test]
    fn where_memory_is_short_a_pool_grows_by_an_eighth() {
        assert_eq!([0, 64, 6400].map(larger), [[64, 32], [128, 104], [12800, 7232]]);
    }

    #[test]
    fn numbers_end_before_the_last_of_32_bits() {
        const LAST: usize = u32::MAX as usize;
        assert_eq!(
            [0, LAST - 1, LAST, LAST + 1].map(number),
            [Some(0), Some(u32::MAX - 1), None, None]
        );
    }

    #[test]
    fn values_are_dropped_once() {
        let value = std::rc::Rc::new(());
        let mut pool = Pool::default();
        let handle = pool.insert(value.clone());
        pool.replace(handle, value.clone());
        assert_eq!(std::rc::Rc::strong_count(&value), 2);
        drop(pool.remove(handle));
        assert_eq!(std::rc::Rc::strong_count(&value), 1);
    }

    #[test]
    #[should_panic(expected = "taken out before")]
    fn a_stale_handle_is_caught() {
        let mut pool = Pool::default();
        let handle = pool.insert(1);
        pool.remove(handle);
        pool.get(handle);
    }

    #[test]
    #[should_panic(expected = "taken out before")]
    fn a_second_free_is_caught() {
        let mut pool = Pool::default();
        let handle = pool.insert(1);
        pool.remove(handle);
        pool.remove(handle);
    }
}
