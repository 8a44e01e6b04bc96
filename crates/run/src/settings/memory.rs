use serde_json::Value;

use super::{Range, SettingValue};

/// How much memory a run may take on a machine.
///
/// ```
/// use warpline::MemoryLimit;
/// use warpline::settings::SettingValue;
/// assert_eq!(MemoryLimit::parse("512M"), Some(MemoryLimit::Bytes(512 << 20)));
/// assert_eq!(MemoryLimit::parse("1.5 GB"), Some(MemoryLimit::Bytes(1_500_000_000)));
/// assert_eq!(MemoryLimit::parse("75%"), Some(MemoryLimit::Share(0.75)));
/// assert_eq!(["512", "0%", "120%", "much"].map(MemoryLimit::parse), [None; 4]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MemoryLimit {
    /// So many bytes.
    Bytes(u64),
    /// A share of what the machine has, or of what the process may take there if that is less.
    Share(f64),
}

/// Units of memory, by name.
const UNITS: [(&str, f64); 16] = [
    ("B", 1.0),
    ("K", 1024.0),
    ("KiB", 1024.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("M", 1_048_576.0),
    ("MiB", 1_048_576.0),
    ("MB", 1e6),
    ("G", 1_073_741_824.0),
    ("GiB", 1_073_741_824.0),
    ("GB", 1e9),
    ("T", 1_099_511_627_776.0),
    ("TiB", 1_099_511_627_776.0),
    ("TB", 1e12),
    ("bytes", 1.0),
    ("byte", 1.0),
];

/// The bytes of a unit.
fn bytes_of(unit: &str) -> Option<f64> {
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size)
}

impl SettingValue for MemoryLimit {
    const PLACEHOLDER: &'static str = "BYTES";

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let unit = text
            .trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
        let number: f64 = text[..text.len() - unit.len()].parse().ok()?;
        if unit.trim() == "%" {
            return (number > 0.0 && number <= 100.0).then_some(MemoryLimit::Share(number / 100.0));
        }
        let bytes = (number * bytes_of(unit.trim())?).round();
        (bytes >= 1.0 && bytes < u64::MAX as f64).then_some(MemoryLimit::Bytes(bytes as u64))
    }

    fn text(&self) -> String {
        match *self {
            MemoryLimit::Share(share) => format!("{}%", 100.0 * share),
            MemoryLimit::Bytes(bytes) => {
                let mut units = ["T", "G", "M", "K"].into_iter();
                let whole = units.find_map(|name| {
                    let size = bytes_of(name)? as u64;
                    bytes.is_multiple_of(size).then(|| format!("{}{name}", bytes / size))
                });
                whole.unwrap_or_else(|| format!("{bytes}B"))
            }
        }
    }

    fn json(&self) -> Value {
        match *self {
            MemoryLimit::Bytes(bytes) => Value::from(bytes),
            MemoryLimit::Share(_) => Value::String(self.text()),
        }
    }

    fn takes(_: &Range<Self>) -> String {
        "a size such as 512M or 1.5GB, or a share of the machine such as 75%".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read_again() {
        for bytes in [1, 1000, 1024, 1536, 512 << 20, 3 << 30, (1 << 40) + 1, 5 << 40] {
            let limit = MemoryLimit::Bytes(bytes);
            assert_eq!(MemoryLimit::parse(&limit.text()), Some(limit), "{}", limit.text());
        }
        for share in [1.0, 0.9, 0.125] {
            assert_eq!(
                MemoryLimit::parse(&MemoryLimit::Share(share).text()),
                Some(MemoryLimit::Share(share))
            );
        }
        assert_eq!(MemoryLimit::Bytes(512 << 20).text(), "512M");
    }

    #[test]
    fn powers_of_1024_and_of_1000_are_told_apart() {
        let bytes = ["1K", "1KiB", "1kB", "2.5 MiB", "2.5MB", "7B"].map(|text| {
            match MemoryLimit::parse(text) {
                Some(MemoryLimit::Bytes(bytes)) => bytes,
                other => panic!("{text}: {other:?}"),
            }
        });
        assert_eq!(bytes, [1024, 1024, 1000, 2_621_440, 2_500_000, 7]);
        let refused = ["", "M", "-1M", "1.2.3M", "0M", "1X", "1 000M", "5", "inf%", "1e30T"];
        assert!(refused.iter().all(|text| MemoryLimit::parse(text).is_none()));
    }
}
