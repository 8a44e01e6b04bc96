/// The share that a process has of the cores of its machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuShare {
    /// Its number among the processes of the machine, from 0.
    pub number: u32,
    /// How many processes the machine has.
    pub of: u32,
    /// How many cores it has: its share of those that it may use.
    pub cores: f64,
}

impl CpuShare {
    /// The share of a process that has these cores to itself.
    pub fn alone(cores: u32) -> Self {
        CpuShare { number: 0, of: 1, cores: cores.into() }
    }

    /// How many threads can have a core each; one at least.
    pub fn threads(&self) -> usize {
        // Shares are fractions with rounding errors.
        (self.cores + 0.01).max(1.0) as usize
    }

    /// Whether this many threads can have a core each.
    pub fn suffices_for(&self, threads: usize) -> bool {
        threads as f64 <= self.cores + 0.01
    }
}
