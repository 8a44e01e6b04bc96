//! Files as people have them: what each gives.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use warpline_series::{Reader, Series};

use crate::column;

fn odd(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/odd").join(file)
}

fn numbers<const N: usize>(file: &str, columns: [&str; N]) -> [Vec<f64>; N] {
    let series = Series::columns_from_csv(odd(file), columns);
    series.unwrap_or_else(|why| panic!("{why}")).map(|series| series.numbers().to_vec())
}

#[test]
fn every_odd_file_gives_the_numbers_that_it_means() {
    let gaps = || vec![0.5, 1.25, 3.0];
    assert_eq!(numbers("plain.csv", [""]), [gaps()]);
    assert_eq!(numbers("windows.csv", ["gap"]), [gaps()]);
    assert_eq!(numbers("comments.csv", [""]), [vec![30.0, 75.0, 180.0]]);
    assert_eq!(numbers("german.csv", ["Zeit", "Dauer"]), [gaps(), vec![1.2, 0.0075, 0.09]]);
    assert_eq!(numbers("tabs.csv", ["size", "time"]), [vec![1.5, 900.0, 2.0], gaps()]);
    assert_eq!(numbers("blanks.csv", ["time", "Service_Time"]), [gaps(), vec![0.25, 0.4, 0.31]]);
    assert_eq!(numbers("rates.csv", ["calls [1/h]"]), [vec![1.0, 0.0, 2.0]]);
    assert_eq!(
        numbers("suffix.csv", ["service", "value"]),
        [vec![0.007, 0.25, 1.0], vec![-1.5, 2000.0, 0.5]]
    );
    assert_eq!(numbers("no_header.csv", ["3", "1"]), [vec![2.0, 3.0], vec![1.0, 2.0]]);
    assert_eq!(numbers("twice.csv", ["2", "size"]), [vec![2.0], vec![3.0]]);
    assert_eq!(numbers("other_unit.csv", [""]), [vec![-3.5, 12.0]]);
    assert_eq!(numbers("unsorted.csv", [""]), [vec![7.0, 5.0, 8.0]]);
    assert_eq!(numbers("till.csv", ["service_time"])[0][7], 1.15);
    assert_eq!(numbers("no_last_line_end.csv", ["size"]), [vec![2.0, 4.0]]);
}

#[test]
fn every_odd_file_is_tried() {
    let tried = include_str!("odd.rs");
    for file in std::fs::read_dir(odd("")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(tried.contains(&format!("(\"{name}\"")), "{name}");
    }
}

#[test]
fn compressed_files_are_read_whatever_their_name() {
    let plain = std::fs::read(odd("german.csv")).unwrap();
    let compressed = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    // Two members, as after `cat a.gz b.gz`.
    let bytes = [compressed(&plain[..30]), compressed(&plain[30..])].concat();
    let [series] = Reader::new().read("x.csv", Cursor::new(&bytes), ["Dauer"]).unwrap();
    assert_eq!(series.numbers(), [1.2, 0.0075, 0.09]);
    let why = Reader::new().read("x.csv", &bytes[..bytes.len() - 12], ["Dauer"]).unwrap_err();
    assert!(why.to_string().contains("cut off"), "{why}");
}

#[test]
fn a_series_knows_where_it_is_from() {
    let [series] = Series::columns_from_csv(odd("comments.csv"), [""]).unwrap();
    assert!(series.file().ends_with("comments.csv"));
    assert_eq!(series.column(), "gap [min]");
    let lines: Vec<Option<u64>> = (0..4).map(|index| series.line_of(index)).collect();
    assert_eq!(lines, [Some(5), Some(8), Some(9), None]);
    assert_eq!(series.to_string(), "3 numbers from 30 to 180, mean 95");
}

#[test]
fn times_are_in_the_unit_of_the_model() {
    let reader = Reader::new().model_unit("min").unwrap();
    let [gaps] = reader.read_file(odd("windows.csv"), [""]).unwrap();
    assert_eq!(gaps.numbers(), [0.5 / 60.0, 1.25 / 60.0, 3.0 / 60.0]);
    let [rates] = reader.read_file(odd("rates.csv"), ["calls"]).unwrap();
    assert_eq!(rates.numbers(), [60.0, 0.0, 120.0]);
    let [plain] = reader.clone().unit("h").read_file(odd("plain.csv"), [""]).unwrap();
    assert_eq!(plain.numbers(), [30.0, 75.0, 180.0]);
    // A header's own unit counts more.
    let [gaps] = reader.unit("h").read_file(odd("comments.csv"), [""]).unwrap();
    assert_eq!(gaps.numbers(), [0.5, 1.25, 3.0]);
    let why = Reader::new().model_unit("m").unwrap_err();
    assert!(why.contains("`m` is no unit of time"), "{why}");
}

#[test]
fn rows_are_of_groups() {
    let [web] = Reader::new().only("class", "web").read_file(odd("tabs.csv"), ["size"]).unwrap();
    assert_eq!(web.numbers(), [1.5, 2.0]);
    let groups = Reader::new().read_groups(odd("tabs.csv"), "size", "class").unwrap();
    let names: Vec<&str> = groups.keys().map(String::as_str).collect();
    assert_eq!((names, groups["web"].numbers()), (vec!["video", "web"], web.numbers()));
    assert_eq!((groups["web"].line_of(1), groups["video"].line_of(0)), (Some(4), Some(3)));
    let why = Reader::new().only("class", "mail").read_file(odd("tabs.csv"), ["size"]).unwrap_err();
    assert!(why.to_string().ends_with("has no row with `mail`"), "{why}");
}

#[test]
fn comments_and_blanks_may_be_anywhere() {
    let text = "\n#\n \ngap\n1\n \n#2\n3\n\n";
    assert_eq!(column(text, "").unwrap().numbers(), [1.0, 3.0]);
}
