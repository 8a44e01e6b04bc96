/// Where a process is among those of its machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuShare {
    /// Its number there, from 0.
    pub number: u32,
    /// How many there are.
    pub of: u32,
    /// How many cores it has, as its share of those that it may use.
    pub cores: f64,
}

impl CpuShare {
    /// That of a process that shares these cores with nobody.
    pub fn alone(cores: u32) -> Self {
        CpuShare { number: 0, of: 1, cores: cores.into() }
    }

    /// The most threads that have a core each; one at least.
    pub fn threads(&self) -> usize {
        // Shares are fractions with rounding errors.
        (self.cores + 0.01).max(1.0) as usize
    }

    /// Whether so many threads have a core each.
    pub fn suffices_for(&self, threads: usize) -> bool {
        threads as f64 <= self.cores + 0.01
    }
}
