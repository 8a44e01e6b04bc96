use super::partners::Partners;
use super::slots::SubPool;

/// How many buffers each sub-pool of a PE may have, if that is limited.
pub(super) struct Sizes {
    own: usize,
    /// By partner.
    sizes: Box<[u32]>,
    traffic: Option<Traffic>,
}

/// How much a PE has wanted to send. Its buffers are divided in proportion.
struct Traffic {
    /// The buffers of all sub-pools together.
    total: u64,
    /// By partner: what was wanted since sizes were last adapted.
    wanted: Box<[u64]>,
    /// By partner: a decaying sum of what was wanted before.
    weights: Box<[u64]>,
}

impl Sizes {
    pub(super) fn new(partners: Partners, size: SubPool) -> Option<Self> {
        let (average, adapts) = match size {
            SubPool::Unlimited => return None,
            SubPool::Fixed(size) => (size.max(1), false),
            SubPool::Adaptive(average) => (average.max(1), true),
        };
        let lists = partners.lists();
        let zeros = || vec![0; lists].into_boxed_slice();
        let average = average.saturating_mul(partners.per_list());
        let total = u64::from(average) * (lists as u64 - 1);
        let traffic = adapts.then(|| Traffic { total, wanted: zeros(), weights: zeros() });
        let sizes = vec![average; lists].into_boxed_slice();
        Some(Sizes { own: partners.own(), sizes, traffic })
    }

    pub(super) fn of(&self, partner: usize) -> u32 {
        self.sizes[partner]
    }

    /// Notes that messages to a PE want buffers.
    pub(super) fn want(&mut self, to: usize, messages: u32) {
        if let Some(traffic) = &mut self.traffic {
            traffic.wanted[to] += u64::from(messages);
        }
    }

    /// Adapts sizes to the traffic: each sub-pool gets one buffer, and a share of the rest in
    /// proportion to what was wanted, where everything before the last time counts half.
    pub(super) fn adapt(&mut self) {
        let Some(Traffic { total, wanted, weights }) = &mut self.traffic else { return };
        for (weight, wanted) in weights.iter_mut().zip(wanted.iter_mut()) {
            *weight = *weight / 2 + std::mem::take(wanted);
        }
        let all: u64 = weights.iter().sum();
        if all == 0 {
            return;
        }
        let rest = *total - (self.sizes.len() as u64 - 1);
        for (partner, (size, weight)) in self.sizes.iter_mut().zip(weights.iter()).enumerate() {
            if partner != self.own {
                *size = 1 + (u128::from(rest) * u128::from(*weight) / u128::from(all)) as u32;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_traffic_and_keep_their_sum() {
        let mut sizes = Sizes::new(Partners::of(1, 4), SubPool::Adaptive(10)).unwrap();
        sizes.adapt();
        assert_eq!(
            [0, 2, 3].map(|partner| sizes.of(partner)),
            [10, 10, 10],
            "nothing is known yet"
        );
        sizes.want(0, 20);
        sizes.want(2, 6);
        sizes.want(2, 1);
        sizes.adapt();
        assert_eq!([0, 2, 3].map(|partner| sizes.of(partner)), [21, 8, 1]);
        // What was long ago counts less and less.
        for _ in 0..8 {
            sizes.want(3, 100);
            sizes.adapt();
        }
        assert_eq!([0, 2, 3].map(|partner| sizes.of(partner)), [1, 1, 28]);
    }

    #[test]
    fn fixed_sizes_stay() {
        let mut sizes = Sizes::new(Partners::of(0, 3), SubPool::Fixed(7)).unwrap();
        sizes.want(1, 1000);
        sizes.adapt();
        assert_eq!([sizes.of(1), sizes.of(2)], [7, 7]);
        assert!(Sizes::new(Partners::of(0, 3), SubPool::Unlimited).is_none());
        let mut alone = Sizes::new(Partners::of(0, 1), SubPool::Adaptive(5)).unwrap();
        alone.want(0, 3);
        alone.adapt();
    }

    #[test]
    fn many_partners_have_the_sizes_of_all_of_them_together() {
        let mut sizes = Sizes::new(Partners::of(3, 1000), SubPool::Adaptive(10)).unwrap();
        sizes.want(0, 5);
        sizes.adapt();
        assert_eq!(sizes.of(0), 9990);
    }
}
