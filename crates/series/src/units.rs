//! Units in headers: `service time [ms]`, `gap (s)`, `rate [1/h]`, `service_ms`.

/// A unit of time, as a whole number of nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeUnit(u64);

/// Seconds, in which models count unless they say otherwise.
pub(crate) const SECOND: TimeUnit = TimeUnit(1_000_000_000);

/// One hour, in which rates are most often measured.
pub(crate) const HOUR: TimeUnit = TimeUnit(3600 * SECOND.0);

const TIME_UNITS: [(TimeUnit, &[&str]); 8] = [
    (TimeUnit(1), &["ns", "nsec", "nanosecond", "nanoseconds"]),
    (TimeUnit(1000), &["us", "µs", "μs", "usec", "microsecond", "microseconds"]),
    (TimeUnit(1_000_000), &["ms", "msec", "millisecond", "milliseconds"]),
    (SECOND, &["s", "sec", "secs", "second", "seconds"]),
    (TimeUnit(60 * SECOND.0), &["min", "mins", "minute", "minutes"]),
    (HOUR, &["h", "hr", "hrs", "hour", "hours"]),
    (TimeUnit(24 * HOUR.0), &["d", "day", "days"]),
    (TimeUnit(168 * HOUR.0), &["week", "weeks"]),
];

/// Units that end a name (`service_ms`). A single letter is one only where it can hardly be
/// anything else.
const SUFFIXES: [&str; 14] = [
    "ns",
    "us",
    "ms",
    "s",
    "sec",
    "seconds",
    "min",
    "minutes",
    "hours",
    "days",
    "msec",
    "usec",
    "milliseconds",
    "microseconds",
];

impl TimeUnit {
    pub(crate) fn named(name: &str) -> Option<TimeUnit> {
        let name = name.trim();
        let lower = name.to_lowercase();
        // Prefixes and symbols are as the SI has them: `MS` is no millisecond. Words may be shouted.
        let is_word = name.chars().count() > 2;
        let is_named = |names: &[&str]| names.contains(&if is_word { &*lower } else { name });
        TIME_UNITS.into_iter().find(|(_, names)| is_named(names)).map(|(unit, _)| unit)
    }

    /// A number of this unit in another one. Each unit is a multiple of those below it, so that this
    /// rounds once, and 7 ms are the number that `0.007` is.
    pub(crate) fn convert(self, number: f64, to: TimeUnit) -> f64 {
        if self.0 >= to.0 {
            number * (self.0 / to.0) as f64
        } else {
            number / (to.0 / self.0) as f64
        }
    }
}

/// What the numbers of a column are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Times.
    Time(TimeUnit),
    /// Numbers of anything for a unit of time.
    Rate(TimeUnit),
    /// Anything else, in this unit.
    Other(String),
    /// No unit is given.
    Unknown,
}

impl Quantity {
    /// What a unit stands for.
    pub(crate) fn of(unit: &str) -> Quantity {
        let unit = unit.trim();
        if unit.is_empty() {
            return Quantity::Unknown;
        }
        TimeUnit::named(unit)
            .map(Quantity::Time)
            .or_else(|| rate(unit).map(Quantity::Rate))
            .unwrap_or_else(|| Quantity::Other(unit.to_owned()))
    }

    /// A number in the model's unit of time, or as it is if it has nothing to do with time.
    pub(crate) fn convert(&self, number: f64, model: TimeUnit) -> f64 {
        match self {
            Quantity::Time(unit) => unit.convert(number, model),
            // So many in an hour are a 3600th as many in a second.
            Quantity::Rate(unit) => model.convert(number, *unit),
            Quantity::Other(_) | Quantity::Unknown => number,
        }
    }

    /// A converted number as the file has it.
    pub(crate) fn restore(&self, number: f64, model: TimeUnit) -> f64 {
        match self {
            Quantity::Time(unit) => model.convert(number, *unit),
            Quantity::Rate(unit) => unit.convert(number, model),
            Quantity::Other(_) | Quantity::Unknown => number,
        }
    }
}

/// The unit of time of a rate: `1/h`, `calls/min`, `per hour`, `h^-1`, `Hz`.
fn rate(unit: &str) -> Option<TimeUnit> {
    if unit.eq_ignore_ascii_case("hz") {
        return Some(SECOND);
    }
    let inverse = unit.strip_suffix("^-1").or_else(|| unit.strip_suffix("⁻¹"));
    let below = unit.rsplit_once('/').or_else(|| unit.rsplit_once("per ")).map(|(_, below)| below);
    TimeUnit::named(inverse.or(below)?)
}

/// A header's name without its unit, and the unit.
pub(crate) fn split_name(header: &str) -> (&str, &str) {
    for (open, close) in [('[', ']'), ('(', ')')] {
        let inner = header.strip_suffix(close).and_then(|rest| rest.rsplit_once(open));
        if let Some((name, unit)) = inner {
            return (name.trim_end(), unit.trim());
        }
    }
    match header.rsplit_once('_') {
        Some((name, unit)) if SUFFIXES.contains(&unit) && !name.is_empty() => (name, unit),
        _ => (header, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_part_of_the_name_in_the_ways_that_people_write() {
        for (header, name, unit) in [
            ("service time [ms]", "service time", "ms"),
            ("gap (s)", "gap", "s"),
            ("gap(s)", "gap", "s"),
            ("rate [1/h]", "rate", "1/h"),
            ("service_ms", "service", "ms"),
            ("service_time", "service_time", ""),
            ("_s", "_s", ""),
            ("f(x) [min]", "f(x)", "min"),
            ("size", "size", ""),
        ] {
            assert_eq!(split_name(header), (name, unit), "{header}");
        }
    }

    #[test]
    fn seven_milliseconds_are_the_number_that_is_written_0_007() {
        let ms = Quantity::of("ms");
        for thousandths in 1..10_000 {
            let written: f64 = format!("{thousandths}e-3").parse().unwrap();
            assert_eq!(ms.convert(f64::from(thousandths), SECOND), written);
        }
    }

    #[test]
    fn rates_are_turned_over() {
        for unit in ["1/h", "calls/h", "per hour", "calls per hour", "h^-1", "h⁻¹", "/h"] {
            assert_eq!(Quantity::of(unit).convert(7200.0, SECOND), 2.0, "{unit}");
        }
        assert_eq!(Quantity::of("Hz").convert(2.0, TimeUnit::named("min").unwrap()), 120.0);
        assert_eq!(Quantity::of("1/ms").convert(2.0, SECOND), 2000.0);
    }

    #[test]
    fn what_may_be_something_else_is_no_unit_of_time() {
        for unit in ["m", "M", "MS", "S", "kB", "bytes", "1/m", "km/x", "%"] {
            assert_eq!(Quantity::of(unit), Quantity::Other(unit.to_owned()), "{unit}");
        }
        assert_eq!(Quantity::of("Minutes"), Quantity::of("min"));
    }
}
