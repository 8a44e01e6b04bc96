//! A courier: it writes batches for the couriers of other processes, and takes in theirs.

use std::time::Instant;

use warpline_memory::try_drop;

use super::carrier::{Address, Carrier};
use super::counts::CourierCounts;
use super::feed::{Bounds, Intake};
use super::places::CourierPlan;
use super::records::Record;
use super::sorter::{HEADER, PieceKind, Sorter, write_piece};
use crate::Codec;

/// A courier takes on nothing more while the bytes that wait for room fill more pieces than this.
const BACKLOG: usize = 4;

/// In place of the number of a batch: there is none. As it is larger than any such number, using it
/// as one panics.
const NEAR: u32 = u32::MAX;

/// Bytes that wait to be sent to one courier of another process.
struct Batch {
    to: Address,
    bytes: Vec<u8>,
    /// How many of the bytes have been sent.
    sent: usize,
    /// When the first of the bytes was written.
    since: Option<Instant>,
    /// Whether the last attempt to send it found no room.
    is_held_up: bool,
    /// By PE of this courier: the last bound written.
    bounds: Vec<u64>,
}

/// Writes what PEs send to far PEs into batches, and sorts what comes from there.
///
/// Invariant: between two couriers, records arrive in the order in which they were written, and the
/// bound of a PE is written after all messages that the PE sent before it published the bound.
pub(super) struct Courier<E> {
    number: u32,
    plan: CourierPlan,
    codec: Codec<E>,
    carrier: Box<dyn Carrier>,
    sorter: Sorter<E>,
    /// By courier of other processes.
    batches: Vec<Batch>,
    /// By PE: the batch that goes to its courier. [`NEAR`] for PEs near this courier.
    batch_to: Box<[u32]>,
    /// The first of its PEs.
    first_pe: u32,
    /// The bounds that its PEs have published.
    bounds: Bounds,
    /// These bounds when it last looked.
    seen: Vec<u64>,
    /// Where PEs in other threads hand over records.
    intake: Option<Intake<E>>,
    /// A buffer to make pieces in.
    piece: Vec<u8>,
    has_ended: bool,
    counts: CourierCounts,
}

/// The parts of a courier.
pub(super) struct Equipment<E> {
    pub(super) carrier: Box<dyn Carrier>,
    pub(super) sorter: Sorter<E>,
    pub(super) first_pe: u32,
    pub(super) pes: usize,
    pub(super) bounds: Bounds,
    pub(super) intake: Option<Intake<E>>,
}

impl<E: Send> Courier<E> {
    pub(super) fn new(
        number: u32,
        plan: CourierPlan,
        codec: Codec<E>,
        equipment: Equipment<E>,
    ) -> Self {
        let Equipment { carrier, sorter, first_pe, pes, bounds, intake } = equipment;
        let of = |process| {
            (0..plan.places.couriers_of(process)).map(move |courier| Address { process, courier })
        };
        let batch = |to| Batch {
            to,
            bytes: Vec::new(),
            sent: 0,
            since: None,
            is_held_up: false,
            bounds: vec![0; pes],
        };
        let batches: Vec<Batch> = plan.places.far().flat_map(of).map(batch).collect();
        let batch_to = |pe| {
            batches
                .iter()
                .position(|batch| batch.to == plan.places.courier_of(pe))
                .map_or(NEAR, |index| index as u32)
        };
        let batch_to = (0..plan.places.pes()).map(batch_to).collect();
        Courier {
            number,
            plan,
            codec,
            carrier,
            sorter,
            batches,
            batch_to,
            first_pe,
            bounds,
            seen: vec![0; pes],
            intake,
            piece: Vec::new(),
            has_ended: false,
            counts: CourierCounts::default(),
        }
    }

    /// Writes a record to the couriers that it concerns, and drops it. If its payload panics on
    /// being dropped, that is ignored: the event arrives with a payload of its own.
    #[inline]
    pub(super) fn post(&mut self, record: Record<E>) -> Result<(), String> {
        let posted = match &record {
            Record::Value(to, _) => {
                self.counts.values += 1;
                self.write(self.batch_to[*to as usize] as usize, &record)
            }
            Record::Control(to, _) | Record::Put { to, .. } | Record::Unreadable(to, _) => {
                self.write(self.batch_to[*to as usize] as usize, &record)
            }
            Record::Bound { .. } | Record::Round { .. } | Record::End => {
                (0..self.batches.len()).try_for_each(|index| self.write(index, &record))
            }
        };
        _ = try_drop(record);
        posted
    }

    #[inline]
    fn write(&mut self, index: usize, record: &Record<E>) -> Result<(), String> {
        let batch = &mut self.batches[index];
        record.write(&self.codec, &mut batch.bytes);
        batch.since.get_or_insert_with(Instant::now);
        if !batch.is_held_up
            && batch.bytes.len() - batch.sent >= self.plan.limits.batch.saturating_sub(HEADER)
        {
            self.send(index)?;
        }
        Ok(())
    }

    /// Whether so much waits for room that no more should be written.
    pub(super) fn is_clogged(&self) -> bool {
        self.batches
            .iter()
            .any(|batch| batch.bytes.len() - batch.sent > BACKLOG * self.plan.limits.piece)
    }

    /// Takes in what has arrived and what its PEs have handed over, and sends the batches that are
    /// due, or all if it `hurries`. Returns whether there was anything to do.
    pub(super) fn work(&mut self, hurries: bool) -> Result<bool, String> {
        let mut worked = self.receive()?;
        // A courier that takes no messages over must not write bounds, either.
        if !self.is_clogged() {
            // Bounds are read first, so that everything handed over before them is found.
            (0..self.seen.len()).for_each(|pe| self.seen[pe] = self.bounds.read(pe));
            worked |= self.take_over()?;
            self.write_bounds();
        }
        worked |= self.send_due(hurries)?;
        Ok(worked)
    }

    fn receive(&mut self) -> Result<bool, String> {
        let mut outcome = Ok(());
        let some = self.carrier.receive(&mut |piece| {
            if outcome.is_ok() {
                outcome = self.sorter.take(piece);
            }
        })?;
        outcome.map(|()| some)
    }

    fn take_over(&mut self) -> Result<bool, String> {
        let Some(mut intake) = self.intake.take() else { return Ok(false) };
        let mut outcome = Ok(());
        let taken = intake.drain(|record| {
            if outcome.is_ok() {
                outcome = self.post(record);
            }
        });
        self.intake = Some(intake);
        outcome.map(|()| taken > 0)
    }

    fn write_bounds(&mut self) {
        if !self.plan.bounds {
            return;
        }
        for batch in &mut self.batches {
            for (place, (bound, written)) in self.seen.iter().zip(&mut batch.bounds).enumerate() {
                if bound != written {
                    Record::Bound { from: self.first_pe + place as u32, bound: *bound }
                        .write(&self.codec, &mut batch.bytes);
                    *written = *bound;
                    batch.since.get_or_insert_with(Instant::now);
                }
            }
        }
    }

    /// Sends the batches that have waited long enough, or all if it `hurries`.
    fn send_due(&mut self, hurries: bool) -> Result<bool, String> {
        if self.batches.iter().all(|batch| batch.since.is_none()) {
            return Ok(false);
        }
        let now = Instant::now();
        let age = self.plan.limits.age;
        let mut sent = false;
        for index in 0..self.batches.len() {
            if self.batches[index].since.is_some_and(|since| hurries || now - since >= age) {
                sent |= self.send(index)?;
            }
        }
        Ok(sent)
    }

    /// Sends a batch, in pieces, as far as there is room. Returns whether any piece was sent.
    fn send(&mut self, index: usize) -> Result<bool, String> {
        let batch = &mut self.batches[index];
        let most = self.plan.limits.piece - HEADER;
        let mut some = false;
        while batch.sent < batch.bytes.len() {
            let rest = &batch.bytes[batch.sent..];
            let now = &rest[..rest.len().min(most)];
            let kind = match (now.len() == batch.bytes.len(), now.len() == rest.len()) {
                (true, _) => PieceKind::Whole,
                (false, true) => PieceKind::LastPart,
                (false, false) => PieceKind::Part,
            };
            batch.is_held_up = !self.carrier.has_room(batch.to)?;
            if !batch.is_held_up {
                write_piece(kind, self.plan.places.process, self.number, now, &mut self.piece);
                batch.is_held_up = !self.carrier.send(batch.to, &self.piece)?;
            }
            if batch.is_held_up {
                self.counts.refused += 1;
                return Ok(some);
            }
            self.counts.batches += 1;
            self.counts.bytes += self.piece.len() as u64;
            batch.sent += now.len();
            some = true;
        }
        batch.bytes.clear();
        batch.sent = 0;
        batch.since = None;
        Ok(some)
    }

    /// Tells the couriers of other processes that nothing follows. Has to be called until it
    /// returns true: then everything has been sent, and all others have said so, too.
    pub(super) fn close(&mut self) -> Result<bool, String> {
        if !self.has_ended {
            self.take_over()?;
            self.post(Record::End)?;
            self.has_ended = true;
        }
        (0..self.batches.len()).try_for_each(|index| self.send(index).map(|_| ()))?;
        self.receive()?;
        let is_sent =
            self.carrier.progress()? && self.batches.iter().all(|batch| batch.bytes.is_empty());
        Ok(is_sent && self.sorter.ended() == self.batches.len())
    }

    /// Whether the system may still write into its memory.
    pub(super) fn is_written_into(&self) -> bool {
        self.carrier.is_written_into()
    }

    /// The work that it has done.
    pub(super) fn counts(&self) -> CourierCounts {
        self.counts
    }
}
