use warpline_memory::{Handle, MakeRoom};

/// A set of handles of events, one bit each: whether an event is in it can be told without a look at
/// the event, which is probably in no cache.
#[derive(Debug, Default)]
pub(crate) struct HandleSet {
    words: Vec<u64>,
    len: usize,
}

impl HandleSet {
    /// How many handles there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How much memory the set takes, in bytes, in use or free.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<u64>() * self.words.capacity()
    }

    #[inline]
    pub(crate) fn contains(&self, handle: Handle) -> bool {
        let (word, bit) = place(handle);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Adds a handle that is not in the set.
    #[inline]
    pub(crate) fn insert(&mut self, handle: Handle) {
        let (word, bit) = place(handle);
        if word >= self.words.len() {
            self.grow(word + 1);
        }
        self.words[word] |= bit;
        self.len += 1;
    }

    #[cold]
    fn grow(&mut self, words: usize) {
        self.words.make_room(words - self.words.len(), "which timers were cancelled");
        self.words.resize(words, 0);
    }

    /// Removes a handle. Returns whether it was in the set.
    #[inline]
    pub(crate) fn remove(&mut self, handle: Handle) -> bool {
        let is_in = self.contains(handle);
        if is_in {
            let (word, bit) = place(handle);
            self.words[word] &= !bit;
            self.len -= 1;
        }
        is_in
    }
}

/// The word of a handle, and its bit there.
#[inline]
fn place(handle: Handle) -> (usize, u64) {
    let bits = handle.bits();
    ((bits / u64::BITS) as usize, 1 << (bits % u64::BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_in_the_set_until_they_are_removed() {
        let mut set = HandleSet::default();
        let all = [0, 63, 64, 1000].map(Handle::from_bits);
        all.iter().for_each(|handle| set.insert(*handle));
        assert!(all.iter().all(|handle| set.contains(*handle)));
        assert!(
            ![1, 62, 65, 999, u32::MAX].iter().any(|bits| set.contains(Handle::from_bits(*bits)))
        );
        assert!(set.remove(all[1]) && !set.remove(all[1]) && !set.contains(all[1]));
        assert!(!set.remove(Handle::from_bits(u32::MAX)));
        assert_eq!((set.len(), set.bytes() >= 126), (3, true));
    }
}
