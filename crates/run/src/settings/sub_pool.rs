//! The setting for the sizes of sub-pools.
//!
//! ```
//! use warpline::SubPool;
//! use warpline::settings::SettingValue;
//! assert_eq!(SubPool::parse("64"), Some(SubPool::Fixed(64)));
//! assert_eq!(SubPool::parse("adaptive"), Some(SubPool::Adaptive(SubPool::AVERAGE)));
//! assert_eq!((SubPool::Adaptive(8).text(), SubPool::parse("0")), ("adaptive-8".to_owned(), None));
//! ```

pub use warpline_memory::SubPool;

use super::{Range, SettingValue};

impl SettingValue for SubPool {
    const PLACEHOLDER: &'static str = "BUFFERS";

    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        match text.trim() {
            "unlimited" => Some(SubPool::Unlimited),
            "adaptive" => Some(SubPool::Adaptive(SubPool::AVERAGE)),
            text => match text.strip_prefix("adaptive-") {
                Some(average) => number(average).map(SubPool::Adaptive),
                None => number(text).map(SubPool::Fixed),
            },
        }
    }

    fn text(&self) -> String {
        match self {
            SubPool::Unlimited => "unlimited".to_owned(),
            SubPool::Fixed(size) => size.to_string(),
            SubPool::Adaptive(average) => format!("adaptive-{average}"),
        }
    }

    fn takes(_: &Range<Self>) -> String {
        format!(
            "a whole number from 1, unlimited, adaptive, or adaptive-N for N on average instead of \
             {}",
            SubPool::AVERAGE
        )
    }

    fn within(&self, _: &Range<Self>) -> bool {
        !matches!(self, SubPool::Fixed(0) | SubPool::Adaptive(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_or_words() {
        for size in [
            SubPool::Unlimited,
            SubPool::Fixed(1),
            SubPool::Adaptive(SubPool::AVERAGE),
            SubPool::Adaptive(3),
        ] {
            assert_eq!(SubPool::parse(&size.text()), Some(size));
            assert!(size.within(&Range::Any));
        }
        for text in ["", "0", "-1", "adaptive-0", "adaptive-", "adaptive 3", "many", "1.5"] {
            assert_eq!(SubPool::parse(text), None, "{text}");
        }
        assert!(
            !SubPool::Fixed(0).within(&Range::Any) && !SubPool::Adaptive(0).within(&Range::Any)
        );
    }
}
