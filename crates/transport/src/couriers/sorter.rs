use std::collections::BTreeMap;

use warpline_memory::Lines;

use super::inbox::{Arrivals, Inbox};
use super::records::Record;
use crate::Codec;

/// The content of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// Records.
    Whole,
    /// A part of records that together are too long for one piece.
    Part,
    /// The last such part.
    LastPart,
}

/// The bytes before the content of a piece.
pub(super) const HEADER: usize = 7;

/// Makes a piece of `content` from a courier.
pub(super) fn write_piece(
    kind: PieceKind,
    process: u32,
    courier: u32,
    content: &[u8],
    piece: &mut Vec<u8>,
) {
    piece.clear();
    piece.push(kind as u8);
    piece.extend_from_slice(&process.to_le_bytes());
    piece.extend_from_slice(&(courier as u16).to_le_bytes());
    piece.extend_from_slice(content);
}

/// Sorts what arrives from other processes: the incoming half of a courier.
pub(super) struct Sorter<E> {
    codec: Codec<E>,
    first_pe: u32,
    /// By PE of the courier.
    inboxes: Vec<Inbox<E>>,
    /// By PE of the courier: what has been read and is not in the inbox yet.
    read: Vec<Arrivals<E>>,
    /// By PE: the line that its bound is written to.
    bounds: Vec<Lines>,
    /// Bounds that have been read and not been written yet: from which PE, and for which round, if
    /// for one.
    bounds_read: Vec<(usize, Option<u64>, u64)>,
    /// Parts of longer pieces, by process and courier.
    parts: BTreeMap<[u8; HEADER - 1], Vec<u8>>,
    /// How many couriers will send nothing more.
    ended: usize,
}

impl<E> Sorter<E> {
    pub(super) fn new(
        codec: Codec<E>,
        first_pe: u32,
        inboxes: Vec<Inbox<E>>,
        bounds: Vec<Lines>,
    ) -> Self {
        let read = inboxes.iter().map(|_| Arrivals::default()).collect();
        Sorter {
            codec,
            first_pe,
            inboxes,
            read,
            bounds,
            bounds_read: Vec::new(),
            parts: BTreeMap::new(),
            ended: 0,
        }
    }

    /// How many couriers have said that they send nothing more.
    pub(super) fn ended(&self) -> usize {
        self.ended
    }

    /// Sorts the content of a piece, or keeps it until the last part has arrived.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<(), String> {
        let Some((header, content)) = piece.split_first_chunk::<HEADER>() else {
            return Err(format!(
                "a piece of {} bytes from another process is too short",
                piece.len()
            ));
        };
        let mut from = [0; HEADER - 1];
        from.copy_from_slice(&header[1..]);
        if header[0] == PieceKind::Whole as u8 {
            return self.sort(content);
        }
        let all = self.parts.entry(from).or_default();
        all.extend_from_slice(content);
        if header[0] == PieceKind::LastPart as u8 {
            let all = self.parts.remove(&from).unwrap_or_default();
            return self.sort(&all);
        }
        Ok(())
    }

    fn sort(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            match Record::read(&self.codec, &mut bytes)? {
                Record::Value(to, message) => self.arrivals(to)?.add_value(message),
                Record::Unreadable(to, event) => self.arrivals(to)?.add_unreadable(event),
                Record::Control(to, control) => self.arrivals(to)?.add_control(*control),
                Record::Put { to, from, put } => self.arrivals(to)?.add_put(from, *put),
                Record::Bound { from, bound } => self.keep_bound(from, None, bound)?,
                Record::Round { from, round, bound } => {
                    self.keep_bound(from, Some(round), bound)?
                }
                Record::End => self.ended += 1,
            }
        }
        self.deliver();
        Ok(())
    }

    fn arrivals(&mut self, pe: u32) -> Result<&mut Arrivals<E>, String> {
        let place =
            pe.checked_sub(self.first_pe).and_then(|place| self.read.get_mut(place as usize));
        place.ok_or_else(|| format!("a message for PE {pe} has arrived where that PE is not"))
    }

    fn keep_bound(&mut self, from: u32, round: Option<u64>, bound: u64) -> Result<(), String> {
        if from as usize >= self.bounds.len() {
            return Err(format!("a bound has arrived from PE {from}, and there is no such PE"));
        }
        self.bounds_read.push((from as usize, round, bound));
        Ok(())
    }

    /// Puts what has been read where PEs find it. Bounds come last: a PE that sees one must find
    /// everything that was sent before it.
    fn deliver(&mut self) {
        for (read, inbox) in self.read.iter_mut().zip(&self.inboxes) {
            inbox.add(read);
        }
        for (from, round, bound) in self.bounds_read.drain(..) {
            match round {
                None => self.bounds[from].write(bound),
                Some(round) => self.bounds[from].write_round(round, bound),
            }
        }
    }
}
