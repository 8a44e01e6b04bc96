//! Which PEs have a time line, and which of those the record shows.

use warpline_machine::{Machine, Time};
use warpline_record::TimeLines;

use super::core::Core;
use super::time_line::WIDTH_FIRST;

/// Time lines are kept of so many PEs at most, beside one whose core is slow from the start.
const RECORDED_MOST: usize = 64;
/// So many of them go into the record.
const SHOWN_MOST: usize = 16;

/// Places at equal distances among so many, the first and the last included.
fn evenly(of: usize, most: usize) -> impl Iterator<Item = usize> {
    let count = of.min(most);
    (0..count).map(move |index| index * (of - 1) / (count - 1).max(1))
}

/// The PEs whose time lines are kept.
pub(super) fn recorded(machine: &Machine, seed: u64, pes: usize) -> Vec<usize> {
    let mut all: Vec<usize> = evenly(pes, RECORDED_MOST).collect();
    // Others may wait for a slow core, so that it is worth showing.
    all.extend((0..pes).find(|pe| machine.noise.slowdown_of(seed, *pe as u32) > 1.0));
    all.sort_unstable();
    all.dedup();
    all
}

/// The time lines for the record of a run that ends at `end`.
pub(super) fn record(cores: &mut [Core], end: Time) -> TimeLines {
    let kept: Vec<usize> = (0..cores.len()).filter(|pe| cores[*pe].recorder.is_some()).collect();
    let shown = chosen(&kept, |pe| cores[pe].busy());
    let widths = shown.iter().filter_map(|(pe, _)| {
        let core = &mut cores[*pe];
        let free = core.free();
        core.recorder.as_mut().map(|recorder| recorder.wait_until(free, end))
    });
    let width = widths.max().unwrap_or(WIDTH_FIRST);
    for (pe, _) in &shown {
        cores[*pe].recorder.iter_mut().for_each(|recorder| recorder.widen(width));
    }
    let line = |(pe, why): &(usize, String)| {
        Some(cores[*pe].recorder.as_ref()?.line(*pe, why.clone(), end))
    };
    TimeLines {
        bin_seconds: Time::picoseconds(width).seconds(),
        recorded: kept.len() as u64,
        pes: shown.iter().filter_map(line).collect(),
    }
}

/// Which of the PEs with a time line are shown, by number, and why.
fn chosen(kept: &[usize], busy: impl Fn(usize) -> Time) -> Vec<(usize, String)> {
    let mut by_work = kept.to_vec();
    by_work.sort_by_key(|pe| (busy(*pe), *pe));
    let [Some(first), Some(last)] = [kept.first(), kept.last()] else { return Vec::new() };
    let reasons = [
        (*first, "first"),
        (*last, "last"),
        (by_work[by_work.len() - 1], "waits least"),
        (by_work[0], "waits most"),
        (by_work[by_work.len() / 2], "median"),
    ];
    let mut shown: Vec<usize> = reasons.iter().map(|(pe, _)| *pe).collect();
    shown.sort_unstable();
    shown.dedup();
    let others: Vec<usize> =
        kept.iter().copied().filter(|pe| shown.binary_search(pe).is_err()).collect();
    let room = SHOWN_MOST - shown.len();
    shown.extend(evenly_between(&others, room));
    shown.sort_unstable();
    let why = |pe: usize| {
        let all = reasons.iter().filter(|(one, _)| *one == pe).map(|(_, why)| *why);
        all.collect::<Vec<_>>().join(", ")
    };
    shown.into_iter().map(|pe| (pe, why(pe))).collect()
}

/// So many of all, at equal distances, without the ends.
fn evenly_between(all: &[usize], count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(all.len());
    (0..count).map(move |index| all[(2 * index + 1) * all.len() / (2 * count)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn microseconds(count: u64) -> Time {
        Time::nanoseconds(1000 * count)
    }

    #[test]
    fn a_few_are_shown_among_them_the_extremes() {
        let kept: Vec<usize> = evenly(216_000, RECORDED_MOST).collect();
        assert_eq!((kept.len(), kept[0], kept[63]), (64, 0, 215_999));
        let busiest = kept[20];
        let idlest = kept[41];
        let shown = chosen(&kept, |pe| match pe {
            pe if pe == busiest => microseconds(9),
            pe if pe == idlest => microseconds(1),
            _ => microseconds(5),
        });
        assert_eq!(shown.len(), SHOWN_MOST);
        let why = |pe: usize| &*shown.iter().find(|(one, _)| *one == pe).unwrap().1;
        assert_eq!(
            [why(busiest), why(idlest), why(215_999)],
            ["waits least", "waits most", "last"]
        );
        assert!(shown.is_sorted());
        assert_eq!(
            chosen(&[0], |_| Time::ZERO),
            [(0, "first, last, waits least, waits most, median".to_owned())]
        );
        assert_eq!(chosen(&[0, 1, 2], |_| Time::ZERO).len(), 3);
    }
}
