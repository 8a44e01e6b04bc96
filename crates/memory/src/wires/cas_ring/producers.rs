//! Many rings, as one thread uses them.

use super::{CasCounts, CasProducer, Refused, Shared};
use crate::sync::{Arc, spin_loop};

/// The ends of many rings where values go in, of one thread that rarely uses any of them: they have
/// one count, and all threads share what leads to the rings.
pub struct CasProducers<T> {
    rings: Arc<Vec<Arc<Shared<T>>>>,
    counts: CasCounts,
}

impl<T> CasProducers<T> {
    /// The ends of these rings, by their order.
    pub fn new(producers: Vec<CasProducer<T>>) -> Self {
        let rings = producers.into_iter().map(|producer| producer.shared).collect();
        CasProducers { rings: Arc::new(rings), counts: CasCounts::default() }
    }

    /// How many values have been pushed, and how often they were refused.
    pub fn counts(&self) -> CasCounts {
        self.counts
    }
}

impl<T> Clone for CasProducers<T> {
    fn clone(&self) -> Self {
        CasProducers { rings: self.rings.clone(), counts: CasCounts::default() }
    }
}

impl<T: Send> CasProducers<T> {
    /// As [`CasProducer::push_within`], for the ring of this number.
    ///
    /// # Errors
    /// Likewise.
    ///
    /// # Panics
    /// If there is no such ring.
    pub fn push_within(&mut self, ring: usize, mut value: T, tries: u32) -> Result<(), Refused<T>> {
        let shared = &self.rings[ring];
        // Nothing is known about what has been read. One look says it.
        let mut read = 0;
        for _ in 1..tries {
            match shared.push(&mut read, &mut self.counts, value) {
                Ok(()) => return Ok(()),
                Err(refused) => value = refused.value,
            }
            spin_loop();
        }
        shared.push(&mut read, &mut self.counts, value)
    }
}
