//! What a PE did, span by span, and the sum of many spans.

/// What a PE did in a span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activity {
    /// It initialised LPs.
    Making {
        /// How many.
        lps: u64,
    },
    /// It executed events.
    Batch {
        /// How many.
        executed: u64,
        /// How many of them committed at once.
        committed: u64,
    },
    /// It undid events.
    Rollback {
        /// How many.
        length: u64,
        /// Whether a straggler was the cause; otherwise it was a cancellation.
        primary: bool,
    },
    /// It committed events and reclaimed their memory.
    Commit {
        /// How many.
        committed: u64,
    },
    /// It had nothing to do.
    Idle {
        /// For how many steps.
        steps: u64,
    },
}

/// A span of wall time, in nanoseconds since the origin. The spans of one PE do not overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Its start.
    pub since: u64,
    /// Its end.
    pub until: u64,
    /// What the PE did.
    pub activity: Activity,
    /// The time of GVT.
    pub gvt: f64,
}

/// The sum of successive spans that were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpanSum {
    /// Where the first began, in nanoseconds since the origin.
    pub since: u64,
    /// Where the last ended.
    pub until: u64,
    /// How many spans they were.
    pub spans: u64,
    /// LPs made.
    pub made: u64,
    /// Events executed.
    pub executed: u64,
    /// Events committed.
    pub committed: u64,
    /// Rollbacks.
    pub rollbacks: u64,
    /// Events undone.
    pub rolled_back: u64,
    /// Steps with nothing to do.
    pub idle_steps: u64,
    /// The time that did not go into events.
    pub lost: LostTime,
    /// GVT in the last span.
    pub gvt: f64,
}

/// Nanoseconds that did not go into events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LostTime {
    /// In rollbacks.
    pub rollback: u64,
    /// In commits, which follow a new GVT.
    pub commit: u64,
    /// With nothing to do.
    pub idle: u64,
}

impl SpanSum {
    /// Adds the span that follows.
    pub(super) fn add(&mut self, span: &Span) {
        let mut one = SpanSum {
            since: span.since,
            until: span.until,
            spans: 1,
            gvt: span.gvt,
            ..SpanSum::default()
        };
        let took = span.until - span.since;
        match span.activity {
            Activity::Making { lps } => one.made = lps,
            Activity::Batch { executed, committed } => {
                one.executed = executed;
                one.committed = committed;
            }
            Activity::Rollback { length, .. } => {
                one.rollbacks = 1;
                one.rolled_back = length;
                one.lost.rollback = took;
            }
            Activity::Commit { committed } => {
                one.committed = committed;
                one.lost.commit = took;
            }
            Activity::Idle { steps } => {
                one.idle_steps = steps;
                one.lost.idle = took;
            }
        }
        self.append(&one);
    }

    /// Adds the sum that follows.
    pub(super) fn append(&mut self, next: &SpanSum) {
        if self.spans == 0 {
            self.since = next.since;
        }
        self.until = next.until;
        self.gvt = next.gvt;
        self.spans += next.spans;
        self.made += next.made;
        self.executed += next.executed;
        self.committed += next.committed;
        self.rollbacks += next.rollbacks;
        self.rolled_back += next.rolled_back;
        self.idle_steps += next.idle_steps;
        self.lost.add(next.lost);
    }
}

impl LostTime {
    pub(super) fn add(&mut self, other: LostTime) {
        self.rollback += other.rollback;
        self.commit += other.commit;
        self.idle += other.idle;
    }

    /// The largest of its three shares of `all`.
    pub(super) fn largest_share(&self, all: &LostTime) -> f64 {
        let shares =
            [(self.rollback, all.rollback), (self.commit, all.commit), (self.idle, all.idle)];
        shares.into_iter().map(|(some, all)| some as f64 / all.max(1) as f64).fold(0.0, f64::max)
    }
}
