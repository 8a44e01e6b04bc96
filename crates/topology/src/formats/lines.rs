//! Lines of a text, by offset.

/// Tells lines by offset, for offsets that come in order.
pub(super) struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lines { text: text.as_bytes(), at: 0, line: 1 }
    }

    /// The line of this byte, which is not before the one asked for last.
    pub(super) fn of(&mut self, offset: usize) -> u32 {
        let offset = offset.clamp(self.at, self.text.len());
        let ends = self.text[self.at..offset].iter().filter(|&&byte| byte == b'\n').count();
        self.line += ends as u32;
        self.at = offset;
        self.line
    }
}
