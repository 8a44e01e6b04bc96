pub(crate) mod configure;
pub(crate) mod configured;
pub mod support;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

/// The declaration of a parameter, for help texts.
///
/// ```
/// use warpline_model::Parameters;
///
/// /// What a bakery needs.
/// #[derive(Clone, Parameters)]
/// pub struct Bakery {
///     /// Mean time to bake a loaf.
///     #[parameter(unit = "min", default = 30.0, range = 1.0..=600.0)]
///     pub baking_time: f64,
/// }
///
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
    /// The allowed values, in words.
    pub range: String,
    /// What it does.
    pub meaning: String,
    /// The words that it takes, with their meanings; empty if it is not a choice between words.
    pub choices: &'static [Choice],
}

/// A word that a parameter takes: a variant of an enum with
/// [`#[derive(Choices)]`](macro@crate::Choices).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// As it is typed.
    pub word: &'static str,
    /// What it means.
    pub meaning: &'static str,
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
/// assert_eq!(nearest("edn", ["seed", "end"]), Some("end".to_owned()));
/// ```
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // In a short name, two swapped letters leave little similarity.
    let slip = |other: &str| {
        if name.len() > 2 && strsim::osa_distance(name, other) == 1 { 0.9 } else { 0.0 }
    };
    let scored =
        names.into_iter().map(|other| (strsim::jaro_winkler(name, other).max(slip(other)), other));
    scored
        .filter(|(score, _)| *score > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, other)| other.to_owned())
}

/// A set of named parameters, derived from a plain struct by
/// [`#[derive(Parameters)]`](macro@crate::Parameters). A model without parameters uses `()`.
///
/// ```
/// use warpline_model::Parameters;
///
/// /// What a bakery needs.
/// #[derive(Clone, Parameters)]
/// pub struct Bakery {
///     /// Number of ovens.
///     #[parameter(default = 2, range = 1..=100)]
///     pub ovens: u32,
///     /// File of recipes; none if empty.
///     pub recipe_book: String,
/// }
///
/// let mut bakery = Bakery { ovens: 0, ..Bakery::default() };
/// assert_eq!(bakery.check().unwrap_err().to_string(), "`ovens` cannot be 0: it must lie in [1, 100]");
/// bakery.set("ovens", "4")?;
/// bakery.set("recipe_book", "rye.txt")?; // or `recipe-book`
/// bakery.check()?;
/// assert_eq!((bakery.values()["ovens"].as_u64(), bakery.values()["recipe-book"].as_str()), (Some(4), Some("rye.txt")));
/// # Ok::<(), warpline_model::ParameterError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of parameters",
    note = "derive `Parameters` for a struct with named fields, or take `()` for a model without \
            parameters"
)]
pub trait Parameters: Default + Clone + Send + Sync + 'static {
    /// All parameters, in the order of their declaration.
    fn specs() -> Vec<ParameterSpec>;

    /// Sets one parameter from text; `_` and `-` in its name are equivalent.
    ///
    /// # Errors
    /// If there is no such parameter, or it cannot have this value. Nothing is changed then.
    fn set(&mut self, name: &str, text: &str) -> Result<(), ParameterError>;

    /// Checks all values against their ranges. Needed for values set in code.
    ///
    /// # Errors
    /// For the first value outside its range.
    fn check(&self) -> Result<(), ParameterError>;

    /// All parameters with their values, by the names that are [typed](ParameterSpec::name).
    fn values(&self) -> Map<String, Value>;
}

/// No parameters.
impl Parameters for () {
    fn specs() -> Vec<ParameterSpec> {
        Vec::new()
    }

    fn set(&mut self, name: &str, _: &str) -> Result<(), ParameterError> {
        Err(ParameterError::Unknown { name: name.replace('_', "-"), nearest: None })
    }

    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    fn values(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// A type that a parameter can have: `f64`, `u32`, `u64`, `bool`, `String`, or an enum with
/// [`#[derive(Choices)]`](macro@crate::Choices).
///
/// ```
/// use warpline_model::ParameterValue;
/// assert_eq!(u64::parse("1e6"), Some(1_000_000)); // below 2⁵³
/// assert_eq!((u32::parse("1.5"), f64::parse("inf"), bool::parse("yes")), (None, None, None));
/// assert_eq!((f64::TAKES, 0.5.text()), ("a finite number", "0.5".to_owned()));
/// ```
#[diagnostic::on_unimplemented(
    message = "a parameter cannot have the type `{Self}`",
    label = "not the type of a parameter",
    note = "take `f64`, `u32`, `u64`, `bool`, `String`, or an enum that derives `Choices`"
)]
pub trait ParameterValue: Clone {
    /// Describes in words what can be typed.
    const TAKES: &'static str;

    /// Reads a value; `None` if the text is not one.
    fn parse(text: &str) -> Option<Self>;

    /// The value as it would be typed.
    fn text(&self) -> String;

    /// The value for a run's record.
    fn json(&self) -> Value;

    /// The largest value, if there is one.
    fn largest() -> Option<Self> {
        None
    }

    /// Describes in words what can be typed if values lie from `_low` to `_high`.
    fn takes_between(_low: &Self, _high: &Self) -> String {
        Self::TAKES.to_owned()
    }

    /// The words that can be typed; empty if the type is not a choice between words.
    fn choices() -> &'static [Choice] {
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
            fn largest() -> Option<Self> {
                Some(<$type>::MAX)
            }
            fn takes_between(low: &Self, high: &Self) -> String {
                format!("a whole number from {low} to {high}")
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
