//! From bytes to text. Files are UTF-8, unless they are XML that declares ISO 8859-1.

use std::borrow::Cow;

use crate::error::Problem;

/// Where an XML declaration ends at the latest.
const DECLARATION_BYTES: usize = 200;

/// What files begin with that people mistake for topologies.
const MAGIC: [(&[u8], &str); 8] = [
    (&[0x1f, 0x8b], "is compressed with gzip; unpack it with `gunzip` first"),
    (b"PK\x03\x04", "is a ZIP archive (or a spreadsheet); unpack it, or save it as CSV, first"),
    (b"BZh", "is compressed with bzip2; unpack it with `bunzip2` first"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "is compressed with xz; unpack it with `unxz` first"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "is compressed with zstd; unpack it with `unzstd` first"),
    (b"%PDF", "is a PDF, not a topology"),
    (&[0xff, 0xfe], UTF_16),
    (&[0xfe, 0xff], UTF_16),
];

const UTF_16: &str = "is UTF-16, but has to be UTF-8: convert it with `iconv -f UTF-16 -t UTF-8`";

/// Refuses what is no text by its first bytes.
pub(crate) fn check_head(head: &[u8]) -> Result<(), Problem> {
    if let Some((_, problem)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err((*problem).to_owned());
    }
    match head.iter().position(|&byte| byte == 0) {
        Some(at) => Err(format!("is no text: byte {at} is 0")),
        None => Ok(()),
    }
}

/// The text without a byte order mark, which some editors put first.
pub(crate) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Problem> {
    check_head(bytes)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) if is_latin_1(bytes) => {
            // Every byte of ISO 8859-1 is the character of the same number.
            Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect())
        }
        Err(wrong) => {
            let at = wrong.valid_up_to();
            let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
            return Err(format!(
                "is not UTF-8: byte {at}, in line {line}, is 0x{:02x}; if it is ISO 8859-1, convert it with \
                 `iconv -f ISO-8859-1 -t UTF-8`",
                bytes[at]
            ));
        }
    };
    if text.trim().is_empty() { Err("is empty".into()) } else { Ok(text) }
}

/// Whether an XML declaration says so.
fn is_latin_1(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES)]).to_lowercase();
    let declaration =
        head.trim_start().strip_prefix("<?xml").and_then(|rest| rest.split("?>").next());
    declaration.is_some_and(|rest| rest.contains("iso-8859-1") || rest.contains("latin1"))
}
