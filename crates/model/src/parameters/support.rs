//! Functions for the derived implementations.

use std::ops::{RangeFrom, RangeFull, RangeInclusive};

use serde_json::{Map, Value};

use super::{ParameterError, ParameterSpec, ParameterValue, Parameters, nearest};

/// The values that a parameter of type `T` may have: `..` for all of them, `low..`, or
/// `low..=high`.
pub trait Bounds<T> {
    /// Whether `value` is one of them.
    fn hold(&self, value: &T) -> bool;

    /// The range in words.
    fn text(&self) -> String;

    /// What can be typed, in words.
    fn takes(&self) -> String;
}

impl<T: ParameterValue> Bounds<T> for RangeFull {
    fn hold(&self, _: &T) -> bool {
        true
    }

    fn text(&self) -> String {
        let words: Vec<_> = words::<T>().collect();
        if words.is_empty() { T::TAKES.to_owned() } else { format!("one of {}", words.join(", ")) }
    }

    fn takes(&self) -> String {
        Bounds::<T>::text(self)
    }
}

impl<T: ParameterValue + PartialOrd> Bounds<T> for RangeFrom<T> {
    fn hold(&self, value: &T) -> bool {
        self.contains(value)
    }

    fn text(&self) -> String {
        let low = self.start.text();
        T::largest()
            .map_or_else(|| format!("[{low}, ∞)"), |high| format!("[{low}, {}]", high.text()))
    }

    fn takes(&self) -> String {
        T::largest()
            .map_or_else(|| T::TAKES.to_owned(), |high| T::takes_between(&self.start, &high))
    }
}

impl<T: ParameterValue + PartialOrd> Bounds<T> for RangeInclusive<T> {
    fn hold(&self, value: &T) -> bool {
        self.contains(value)
    }

    fn text(&self) -> String {
        format!("[{}, {}]", self.start().text(), self.end().text())
    }

    fn takes(&self) -> String {
        T::takes_between(self.start(), self.end())
    }
}

fn words<T: ParameterValue>() -> impl Iterator<Item = &'static str> {
    T::choices().iter().map(|choice| choice.word)
}

/// The declaration of a parameter of type `T`.
pub fn spec<T: ParameterValue>(
    name: &str,
    unit: &'static str,
    default: &T,
    bounds: &impl Bounds<T>,
    meaning: &str,
) -> ParameterSpec {
    let name = name.to_owned();
    let meaning = meaning.to_owned();
    ParameterSpec {
        name,
        unit,
        default: default.text(),
        range: bounds.text(),
        meaning,
        choices: T::choices(),
    }
}

/// Reads and checks the text for a parameter.
pub fn parse<T: ParameterValue>(
    name: &str,
    text: &str,
    bounds: &impl Bounds<T>,
) -> Result<T, ParameterError> {
    let name = name.to_owned();
    let value = text.to_owned();
    let Some(parsed) = T::parse(text) else {
        return Err(ParameterError::Value {
            name,
            value,
            range: bounds.takes(),
            nearest: nearest(text, words::<T>()),
        });
    };
    if bounds.hold(&parsed) {
        Ok(parsed)
    } else {
        Err(ParameterError::Range { name, value, range: bounds.text() })
    }
}

/// Checks a value that was set in code as if it had been typed.
pub fn check<T: ParameterValue>(
    name: &str,
    value: &T,
    bounds: &impl Bounds<T>,
) -> Result<(), ParameterError> {
    parse(name, &value.text(), bounds).map(|_| ())
}

/// The error for a name that is none of `P`'s parameters.
pub fn unknown<P: Parameters>(name: &str) -> ParameterError {
    let name = typed(name);
    let specs = P::specs();
    let nearest = nearest(&name, specs.iter().map(|spec| spec.name.as_str()));
    ParameterError::Unknown { name, nearest }
}

/// A name as it is typed: `arrival_rate` becomes `arrival-rate`.
pub fn typed(name: &str) -> String {
    name.replace('_', "-")
}

/// Values by name.
pub fn values<const N: usize>(values: [(&str, Value); N]) -> Map<String, Value> {
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
