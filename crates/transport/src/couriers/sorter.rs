use std::collections::BTreeMap;

use warpline_kernel::ValueMessage;
use warpline_memory::Lines;

use super::inbox::Inbox;
use super::records::Record;
use crate::Codec;

/// What a piece holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// Records.
    Whole,
    /// A part of records that are too long for one piece.
    Part,
    /// The last such part.
    LastPart,
}

/// The bytes before the content of a piece.
pub(super) const HEADER: usize = 7;

/// Makes a piece of the bytes of a courier.
pub(super) fn write_piece(kind: PieceKind, process: u32, courier: u32, content: &[u8], piece: &mut Vec<u8>) {
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
    /// Values read and not in the inboxes yet.
    values: Vec<Vec<ValueMessage<E>>>,
    /// By PE: a view of the words of far PEs, to write them.
    words: Vec<Lines>,
    /// Parts of longer pieces, by process and courier.
    parts: BTreeMap<[u8; HEADER - 1], Vec<u8>>,
    /// How many couriers will send nothing more.
    pub(super) ended: usize,
}

impl<E> Sorter<E> {
    pub(super) fn new(codec: Codec<E>, first_pe: u32, inboxes: Vec<Inbox<E>>, words: Vec<Lines>) -> Self {
        let values = inboxes.iter().map(|_| Vec::new()).collect();
        Sorter { codec, first_pe, inboxes, values, words, parts: BTreeMap::new(), ended: 0 }
    }

    /// Sorts the content of a piece.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<(), String> {
        let Some((header, content)) = piece.split_first_chunk::<HEADER>() else {
            return Err(format!("a piece of {} bytes from another process is too short", piece.len()));
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
                Record::Value(to, message) => {
                    let place = self.place(to)?;
                    self.values[place].push(message);
                }
                Record::Bound { from, word } => {
                    self.deliver();
                    self.words_of(from)?.write(word);
                }
                Record::Round { from, round, word } => {
                    self.deliver();
                    self.words_of(from)?.write_round(round, word);
                }
                Record::Control(to, control) => {
                    self.deliver();
                    self.inboxes[self.place(to)?].add(|arrivals| arrivals.controls.push_back(*control));
                }
                Record::Put { to, from, put } => {
                    self.deliver();
                    self.inboxes[self.place(to)?].add(|arrivals| arrivals.puts.push_back((from, *put)));
                }
                Record::End => self.ended += 1,
            }
        }
        self.deliver();
        Ok(())
    }

    fn place(&self, pe: u32) -> Result<usize, String> {
        let place = pe.checked_sub(self.first_pe).map(|place| place as usize).filter(|place| *place < self.inboxes.len());
        place.ok_or_else(|| format!("a message for PE {pe} has arrived where that PE is not"))
    }

    fn words_of(&mut self, pe: u32) -> Result<&mut Lines, String> {
        self.words.get_mut(pe as usize).ok_or_else(|| format!("a word has arrived from PE {pe}, and there is no such PE"))
    }

    /// Puts values into the inboxes: all that were sent before a word must be found by whoever sees the word.
    fn deliver(&mut self) {
        for (values, inbox) in self.values.iter_mut().zip(&self.inboxes) {
            if !values.is_empty() {
                inbox.add(|arrivals| arrivals.values.append(values));
            }
        }
    }
}
