//! Reads the figures of a machine file: each is a table of a number under the name of its unit, and
//! of its origin, such as `{ us = 2.5, origin = "assumed: as on similar networks" }`.

use warpline_model::nearest;

use crate::value::{Table, Value};
use crate::{MachineError, Time};

/// Units of time, and their picoseconds.
const TIMES: [(&str, f64); 5] = [("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12)];
/// Units of bandwidth, and the bytes per second of one.
const BANDWIDTHS: [(&str, f64); 2] = [("mb_per_s", 1e6), ("gb_per_s", 1e9)];
/// The longest time of a figure, in picoseconds: a hundred seconds.
const TIME_MOST: f64 = 1e14;
/// The key of a figure's origin.
const ORIGIN: &str = "origin";

/// A table of a machine file that is being read.
pub(crate) struct Figures<'t> {
    file: &'t str,
    /// What stands before its keys, such as `near.`.
    prefix: String,
    table: Option<&'t Table>,
    /// The keys that it may have.
    known: Vec<&'static str>,
}

/// The units of a figure, each with its factor.
type Units = [(&'static str, f64)];

impl<'t> Figures<'t> {
    pub(crate) fn new(file: &'t str, name: &str, table: Option<&'t Table>) -> Self {
        let prefix = if name.is_empty() { String::new() } else { format!("{name}.") };
        Figures { file, prefix, table, known: Vec::new() }
    }

    /// Whether the file has the table.
    pub(crate) fn is_there(&self) -> bool {
        self.table.is_some()
    }

    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The value of a key that is no figure.
    pub(crate) fn other(&mut self, name: &'static str) -> Option<&'t Value> {
        self.known.push(name);
        self.table?.get(name)
    }

    /// The error of a value that it cannot have.
    pub(crate) fn refuse(&self, name: &str, value: impl ToString, takes: &str) -> MachineError {
        MachineError::Value {
            file: self.file.to_owned(),
            key: self.key(name),
            value: value.to_string(),
            takes: takes.to_owned(),
        }
    }

    /// The error of a key that must be there.
    pub(crate) fn missing(&self, name: &str, example: &str) -> MachineError {
        MachineError::Missing {
            file: self.file.to_owned(),
            key: self.key(name),
            example: example.to_owned(),
        }
    }

    /// A figure in any of these units, if it is there.
    fn figure(&mut self, name: &'static str, units: &Units) -> Result<Option<f64>, MachineError> {
        let Some(value) = self.other(name) else { return Ok(None) };
        let takes = || {
            let units: Vec<String> =
                units.iter().map(|(unit, _)| format!("{{ {unit} = … }}")).collect();
            format!("it takes a number under its unit, {}", units.join(" or "))
        };
        let Value::Table(figure) = value else { return Err(self.refuse(name, value, &takes())) };
        let is_origin = |origin: &str| {
            origin == "measured"
                || ["measured: ", "assumed: ", "published: "].iter().any(|kind| {
                    origin.strip_prefix(kind).is_some_and(|source| !source.trim().is_empty())
                })
        };
        if !matches!(figure.get(ORIGIN), Some(Value::Text(origin)) if is_origin(origin)) {
            let key = self.key(name);
            return Err(MachineError::Origin { file: self.file.to_owned(), key });
        }
        let mut given = figure.iter().filter(|(key, _)| *key != ORIGIN);
        let (Some((unit, number)), None) = (given.next(), given.next()) else {
            return Err(self.refuse(name, value, &takes()));
        };
        let known = units.iter().find(|(known, _)| *known == unit);
        let number = if let Value::Number(number) = number { Some(*number) } else { None };
        match known.zip(number) {
            Some(((_, factor), number)) if number.is_finite() && number >= 0.0 => {
                Ok(Some(number * factor))
            }
            Some((_, number)) => Err(self.refuse(name, number, "it takes no negative number")),
            None => Err(self.refuse(name, value, &takes())),
        }
    }

    /// A span of time, if it is there.
    pub(crate) fn time_if_any(&mut self, name: &'static str) -> Result<Option<Time>, MachineError> {
        let time = self.figure(name, &TIMES)?;
        match time {
            Some(time) if time > TIME_MOST => {
                Err(self.refuse(name, format!("{} s", time / 1e12), "it takes 100 s at most"))
            }
            time => Ok(time.map(Time::rounded)),
        }
    }

    /// A span of time.
    pub(crate) fn time(&mut self, name: &'static str) -> Result<Time, MachineError> {
        self.time_if_any(name)?
            .ok_or_else(|| self.missing(name, "{ us = 1.0, origin = \"assumed: …\" }"))
    }

    /// A bandwidth, as picoseconds a byte.
    pub(crate) fn per_byte(&mut self, name: &'static str) -> Result<f64, MachineError> {
        self.per_byte_if_any(name)?
            .ok_or_else(|| self.missing(name, "{ gb_per_s = 1.5, origin = \"assumed: …\" }"))
    }

    /// A bandwidth, as picoseconds a byte, if it is there.
    pub(crate) fn per_byte_if_any(
        &mut self,
        name: &'static str,
    ) -> Result<Option<f64>, MachineError> {
        match self.figure(name, &BANDWIDTHS)? {
            Some(bytes) if bytes < 1.0 => {
                Err(self.refuse(name, bytes, "it takes a number greater than 0"))
            }
            bytes => Ok(bytes.map(|bytes| 1e12 / bytes)),
        }
    }

    /// The cycle of a clock, in picoseconds, from its frequency.
    pub(crate) fn cycle(&mut self, name: &'static str) -> Result<f64, MachineError> {
        let frequency = self
            .figure(name, &[("mhz", 1e6), ("ghz", 1e9)])?
            .ok_or_else(|| self.missing(name, "{ ghz = 2.0, origin = \"assumed: …\" }"))?;
        if frequency < 1e6 {
            return Err(self.refuse(name, frequency, "it takes 1 MHz or more"));
        }
        Ok(1e12 / frequency)
    }

    /// A span of time in cycles of a clock that takes so many picoseconds for each.
    pub(crate) fn cycles(&mut self, name: &'static str, cycle: f64) -> Result<Time, MachineError> {
        let picoseconds = self
            .figure(name, &[("cycles", cycle)])?
            .ok_or_else(|| self.missing(name, "{ cycles = 4, origin = \"assumed: …\" }"))?;
        if picoseconds > TIME_MOST {
            return Err(self.refuse(name, picoseconds / cycle, "it takes 100 s at most"));
        }
        Ok(Time::rounded(picoseconds))
    }

    /// A count of at least `least`.
    pub(crate) fn count(&mut self, name: &'static str, least: u32) -> Result<u32, MachineError> {
        self.count_if_any(name, least)?
            .ok_or_else(|| self.missing(name, "{ count = 8, origin = \"assumed: …\" }"))
    }

    /// A count of at least `least`, if it is there.
    pub(crate) fn count_if_any(
        &mut self,
        name: &'static str,
        least: u32,
    ) -> Result<Option<u32>, MachineError> {
        let Some(count) = self.figure(name, &[("count", 1.0)])? else { return Ok(None) };
        if count.fract() != 0.0 || !(f64::from(least)..=f64::from(u32::MAX)).contains(&count) {
            let takes = format!("it takes a whole number, {least} or more");
            return Err(self.refuse(name, count, &takes));
        }
        Ok(Some(count as u32))
    }

    /// A pure number of at least `least` and at most `most`, if it is there.
    pub(crate) fn number_if_any(
        &mut self,
        name: &'static str,
        unit: &'static str,
        (least, most): (f64, f64),
    ) -> Result<Option<f64>, MachineError> {
        let number = self.figure(name, &[(unit, 1.0)])?;
        match number {
            Some(number) if !(least..=most).contains(&number) => {
                Err(self.refuse(name, number, &format!("it takes a number from {least} to {most}")))
            }
            number => Ok(number),
        }
    }

    /// Checks that every key of the table was asked for.
    pub(crate) fn finish(self) -> Result<(), MachineError> {
        let unknown = self
            .table
            .and_then(|table| table.keys().find(|key| !self.known.contains(&key.as_str())));
        let Some(key) = unknown else { return Ok(()) };
        Err(MachineError::Key {
            file: self.file.to_owned(),
            key: self.key(key),
            nearest: nearest(key, self.known.iter().copied()).map(|near| self.key(&near)),
        })
    }
}
