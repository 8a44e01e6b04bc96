use std::ops::{Index, IndexMut};

/// A value on two cache lines of its own, as processors fetch lines in pairs. So one core's writes
/// do not slow down another core's access to the values beside it.
///
/// ```
/// let counts = [warpline_memory::Apart(1), warpline_memory::Apart(2)];
/// assert_eq!((counts[1].0, size_of_val(&counts)), (2, 256));
/// ```
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

/// A list for one core, on cache lines that hold nothing else.
///
/// ```
/// let mut list = warpline_memory::ApartList::from_fn(3, |index| 10 * index);
/// list[1] += 5;
/// assert_eq!(list.iter().sum::<usize>(), 35);
/// ```
#[derive(Clone, Debug)]
pub struct ApartList<T> {
    /// Two by two, so that short values waste less of their lines.
    pairs: Box<[Apart<[T; 2]>]>,
    len: usize,
}

impl<T> ApartList<T> {
    /// A list of this many values, each made from its index.
    pub fn from_fn(len: usize, mut value: impl FnMut(usize) -> T) -> Self {
        // If the number is odd, one more value is made, which nobody sees.
        let pairs = (0..len.div_ceil(2))
            .map(|pair| Apart([value(2 * pair), value(2 * pair + 1)]))
            .collect();
        ApartList { pairs, len }
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pairs.iter().flat_map(|pair| &pair.0).take(self.len)
    }

    /// The values in order, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.pairs.iter_mut().flat_map(|pair| &mut pair.0).take(self.len)
    }
}

impl<T> Index<usize> for ApartList<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        &self.pairs[index / 2].0[index % 2]
    }
}

impl<T> IndexMut<usize> for ApartList<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.pairs[index / 2].0[index % 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_lines_of_its_own() {
        let list = ApartList::from_fn(5, |index| index as u32);
        assert!(list.iter().copied().eq(0..5));
        let address = |index: usize| std::ptr::from_ref(&list[index]).addr();
        assert_eq!(
            (address(0) % 128, address(2) - address(0), address(1) - address(0)),
            (0, 128, 4)
        );
    }
}
