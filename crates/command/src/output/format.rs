//! Numbers for people.

pub(crate) use warpline_base::significant;

/// A number with at most six significant digits.
pub(crate) fn number(value: f64) -> String {
    significant(value, 6)
}

/// A number with three digits and a prefix for thousands: `12.3 M`. Without a prefix, it ends with a
/// space.
fn scaled(value: f64) -> String {
    const PREFIXES: [&str; 5] = ["", "k", "M", "G", "T"];
    let mut scaled = value;
    let mut prefix = 0;
    // 999.5 would be written as 1000.
    while scaled >= 999.5 && prefix + 1 < PREFIXES.len() {
        scaled /= 1000.0;
        prefix += 1;
    }
    let decimals = if scaled >= 99.95 || prefix == 0 { 0 } else { usize::from(scaled < 9.995) + 1 };
    format!("{scaled:.decimals$} {}", PREFIXES[prefix])
}

/// A model time with its unit, if it has one.
pub(crate) fn time(value: f64, unit: &str) -> String {
    if unit.is_empty() { number(value) } else { format!("{} {unit}", number(value)) }
}

/// Events per second.
pub(crate) fn event_rate(rate: f64) -> String {
    format!("{} events/s", scaled(rate).trim_end())
}

/// A range of event rates.
pub(crate) fn event_rates(low: f64, high: f64) -> String {
    format!("{} – {}", scaled(low).trim_end(), event_rate(high))
}

/// A share of 1, in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// An amount of memory.
pub(crate) fn bytes(bytes: u64) -> String {
    format!("{}B", scaled(bytes as f64))
}

/// A duration in seconds, as seconds or `h:mm:ss`.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds.is_nan() || seconds >= 1e8 {
        return "unknown".into();
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, _) if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        (0, 0, _) if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        (0, 0, _) => format!("{seconds:.1} s"),
        (0, minutes, seconds) => format!("{minutes}:{seconds:02} min"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02} h"),
    }
}

/// A count of things: `1 run`, `2 runs`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The end of a message on an unknown name, if a known one is near.
pub(crate) fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Rows as aligned columns, two spaces apart, each line after `indent` spaces.
pub(crate) fn columns(rows: &[impl AsRef<[String]>], indent: usize) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows.iter().map(AsRef::as_ref) {
        widths.resize(widths.len().max(row.len()), 0);
        widths
            .iter_mut()
            .zip(row)
            .for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let line = |row: &[String]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{:indent$}{}", "", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
            + "\n"
    };
    rows.iter().map(|row| line(row.as_ref())).collect()
}

/// Text cut into lines of at most `width` characters, at spaces; a longer word has its own line.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(last) = lines.last_mut() {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_true() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.1 + 0.2, "0.3"),
            (-1234567.0, "-1234567"),
            (2.345678912, "2.34568"),
            (1e-7, "1.00000e-7"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(f64::NAN), "NaN");
        assert_eq!(number(100.0), "100");
        assert_eq!(
            (significant(12_000.6, 4), significant(2.34567, 4)),
            ("12001".into(), "2.346".into())
        );
        assert_eq!((time(2.5, "s"), time(2.5, "")), ("2.5 s".into(), "2.5".into()));
    }

    #[test]
    fn prefixes_stand_for_thousands() {
        let cases = [
            (0.0, "0 "),
            (999.0, "999 "),
            (999.6, "1.00 k"),
            (12_345.0, "12.3 k"),
            (999_999.0, "1.00 M"),
            (8.311e6, "8.31 M"),
        ];
        for (value, text) in cases {
            assert_eq!(scaled(value), text);
        }
        assert_eq!(bytes(35_200_000), "35.2 MB");
        assert_eq!(event_rate(12.0), "12 events/s");
        assert_eq!(event_rates(999e3, 1e6), "999 k – 1.00 M events/s");
        assert_eq!((percent(0.93149), percent(1.0)), ("93.1 %".into(), "100.0 %".into()));
    }

    #[test]
    fn durations_have_a_unit() {
        let cases = [
            (0.000_01, "10 µs"),
            (0.25, "250 ms"),
            (59.4, "59.4 s"),
            (59.96, "1:00 min"),
            (3_700.0, "1:01:40 h"),
            (f64::INFINITY, "unknown"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
    }

    #[test]
    fn columns_are_aligned_and_text_is_wrapped() {
        let rows = [["a".to_owned(), "b".to_owned()], ["längst".to_owned(), String::new()]];
        assert_eq!(columns(&rows, 2), "  a       b\n  längst\n");
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("", 7), [""]);
    }
}
