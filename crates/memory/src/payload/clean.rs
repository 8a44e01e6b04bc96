//! Which part of a block is known to be zeros: a payload of zeros then costs in proportion to what
//! was written there before, not to its length.

use std::ops::Range;

use super::classes::LINE;

/// A stretch of lines of a block that are zeros, whoever has used it before. The other lines may be
/// anything; the first is always one of those, as it holds the header.
///
/// One stretch is enough where messages are written at their ends: a head, perhaps a checksum
/// behind everything, and what lies between only gives them their length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clean {
    /// Lines beyond 4 MiB, which these cannot count, are never known to be zeros.
    from: u16,
    to: u16,
}

impl Clean {
    /// No line is known to be zeros.
    pub(super) const NONE: Clean = Clean { from: 0, to: 0 };

    /// A block of this many bytes, all zeros except the first line.
    pub(super) fn behind_header(block_bytes: usize) -> Self {
        Clean::of(1..lines(0..block_bytes).end)
    }

    fn of(lines: Range<usize>) -> Self {
        let count = |line: usize| u16::try_from(line).unwrap_or(u16::MAX);
        if lines.is_empty() {
            Clean::NONE
        } else {
            Clean { from: count(lines.start), to: count(lines.end) }
        }
    }

    fn lines(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }

    /// What is still known to be zeros once these bytes have been written: the longer stretch of
    /// the two beside them.
    #[inline]
    pub(super) fn without(self, written: Range<usize>) -> Self {
        let written = lines(written);
        let Range { start, end } = self.lines();
        longer(start..end.min(written.start), start.max(written.end)..end)
    }

    /// Which bytes have to be cleared, in whole lines, to make the first `bytes` of the block
    /// zeros.
    #[inline]
    pub(super) fn dirty_within(self, bytes: usize) -> [Range<usize>; 2] {
        let clean = self.lines();
        let end = lines(0..bytes).end;
        [0..clean.start.min(end), clean.end.min(end)..end]
            .map(|dirty| dirty.start * LINE..dirty.end * LINE)
    }

    /// What is known to be zeros once [`dirty_within`](Self::dirty_within) these bytes has been
    /// cleared.
    #[inline]
    pub(super) fn with_cleared(self, bytes: usize) -> Self {
        let clean = self.lines();
        let end = lines(0..bytes).end;
        if clean.start <= end { Clean::of(1..clean.end.max(end)) } else { longer(1..end, clean) }
    }
}

/// The lines that these bytes lie in, or touch.
fn lines(bytes: Range<usize>) -> Range<usize> {
    bytes.start / LINE..bytes.end.div_ceil(LINE)
}

fn longer(first: Range<usize>, second: Range<usize>) -> Clean {
    Clean::of(if first.len() >= second.len() { first } else { second })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Against a block whose every byte is followed: blocks of some lines are written and cleared
    /// at random.
    #[test]
    fn what_is_clean_is_zeros() {
        const LINES: usize = 9;
        let mut luck = 1u64;
        let mut below = |limit: usize| {
            luck = luck.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (luck >> 33) as usize % limit
        };
        let mut cleared = 0;
        // It is safe code, so Miri need not see it often.
        for _ in 0..if cfg!(miri) { 2 } else { 2000 } {
            let mut bytes = [0u8; LINES * LINE];
            bytes[..LINE].fill(1);
            let mut clean = Clean::behind_header(bytes.len());
            for _ in 0..12 {
                if below(2) == 0 {
                    let start = below(bytes.len());
                    let end = start + below(bytes.len() - start) + 1;
                    bytes[start..end].fill(1);
                    clean = clean.without(start..end);
                } else {
                    let used = 1 + below(bytes.len());
                    for dirty in clean.dirty_within(used) {
                        cleared += dirty.len();
                        bytes[dirty].fill(0);
                    }
                    assert!(bytes[..used].iter().all(|&byte| byte == 0), "{clean:?} of {used}");
                    clean = clean.with_cleared(used);
                    // The header of the next payload.
                    bytes[..16].fill(1);
                }
                let known = &bytes[clean.lines().start * LINE..clean.lines().end * LINE];
                assert!(known.iter().all(|&byte| byte == 0), "{clean:?}");
            }
        }
        assert!(cleared > 0);
    }

    #[test]
    fn writes_at_both_ends_leave_what_lies_between() {
        let block = 65_600;
        let clean = Clean::behind_header(block);
        let written = clean.without(16..24).without(65_544..65_552);
        assert_eq!(written.lines(), 1..1024);
        assert_eq!(written.dirty_within(65_552), [0..64, 65_536..65_600]);
        assert_eq!(written.with_cleared(65_552), clean);
        // A payload that ends before what was written leaves it for later.
        assert_eq!(written.dirty_within(500), [0..64, 512..512]);
        assert_eq!(written.with_cleared(500), written);
        assert_eq!(clean.without(16..block), Clean::NONE);
        assert_eq!(clean.without(700..701).lines(), 11..1025);
        assert_eq!(Clean::NONE.dirty_within(100), [0..0, 0..128]);
        assert_eq!(Clean::NONE.with_cleared(100).lines(), 1..2);
        assert_eq!(
            (Clean::behind_header(64), Clean::NONE.with_cleared(64)),
            (Clean::NONE, Clean::NONE)
        );
    }

    #[test]
    fn lines_beyond_what_can_be_counted_are_cleared() {
        let large = 1 << 30;
        let clean = Clean::behind_header(large);
        assert_eq!(clean.lines(), 1..65_535);
        assert_eq!(clean.dirty_within(large), [0..64, 65_535 * LINE..large]);
        assert_eq!(clean.without(65_535 * LINE..large), clean);
        assert_eq!(clean.with_cleared(large), clean);
    }
}
