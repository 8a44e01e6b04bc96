use std::sync::Arc;

/// The least delay of anything that one PE sends another: what lookahead comes to between PEs. Infinite where there is no link.
#[derive(Clone, Debug)]
pub struct Delays(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Uniform(f64),
    /// By sender, and for each by receiver.
    Each(Arc<[f64]>, usize),
}

impl Delays {
    /// The same delay between any two PEs.
    pub fn uniform(delay: f64) -> Self {
        Delays(Kind::Uniform(delay))
    }

    /// A delay for every two of `pes` PEs, each the least of some links: `links` tells them all, as (sender, receiver, delay).
    ///
    /// # Panics
    /// If a link begins or ends at a PE that there is not.
    pub fn of_links(pes: u32, links: impl Iterator<Item = (u32, u32, f64)>) -> Self {
        let pes = pes as usize;
        let mut least = vec![f64::INFINITY; pes * pes];
        for (from, to, delay) in links {
            let place = &mut least[from as usize * pes + to as usize];
            *place = place.min(delay);
        }
        Delays(Kind::Each(least.into(), pes))
    }

    /// The least delay from one PE to another.
    #[inline]
    pub fn between(&self, from: u32, to: u32) -> f64 {
        match &self.0 {
            Kind::Uniform(delay) => *delay,
            Kind::Each(least, pes) => least[from as usize * pes + to as usize],
        }
    }

    /// The least delay between any two of `pes` PEs.
    pub fn least(&self, pes: u32) -> f64 {
        let pairs = (0..pes).flat_map(|from| (0..pes).filter(move |to| *to != from).map(move |to| (from, to)));
        match &self.0 {
            Kind::Uniform(delay) => *delay,
            Kind::Each(..) => pairs.map(|(from, to)| self.between(from, to)).fold(f64::INFINITY, f64::min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_link_between_two_pes_counts() {
        let delays = Delays::of_links(3, [(0, 1, 3.0), (0, 1, 2.0), (1, 0, 5.0), (2, 2, 0.1)].into_iter());
        assert_eq!([delays.between(0, 1), delays.between(1, 0), delays.between(1, 2)], [2.0, 5.0, f64::INFINITY]);
        assert_eq!((delays.least(3), Delays::uniform(0.5).least(3)), (2.0, 0.5));
    }
}
