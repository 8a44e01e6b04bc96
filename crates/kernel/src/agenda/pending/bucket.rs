//! Unsorted buckets of entries that share one store of memory, so that one reuses what another
//! frees.

use warpline_base::VirtualTime;
use warpline_memory::{Handle, MakeRoom, prefer_huge_pages};

use super::set::{Entry, PENDING_EVENTS};

/// Entries per chunk: four cache lines.
const CHUNK: usize = 16;

/// A bucket of entries in no order: a list of chunks in a [`Chunks`]. All but the first chunk are
/// full.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    /// The chunk that is being filled; meaningless while the bucket is empty.
    head: u32,
    len: u32,
}

impl Bucket {
    #[inline]
    pub(super) fn len(self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// The chunks of all buckets.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    chunks: Vec<[Entry; CHUNK]>,
    /// For each chunk, the one that was filled before it.
    filled_before: Vec<u32>,
    free: Vec<u32>,
    /// The capacity for which huge pages were last asked for.
    advised: usize,
}

impl Chunks {
    #[inline]
    pub(super) fn push(&mut self, bucket: &mut Bucket, entry: Entry) {
        let at = bucket.len() % CHUNK;
        if at == 0 {
            self.lengthen(bucket);
        }
        self.chunks[bucket.head as usize][at] = entry;
        bucket.len += 1;
    }

    /// Gives a bucket whose chunks are full another one.
    fn lengthen(&mut self, bucket: &mut Bucket) {
        let chunk = self.free.pop().unwrap_or_else(|| self.grow());
        self.filled_before[chunk as usize] = bucket.head;
        bucket.head = chunk;
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let nothing = Entry::new(VirtualTime::ZERO, 0, Handle::from_bits(0));
        self.chunks.make_room(1, PENDING_EVENTS);
        self.filled_before.make_room(1, PENDING_EVENTS);
        self.chunks.push([nothing; CHUNK]);
        self.filled_before.push(0);
        if self.chunks.capacity() > self.advised {
            prefer_huge_pages(&mut self.chunks);
            self.advised = self.chunks.capacity();
        }
        // There are fewer chunks than entries, whose handles are 32 bits long.
        self.chunks.len() as u32 - 1
    }

    /// How much memory there is for chunks, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<[Entry; CHUNK]>() * self.chunks.len()
            + size_of::<u32>() * (self.filled_before.capacity() + self.free.capacity())
    }

    fn set_free(&mut self, chunk: u32) {
        self.free.make_room(1, PENDING_EVENTS);
        self.free.push(chunk);
    }

    /// Passes the entries of a bucket to `see`, a chunk at a time.
    fn visit_chunks(&self, bucket: Bucket, mut see: impl FnMut(&[Entry])) {
        let mut chunk = bucket.head;
        let mut left = bucket.len();
        while left > 0 {
            let count = (left - 1) % CHUNK + 1;
            see(&self.chunks[chunk as usize][..count]);
            chunk = self.filled_before[chunk as usize];
            left -= count;
        }
    }

    /// Passes all entries of a bucket to `take`, a chunk at a time, each once its memory has been
    /// freed.
    pub(super) fn drain(
        &mut self,
        bucket: &mut Bucket,
        mut take: impl FnMut(&mut Chunks, &[Entry]),
    ) {
        let Bucket { head: mut chunk, .. } = *bucket;
        let mut left = std::mem::take(bucket).len();
        while left > 0 {
            let count = (left - 1) % CHUNK + 1;
            let entries = self.chunks[chunk as usize];
            self.set_free(chunk);
            chunk = self.filled_before[chunk as usize];
            left -= count;
            take(self, &entries[..count]);
        }
    }

    /// Moves all entries of a bucket to the end of `to`.
    pub(super) fn move_to(&mut self, bucket: &mut Bucket, to: &mut Vec<Entry>) {
        to.make_room(bucket.len(), PENDING_EVENTS);
        self.visit_chunks(*bucket, |chunk| to.extend_from_slice(chunk));
        let Bucket { head: mut chunk, len } = std::mem::take(bucket);
        for _ in 0..len.div_ceil(CHUNK as u32) {
            self.set_free(chunk);
            chunk = self.filled_before[chunk as usize];
        }
    }

    /// Removes the entries of a bucket whose events `keep` does not want.
    pub(super) fn retain(&mut self, bucket: &mut Bucket, keep: &mut impl FnMut(Handle) -> bool) {
        let mut kept = Bucket::default();
        self.drain(bucket, |store, entries| {
            for &entry in entries {
                if keep(entry.handle()) {
                    store.push(&mut kept, entry);
                }
            }
        });
        *bucket = kept;
    }

    /// The earliest and the latest time in a bucket.
    pub(super) fn extent(&self, bucket: Bucket) -> (VirtualTime, VirtualTime) {
        let (mut low, mut high) = (u64::MAX, 0);
        self.visit_chunks(bucket, |chunk| {
            for entry in chunk {
                low = low.min(entry.time().bits());
                high = high.max(entry.time().bits());
            }
        });
        (VirtualTime::from_bits(low), VirtualTime::from_bits(high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: u64) -> Entry {
        Entry::new(VirtualTime::from_bits(n), 0, Handle::from_bits(n as u32))
    }

    #[test]
    fn buckets_share_memory() {
        let mut store = Chunks::default();
        let mut buckets = [Bucket::default(); 3];
        for n in 0..300 {
            store.push(&mut buckets[n as usize % 3], entry(n));
        }
        let chunks = store.chunks.len();
        assert_eq!(
            store.extent(buckets[1]),
            (VirtualTime::from_bits(1), VirtualTime::from_bits(298))
        );
        let mut seen = Vec::new();
        let mut first = buckets[0];
        store.drain(&mut first, |store, entries| {
            entries.iter().for_each(|&e| store.push(&mut buckets[2], e));
            seen.extend(entries.iter().map(|e| e.time().bits()));
        });
        seen.sort_unstable();
        assert_eq!(seen, (0..100).map(|n| 3 * n).collect::<Vec<_>>());
        assert!(first.is_empty());
        assert_eq!(buckets[2].len(), 200);
        assert!(store.chunks.len() <= chunks + 1, "freed chunks are used first");
        let mut left = 0;
        store.visit_chunks(buckets[2], |chunk| left += chunk.len());
        assert_eq!(left, 200);
        let mut moved = Vec::new();
        store.move_to(&mut buckets[2], &mut moved);
        assert_eq!(
            (moved.len(), buckets[2].len(), store.free.len()),
            (200, 0, store.chunks.len() - 100usize.div_ceil(CHUNK))
        );
    }
}
