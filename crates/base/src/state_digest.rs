//! Digests of the final states of LPs, by their `Debug` text.

use std::fmt::{self, Debug, Write};

use serde::{Deserialize, Serialize};

use crate::LpId;
use crate::random::{fold64, mix64};

/// Digests of the states of LPs. They are sums over LPs, so neither the order of LPs nor their
/// places matter.
///
/// The text of equal states may differ between two equal runs: hash maps list their entries in
/// varying order, and addresses change. So there are two digests.
///
/// ```
/// use warpline_base::{LpId, StateDigest};
/// let [mut one, mut other] = [StateDigest::default(); 2];
/// one.add(LpId(0), &format_args!("Stock {{ left: {{3: 1, 5: 2}}, at: 0x7f01 }}")).unwrap();
/// other.add(LpId(0), &format_args!("Stock {{ left: {{5: 2, 3: 1}}, at: 0x55d8 }}")).unwrap();
/// assert!(one.text() != other.text() && one.content() == other.content());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateDigest {
    text: u64,
    content: u64,
}

impl StateDigest {
    /// Adds the final state of an LP. Nothing is allocated for the text, however long it is.
    ///
    /// # Errors
    /// If the state's own `Debug` fails.
    pub fn add(&mut self, lp: LpId, state: &impl Debug) -> fmt::Result {
        let mut reader = Reader::default();
        write!(reader, "{state:?}")?;
        let (text, content) = reader.end();
        let identity = mix64(u64::from(lp.0) ^ SEED);
        self.text = self.text.wrapping_add(mix64(text ^ identity));
        self.content = self.content.wrapping_add(mix64(content ^ identity));
        Ok(())
    }

    /// Adds the digests of another part of the same run.
    pub fn merge(&mut self, other: StateDigest) {
        self.text = self.text.wrapping_add(other.text);
        self.content = self.content.wrapping_add(other.content);
    }

    /// The digest of the exact text, in 16 hexadecimal digits.
    pub fn text(&self) -> String {
        format!("{:016x}", self.text)
    }

    /// The digest of the text without addresses and without the order of entries within braces, in
    /// 16 hexadecimal digits.
    pub fn content(&self) -> String {
        format!("{:016x}", self.content)
    }

    /// The digests of one text.
    pub fn of(text: &(impl fmt::Display + ?Sized)) -> Self {
        let mut reader = Reader::default();
        // If formatting fails, the text ends there.
        let _ = write!(reader, "{text}");
        let (text, content) = reader.end();
        StateDigest { text, content }
    }
}

const SEED: u64 = 0x57A7_E5D1_6E57_57A7;
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
/// Replaces every address.
const ADDRESS: u64 = 0x0ADD_4E55;

/// A hash of the `Debug` text of a value, computed in one pass without keeping the text.
pub fn text_hash(value: &impl Debug) -> u64 {
    let mut hash = TextHash::default();
    // If formatting fails, the text ends there.
    let _ = write!(hash, "{value:?}");
    hash.end()
}

/// The hash of a text that arrives in pieces. It does not depend on where the text is cut.
struct TextHash {
    hash: u64,
    /// The last bytes, fewer than eight.
    bytes: u64,
    length: u64,
}

impl Default for TextHash {
    fn default() -> Self {
        TextHash { hash: SEED, bytes: 0, length: 0 }
    }
}

impl Write for TextHash {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        piece.bytes().for_each(|byte| self.push(byte));
        Ok(())
    }
}

impl TextHash {
    fn push(&mut self, byte: u8) {
        self.bytes = self.bytes << 8 | u64::from(byte);
        self.length += 1;
        if self.length & 7 == 0 {
            self.hash = fold64(self.hash ^ self.bytes, FACTOR).wrapping_add(self.bytes);
            self.bytes = 0;
        }
    }

    fn end(self) -> u64 {
        mix64(fold64(self.hash ^ self.bytes, FACTOR) ^ self.length)
    }
}

/// Reads `Debug` text piece by piece.
struct Reader {
    text: TextHash,
    /// The groups that are open, the outermost first; the last one is being read.
    groups: Vec<Group>,
    word: Word,
    /// Whether the text is within quotes, where brackets and commas mean nothing.
    quoted: bool,
    escaped: bool,
}

/// Text between braces, brackets or parentheses, or all of it.
#[derive(Clone, Copy, Default)]
struct Group {
    /// The bracket that opened it. The order of entries within braces (of maps, sets and structs)
    /// does not count.
    opened_by: u8,
    entries: u64,
    entry: u64,
}

/// A word that is being read.
#[derive(Default)]
struct Word {
    text: TextHash,
    /// Whether it may still be an address.
    is_address: bool,
}

impl Default for Reader {
    fn default() -> Self {
        Reader {
            text: TextHash::default(),
            groups: vec![Group::default()],
            word: Word::default(),
            quoted: false,
            escaped: false,
        }
    }
}

impl Write for Reader {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        piece.bytes().for_each(|byte| self.read(byte));
        self.text.write_str(piece)
    }
}

impl Reader {
    fn read(&mut self, byte: u8) {
        if self.quoted {
            self.word.push(byte);
            self.quoted = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b' ' | b'\n' => self.end_word(),
            b',' => self.end_entry(),
            b'{' | b'[' | b'(' => {
                self.end_word();
                self.groups.push(Group { opened_by: byte, ..Group::default() });
            }
            b'}' | b']' | b')' => self.end_group(),
            _ => {
                self.quoted = byte == b'"';
                self.word.push(byte);
            }
        }
    }

    fn group(&mut self) -> &mut Group {
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    fn end_word(&mut self) {
        if self.word.text.length > 0 {
            let Word { text, is_address } = std::mem::take(&mut self.word);
            let word = if is_address && text.length > 2 { ADDRESS } else { text.end() };
            self.group().push(word);
        }
    }

    fn end_entry(&mut self) {
        self.end_word();
        self.group().end_entry();
    }

    fn end_group(&mut self) {
        self.end_entry();
        // A model's own `Debug` may close a bracket that it never opened.
        if self.groups.len() > 1
            && let Some(group) = self.groups.pop()
        {
            self.group().push(mix64(group.entries ^ u64::from(group.opened_by)));
        }
    }

    fn end(mut self) -> (u64, u64) {
        while self.groups.len() > 1 {
            self.end_group();
        }
        self.end_entry();
        let content = self.group().entries;
        (self.text.end(), content)
    }
}

impl Group {
    fn push(&mut self, part: u64) {
        self.entry = fold64(self.entry ^ SEED ^ part, FACTOR).wrapping_add(part);
    }

    fn end_entry(&mut self) {
        let entry = std::mem::take(&mut self.entry);
        if entry == 0 {
            return; // There is no entry after the last comma.
        }
        let entry = mix64(entry);
        self.entries = if self.opened_by == b'{' {
            self.entries.wrapping_add(entry)
        } else {
            fold64(self.entries ^ SEED ^ entry, FACTOR)
        };
    }
}

impl Word {
    fn push(&mut self, byte: u8) {
        self.is_address = match self.text.length {
            0 => byte == b'0',
            1 => self.is_address && byte == b'x',
            _ => self.is_address && byte.is_ascii_hexdigit(),
        };
        self.text.push(byte);
    }
}

#[cfg(test)]
#[path = "state_digest_tests.rs"]
mod tests;
