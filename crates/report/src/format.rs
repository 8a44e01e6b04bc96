//! Numbers for people. `assets/script/format.js` holds the same rules, so that a number looks the
//! same everywhere.

use serde_json::Value;

/// Shown for a number that is missing or not finite.
pub(crate) const NOTHING: &str = "–";
/// Separates groups of three digits: narrow, and never at the end of a line.
const GROUP: char = '\u{202f}';
/// Separates a number from its unit.
const NO_BREAK: char = '\u{a0}';
/// Units that take SI prefixes.
const PREFIXABLE: [&str; 13] =
    ["s", "B", "b", "bit", "B/s", "b/s", "bit/s", "bps", "Hz", "W", "J", "events/s", "packets/s"];
/// SI prefixes from nano upwards.
const PREFIXES: [&str; 8] = ["n", "µ", "m", "", "k", "M", "G", "T"];

/// Digits and decimal exponent of a positive number, rounded to `digits` significant digits. Ties
/// are rounded up.
fn round(value: f64, digits: usize) -> (String, i32) {
    // Forty decimal places show every tie exactly.
    let exact = format!("{value:.40e}");
    let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
    let mut exponent: i32 = exponent.parse().unwrap_or(0);
    let mut all: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let up = all.get(digits).is_some_and(|digit| *digit >= b'5');
    all.truncate(digits);
    if up {
        let nines = all.iter().rev().take_while(|digit| **digit == b'9').count();
        let kept = all.len() - nines;
        all[kept..].fill(b'0');
        match kept.checked_sub(1) {
            Some(last) => all[last] += 1,
            None => {
                all.insert(0, b'1');
                all.pop();
                exponent += 1;
            }
        }
    }
    (all.into_iter().map(char::from).collect(), exponent)
}

/// Groups of three, from the right.
fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(GROUP);
        }
        out.push(digit);
    }
    out
}

/// A whole number with its digits in groups.
pub(crate) fn integer(value: u64) -> String {
    grouped(&value.to_string())
}

fn superscript(exponent: i32) -> String {
    let raised = |character| match character {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    exponent.to_string().chars().map(raised).collect()
}

/// What to do with zeros at the end of a fraction.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Zeros {
    /// Keep them: in a column, they make the digits line up.
    Keep,
    /// Leave them out.
    Strip,
}

/// A number to `digits` significant digits; whole numbers in full.
pub(crate) fn number(value: f64, digits: usize, zeros: Zeros) -> String {
    if !value.is_finite() {
        return NOTHING.into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    let size = value.abs();
    if size.fract() == 0.0 && size < 1e15 {
        return format!("{sign}{}", grouped(&format!("{size:.0}")));
    }
    let (figures, exponent) = round(size, digits);
    let plain = (-4..6).contains(&exponent);
    if plain && exponent >= digits as i32 {
        return format!("{sign}{}", grouped(&format!("{:.0}", (size + 0.5).floor())));
    }
    // The decimal point comes after this many figures.
    let point = if !plain { 1 } else { exponent + 1 };
    let (whole, fraction) = if point <= 0 {
        ("0".to_owned(), "0".repeat(point.unsigned_abs() as usize) + &figures)
    } else {
        let (whole, fraction) = figures.split_at(point as usize);
        (whole.to_owned(), fraction.to_owned())
    };
    let fraction = if zeros == Zeros::Strip { fraction.trim_end_matches('0') } else { &fraction };
    let dot = if fraction.is_empty() { "" } else { "." };
    let power = if plain { String::new() } else { format!("×10{}", superscript(exponent)) };
    format!("{sign}{}{dot}{fraction}{power}", grouped(&whole))
}

/// A number with its unit, as people say it: `12.3 MB`, `1.25 s`, `3.2 M events/s`.
pub(crate) fn quantity(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return NOTHING.into();
    }
    let gap = if unit.is_empty() { String::new() } else { NO_BREAK.to_string() };
    if value == 0.0 || !PREFIXABLE.contains(&unit) {
        return format!("{}{gap}{unit}", number(value, 4, Zeros::Strip));
    }
    let (_, exponent) = round(value.abs(), 3);
    let lowest = if matches!(unit, "s" | "W" | "J") { -3 } else { 0 };
    let highest = if unit == "s" { 0 } else { 4 };
    let step = exponent.div_euclid(3).clamp(lowest, highest);
    let scaled = value / 10f64.powi(3 * step);
    let prefix = PREFIXES[(step + 3) as usize];
    let between = if unit.contains("ts/s") && !prefix.is_empty() {
        NO_BREAK.to_string()
    } else {
        String::new()
    };
    format!("{}{gap}{prefix}{between}{unit}", number(scaled, 3, Zeros::Strip))
}

/// Wall time: `1.25 s`, `3 min 20 s`, `2 h 5 min`.
pub(crate) fn duration(seconds: f64) -> String {
    if !(120.0..1e9).contains(&seconds) {
        return quantity(seconds, "s");
    }
    let whole = seconds.round() as u64;
    let hours = whole / 3600;
    let minutes = whole / 60 % 60;
    let seconds = whole % 60;
    let gap = NO_BREAK;
    if hours == 0 {
        format!("{minutes}{gap}min {seconds}{gap}s")
    } else {
        format!("{}{gap}h {minutes}{gap}min", integer(hours))
    }
}

/// A JSON value that is not a list or an object, formatted for reading, and in full if that says
/// more.
pub(crate) fn scalar(value: &Value, zeros: Zeros) -> (String, Option<String>) {
    let short = match value {
        Value::Null => return (NOTHING.into(), None),
        Value::String(text) => return (text.clone(), None),
        Value::Bool(flag) => return (if *flag { "yes" } else { "no" }.into(), None),
        Value::Number(exact) => match (exact.as_u64(), exact.as_i64()) {
            (Some(whole), _) => integer(whole),
            (None, Some(whole)) => format!("−{}", integer(whole.unsigned_abs())),
            (None, None) => number(exact.as_f64().unwrap_or(f64::NAN), 4, zeros),
        },
        nested => return (nested.to_string(), None),
    };
    let full = value.to_string();
    let same = short == full;
    (short, (!same).then_some(full))
}

/// What is measured, and its unit in parentheses if it has one.
pub(crate) fn with_unit(text: &str, unit: &str) -> String {
    if unit.is_empty() { text.to_owned() } else { format!("{text} ({unit})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let show = |value| number(value, 4, Zeros::Strip);
        assert_eq!(show(0.5), "0.5");
        assert_eq!(show(0.123456), "0.1235");
        assert_eq!(show(1234.5), "1\u{202f}235");
        assert_eq!(show(2345.5), "2\u{202f}346");
        assert_eq!(show(999_999.7), "1×10⁶");
        assert_eq!(show(123456.7), "123\u{202f}457");
        assert_eq!(show(0.000123456), "0.0001235");
        assert_eq!(show(0.0000123456), "1.235×10⁻⁵");
        assert_eq!(show(12345678.5), "1.235×10⁷");
        assert_eq!(show(99999.99), "100\u{202f}000");
        assert_eq!(show(0.99999), "1");
        assert_eq!(show(-3.25), "−3.25");
        assert_eq!(show(f64::NAN), "–");
        assert_eq!(show(f64::NEG_INFINITY), "–");
        assert_eq!(show(3.0), "3");
        assert_eq!(number(0.5, 4, Zeros::Keep), "0.5000");
        assert_eq!(show(f64::MAX), "1.798×10³⁰⁸");
        assert_eq!(show(f64::MIN_POSITIVE), "2.225×10⁻³⁰⁸");
    }

    #[test]
    fn quantities_take_prefixes() {
        assert_eq!(quantity(3_200_000.0, "events/s"), "3.2\u{a0}M\u{a0}events/s");
        assert_eq!(quantity(12_345_678.0, "B"), "12.3\u{a0}MB");
        assert_eq!(quantity(0.03125, "s"), "31.3\u{a0}ms");
        assert_eq!(quantity(999.96e-6, "s"), "1\u{a0}ms");
        assert_eq!(quantity(0.25, "B"), "0.25\u{a0}B");
        assert_eq!(quantity(0.5, ""), "0.5");
        assert_eq!(quantity(12.0, "%"), "12\u{a0}%");
        assert_eq!(quantity(f64::NAN, "s"), "–");
    }

    #[test]
    fn durations_are_spoken() {
        assert_eq!(duration(1.25), "1.25\u{a0}s");
        assert_eq!(duration(200.2), "3\u{a0}min 20\u{a0}s");
        assert_eq!(duration(7500.0), "2\u{a0}h 5\u{a0}min");
        assert_eq!(duration(f64::INFINITY), "–");
    }

    #[test]
    fn scalars_keep_what_is_cut() {
        assert_eq!(
            scalar(&Value::from(0.123456), Zeros::Keep),
            ("0.1235".into(), Some("0.123456".into()))
        );
        assert_eq!(
            scalar(&Value::from(u64::MAX), Zeros::Keep).1,
            Some("18446744073709551615".into())
        );
        assert_eq!(scalar(&Value::from(-12), Zeros::Keep).0, "−12");
        assert_eq!(scalar(&Value::from("plain"), Zeros::Keep), ("plain".into(), None));
        assert_eq!(scalar(&Value::Null, Zeros::Keep).0, "–");
    }
}
