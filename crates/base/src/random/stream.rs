use super::Random;
use crate::LpId;

/// An engine's view of a random stream: the engine says which event draws. A model sees only the
/// [`Random`] in it, so it can only make the next draw.
///
/// ```
/// use warpline_base::{LpId, random::Stream};
/// let mut stream = Stream::new(42, 0);
/// stream.point(LpId(7), 3); // the third event of LP 7
/// let first = stream.random().uniform();
/// stream.point(LpId(8), 1);
/// stream.point(LpId(7), 3);
/// assert_eq!(stream.random().uniform(), first);
/// ```
#[derive(Debug)]
pub struct Stream {
    seed: u64,
    number: u8,
    random: Random,
}

impl Stream {
    /// The stream of this number under a seed, pointed at `init` of LP 0.
    pub fn new(seed: u64, number: u8) -> Self {
        Stream { seed, number, random: Random::new(seed, LpId(0), number) }
    }

    /// Points at the first draw of the `event`-th event of an LP (0 is `init`).
    #[inline]
    pub fn point(&mut self, lp: LpId, event: u64) {
        // Everything is reset, so a model that overwrites its `Random` cannot change what the next
        // event draws.
        self.random = Random::new(self.seed, lp, self.number);
        self.random.event = event;
    }

    /// Points at the first draw of the same event again.
    #[inline]
    pub fn rewind(&mut self) {
        self.random.draws = 0;
    }

    /// Another stream, at the first draw of the same event.
    pub fn sibling(&self, number: u8) -> Stream {
        let mut sibling = Stream {
            seed: self.seed,
            number,
            random: Random::new(self.seed, self.random.lp(), number),
        };
        sibling.random.event = self.random.event;
        sibling
    }

    /// The numbers that the event draws.
    #[inline]
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// How many words the event has drawn.
    #[inline]
    pub fn position(&self) -> u32 {
        self.random.position()
    }
}
