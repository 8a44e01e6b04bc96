//! How fast an engine was, and how engines compare.
//!
//! Where other programs use the cores as well, rates are compared per core. An engine on more cores
//! would be faster at the expense of the others. If these are runs that choose in the same way, all
//! of them together would be slower than one after the other: two runs that each took both of two
//! cores, because two threads are faster than one, would both be slower than sequential ones, as
//! PEs wait for PEs whose thread is not on a core. So an engine that was given less than a certain
//! share of its cores counts by what it commits per second on a core.

/// With a smaller share of its cores than this, an engine is on cores that others use as well.
const CONTESTED: f64 = 0.85;

/// How fast an engine was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speed {
    /// Committed events per second.
    pub(super) rate: f64,
    /// How many threads it had.
    pub(super) threads: u32,
    /// The share of a core that each of them was given.
    pub(super) share: f64,
}

/// How many times as fast an engine was as another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    pub(super) times: f64,
    /// Whether rates were compared per core.
    pub(super) per_core: bool,
}

impl Ratio {
    /// The ratio seen from the other engine.
    pub(super) fn inverse(self) -> Ratio {
        Ratio { times: 1.0 / self.times, ..self }
    }
}

impl Speed {
    /// Whether others used its cores as well.
    pub(super) fn is_contested(self) -> bool {
        self.share < CONTESTED
    }

    fn cores(self) -> f64 {
        f64::from(self.threads) * self.share
    }

    pub(super) fn compared_to(self, other: Speed) -> Ratio {
        let per_core = self.is_contested() || other.is_contested();
        let cores =
            if per_core { other.cores() / self.cores().max(f64::MIN_POSITIVE) } else { 1.0 };
        Ratio { times: cores * self.rate / other.rate.max(f64::MIN_POSITIVE), per_core }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_count_where_others_use_them_as_well() {
        let speed = |rate, threads, share| Speed { rate, threads, share };
        let ratio = |a: Speed, b: Speed| a.compared_to(b).times;
        assert_eq!(ratio(speed(24.0, 2, 1.0), speed(16.0, 1, 1.0)), 1.5);
        assert_eq!(ratio(speed(24.0, 2, 0.9), speed(16.0, 1, 1.0)), 1.5);
        assert_eq!(ratio(speed(12.0, 2, 0.75), speed(16.0, 1, 1.0)), 0.5);
        assert_eq!(ratio(speed(8.0, 1, 0.5), speed(8.0, 2, 0.5)), 2.0);
    }
}
