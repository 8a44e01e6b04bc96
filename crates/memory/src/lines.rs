//! What processing elements (PEs) let each other know at any moment, without a message.

use crate::Apart;
use crate::sync::{Arc, AtomicU64, Ordering};

/// A word per PE that only this PE writes and all others read, each on cache lines of its own: a register, as the Global Synchronization
/// Unit of E. Lynch and G. Riley, "Hardware supported time synchronization in multi-core architectures", PADS 2009, has them. Whatever a PE
/// did before it wrote a word has happened for whoever reads that word.
///
/// ```
/// let mut lines = warpline_memory::lines(2);
/// lines[0].write(7);
/// assert_eq!((lines[1].read(0), lines[0].read(1)), (7, 0));
/// ```
#[derive(Debug)]
pub struct Lines {
    words: Arc<Box<[Apart<AtomicU64>]>>,
    me: usize,
}

/// The views of as many PEs on their words, all 0.
pub fn lines(pes: u32) -> Vec<Lines> {
    let words = Arc::new((0..pes).map(|_| Apart(AtomicU64::new(0))).collect::<Box<[_]>>());
    (0..pes as usize).map(|me| Lines { words: words.clone(), me }).collect()
}

impl Lines {
    /// Writes this PE's word.
    #[inline]
    pub fn write(&mut self, word: u64) {
        // Release pairs with the Acquire of `read`.
        self.words[self.me].0.store(word, Ordering::Release);
    }

    /// The word of a PE as it was written last, or a little before.
    ///
    /// # Panics
    /// If there is no such PE.
    #[inline]
    pub fn read(&self, pe: u32) -> u64 {
        // Acquire pairs with the Release of `write`: what that PE sent before can be received now.
        self.words[pe as usize].0.load(Ordering::Acquire)
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::ring;

    /// The rule by which a bound needs no message counted: a message is published before its sender's next word, so whoever reads the word
    /// first and empties the ring afterwards has all that the word no longer covers.
    #[test]
    fn loom_what_was_sent_before_a_word_is_there_after_it() {
        loom::model(|| {
            let mut views = lines(2);
            let (reader, mut writer) = (views.remove(0), views.remove(0));
            let (mut producer, mut consumer) = ring(4);
            let sender = thread::spawn(move || {
                for n in 1..=2u64 {
                    producer.write(n).unwrap();
                    producer.publish();
                    writer.write(n);
                }
            });
            let word = reader.read(1);
            let received = consumer.drain().map_or(0, |values| values.last().unwrap_or_default());
            assert!(received >= word, "word {word} was read, and what was sent before it was not there");
            sender.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn words_have_lines_of_their_own() {
        let views = lines(3);
        let places: Vec<usize> = views[0].words.iter().map(|word| std::ptr::from_ref(word).addr()).collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 128));
    }
}
