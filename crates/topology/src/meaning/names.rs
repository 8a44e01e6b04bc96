//! What attributes mean, by their names.

use super::units::{self, Quantity};

/// What an attribute of a node or link says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    Latitude,
    Longitude,
    /// Longitude and latitude.
    Position,
    Name,
    Label,
    /// Length, in units of so many km.
    Length(f64),
    /// Delay, in units of so many s.
    Delay(f64),
    /// Capacity, in units of so many bit/s; if none is said, values may say it.
    Capacity(Option<f64>),
    /// Capacity as the Topology Zoo has it: a number, whose unit is beside it, or free text.
    Speed,
    /// The unit of the speed beside it.
    SpeedUnit,
    /// Free text that may say the capacity.
    CapacityLabel,
    /// A number that may be a length, a delay, or something else; values may have units.
    Unclear,
    Other,
}

/// What a user says of attributes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    length: Choice,
    capacity: Choice,
}

/// Which attribute has a meaning.
#[derive(Clone, Debug, Default)]
enum Choice {
    /// The one with a usual name.
    #[default]
    ByName,
    None,
    /// This one.
    This(String, Meaning),
}

impl Given {
    pub(crate) fn set_length(&mut self, given: &str) -> Result<(), String> {
        self.length = choice(given, |unit| match units::unit(unit)? {
            Quantity::Length(km) => Some(Meaning::Length(km)),
            Quantity::Delay(seconds) => Some(Meaning::Delay(seconds)),
            Quantity::Rate(_) => None,
        })
        .ok_or_else(|| {
            format!(
                "`{given}` does not say where the lengths of links are: write `name:unit`, such as `weight:km`, with one of the \
                 units km, m, mi, s, ms, us; or `none`"
            )
        })?;
        Ok(())
    }

    pub(crate) fn set_capacity(&mut self, given: &str) -> Result<(), String> {
        let meaning = |unit: &str| units::rate_unit(unit).map(|unit| Meaning::Capacity(Some(unit)));
        self.capacity = choice(given, meaning).ok_or_else(|| {
            format!(
                "`{given}` does not say where the capacities of links are: write `name:unit`, such as `bw:Gbps`, with one of the \
                 units bps, kbps, Mbps, Gbps, Tbps; or `none`"
            )
        })?;
        Ok(())
    }

    /// What an attribute of links with this name means.
    pub(crate) fn of_link(&self, name: &str) -> Meaning {
        for choice in [&self.length, &self.capacity] {
            match choice {
                Choice::This(this, meaning) if this == name => return *meaning,
                _ => {}
            }
        }
        match of_link(name) {
            Meaning::Length(_) | Meaning::Delay(_) | Meaning::Unclear
                if !matches!(self.length, Choice::ByName) =>
            {
                Meaning::Other
            }
            Meaning::Capacity(_) | Meaning::CapacityLabel | Meaning::Speed
                if !matches!(self.capacity, Choice::ByName) =>
            {
                Meaning::Other
            }
            meaning => meaning,
        }
    }
}

fn choice(given: &str, meaning: impl Fn(&str) -> Option<Meaning>) -> Option<Choice> {
    match given.trim() {
        "" => Some(Choice::ByName),
        "none" => Some(Choice::None),
        given => {
            let (name, unit) = given.rsplit_once(':')?;
            Some(Choice::This(name.trim().to_owned(), meaning(unit.trim())?))
        }
    }
}

impl Meaning {
    /// What an attribute of nodes with this name means.
    pub(crate) fn of_node(name: &str) -> Meaning {
        match plain(name).as_str() {
            "latitude" | "lat" => Meaning::Latitude,
            "longitude" | "lon" | "lng" | "long" => Meaning::Longitude,
            "pos" | "position" | "coordinates" | "coords" => Meaning::Position,
            "name" => Meaning::Name,
            "label" => Meaning::Label,
            _ => Meaning::Other,
        }
    }
}

fn of_link(name: &str) -> Meaning {
    match plain(name).as_str() {
        "linkspeedraw" => return Meaning::Capacity(Some(1.0)),
        "linkspeed" => return Meaning::Speed,
        "linkspeedunits" => return Meaning::SpeedUnit,
        "linklabel" | "linktype" => return Meaning::CapacityLabel,
        // As TopoHub and many others have it.
        "dist" => return Meaning::Length(1.0),
        "weight" | "cost" | "value" | "metric" => return Meaning::Unclear,
        // Of tables without a header.
        plain if plain.starts_with("column") => return Meaning::Unclear,
        _ => {}
    }
    // The unit is the last word: `length_km`, `delay [ms]`, `capacityMbps`.
    let words = words(name);
    let (base, unit) = match words.split_last() {
        Some((last, before)) if !before.is_empty() => match units::unit(last) {
            Some(unit) => (before.concat(), Some(unit)),
            None => (words.concat(), None),
        },
        _ => (words.concat(), None),
    };
    let is_length = matches!(
        base.as_str(),
        "dist" | "distance" | "length" | "len" | "linklength" | "linkdistance"
    );
    let is_delay = matches!(
        base.as_str(),
        "delay" | "latency" | "propagationdelay" | "linkdelay" | "proptime" | "traveltime"
    );
    let is_capacity = matches!(
        base.as_str(),
        "capacity"
            | "bandwidth"
            | "bw"
            | "linkspeed"
            | "datarate"
            | "bitrate"
            | "linkcapacity"
            | "linkbandwidth"
            | "cap"
    );
    match unit {
        Some(Quantity::Length(km)) if is_length => Meaning::Length(km),
        Some(Quantity::Delay(seconds)) if is_delay => Meaning::Delay(seconds),
        Some(Quantity::Rate(rate)) if is_capacity => Meaning::Capacity(Some(rate)),
        None if is_capacity => Meaning::Capacity(None),
        None if is_length || is_delay => Meaning::Unclear,
        _ => Meaning::Other,
    }
}

/// A name in small letters without anything between them.
fn plain(name: &str) -> String {
    words(name).concat()
}

/// The words of a name in small letters: `linkDelay_ms` has three.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for now in name.chars() {
        let is_part = now.is_alphanumeric() || now == '/';
        if is_part {
            let is_new = !before.is_alphanumeric() || (before.is_lowercase() && now.is_uppercase());
            match words.last_mut() {
                Some(word) if !is_new || before == '/' || now == '/' => {
                    word.extend(now.to_lowercase());
                }
                _ => words.push(now.to_lowercase().collect()),
            }
        }
        before = now;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_are_understood_with_their_units() {
        let cases = [
            ("dist", Meaning::Length(1.0)),
            ("dist_km", Meaning::Length(1.0)),
            ("Length (km)", Meaning::Length(1.0)),
            ("length_m", Meaning::Length(1e-3)),
            ("delay_ms", Meaning::Delay(1e-3)),
            ("delayMs", Meaning::Delay(1e-3)),
            ("latency [us]", Meaning::Delay(1e-6)),
            ("capacity", Meaning::Capacity(None)),
            ("capacity_gbps", Meaning::Capacity(Some(1e9))),
            ("bandwidth [Mbit/s]", Meaning::Capacity(Some(1e6))),
            ("LinkSpeedRaw", Meaning::Capacity(Some(1.0))),
            ("LinkSpeed", Meaning::Speed),
            ("LinkSpeedUnits", Meaning::SpeedUnit),
            ("LinkLabel", Meaning::CapacityLabel),
            ("length", Meaning::Unclear),
            ("weight", Meaning::Unclear),
            ("delay", Meaning::Unclear),
            ("colour", Meaning::Other),
        ];
        for (name, expected) in cases {
            assert_eq!(of_link(name), expected, "{name}");
        }
    }

    #[test]
    fn what_a_user_says_comes_before_names() {
        let mut given = Given::default();
        given.set_length("weight:ms").unwrap();
        given.set_capacity("none").unwrap();
        assert_eq!(given.of_link("weight"), Meaning::Delay(1e-3));
        assert_eq!(given.of_link("dist"), Meaning::Other);
        assert_eq!(given.of_link("capacity"), Meaning::Other);
        for wrong in ["weight", "weight:parsecs", "weight:Mbps"] {
            let error = given.set_length(wrong).unwrap_err();
            assert!(error.contains(wrong) && error.contains("`weight:km`"), "{error}");
        }
        assert!(given.set_capacity("bw:km").unwrap_err().contains("`bw:Gbps`"));
    }
}
