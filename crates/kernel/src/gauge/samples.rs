/// One working step in this many is a sample: a prime, so that samples do not fall into step with
/// GVT.
const EVERY: u32 = 509;
/// At the start of a run samples are closer together: none stands for more than one in this
/// many of the steps so far.
const EVENLY: u64 = 16;

/// The samples among steps of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Samples {
    /// Steps until the next sample.
    until: u32,
    /// How many steps the next sample stands for.
    interval: u32,
    /// How many steps there were.
    steps: u64,
    /// How many steps the samples stand for.
    weight: u64,
    /// The sum over the samples, each weighted by the steps that it stands for.
    laps: [i64; 5],
    /// The sum of the squares of the samples' weighted times.
    squares: f64,
    /// The samples that were left out.
    lost: [i64; 5],
}

impl Samples {
    pub(super) fn first_after(steps: u32) -> Self {
        Samples { until: steps, interval: 1, ..Samples::default() }
    }

    /// Whether the next step is a sample.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.until == 0
    }

    /// Puts a sample that is due off by one step.
    pub(super) fn put_off(&mut self) {
        self.until = 1;
    }

    /// A step of this kind is over.
    #[inline]
    pub(super) fn passed(&mut self) {
        self.steps += 1;
        self.until = self.until.saturating_sub(1);
    }

    /// Adds the phases of a sample. It `is_lost` if its thread lost the core, and is left out then.
    pub(super) fn add(&mut self, laps: &[i64; 5], is_lost: bool) {
        let weight = i64::from(self.interval);
        let sums = if is_lost { &mut self.lost } else { &mut self.laps };
        sums.iter_mut().zip(laps).for_each(|(sum, lap)| *sum += weight * lap);
        if !is_lost {
            self.weight += u64::from(self.interval);
            self.squares += ((weight * laps.iter().sum::<i64>()) as f64).powi(2);
        }
        self.interval = (1 + self.steps / EVENLY).min(EVERY.into()) as u32;
        self.until = self.interval - 1;
    }

    /// The time of all steps by phase, in nanoseconds: an estimate.
    pub(super) fn times(&self) -> [f64; 5] {
        let positive = |laps: &[i64; 5]| laps.map(|time| time.max(0) as f64);
        let laps = positive(&self.laps);
        let scale = self.steps as f64 / self.weight.max(1) as f64;
        // Without other samples, those that were left out still say something.
        if laps.iter().any(|time| *time > 0.0) {
            laps.map(|time| time * scale)
        } else {
            positive(&self.lost)
        }
    }

    /// How many samples of equal length would say as much. If one took longer than all others
    /// together, that is hardly more than 1.
    pub(super) fn effective(&self) -> f64 {
        let sum = self.laps.iter().sum::<i64>() as f64;
        if self.squares > 0.0 { sum * sum / self.squares } else { 0.0 }
    }
}
