//! What the attributes of one link say together.

use super::names::Meaning;
use super::units::{Quantity, quantity, rate_in, rate_unit};
use super::value::Value;

/// What capacities without a unit are in: that of SNDlib and of most tables.
const USUAL_RATE: f64 = 1e6;

/// What was found about a link. The first value of a kind counts.
#[derive(Default)]
pub(crate) struct LinkFacts<'v> {
    pub(crate) length: Option<f64>,
    pub(crate) delay: Option<f64>,
    pub(crate) weight: Option<f64>,
    /// In bit/s.
    capacity: Option<f64>,
    /// A capacity without a unit.
    bare: Option<f64>,
    /// A capacity whose unit another attribute has.
    speed: Option<f64>,
    unit: Option<&'v str>,
    /// What a text says among other things.
    label: Option<f64>,
}

const LENGTH: &str = "a length in km, 0 or more";
const DELAY: &str = "a time such as `5 ms`, 0 or more";
const CAPACITY: &str = "a bit rate such as `10 Gbps`, `155 Mbit/s` or `OC-48`, more than 0";

impl<'v> LinkFacts<'v> {
    /// Takes a value up.
    ///
    /// # Errors
    /// What it must be, if it cannot be what it should.
    pub(crate) fn take(
        &mut self,
        meaning: Meaning,
        name: &str,
        value: Value<'v>,
    ) -> Result<(), &'static str> {
        let number = value.number();
        if matches!(number, Ok(None)) {
            return Ok(());
        }
        let quantity = match value {
            Value::Text(text) => quantity(text),
            _ => None,
        };
        match (meaning, number, quantity) {
            (Meaning::Length(km), Ok(Some(number)), _) => {
                self.length = self.length.or(Some(not_negative(number * km).ok_or(LENGTH)?));
            }
            (Meaning::Delay(seconds), Ok(Some(number)), _) => {
                self.delay = self.delay.or(Some(not_negative(number * seconds).ok_or(DELAY)?));
            }
            (
                Meaning::Length(_) | Meaning::Delay(_) | Meaning::Unclear,
                _,
                Some(Quantity::Length(km)),
            ) => {
                self.length = self.length.or(Some(not_negative(km).ok_or(LENGTH)?));
            }
            (
                Meaning::Length(_) | Meaning::Delay(_) | Meaning::Unclear,
                _,
                Some(Quantity::Delay(seconds)),
            ) => {
                self.delay = self.delay.or(Some(not_negative(seconds).ok_or(DELAY)?));
            }
            (Meaning::Length(_), ..) => return Err(LENGTH),
            (Meaning::Delay(_), ..) => return Err(DELAY),
            (Meaning::Unclear, Ok(number), _) if name.eq_ignore_ascii_case("weight") => {
                self.weight = self.weight.or(number);
            }
            (Meaning::Capacity(Some(unit)), Ok(Some(number)), _) => {
                let capacity = not_negative(number * unit).ok_or(CAPACITY)?;
                self.capacity = self.capacity.or(Some(capacity));
            }
            (Meaning::Capacity(None), Ok(number), _) => self.bare = self.bare.or(number),
            (Meaning::Capacity(_), _, Some(Quantity::Rate(rate))) => {
                self.capacity = self.capacity.or(Some(rate));
            }
            (Meaning::Unclear, _, Some(Quantity::Rate(rate))) => {
                self.capacity = self.capacity.or(Some(rate));
            }
            (Meaning::Capacity(_), ..) => return Err(CAPACITY),
            (Meaning::Speed, Ok(number), _) => self.speed = self.speed.or(number),
            (Meaning::SpeedUnit, ..) => {
                if let Value::Text(text) = value {
                    self.unit = Some(text);
                }
            }
            (Meaning::CapacityLabel | Meaning::Speed, ..) => {
                if let Value::Text(text) = value {
                    self.label = self.label.or_else(|| rate_in(text));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The capacity in bit/s: as it is in one attribute, from a number and a unit in two, from a
    /// label, or from a number that is assumed to be in the usual unit. 0 means that it is unknown.
    pub(crate) fn capacity(
        &self,
        assumed: impl FnOnce(f64),
    ) -> Result<Option<f64>, (f64, &'static str)> {
        let speed = || Some(self.speed? * rate_unit(self.unit?)?);
        let capacity = match (self.capacity, self.bare.or(self.speed)) {
            (Some(capacity), _) => Some(capacity),
            (None, Some(number)) => speed().or_else(|| {
                // A label knows the unit.
                self.label.or_else(|| {
                    if number != 0.0 {
                        assumed(number);
                    }
                    Some(number * USUAL_RATE)
                })
            }),
            (None, None) => self.label,
        };
        match capacity {
            Some(wrong) if !(wrong >= 0.0 && wrong.is_finite()) => Err((wrong, CAPACITY)),
            capacity => Ok(capacity.filter(|&capacity| capacity > 0.0).or(self.label)),
        }
    }
}

fn not_negative(value: f64) -> Option<f64> {
    (value.is_finite() && value >= 0.0).then_some(value)
}
