//! Parts of data, and data made of parts.

use std::ops::Range;

use warpline_memory::Payload;

use super::{Data, Datatype};
use crate::packet::Content;

impl Data {
    /// These bytes of it.
    pub(crate) fn part(&self, range: Range<u64>) -> Data {
        let content = match &self.content {
            Content::Size(_) => Content::Size(range.end - range.start),
            Content::Bytes(bytes) => {
                Content::Bytes(Payload::from(&bytes[range.start as usize..range.end as usize]))
            }
        };
        Data { content, datatype: self.datatype }
    }

    /// These parts one after the other. If one of them is just a size, so is the whole.
    pub(crate) fn joined<'a>(parts: impl Iterator<Item = &'a Data> + Clone) -> Data {
        let total: u64 = parts.clone().map(Data::len).sum();
        let datatype = parts.clone().next().map_or(Datatype::Byte, Data::datatype);
        if parts.clone().any(|part| part.bytes().is_none()) {
            return Data { content: Content::Size(total), datatype };
        }
        let bytes = Payload::filled(total as usize, |mut all| {
            for bytes in parts.filter_map(Data::bytes) {
                let (own, rest) = all.split_at_mut(bytes.len());
                own.copy_from_slice(bytes);
                all = rest;
            }
        });
        Data { content: Content::Bytes(bytes), datatype }
    }
}

/// A division of data into blocks of whole values, as equal as can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    values: u64,
    size: u64,
    blocks: u32,
}

impl Blocks {
    pub(crate) fn of(data: &Data, blocks: u32) -> Self {
        let size = data.datatype().size() as u64;
        // What is just a size may be no whole number of values.
        let size = if data.len().is_multiple_of(size) { size } else { 1 };
        Blocks { values: data.len() / size, size, blocks }
    }

    /// The bytes of these blocks.
    pub(crate) fn bytes(&self, blocks: Range<u32>) -> Range<u64> {
        self.begin(blocks.start)..self.begin(blocks.end)
    }

    /// Where a block begins.
    fn begin(&self, block: u32) -> u64 {
        let values = u128::from(self.values) * u128::from(block) / u128::from(self.blocks);
        values as u64 * self.size
    }
}
