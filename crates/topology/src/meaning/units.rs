//! Numbers with units: bit rates, lengths, times.

/// Bit rate of the first optical carrier (OC-1, STS-1), bit/s.
const OC_1: f64 = 51.84e6;

/// Carriers of telephone networks, bit/s.
const CARRIERS: [(&str, f64); 11] = [
    ("ds0", 64e3),
    ("ds1", 1.544e6),
    ("ds3", 44.736e6),
    ("t1", 1.544e6),
    ("t3", 44.736e6),
    ("e1", 2.048e6),
    ("e3", 34.368e6),
    ("e4", 139.264e6),
    ("gige", 1e9),
    ("gbe", 1e9),
    ("fastethernet", 1e8),
];

/// What a number with its unit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// bit/s
    Rate(f64),
    /// km
    Length(f64),
    /// s
    Delay(f64),
}

/// A number with a unit of length, time or bit rate, and nothing else.
pub(crate) fn quantity(text: &str) -> Option<Quantity> {
    let (number, unit) = number(text.trim())?;
    length_unit(unit.trim())
        .map(|km| Quantity::Length(number * km))
        .or_else(|| delay_unit(unit.trim()).map(|seconds| Quantity::Delay(number * seconds)))
        .or_else(|| rate(text).map(Quantity::Rate))
}

/// A unit of length or time: one of it.
pub(crate) fn unit(text: &str) -> Option<Quantity> {
    length_unit(text)
        .map(Quantity::Length)
        .or_else(|| delay_unit(text).map(Quantity::Delay))
        .or_else(|| rate_unit(text).map(Quantity::Rate))
}

fn length_unit(unit: &str) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "km" | "kilometres" | "kilometers" => 1.0,
        "m" | "metres" | "meters" => 1e-3,
        "mi" | "mile" | "miles" => 1.609_344,
        _ => return None,
    })
}

fn delay_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" | "sec" | "seconds" => 1.0,
        "ms" | "msec" | "milliseconds" => 1e-3,
        "us" | "µs" | "μs" | "usec" | "microseconds" => 1e-6,
        "ns" | "nanoseconds" => 1e-9,
        _ => return None,
    })
}

/// A bit rate and nothing else, in bit/s: `10 Gbps`, `2x2.5G`, `OC-48`, `STM-16`, `<= 155 Mbit/s`.
pub(crate) fn rate(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || "<>=~≤≥".contains(c));
    rate_at_start(text).filter(|(_, rest)| rest.is_empty()).map(|(rate, _)| rate)
}

/// The first bit rate in a text that may say anything, in bit/s.
pub(crate) fn rate_in(text: &str) -> Option<f64> {
    let starts = text.char_indices().scan(' ', |before, (at, now)| {
        let is_start = now.is_ascii_alphanumeric() && !before.is_alphanumeric() && *before != '.';
        *before = now;
        Some(is_start.then_some(at))
    });
    starts.flatten().find_map(|at| rate_at_start(&text[at..])).map(|(rate, _)| rate)
}

/// A bit rate at the start of a text, which no letter or digit follows, and the rest.
fn rate_at_start(text: &str) -> Option<(f64, &str)> {
    let (rate, rest) = match number(text) {
        Some((number, rest)) => {
            let rest = rest.trim_start();
            match rest.strip_prefix(['x', '×', '*']).and_then(|of| rate_at_start(of.trim_start()))
            {
                Some((each, rest)) => (number * each, rest),
                None => {
                    let length =
                        rest.find(|c: char| !(c.is_alphabetic() || c == '/')).unwrap_or(rest.len());
                    (number * rate_unit(&rest[..length])?, &rest[length..])
                }
            }
        }
        None => carrier(text)?,
    };
    (rate > 0.0 && rate.is_finite() && !rest.starts_with(char::is_alphanumeric))
        .then_some((rate, rest))
}

/// One of a unit of bit rates, in bit/s. Bytes (`MB/s`) are none: a capital B is as often meant for
/// bits.
pub(crate) fn rate_unit(unit: &str) -> Option<f64> {
    let unit = unit.trim();
    if unit.contains('B') && unit != "GBE" && !unit.ends_with("BASE") {
        return None;
    }
    let unit = unit.to_ascii_lowercase();
    let named = [
        "bit/sec", "bits/sec", "bit/s", "bits/s", "bitps", "bps", "b/s", "bits", "bit", "be",
        "ige", "b", "e", "",
    ];
    let (factor, rest) = match unit.as_bytes().first()? {
        b'k' => (1e3, &unit[1..]),
        b'm' => (1e6, &unit[1..]),
        b'g' => (1e9, &unit[1..]),
        b't' => (1e12, &unit[1..]),
        _ => (1.0, unit.as_str()),
    };
    // Of Ethernet and of a prefix alone, there has to be a prefix.
    let alone = factor == 1.0 && matches!(rest, "" | "be" | "e" | "ige" | "b" | "bit" | "bits");
    (!alone && named.contains(&rest)).then_some(factor)
}

/// A carrier at the start of a text, and the rest.
fn carrier(text: &str) -> Option<(f64, &str)> {
    let letters = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let each = match text[..letters].to_ascii_lowercase().as_str() {
        "oc" | "sts" => Some(OC_1),
        "stm" => Some(3.0 * OC_1),
        _ => None,
    };
    if let Some(each) = each {
        let rest = text[letters..].trim_start_matches(['-', ' ']);
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let count: f64 = rest[..digits].parse().ok()?;
        // A `c` says that it is one channel.
        let after = &rest[digits..];
        return Some((count * each, after.strip_prefix('c').unwrap_or(after)));
    }
    let word = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let found = CARRIERS.iter().find(|(name, _)| text[..word].eq_ignore_ascii_case(name))?;
    Some((found.1, &text[word..]))
}

/// A decimal number at the start of a text, and the rest.
fn number(text: &str) -> Option<(f64, &str)> {
    let mut end = 0;
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    if matches!(bytes.first(), Some(b'-' | b'+')) {
        end = 1;
    }
    end = digits(end);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_in_the_units_that_people_write() {
        let cases = [
            ("10 Gbps", 1e10),
            ("2.5 Gbit/s", 2.5e9),
            ("<= 2.5 Gbps", 2.5e9),
            ("155 Mbps", 155e6),
            ("155M", 155e6),
            ("64 kbit/s", 64e3),
            ("9600 bps", 9600.0),
            ("1e10 bit/s", 1e10),
            ("10GE", 1e10),
            ("10 GbE", 1e10),
            ("10GigE", 1e10),
            ("GigE", 1e9),
            ("OC-48", 2_488_320_000.0),
            ("OC48c", 2_488_320_000.0),
            ("oc 3", 155_520_000.0),
            ("STM-16", 2_488_320_000.0),
            ("T3", 44.736e6),
            ("2x10G", 2e10),
            ("4 x STM-1", 622_080_000.0),
        ];
        for (text, expected) in cases {
            let found = rate(text).unwrap_or_else(|| panic!("{text} is a rate"));
            assert!((found / expected - 1.0).abs() < 1e-12, "{text}: {found}");
        }
    }

    #[test]
    fn what_is_no_rate_is_not_read_as_one() {
        let none = [
            "",
            "10",
            "G",
            "10 GB/s",
            "155 MBps",
            "10 parsecs",
            "10 Gbps up",
            "0 Mbps",
            "-5 Mbps",
            "OC-",
            "OC-x",
            "STM",
            "1e999 bps",
            "10 b",
        ];
        for text in none {
            assert_eq!(rate(text), None, "{text}");
        }
    }

    #[test]
    fn a_rate_is_found_within_a_label() {
        assert_eq!(rate_in("2.5 Gbit/s (backup)"), Some(2.5e9));
        assert_eq!(rate_in("Leased line, 10/100 Mbps"), Some(1e8));
        assert_eq!(rate_in("Dark fibre (STM-1)"), Some(155_520_000.0));
        assert_eq!(rate_in("1-2.5Gbps"), Some(2.5e9));
        for none in ["Fibre", "100", "built 2010", "Metro 3 ring", "1.5"] {
            assert_eq!(rate_in(none), None, "{none}");
        }
    }

    #[test]
    fn quantities_tell_lengths_from_times() {
        assert_eq!(quantity("251 km"), Some(Quantity::Length(251.0)));
        assert_eq!(quantity("500m"), Some(Quantity::Length(0.5)));
        assert_eq!(quantity("5 ms"), Some(Quantity::Delay(5e-3)));
        assert_eq!(quantity("3 Mbps"), Some(Quantity::Rate(3e6)));
        assert_eq!(quantity("3 parsecs"), None);
    }
}
