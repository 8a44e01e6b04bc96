//! The setting for how often states are copied.

use serde_json::Value;

use super::{Range, SettingValue};

/// How many events of an LP there are between copies of its state; see
/// [`Simulation::copy_interval`](crate::Simulation::copy_interval).
///
/// ```
/// use warpline::CopyInterval;
/// use warpline::settings::SettingValue;
/// assert_eq!([CopyInterval::parse("auto"), CopyInterval::parse("4")], [Some(CopyInterval::Auto), Some(CopyInterval::Every(4))]);
/// assert_eq!((CopyInterval::from(4).text(), CopyInterval::parse("0")), ("4".to_owned(), None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyInterval {
    /// A copy before every event, if states take at most 256 bytes and own no memory beside.
    /// Otherwise each PE adapts the interval to how many events cost as much as a copy, which is
    /// measured, and how often states are worked out from copies, which is counted.
    #[default]
    Auto,
    /// So many, at least 1.
    Every(u32),
}

impl From<u32> for CopyInterval {
    fn from(events: u32) -> Self {
        CopyInterval::Every(events)
    }
}

impl SettingValue for CopyInterval {
    const PLACEHOLDER: &'static str = "EVENTS";

    fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "auto" => Some(CopyInterval::Auto),
            text => text.parse().ok().filter(|events: &u32| *events > 0).map(CopyInterval::Every),
        }
    }

    fn text(&self) -> String {
        match self {
            CopyInterval::Auto => "auto".to_owned(),
            CopyInterval::Every(events) => events.to_string(),
        }
    }

    fn json(&self) -> Value {
        match self {
            CopyInterval::Auto => Value::from(self.text()),
            CopyInterval::Every(events) => Value::from(*events),
        }
    }

    fn takes(_: &Range<Self>) -> String {
        format!("a whole number from 1 to {}, or auto", u32::MAX)
    }

    fn within(&self, _: &Range<Self>) -> bool {
        *self != CopyInterval::Every(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_numbers_or_a_word() {
        for interval in [CopyInterval::Auto, CopyInterval::Every(1), CopyInterval::Every(1000)] {
            assert_eq!(CopyInterval::parse(&interval.text()), Some(interval));
            assert!(interval.within(&Range::Any));
        }
        for text in ["", "0", "-1", "auto-4", "always", "1.5", "4294967296"] {
            assert_eq!(CopyInterval::parse(text), None, "{text}");
        }
        assert!(!CopyInterval::Every(0).within(&Range::Any));
    }
}
