//! The time line of a PE, for the record.
//!
//! Invariant: a time line has at most [`BINS`] bins, however long the run is. When it would need
//! more, each two become one, so that its memory and the work per step are bounded.

use warpline_machine::Time;
use warpline_record::TimeLine;
use warpline_transport::Opened;

use super::costs::{Slowdown, Spent};

/// The most bins of a time line.
const BINS: usize = 480;
/// The first length of a bin, in picoseconds.
pub(super) const WIDTH_FIRST: u64 = 1000;

// What a PE does, in the order of `MachineShares::list`.
const COMPUTING: usize = 0;
const MESSAGES: usize = 1;
const GVT: usize = 2;
const UNDO: usize = 3;
const WAITING: usize = 4;
const NOISE: usize = 5;
const ACTIVITIES: usize = 6;

/// What a PE has done so far, in picoseconds of each bin.
pub(super) struct Recorder {
    /// Picoseconds of a bin.
    width: u64,
    bins: Vec<[u64; ACTIVITIES]>,
}

impl Recorder {
    pub(super) fn new() -> Self {
        Recorder { width: WIDTH_FIRST, bins: vec![[0; ACTIVITIES]; BINS] }
    }

    /// A PE that was free since `since` has made a step, which has ended at `ended`.
    pub(super) fn note_step(
        &mut self,
        since: Time,
        opened: &Opened,
        step: &Spent,
        slowdown: Slowdown,
        ended: Time,
    ) {
        let mut before = [0; ACTIVITIES];
        before[MESSAGES] = opened.receiving.as_picoseconds();
        before[GVT] = opened.gvt.as_picoseconds();
        let lasts = opened.ready.since(since).as_picoseconds();
        before[WAITING] = lasts.saturating_sub(before[MESSAGES] + before[GVT]);
        self.add(since.as_picoseconds(), lasts, before);
        let parts = [
            (COMPUTING, step.computing),
            (UNDO, step.undo),
            (GVT, step.gvt),
            (MESSAGES, step.messages),
        ];
        let mut at = opened.ready.as_picoseconds();
        for (activity, part) in parts {
            let lasts = slowdown.of(part).as_picoseconds();
            self.add_one(activity, at, lasts);
            at += lasts;
        }
        self.add_one(NOISE, at, ended.as_picoseconds().saturating_sub(at));
    }

    fn add_one(&mut self, activity: usize, from: u64, lasts: u64) {
        let mut all = [0; ACTIVITIES];
        all[activity] = lasts;
        self.add(from, lasts, all);
    }

    /// Spreads activities evenly over a stretch of time.
    fn add(&mut self, from: u64, lasts: u64, activities: [u64; ACTIVITIES]) {
        if lasts == 0 {
            return;
        }
        let to = from + lasts;
        while to.div_ceil(self.width) > BINS as u64 {
            self.double();
        }
        let mut at = from;
        while at < to {
            let bin = at / self.width;
            let next = ((bin + 1) * self.width).min(to);
            let sums = &mut self.bins[bin as usize];
            for (sum, all) in sums.iter_mut().zip(activities).filter(|(_, all)| *all > 0) {
                // What belongs before a moment is rounded, so that parts add up to the whole.
                let until = |moment: u64| {
                    (u128::from(all) * u128::from(moment - from) / u128::from(lasts)) as u64
                };
                *sum += until(next) - until(at);
            }
            at = next;
        }
    }

    /// Makes one bin of each two.
    fn double(&mut self) {
        for bin in 0..BINS / 2 {
            let [one, other] = [self.bins[2 * bin], self.bins[2 * bin + 1]];
            self.bins[bin] = std::array::from_fn(|activity| one[activity] + other[activity]);
        }
        self.bins[BINS / 2..].fill([0; ACTIVITIES]);
        self.width *= 2;
    }

    /// Its PE waits from when it was `free` to the end. Returns how wide its bins are then.
    pub(super) fn wait_until(&mut self, free: Time, end: Time) -> u64 {
        let free = free.as_picoseconds();
        self.add_one(WAITING, free, end.as_picoseconds().saturating_sub(free));
        self.width
    }

    /// Makes bins at least this wide.
    pub(super) fn widen(&mut self, width: u64) {
        while self.width < width {
            self.double();
        }
    }

    /// The bins up to the end, in thousandths.
    pub(super) fn line(&self, pe: usize, why: String, end: Time) -> TimeLine {
        let bins = end.as_picoseconds().div_ceil(self.width) as usize;
        let width = self.width;
        let of = |activity: usize| {
            let all = self.bins[..bins.min(BINS)].iter().map(|bin| bin[activity]);
            let shares: Vec<u16> = all.map(|time| (time * 1000 / width) as u16).collect();
            if shares.iter().any(|share| *share > 0) { shares } else { Vec::new() }
        };
        TimeLine {
            pe: pe as u64,
            why,
            computing: of(COMPUTING),
            messages: of(MESSAGES),
            gvt: of(GVT),
            undo: of(UNDO),
            waiting: of(WAITING),
            noise: of(NOISE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn microseconds(count: u64) -> Time {
        Time::nanoseconds(1000 * count)
    }

    /// A step: from `since` on the PE waits and receives, is ready at `ready`, and computes until
    /// `ended`.
    fn step(recorder: &mut Recorder, since: u64, ready: u64, ended: u64) {
        let opened = Opened {
            ready: microseconds(ready),
            receiving: Time::nanoseconds(250 * (ready - since)),
            gvt: Time::ZERO,
        };
        let step = Spent { computing: microseconds(ended - ready), ..Spent::default() };
        let slowdown = Slowdown::new(1.0);
        recorder.note_step(microseconds(since), &opened, &step, slowdown, microseconds(ended));
    }

    fn sums(recorder: &Recorder) -> [u64; ACTIVITIES] {
        std::array::from_fn(|activity| recorder.bins.iter().map(|bin| bin[activity]).sum())
    }

    #[test]
    fn nothing_is_lost_when_bins_double() {
        let mut recorder = Recorder::new();
        for turn in 0..10_000 {
            step(&mut recorder, 10 * turn, 10 * turn + 4, 10 * turn + 10);
        }
        let all = 100_000_000_000_u64;
        let expected = [all * 6 / 10, all / 10, 0, 0, all * 3 / 10, 0];
        assert_eq!(sums(&recorder), expected);
        assert_eq!(recorder.bins.len(), BINS, "memory does not grow");
        assert!(recorder.width * BINS as u64 >= all && recorder.width * (BINS as u64) < 2 * all);
    }

    #[test]
    fn a_bin_tells_what_was_done_in_it() {
        let mut recorder = Recorder::new();
        step(&mut recorder, 0, 240, 480);
        let end = microseconds(480);
        let line = recorder.line(7, "first".to_owned(), end);
        let middle = line.computing.len() / 2;
        assert_eq!([line.waiting[0], line.messages[0], line.computing[0]], [750, 250, 0]);
        assert_eq!([line.waiting[middle - 2], line.computing[middle + 2]], [750, 1000]);
        assert!(line.gvt.is_empty() && line.noise.is_empty());
    }

    #[test]
    fn a_slow_core_and_the_system_take_their_time() {
        let mut recorder = Recorder::new();
        let opened = Opened { ready: microseconds(1), receiving: Time::ZERO, gvt: microseconds(1) };
        let part = microseconds(1);
        let step = Spent { computing: part, messages: part, gvt: part, undo: part };
        recorder.note_step(Time::ZERO, &opened, &step, Slowdown::new(1.5), microseconds(10));
        assert_eq!(
            sums(&recorder),
            [1_500_000, 1_500_000, 2_500_000, 1_500_000, 0, 3_000_000],
            "half as long again for all parts of the step, and 3 µs of noise"
        );
    }
}
