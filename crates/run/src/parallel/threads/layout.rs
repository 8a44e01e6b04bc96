/// How PEs are divided among threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadLayout {
    /// Each PE has a thread of its own, however few cores there are.
    pub(crate) one_thread_per_pe: bool,
    /// PEs move to threads that have less to do.
    pub(crate) moves: bool,
    /// The time that PEs are at work is measured, whether they move or not.
    pub(crate) measured: bool,
    /// For tests: PEs move at random, all the time, by this seed.
    pub(crate) migrate_at_random: Option<u64>,
}
