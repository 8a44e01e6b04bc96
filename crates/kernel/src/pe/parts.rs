//! What a PE leaves behind when the run is over.

use warpline_memory::{Books, DropEach};
use warpline_model::{Model, Statistics};

use super::Pe;
use crate::faults::failure::CommittedFault;
use crate::gauge::counts::Counts;
use crate::gauge::phases::Measured;
use crate::gauge::trace::Trace;
use crate::gvt::IntervalHistory;
use crate::pe::types::PeTypes;
use crate::step::Step;
use crate::{Lp, MomentRow, RoleCounts};

/// What a PE leaves behind.
#[derive(Debug)]
pub struct Parts<M: Model> {
    /// Its first LP.
    pub first_lp: u32,
    /// Its LPs.
    pub lps: DropEach<Lp<M::State>>,
    /// What its committed events observed.
    pub statistics: Statistics,
    /// Rows that have not been taken.
    pub rows: Vec<MomentRow>,
    /// Its failure, if it had one.
    pub failure: Option<CommittedFault>,
    /// What it did.
    pub counts: Counts,
    /// What its LPs did, by [role](crate::Role::index), if they have several.
    pub by_role: Vec<RoleCounts>,
    /// How the GVT interval changed, if it was adapted.
    pub interval: Option<IntervalHistory>,
    /// The books of the memory of its events.
    pub books: Books,
    /// How many events are pending beyond the end, cancelled ones included.
    pub pending: usize,
    /// How long it spent on what: an estimate.
    pub measured: Measured,
    /// What it did, if it was to be traced.
    pub trace: Option<Box<Trace>>,
}

impl<T: PeTypes> Pe<'_, T> {
    /// What is left when the run is over and no PE, in any process, does anything any more.
    ///
    /// # Panics
    /// If an anti-message has come for a message that never did, or an event that is over could
    /// still be cancelled.
    pub fn into_parts(mut self) -> Parts<T::Model> {
        self.count_what_is_left();
        let books = self.agenda.books();
        if self.frontier.over() == Some(Step::Finished) {
            self.check_that_nothing_is_open();
        } else {
            // A run that failed, on whatever PE, ends with messages still on their way, and with
            // events that were executed and not committed.
            self.mail.drop_values();
        }
        let (first_lp, lps) = self.lps.into_parts();
        let (statistics, rows) = self.effects.into_parts();
        let (counts, by_role, measured, trace) = self.gauge.into_parts();
        let pending = self.agenda.len();
        self.agenda.drop_rest();
        Parts {
            first_lp,
            lps,
            statistics,
            rows,
            failure: self.faults.into_failure(),
            counts,
            by_role,
            interval: self.calls.history(),
            books,
            pending,
            measured,
            trace,
        }
    }

    /// Counts what other parts than the gauge know of the whole run.
    fn count_what_is_left(&mut self) {
        let Pe { world, gauge, agenda, past, mail, faults, .. } = self;
        let books = agenda.books();
        gauge.count(|counts| {
            counts.side_records_kept = past.side_records_in_use() + mail.copies();
            counts.mailbox = mail.refusals();
            counts.unreadable = faults.unreadable() as u64;
            counts.pooled = agenda.is_pooled();
            counts.buffers = books.places;
            counts.buffers_shared = books.deposited;
            if world.tuning().lanes.has_speculative() {
                counts.copy_interval = past.copy_interval();
            }
        });
    }

    fn check_that_nothing_is_open(&self) {
        assert_eq!(
            self.agenda.cancelled_early(),
            0,
            "an anti-message came for a message that never did"
        );
        assert!(
            !self.past.has_pending_cancellations(),
            "what an undone event had sent was neither sent again nor cancelled"
        );
        assert!(
            self.agenda.identities() <= self.agenda.len(),
            "an event that is over is still known by identity"
        );
    }
}
