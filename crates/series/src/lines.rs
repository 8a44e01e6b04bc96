//! From bytes to lines of text, in bounded memory. Files are UTF-8, plain or compressed with gzip.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

/// The most bytes that a line may have. Tables have shorter ones.
pub(crate) const MOST_LINE_BYTES: usize = 1 << 20;

/// What is read at once.
const BUFFER_BYTES: usize = 1 << 16;

const GZIP: &[u8] = &[0x1f, 0x8b];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What files begin with that people mistake for tables.
const MAGIC: [(&[u8], &str); 11] = [
    (b"PK\x03\x04", "is a ZIP archive or a spreadsheet; unpack it, or save it as CSV, first"),
    (&[0xd0, 0xcf, 0x11, 0xe0], "is a spreadsheet; save it as CSV first"),
    (b"BZh", "is compressed with bzip2; unpack it with `bunzip2` first"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "is compressed with xz; unpack it with `unxz` first"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "is compressed with zstd; unpack it with `unzstd` first"),
    (b"%PDF", "is a PDF; expected CSV"),
    (b"PAR1", "is Parquet; write it as CSV first"),
    (b"\x89HDF", "is HDF5; write it as CSV first"),
    (b"\x93NUMPY", "is an array of NumPy; write it with `numpy.savetxt` first"),
    (&[0xff, 0xfe], UTF_16),
    (&[0xfe, 0xff], UTF_16),
];

const UTF_16: &str = "is UTF-16; convert it with `iconv -f UTF-16 -t UTF-8`";

/// Why there is no further line, and the number of the line if it is in one.
pub(crate) type Problem = (Option<u64>, String);

/// The lines of a source, one at a time.
pub(crate) struct Lines<'a> {
    source: Box<dyn BufRead + 'a>,
    line: Vec<u8>,
    number: u64,
}

impl Lines<'static> {
    pub(crate) fn of_file(path: &Path) -> Result<Self, String> {
        let failed = |why: std::io::Error| format!("cannot be read: {why}");
        if path.is_dir() {
            return Err("is a folder; name a file in it".into());
        }
        Lines::of(File::open(path).map_err(failed)?)
    }
}

impl<'a> Lines<'a> {
    pub(crate) fn of(bytes: impl Read + 'a) -> Result<Self, String> {
        let mut source = BufReader::with_capacity(BUFFER_BYTES, bytes);
        let head = source.fill_buf().map_err(|why| format!("cannot be read: {why}"))?;
        let source: Box<dyn BufRead + 'a> = if head.starts_with(GZIP) {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(source)))
        } else {
            Box::new(source)
        };
        let mut lines = Lines { source, line: Vec::new(), number: 0 };
        lines.check_head()?;
        Ok(lines)
    }

    fn check_head(&mut self) -> Result<(), String> {
        let head = self.fill().map_err(|(_, problem)| problem)?;
        match MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
            Some((_, problem)) => Err((*problem).to_owned()),
            None => Ok(()),
        }
    }

    /// The next bytes, which are not taken yet.
    fn fill(&mut self) -> Result<&[u8], Problem> {
        let number = self.number;
        self.source.fill_buf().map_err(|why| match why.kind() {
            ErrorKind::UnexpectedEof => {
                (None, format!("is cut off: the compressed data ends after line {number}"))
            }
            _ => (None, format!("cannot be read after line {number}: {why}")),
        })
    }

    /// The next line, which ends with `\n`, and its number from 1; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &str)>, Problem> {
        self.line.clear();
        loop {
            let number = self.number + 1;
            let used = self.line.len();
            let bytes = self.fill()?;
            if bytes.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', bytes);
            let taken = end.map_or(bytes.len(), |end| end + 1);
            if let Some(at) = memchr::memchr(0, &bytes[..taken]) {
                let problem = format!("is no text: byte {} of this line is 0", used + at + 1);
                return Err((Some(number), problem));
            }
            if used + taken > MOST_LINE_BYTES {
                let most = MOST_LINE_BYTES >> 10;
                let problem = format!("this line has more than {most} KiB; expected rows of CSV");
                return Err((Some(number), problem));
            }
            // These are the same bytes: nothing is read while some are left.
            let Lines { source, line, .. } = self;
            line.extend_from_slice(
                &source.fill_buf().map_err(|why| (None, why.to_string()))?[..taken],
            );
            source.consume(taken);
            if end.is_some() {
                break;
            }
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        let text = str_of(&self.line).map_err(|problem| (Some(self.number), problem))?;
        Ok(Some((self.number, text)))
    }
}

fn str_of(line: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(line).map_err(|wrong| {
        let at = wrong.valid_up_to();
        format!(
            "is not UTF-8: byte {} of this line is 0x{:02x}; if the file is ISO 8859-1, convert it \
             with `iconv -f ISO-8859-1 -t UTF-8`",
            at + 1,
            line[at]
        )
    })?;
    Ok(text.trim_end_matches(['\n', '\r']))
}
