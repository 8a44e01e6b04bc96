//! Files that are no table of numbers, or a broken one: each is refused, with what is wrong and where.

use std::io::Read;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::GzEncoder;
use warpline_series::{Poisson, Reader, Series, SeriesError, Trace};

use crate::column;

/// In debug builds and on loaded machines, too.
const AT_ONCE: Duration = Duration::from_secs(5);

fn refused(bytes: impl Read, name: &str) -> SeriesError {
    let start = Instant::now();
    let why = Reader::new().read("a.csv", bytes, [name]).expect_err("it is refused");
    assert!(start.elapsed() < AT_ONCE, "{why}: took {:?}", start.elapsed());
    why
}

#[test]
fn what_is_no_text_says_what_it_is() {
    let cases: [(&[u8], &str); 14] = [
        (b"", "`a.csv`: is empty; expected rows of numbers"),
        (b" \n\t\n# no more\n", "`a.csv`: is empty"),
        (&[0xef, 0xbb, 0xbf], "`a.csv`: is empty"),
        (b"gap\n1\n2\0\n", "`a.csv`, line 3: is no text: byte 2 of this line is 0"),
        (b"PK\x03\x04abc", "spreadsheet"),
        (b"BZh91AY", "bunzip2"),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], "unxz"),
        (&[0x28, 0xb5, 0x2f, 0xfd, 4], "unzstd"),
        (b"%PDF-1.4 x y", "is a PDF"),
        (b"PAR1\x15\x04", "is Parquet"),
        (&[0xff, 0xfe, b'1', 0], "is UTF-16"),
        (&[0x1f, 0x8b, 8, 0], "the compressed data ends"),
        (b"gap;Art\n1;Z\xfcrich\n", "`a.csv`, line 2: is not UTF-8: byte 4 of this line is 0xfc"),
        (b"\x93NUMPY\x01\x00", "numpy.savetxt"),
    ];
    for (bytes, expected) in cases {
        let why = refused(bytes, "").to_string();
        assert!(why.contains(expected), "{why}\n not: {expected}");
    }
}

#[test]
fn folders_and_missing_files_are_refused() {
    let why = Series::from_csv(env!("CARGO_MANIFEST_DIR")).unwrap_err().to_string();
    assert!(why.contains("is a folder"), "{why}");
    let why = Series::from_csv("/no/such.csv").unwrap_err().to_string();
    assert!(why.starts_with("`/no/such.csv`: cannot be read: No such file"), "{why}");
}

/// What a reader hands out is counted: nothing reads on after the mistake.
struct Endless {
    pattern: &'static [u8],
    given: usize,
    most: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Endless { pattern, given, most } = self;
        buffer.iter_mut().for_each(|byte| {
            *byte = pattern[*given % pattern.len()];
            *given += 1;
        });
        assert!(*given < *most, "it reads on");
        Ok(buffer.len())
    }
}

/// Hands out little at once, as compressed data of a few bytes stand for much.
struct Sips<R>(R);

impl<R: Read> Read for Sips<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = buffer.len().min(64);
        self.0.read(&mut buffer[..most])
    }
}

#[test]
fn endless_lines_are_refused_in_bounded_memory() {
    for (pattern, expected) in [
        (&b"\0"[..], "line 1: is no text"),
        (b"7", "line 1: this line has more than 1024 KiB; expected rows of CSV"),
        (b"1,", "line 1: this line has more than 1024 KiB"),
        (b"\"a", "line 1: this line has more than 1024 KiB"),
        (b"a\r", "line 1: this line has more than 1024 KiB"),
        (b"gap\n1\nx\n", "line 3, column `gap`: found `x`, expected a number"),
    ] {
        let why = refused(Endless { pattern, given: 0, most: 2 << 20 }, "").to_string();
        assert!(why.contains(expected), "{why}\n not: {expected}");
        // Compressed, it is a bomb. The encoder reads ahead, too.
        let endless = Endless { pattern, given: 0, most: 64 << 20 };
        let bomb = GzEncoder::new(endless, Compression::fast());
        let why = refused(Sips(bomb), "").to_string();
        assert!(why.contains(expected), "{why}\n not: {expected}");
    }
}

#[test]
fn mistakes_name_line_and_column_and_what_was_expected() {
    for (text, name, expected) in [
        ("gap\n1\n\n", "size", "`a.csv`: has no column `size`; it has 1 column (line 1): `gap`"),
        ("a,b\n1,2\n", "", "`a.csv`: has 2 columns (line 1): `a`, `b`; say which to read"),
        ("1,2\n", "", "2 columns and no header: name them by numbers from 1; say which"),
        ("1,2\n", "3", "has no column `3`"),
        ("gap,gap\n1,2\n", "gap", "has 2 columns called `gap`; give the number of one"),
        ("# x\ngap\n", "", "`a.csv`: has a header and no row; expected rows of numbers"),
        ("gap\n1\nfast\n", "", "`a.csv`, line 3, column `gap`: found `fast`, expected a number"),
        ("gap\n1\n#\nNaN\n", "", "line 4, column `gap`: found `NaN`, expected a finite number"),
        ("1\n-inf\n", "", "line 2, column `column 1`: found `-inf`, expected a finite"),
        ("1\n1e999\n", "", "found `1e999`, expected a finite number"),
        ("gap [h]\n1e305\n", "", "found `1e305`, which is too large a number"),
        (
            "a,b\n1,2\n,3\n",
            "a",
            "line 3, column `a`: found an empty cell, expected a number; delete",
        ),
        ("a,b\n1,2\n3\n", "a", "line 3: found 1 cell, expected 2 as in the header in line 1"),
        ("1,2\n3,4,5\n", "1", "line 2: found 3 cells, expected 2 as in the first row"),
        (
            "gap\n1,5\n",
            "",
            "found 2 cells, expected 1 as in the header in line 1; write numbers with",
        ),
        ("a;b\n1,5;2\n3.5;2\n", "a", "found `3.5`, expected decimals after `,` as in line 2"),
        ("a;b\n1.000,5;2\n", "a", "nothing between thousands"),
        ("gap\n1\n1 000\n", "", "columns are separated by commas, semicolons or tabs"),
        ("gap\n1\n5 ms\n", "", "found `5 ms`, expected a number; a unit belongs into the header"),
        (
            "gap\n1\n09:15:00\n",
            "",
            "give times as numbers, in seconds from the beginning of the run",
        ),
        ("a,b\n1,\"x\n2,y\"\n", "a", "line 2: opens a quote that this line does not close"),
        ("gap\r1\r2\r", "", "line 1: has a carriage return within this line"),
        ("a\n1\n2\n\x1b[1mbold\n", "", "line 4, column `a`: found `\\u{1b}[1mbold`"),
        ("{\"gaps\":\n[1]}\n", "", "line 2, column `{\"gaps\":`: found `[1]}`, expected a number"),
    ] {
        let why = match column(text, name) {
            Err(why) => why.to_string(),
            Ok(series) => panic!("{text:?} is read as {series:?}, not: {expected}"),
        };
        assert!(why.contains(expected), "{text:?}\n gives: {why}\n not: {expected}");
    }
}

#[test]
fn long_cells_are_shortened_in_messages() {
    let why = column(&format!("gap\n{}\n", "ä".repeat(1000)), "").unwrap_err().to_string();
    assert!(why.len() < 200 && why.contains("ä…`"), "{why}");
    let wide = format!("1{}\n", ",1".repeat(5000));
    let why = column(&wide, "1").unwrap_err().to_string();
    assert!(why.contains("line 1: has more than 4096 columns"), "{why}");
}

#[test]
fn times_gaps_and_rates_are_checked_where_they_are_used() {
    let case = |text: &str, made: fn(&Series) -> Result<(), SeriesError>, expected: &str| {
        let why = made(&column(text, "").unwrap()).expect_err(expected);
        assert!(why.to_string().contains(expected), "{text:?}\n gives: {why}\n not: {expected}");
    };
    let times = |series: &Series| Trace::from_times(series).map(drop);
    let gaps = |series: &Series| Trace::from_gaps(series).map(drop);
    let rates = |series: &Series| Poisson::from_rates(series, 1.0).map(drop);
    case(
        "time [ms]\n1\n#\n7\n5\n",
        times,
        "`a.csv`, line 5, column `time [ms]`: found 5, expected a time not before that of line 4; sort",
    );
    case("-1\n2\n", times, "line 1, column `column 1`: found -1, expected a time of at least 0");
    case("gap [us]\n3\n-0.5\n", gaps, "line 3, column `gap [us]`: found -0.5, expected a time");
    case("size [kB]\n3\n", gaps, "column `size [kB]`: has the unit `kB`; expected times in ns, us");
    case("t [m]\n3\n", times, "has the unit `m`; expected times");
    case("calls [1/h]\n3\n", times, "has rates; expected times");
    case("1e308\n1e308\n", gaps, "line 2, column `column 1`: found 1e308");
    case(
        "calls [1/h]\n3\n-2\n",
        rates,
        "line 3, column `calls [1/h]`: found -2, expected a rate of",
    );
    case("wait [s]\n3\n", rates, "has times; expected rates in 1/s, 1/min, 1/h");
    case("size [kB]\n3\n", rates, "has the unit `kB`; expected rates");
    case(
        "calls\n1e6\n1\n",
        rates,
        "line 3, column `calls`: found 1, expected 0 or at least a 100 000th",
    );
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let series = |text: &str| column(text, "").unwrap();
    let trace = || Trace::from_times(&series("1\n4\n")).unwrap();
    let refused = [
        trace().with_values(&series("1\n")).map(drop),
        trace().repeated_every(0.0).map(drop),
        trace().repeated_every(f64::NAN).map(drop),
        trace().repeated_every(3.0).map(drop),
        Trace::from_gaps(&series("0\n0\n")).unwrap().repeated().map(drop),
        Poisson::from_rates(&series("1\n"), 0.0).map(drop),
        Poisson::from_rates(&series("1\n"), f64::INFINITY).map(drop),
        Poisson::from_pieces(&series("0\n1\n"), &series("1\n"), 2.0).map(drop),
        Poisson::from_pieces(&series("1\n2\n"), &series("1\n1\n"), 3.0).map(drop),
        Poisson::from_pieces(&series("0\n0\n"), &series("1\n1\n"), 3.0).map(drop),
        Poisson::from_pieces(&series("0\n2\n"), &series("1\n1\n"), 2.0).map(drop),
    ];
    let words = [
        "has 1 values, expected 2",
        "every 0: expected a positive time",
        "every NaN",
        "line 2, column `column 1`: arrives at 4, after the period of 3",
        "every 0",
        "pieces of 0",
        "pieces of inf",
        "has 2 times, expected 1",
        "line 1, column `column 1`: found 1, expected 0, when",
        "line 2, column `column 1`: found 0, expected a time after",
        "line 2, column `column 1`: found 2, expected a time before 2",
    ];
    for (refused, words) in refused.into_iter().zip(words) {
        let why = refused.expect_err(words).to_string();
        assert!(why.contains(words), "{why}\n not: {words}");
    }
}

/// A good file that is cut off or has a byte changed never panics.
#[test]
fn no_damage_makes_it_panic() {
    let good = "a;\"b [ms]\"\n1,5;2\n#\n3,25;4\n".as_bytes();
    for at in 0..good.len() {
        let _ = Reader::new().read("a.csv", &good[..at], ["b"]);
        for byte in 0..=255 {
            let mut bad = good.to_vec();
            bad[at] = byte;
            let _ = Reader::new().read("a.csv", &bad[..], ["b"]);
        }
    }
}
