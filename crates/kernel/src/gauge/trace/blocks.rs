//! The spans of a PE within a limit, in blocks of successive spans. Once there are too many blocks,
//! one sum takes the place of the block that matters least: never one of the first or the last, and
//! last of all those with large shares of all time in rollbacks, in commits, or idle. When there
//! are too many sums, neighbours are added up in pairs.

use super::span::{LostTime, Span, SpanSum};

/// How many of a PE's spans are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpanLimits {
    /// Spans of a block.
    pub block: usize,
    /// The most blocks, beside the one that is being filled.
    pub blocks: usize,
    /// The most sums of what was left out. It takes two more than blocks: a sum can lie before,
    /// between and after them.
    pub sums: usize,
}

/// At the beginning one block in this many stays, and as many at the end.
const ENDS: usize = 8;

/// A stretch of a PE's time line.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<'a> {
    /// All spans.
    Whole(&'a [Span]),
    /// The sum of those that were left out.
    Sum(&'a SpanSum),
}

#[derive(Clone, Debug)]
enum Entry {
    Block { spans: Vec<Span>, lost: LostTime },
    Sum(SpanSum),
}

/// The spans of a PE, in order, some of them as sums.
#[derive(Clone, Debug)]
pub struct SpanBlocks {
    limits: SpanLimits,
    entries: Vec<Entry>,
    /// The block that is being filled.
    newest: Vec<Span>,
    blocks: usize,
    sums: usize,
    /// The time lost in the whole run.
    lost: LostTime,
    left_out: u64,
    out_of_memory: bool,
}

impl SpanBlocks {
    pub(super) fn new(limits: SpanLimits) -> Self {
        let limits =
            SpanLimits { sums: limits.sums.max(limits.blocks.saturating_add(2)), ..limits };
        let mut entries = Vec::new();
        let mut newest = Vec::new();
        // One more block and sum while others make room.
        let places = limits.blocks.saturating_add(limits.sums).saturating_add(2);
        let reserved =
            entries.try_reserve_exact(places).and_then(|()| newest.try_reserve_exact(limits.block));
        SpanBlocks {
            limits,
            entries,
            newest,
            blocks: 0,
            sums: 0,
            lost: LostTime::default(),
            left_out: 0,
            out_of_memory: reserved.is_err(),
        }
    }

    pub(super) fn offer(&mut self, span: Span) {
        if self.newest.capacity() < self.limits.block || self.limits.block == 0 {
            self.left_out += 1;
            return;
        }
        if self.newest.len() == self.limits.block {
            self.finish_block();
        }
        self.newest.push(span);
    }

    /// Adds the newest block to the others, and begins a new one.
    fn finish_block(&mut self) {
        let mut next = Vec::new();
        let full = self.blocks >= self.limits.blocks;
        if !full && next.try_reserve_exact(self.limits.block).is_err() {
            self.out_of_memory = true;
            // The next block reuses the memory of one that goes.
            self.limits.blocks = self.blocks;
        }
        let spans = std::mem::replace(&mut self.newest, next);
        let mut sum = SpanSum::default();
        spans.iter().for_each(|span| sum.add(span));
        self.lost.add(sum.lost);
        self.entries.push(Entry::Block { spans, lost: sum.lost });
        self.blocks += 1;
        if self.blocks > self.limits.blocks {
            self.leave_out_least();
        }
    }

    /// Puts a sum in the place of the block that matters least, and fills its memory next.
    fn leave_out_least(&mut self) {
        let ends = (self.limits.blocks / ENDS).max(1);
        let middle = if self.blocks > 2 * ends {
            ends..self.blocks - ends
        } else {
            self.blocks - 1..self.blocks
        };
        let blocks = self.entries.iter_mut().filter_map(|entry| match entry {
            Entry::Block { lost, .. } => {
                let share = lost.largest_share(&self.lost);
                Some((entry, share))
            }
            Entry::Sum(_) => None,
        });
        let least = blocks
            .skip(middle.start)
            .take(middle.len())
            .min_by(|(_, one), (_, other)| one.total_cmp(other));
        let Some((entry, _)) = least else { return };
        let mut sum = SpanSum::default();
        if let Entry::Block { spans, .. } = entry {
            spans.iter().for_each(|span| sum.add(span));
            self.newest = std::mem::take(spans);
            self.newest.clear();
        }
        self.left_out += sum.spans;
        *entry = Entry::Sum(sum);
        self.blocks -= 1;
        self.sums += 1;
        if self.sums > self.limits.sums {
            self.add_up_pairs();
        }
    }

    /// Adds up successive sums in pairs.
    fn add_up_pairs(&mut self) {
        let mut alone = false;
        self.entries.dedup_by(|next, before| match (before, next) {
            (Entry::Sum(before), Entry::Sum(next)) if !alone => {
                before.append(next);
                alone = true;
                true
            }
            _ => {
                alone = false;
                false
            }
        });
        self.sums = self.entries.len() - self.blocks;
    }

    /// Everything, in order.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let pieces = self.entries.iter().map(|entry| match entry {
            Entry::Block { spans, .. } => Piece::Whole(spans),
            Entry::Sum(sum) => Piece::Sum(sum),
        });
        pieces.chain([Piece::Whole(&self.newest)])
    }

    /// The spans that were kept, in order.
    pub fn kept(&self) -> impl Iterator<Item = &Span> {
        self.pieces().flat_map(|piece| match piece {
            Piece::Whole(spans) => spans,
            Piece::Sum(_) => &[],
        })
    }

    /// How many spans were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether more would have been kept with more memory.
    pub fn is_out_of_memory(&self) -> bool {
        self.out_of_memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gauge::trace::span::Activity;

    const LIMITS: SpanLimits = SpanLimits { block: 10, blocks: 16, sums: 40 };

    /// The n-th span of a run: batches of 5 events, with one commit in ten, and in two blocks a
    /// rollback, or waiting.
    fn span(number: u64) -> Span {
        let since = 100 * number;
        let batch = Activity::Batch { executed: 5, committed: 0 };
        let activity = match number {
            40_003 => Activity::Rollback { length: 7, primary: true },
            60_007 => Activity::Idle { steps: 3 },
            _ if number % 10 == 9 => Activity::Commit { committed: 45 },
            _ => batch,
        };
        let long_commit = if number == 80_009 { 40 } else { 0 };
        Span { since, until: since + 50 + long_commit, activity, gvt: number as f64 }
    }

    fn filled(limits: SpanLimits, spans: u64) -> SpanBlocks {
        let mut blocks = SpanBlocks::new(limits);
        (0..spans).for_each(|number| blocks.offer(span(number)));
        blocks
    }

    /// Everything as one sum; pieces must follow each other.
    fn total(blocks: &SpanBlocks) -> SpanSum {
        let mut all = SpanSum::default();
        let mut add = |next: &SpanSum| {
            assert!(all.spans == 0 || next.since >= all.until, "{next:?} after {all:?}");
            all.append(next);
        };
        for piece in blocks.pieces() {
            match piece {
                Piece::Sum(sum) => add(sum),
                Piece::Whole(spans) => spans.iter().for_each(|span| {
                    let mut one = SpanSum::default();
                    one.add(span);
                    add(&one);
                }),
            }
        }
        all
    }

    #[test]
    fn sums_and_spans_together_tell_of_everything() {
        for limits in [
            LIMITS,
            SpanLimits { block: 1, blocks: 3, sums: 0 },
            SpanLimits { block: 3, blocks: 1, sums: 7 },
        ] {
            for spans in [0, 5, 11, 160, 170, 100_007] {
                let blocks = filled(limits, spans);
                let mut expected = SpanSum::default();
                (0..spans).for_each(|number| expected.add(&span(number)));
                assert_eq!(total(&blocks), expected, "{limits:?}");
                assert_eq!(blocks.left_out() + blocks.kept().count() as u64, spans);
                let sums = blocks.pieces().filter(|piece| matches!(piece, Piece::Sum(_))).count();
                assert!(
                    sums <= limits.sums.max(limits.blocks + 2)
                        && blocks.kept().count() <= limits.block * (limits.blocks + 1)
                );
                assert!(
                    !blocks.is_out_of_memory()
                        && blocks.entries.capacity() <= limits.blocks + blocks.limits.sums + 2
                );
            }
        }
    }

    #[test]
    fn beginning_end_and_what_was_lost_stay() {
        let blocks = filled(LIMITS, 100_005);
        let kept: Vec<u64> = blocks.kept().map(|span| span.since / 100).collect();
        // A rollback, waiting, and a commit that takes longer than the others.
        for wanted in (0..20)
            .chain(40_000..40_010)
            .chain(60_000..60_010)
            .chain(80_000..80_010)
            .chain(99_980..100_005)
        {
            assert!(kept.contains(&wanted), "{wanted} of {kept:?}");
        }
        assert!(blocks.left_out() > 99_000);
    }

    #[test]
    fn what_does_not_fit_into_memory_is_left_out() {
        let none = filled(SpanLimits { block: usize::MAX / 2, ..LIMITS }, 1000);
        assert!(none.is_out_of_memory() && none.left_out() == 1000 && none.kept().next().is_none());
        let none = filled(SpanLimits { blocks: usize::MAX / 2, ..LIMITS }, 1000);
        assert!(none.is_out_of_memory() && none.left_out() == 1000);
        // As if there were no memory for a third block.
        let mut blocks = filled(LIMITS, 20);
        blocks.limits.block = usize::MAX / 2;
        blocks.finish_block();
        assert!(
            blocks.is_out_of_memory()
                && blocks.limits.blocks == 1
                && blocks.newest.capacity() == 10
        );
        assert_eq!((total(&blocks).spans, blocks.left_out()), (20, 10));
    }
}
