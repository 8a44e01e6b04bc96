/// Decides where a PE keeps the events that it sends to itself, if those of other PEs arrive in
/// buffers: in buffers as well, or in its pool.
///
/// A pool is leaner. But if many events come from other PEs, the core often mispredicts in which of
/// the two the next event lies, which costs more. So the pool is for PEs that receive little from
/// others. Events in buffers stay there, and their memory is lost to the pool, so the pool is
/// chosen only while they take little.
#[derive(Debug, Default)]
pub(crate) struct Locality {
    /// What had committed at the last decision: all events, and those from other PEs.
    committed: u64,
    remote: u64,
}

impl Locality {
    /// How many events a decision takes.
    const EVENTS: u64 = 4096;
    /// The pool is chosen if at most one event in this many is remote, and left if more than twice
    /// that share are.
    const FEW: u64 = 32;
    /// Buffers that take more memory than this, in bytes, are not left behind for a pool.
    pub(crate) const LITTLE: u64 = 8 << 20;

    /// Whether to keep local events in the pool from now on. `pooled` says whether they are kept
    /// there now; `committed` and `remote` count what has committed, and `little` says whether
    /// events take little memory.
    pub(crate) fn chooses_pool(
        &mut self,
        pooled: bool,
        committed: u64,
        remote: u64,
        little: bool,
    ) -> bool {
        let events = committed - self.committed;
        let from_others = remote - self.remote;
        if events < Self::EVENTS {
            return pooled;
        }
        self.committed = committed;
        self.remote = remote;
        if pooled {
            from_others * Self::FEW <= 2 * events
        } else {
            little && from_others * Self::FEW <= events
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_for_pes_that_receive_hardly_anything() {
        let mut locality = Locality::default();
        assert!(!locality.chooses_pool(false, 100, 0, true), "nothing is known yet");
        assert!(!locality.chooses_pool(false, 5000, 200, true), "4 % are remote");
        assert!(locality.chooses_pool(false, 10_000, 350, true), "3 % are");
        assert!(
            locality.chooses_pool(true, 20_000, 950, false),
            "6 % are too few to leave the pool"
        );
        assert!(!locality.chooses_pool(true, 30_000, 1650, true), "7 % are");
        assert!(
            !locality.chooses_pool(false, 40_000, 1650, false),
            "too much would be left behind"
        );
    }
}
