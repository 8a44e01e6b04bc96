use serde::{Deserialize, Serialize};
use warpline_memory::MakeRoom;

use crate::statistics::STATISTICS;

/// Kept spans are first examined when there are this many.
const FEWEST: usize = 256;

/// Spans that reach beyond the event that wrote them. A run that is stopped early cuts them short.
/// So they are added only when an event at or after their end has committed, or when the run ends:
/// it never ends before a committed event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FutureSpans {
    list: Vec<FutureSpan>,
    /// The time of the latest event that wrote one.
    latest: f64,
    /// When there are this many, past spans are taken out.
    full: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FutureSpan {
    pub(super) item: u32,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) level: f64,
}

impl FutureSpans {
    /// Keeps a span that an event at `time` wrote. Returns whether past spans should be taken out.
    #[inline]
    pub(super) fn keep(&mut self, time: f64, span: FutureSpan) -> bool {
        if self.list.len() == self.list.capacity() {
            self.list.make_room(self.list.len().max(FEWEST), STATISTICS);
        }
        self.list.push(span);
        if time > self.latest {
            self.latest = time;
        }
        self.list.len() >= FEWEST && self.list.len() >= self.full
    }

    /// Takes out all spans. Some may be [put back](Self::put_back).
    pub(super) fn take(&mut self) -> Vec<FutureSpan> {
        std::mem::take(&mut self.list)
    }

    /// Whether a span is past, wherever the run ends.
    pub(super) fn is_past(&self, span: &FutureSpan) -> bool {
        span.to <= self.latest
    }

    /// Puts back the spans that are not past.
    pub(super) fn put_back(&mut self, list: Vec<FutureSpan>) {
        self.full = 2 * list.len();
        self.list = list;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn merge(&mut self, other: &FutureSpans) {
        self.list.make_room(other.list.len(), STATISTICS);
        self.list.extend_from_slice(&other.list);
        self.latest = self.latest.max(other.latest);
    }
}
