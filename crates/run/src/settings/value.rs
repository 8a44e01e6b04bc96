//! The values of settings: numbers, words, yes or no, and paths.

use std::path::PathBuf;

use serde_json::Value;
use warpline_model::nearest;

/// A type of values that a setting can have.
///
/// ```
/// use warpline::Synchronisation;
/// use warpline::settings::{Range, SettingValue};
/// assert_eq!((u32::parse("12"), u32::parse("1.5"), bool::parse("yes")), (Some(12), None, Some(true)));
/// assert_eq!(f64::takes(&Range::Above(0.0)), "a finite number greater than 0");
/// assert_eq!(Synchronisation::takes(&Range::Any), "one of auto, sequential, conservative, optimistic, mixed");
/// ```
pub trait SettingValue: Clone + Sized {
    /// The placeholder for a value in help texts.
    const PLACEHOLDER: &'static str;
    /// The words that can be typed, if there is a list of them.
    const WORDS: &'static [&'static str] = &[];

    /// Reads a value; `None` if the text is not one.
    fn parse(text: &str) -> Option<Self>;

    /// The value as it would be typed.
    fn text(&self) -> String;

    /// The value in the record of a run.
    fn json(&self) -> Value {
        Value::String(self.text())
    }

    /// Describes in words what can be typed.
    fn takes(_range: &Range<Self>) -> String {
        format!("one of {}", Self::WORDS.join(", "))
    }

    /// Whether it lies in this range.
    fn within(&self, _range: &Range<Self>) -> bool {
        true
    }

    /// The value most similar to a text that is not one.
    fn nearest(text: &str) -> Option<String> {
        nearest(text, Self::WORDS.iter().copied())
    }
}

/// The range of a setting's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range<T> {
    /// All of them.
    Any,
    /// This value and greater ones.
    From(T),
    /// From one value to another, both included.
    Between(T, T),
    /// Greater than this, and finite.
    Above(T),
}

macro_rules! whole_numbers {
    ($($type:ident, $placeholder:literal);*) => {$(
        impl SettingValue for $type {
            const PLACEHOLDER: &'static str = $placeholder;

            fn parse(text: &str) -> Option<Self> {
                text.trim().parse().ok()
            }

            fn text(&self) -> String {
                self.to_string()
            }

            fn json(&self) -> Value {
                Value::from(*self)
            }

            fn takes(range: &Range<Self>) -> String {
                let (low, high) = match *range {
                    Range::Any => ($type::MIN, $type::MAX),
                    Range::From(low) => (low, $type::MAX),
                    Range::Between(low, high) => (low, high),
                    Range::Above(below) => (below.saturating_add(1), $type::MAX),
                };
                format!("a whole number from {low} to {high}")
            }

            fn within(&self, range: &Range<Self>) -> bool {
                match range {
                    Range::Any => true,
                    Range::From(low) => self >= low,
                    Range::Between(low, high) => (low..=high).contains(&self),
                    Range::Above(below) => self > below,
                }
            }
        }
    )*};
}

whole_numbers!(u32, "N"; u64, "NUMBER");

impl SettingValue for f64 {
    const PLACEHOLDER: &'static str = "NUMBER";

    fn parse(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn json(&self) -> Value {
        Value::from(*self)
    }

    fn takes(range: &Range<Self>) -> String {
        match range {
            Range::Any => "a number".to_owned(),
            Range::From(low) => format!("a finite number, {low} or more"),
            Range::Between(low, high) => format!("a number from {low} to {high}"),
            Range::Above(below) => format!("a finite number greater than {below}"),
        }
    }

    fn within(&self, range: &Range<Self>) -> bool {
        match range {
            Range::Any => true,
            Range::From(low) => self.is_finite() && self >= low,
            Range::Between(low, high) => (low..=high).contains(&self),
            Range::Above(below) => self.is_finite() && self > below,
        }
    }
}

impl SettingValue for bool {
    const PLACEHOLDER: &'static str = "WORD";
    const WORDS: &'static [&'static str] = &["yes", "no"];

    fn parse(text: &str) -> Option<Self> {
        match text {
            // As TOML writes it.
            "yes" | "true" => Some(true),
            "no" | "false" => Some(false),
            _ => None,
        }
    }

    fn text(&self) -> String {
        if *self { "yes" } else { "no" }.to_owned()
    }

    fn json(&self) -> Value {
        Value::Bool(*self)
    }
}

impl SettingValue for PathBuf {
    const PLACEHOLDER: &'static str = "FILE";

    fn parse(text: &str) -> Option<Self> {
        Some(text).filter(|text| !text.is_empty()).map(PathBuf::from)
    }

    fn text(&self) -> String {
        self.display().to_string()
    }

    fn takes(_: &Range<Self>) -> String {
        "the path of a file".to_owned()
    }
}
