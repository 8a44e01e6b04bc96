use std::fmt::Display;
use std::ops::{RangeFrom, RangeFull, RangeInclusive};

use serde_json::{Map, Value};

/// What is known about a parameter before it has a value: for help texts.
///
/// ```
/// use warpline_model::{Parameters, parameters};
/// parameters! {
///     /// What a bakery needs.
///     pub struct Bakery {
///         /// Mean time to bake a loaf.
///         baking_time: f64 = 30.0, "min", 1.0..=600.0;
///     }
/// }
/// let spec = &Bakery::specs()[0];
/// assert_eq!((spec.name.as_str(), spec.unit, spec.default.as_str()), ("baking-time", "min", "30"));
/// assert_eq!((spec.range.as_str(), spec.meaning.as_str()), ("[1, 600]", "Mean time to bake a loaf."));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Its name on the command line and in scenario files, such as `arrival-rate`.
    pub name: String,
    /// The unit of its values; empty for a pure number or a choice.
    pub unit: &'static str,
    /// Its default, as it would be typed.
    pub default: String,
    /// The values that it may have, in words.
    pub range: String,
    /// What it does.
    pub meaning: String,
}

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// There is no parameter of this name.
    #[error("there is no parameter `{name}`{}", suggestion(.nearest))]
    Unknown {
        /// The name as given.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// The text is not a value of the parameter's type.
    #[error("`{name}` cannot be `{value}`: it takes {range}{}", suggestion(.nearest))]
    Value {
        /// The parameter.
        name: String,
        /// The value as given.
        value: String,
        /// What it takes.
        range: String,
        /// The most similar value, where there is a list of them.
        nearest: Option<String>,
    },
    /// The value lies outside the parameter's range.
    #[error("`{name}` cannot be {value}: it must lie in {range}")]
    Range {
        /// The parameter.
        name: String,
        /// The value as given.
        value: String,
        /// The range.
        range: String,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// The most similar of `names`, if any is similar at all.
///
/// ```
/// use warpline_model::nearest;
/// let names = ["baking-time", "ovens"];
/// assert_eq!(nearest("oven", names), Some("ovens".to_owned()));
/// assert_eq!(nearest("xyz", names), None);
/// ```
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let scored = names.into_iter().map(|other| (strsim::jaro_winkler(name, other), other));
    scored.filter(|(score, _)| *score > 0.7).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, other)| other.to_owned())
}

/// A set of named parameters, made by [`parameters!`](crate::parameters).
///
/// ```
/// use warpline_model::{Parameters, parameters};
/// parameters! {
///     /// What a bakery needs.
///     pub struct Bakery {
///         /// Number of ovens.
///         ovens: u32 = 2, "", 1..=100;
///         /// File of recipes; none if empty.
///         recipe_book: String = String::new(), "", ..;
///     }
/// }
/// let mut bakery = Bakery { ovens: 0, ..Bakery::default() };
/// assert_eq!(bakery.check().unwrap_err().to_string(), "`ovens` cannot be 0: it must lie in [1, 100]");
/// bakery.set("ovens", "4")?;
/// bakery.set("recipe_book", "rye.txt")?; // or `recipe-book`
/// bakery.check()?;
/// assert_eq!((bakery.values()["ovens"].as_u64(), bakery.values()["recipe-book"].as_str()), (Some(4), Some("rye.txt")));
/// # Ok::<(), warpline_model::ParameterError>(())
/// ```
pub trait Parameters: Default + Clone + Send + Sync {
    /// All parameters, in the order of their declaration.
    fn specs() -> Vec<ParameterSpec>;

    /// Sets one parameter from text; `_` and `-` in its name are equivalent.
    ///
    /// # Errors
    /// If there is no such parameter, or it cannot have this value.
    fn set(&mut self, name: &str, text: &str) -> Result<(), ParameterError>;

    /// Checks all values against their ranges, for those that were set in code.
    ///
    /// # Errors
    /// For the first value outside its range.
    fn check(&self) -> Result<(), ParameterError>;

    /// All parameters with their values, by the names that are [typed](ParameterSpec::name).
    fn values(&self) -> Map<String, Value>;
}

/// The values that a parameter may have, as written in [`parameters!`](crate::parameters).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds<T> {
    /// `..`: whatever the type holds.
    Any,
    /// `low..`
    From(T),
    /// `low..=high`
    Between(T, T),
}

impl<T> From<RangeFull> for Bounds<T> {
    fn from(_: RangeFull) -> Self {
        Bounds::Any
    }
}

impl<T> From<RangeFrom<T>> for Bounds<T> {
    fn from(range: RangeFrom<T>) -> Self {
        Bounds::From(range.start)
    }
}

impl<T> From<RangeInclusive<T>> for Bounds<T> {
    fn from(range: RangeInclusive<T>) -> Self {
        let (low, high) = range.into_inner();
        Bounds::Between(low, high)
    }
}

impl<T: PartialOrd> Bounds<T> {
    fn hold(&self, value: &T) -> bool {
        match self {
            Bounds::Any => true,
            Bounds::From(low) => value >= low,
            Bounds::Between(low, high) => value >= low && value <= high,
        }
    }
}

/// A type that a parameter can have: `f64`, `u32`, `u64`, `bool`, `String`, or an enum made by [`choices!`](crate::choices).
///
/// ```
/// use warpline_model::ParameterValue;
/// assert_eq!(u64::parse("1e6"), Some(1_000_000)); // below 2⁵³
/// assert_eq!((u32::parse("1.5"), f64::parse("inf"), bool::parse("yes")), (None, None, None));
/// assert_eq!((f64::TAKES, 0.5.text()), ("a finite number", "0.5".to_owned()));
/// ```
pub trait ParameterValue: Clone + PartialOrd {
    /// Describes in words what can be typed.
    const TAKES: &'static str;

    /// Reads a value; `None` if the text is not one.
    fn parse(text: &str) -> Option<Self>;

    /// The value as it would be typed.
    fn text(&self) -> String;

    /// The value in a run's record.
    fn json(&self) -> Value;

    /// The words that can be typed, if there is a list of them.
    fn choices() -> &'static [&'static str] {
        &[]
    }
}

macro_rules! parsed_values {
    ($($type:ty, $takes:literal);*) => {$(
        impl ParameterValue for $type {
            const TAKES: &'static str = $takes;
            fn parse(text: &str) -> Option<Self> {
                text.trim().parse().ok()
            }
            fn text(&self) -> String {
                self.to_string()
            }
            fn json(&self) -> Value {
                Value::from(self.clone())
            }
        }
    )*};
}

parsed_values!(bool, "true or false"; String, "text");

macro_rules! whole_values {
    ($($type:ty, $most:literal);*) => {$(
        impl ParameterValue for $type {
            const TAKES: &'static str = concat!("a whole number from 0 to ", $most);
            fn parse(text: &str) -> Option<Self> {
                let text = text.trim();
                // `1e6` is a whole number too.
                let exact = |value: &f64| value.fract() == 0.0 && (0.0..u64::MAX as f64).contains(value);
                text.parse().ok().or_else(|| <$type>::try_from(text.parse().ok().filter(exact)? as u64).ok())
            }
            fn text(&self) -> String {
                self.to_string()
            }
            fn json(&self) -> Value {
                Value::from(*self)
            }
        }
    )*};
}

whole_values!(u32, "4294967295"; u64, "18446744073709551615");

impl ParameterValue for f64 {
    const TAKES: &'static str = "a finite number";

    fn parse(text: &str) -> Option<Self> {
        text.trim().parse().ok().filter(|value: &f64| value.is_finite())
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn json(&self) -> Value {
        Value::from(*self)
    }
}

/// The words for a range of `T`.
#[doc(hidden)]
pub fn range_text<T: ParameterValue>(bounds: &Bounds<T>) -> String {
    match bounds {
        Bounds::Any if !T::choices().is_empty() => format!("one of {}", T::choices().join(", ")),
        Bounds::Any => T::TAKES.to_owned(),
        Bounds::From(low) => format!("[{}, ∞)", low.text()),
        Bounds::Between(low, high) => format!("[{}, {}]", low.text(), high.text()),
    }
}

/// Reads and checks the text for a parameter.
#[doc(hidden)]
pub fn parse_within<T: ParameterValue>(name: &str, text: &str, bounds: &Bounds<T>) -> Result<T, ParameterError> {
    let (name, value) = (name.to_owned(), text.to_owned());
    let Some(parsed) = T::parse(text) else {
        let takes = if T::choices().is_empty() { T::TAKES.to_owned() } else { range_text(bounds) };
        let near = nearest(text, T::choices().iter().copied());
        return Err(ParameterError::Value { name, value, range: takes, nearest: near });
    };
    if bounds.hold(&parsed) { Ok(parsed) } else { Err(ParameterError::Range { name, value, range: range_text(bounds) }) }
}

/// Checks a value that was set in code, as if it had been typed.
#[doc(hidden)]
pub fn check_within<T: ParameterValue>(name: &str, value: &T, bounds: &Bounds<T>) -> Result<(), ParameterError> {
    parse_within(name, &value.text(), bounds).map(|_| ())
}

/// A name as it is typed: `arrival_rate` becomes `arrival-rate`.
#[doc(hidden)]
pub fn typed(name: impl Display) -> String {
    name.to_string().replace('_', "-")
}

/// Declares the parameters of a model, each once: type, default, unit, range and meaning. Help texts, checks and
/// scenario files all come from this.
///
/// ```
/// use warpline_model::{Parameters, parameters};
/// parameters! {
///     /// What a bakery needs.
///     pub struct Bakery {
///         /// Mean time to bake a loaf.
///         baking_time: f64 = 30.0, "min", 1.0..=600.0;
///         /// Number of ovens.
///         ovens: u32 = 2, "", 1..=100;
///     }
/// }
/// let mut bakery = Bakery::default();
/// bakery.set("baking-time", "45").unwrap();
/// assert_eq!(bakery.baking_time, 45.0);
/// assert_eq!(bakery.set("ovens", "0").unwrap_err().to_string(), "`ovens` cannot be 0: it must lie in [1, 100]");
/// assert!(bakery.set("oven", "3").unwrap_err().to_string().ends_with("did you mean `ovens`?"));
/// ```
///
/// A default must have the declared type:
/// ```compile_fail,E0308
/// warpline_model::parameters! {
///     /// A bakery without sense.
///     pub struct Bakery {
///         /// Number of ovens.
///         ovens: u32 = "two", "", 1..=100; // error: mismatched types
///     }
/// }
/// ```
///
/// So must its range, which is `..`, `low..` or `low..=high`:
/// ```compile_fail,E0277
/// warpline_model::parameters! {
///     /// A bakery that ends before its last oven.
///     pub struct Bakery {
///         /// Number of ovens.
///         ovens: u32 = 2, "", 1..100; // error: `Bounds<u32>: From<Range<u32>>` is not satisfied; write 1..=99
///     }
/// }
/// ```
#[macro_export]
macro_rules! parameters {
    ($(#[doc = $about:literal])+ $vis:vis struct $name:ident {
        $($(#[doc = $meaning:literal])+ $field:ident: $type:ty = $default:expr, $unit:literal, $range:expr;)*
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $($(#[doc = $meaning])+ pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $crate::Parameters for $name {
            fn specs() -> Vec<$crate::ParameterSpec> {
                let defaults = Self::default();
                vec![$($crate::ParameterSpec {
                    name: $crate::parameter_support::typed(stringify!($field)),
                    unit: $unit,
                    default: $crate::ParameterValue::text(&defaults.$field),
                    range: $crate::parameter_support::range_text(&$crate::Bounds::<$type>::from($range)),
                    meaning: [$($meaning.trim()),+].join(" "),
                },)*]
            }

            fn set(&mut self, name: &str, text: &str) -> Result<(), $crate::ParameterError> {
                let name = $crate::parameter_support::typed(name);
                $(if name == $crate::parameter_support::typed(stringify!($field)) {
                    let bounds = $crate::Bounds::<$type>::from($range);
                    self.$field = $crate::parameter_support::parse_within(&name, text, &bounds)?;
                    return Ok(());
                })*
                let specs = Self::specs();
                let nearest = $crate::nearest(&name, specs.iter().map(|spec| spec.name.as_str()));
                Err($crate::ParameterError::Unknown { name, nearest })
            }

            fn check(&self) -> Result<(), $crate::ParameterError> {
                $({
                    let bounds = $crate::Bounds::<$type>::from($range);
                    $crate::parameter_support::check_within(&$crate::parameter_support::typed(stringify!($field)), &self.$field, &bounds)?;
                })*
                Ok(())
            }

            fn values(&self) -> $crate::serde_json::Map<String, $crate::serde_json::Value> {
                let mut values = $crate::serde_json::Map::new();
                $(values.insert($crate::parameter_support::typed(stringify!($field)), $crate::ParameterValue::json(&self.$field));)*
                values
            }
        }
    };
}

/// Declares an enum whose variants are the words that a parameter may have.
///
/// ```
/// use warpline_model::{ParameterValue, choices};
/// choices! {
///     /// How bread is cut.
///     pub enum Cut {
///         /// Not at all.
///         Whole = "whole",
///         /// In slices.
///         Sliced = "sliced",
///     }
/// }
/// assert_eq!(Cut::parse("sliced"), Some(Cut::Sliced));
/// ```
#[macro_export]
macro_rules! choices {
    ($(#[doc = $about:literal])+ $vis:vis enum $name:ident { $($(#[doc = $meaning:literal])+ $variant:ident = $word:literal,)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $name {
            $($(#[doc = $meaning])+ $variant,)+
        }

        impl $crate::ParameterValue for $name {
            const TAKES: &'static str = "a word";

            fn parse(text: &str) -> Option<Self> {
                match text {
                    $($word => Some($name::$variant),)+
                    _ => None,
                }
            }

            fn text(&self) -> String {
                match self {
                    $($name::$variant => $word.to_owned(),)+
                }
            }

            fn json(&self) -> $crate::serde_json::Value {
                $crate::serde_json::Value::String(self.text())
            }

            fn choices() -> &'static [&'static str] {
                &[$($word),+]
            }
        }
    };
}
