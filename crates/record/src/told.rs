//! What LPs that somebody follows tell of their processes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::null::number;

/// What one process of a followed LP did at one time.
///
/// ```
/// # use warpline_record::{Deed, Told};
/// let told = Told { time: 12.5, lp: 0, who: "Ann".into(), deed: Deed::Queues, what: "till".into() };
/// assert_eq!(told.to_string(), "Ann queues for till");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// When, in model time.
    #[serde(deserialize_with = "number")]
    pub time: f64,
    /// The LP.
    pub lp: u32,
    /// The process.
    pub who: String,
    /// What it did.
    pub deed: Deed,
    /// The resource, or, if it did something else, what.
    pub what: String,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Told { who, what, .. } = self;
        match self.deed {
            Deed::Does => write!(f, "{who} {what}"),
            Deed::Queues => write!(f, "{who} queues for {what}"),
            Deed::Takes => write!(f, "{who} takes {what}"),
            Deed::Gives => write!(f, "{who} gives {what} back"),
            Deed::Leaves => write!(f, "{who} leaves the queue for {what}"),
        }
    }
}

/// What a process did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deed {
    /// Something of its own.
    Does,
    /// It queues for a resource.
    Queues,
    /// It takes a resource.
    Takes,
    /// It gives a resource back.
    Gives,
    /// It leaves the queue for a resource without having got it.
    Leaves,
}

impl Deed {
    /// All of them.
    const ALL: [Deed; 5] = [Deed::Does, Deed::Queues, Deed::Takes, Deed::Gives, Deed::Leaves];

    /// Its number, for [`numbered`](Self::numbered).
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The deed of this number.
    pub fn numbered(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeds_have_numbers() {
        let again: Vec<_> = Deed::ALL.map(Deed::number).map(Deed::numbered).into();
        assert_eq!(again, Deed::ALL.map(Some));
        assert_eq!(Deed::numbered(5), None);
    }

    #[test]
    fn what_was_told_is_read_again() {
        let told =
            Told { time: 1.5, lp: 3, who: "Ann".into(), deed: Deed::Leaves, what: "till".into() };
        let text = serde_json::to_string(&told).unwrap();
        assert!(text.contains("\"leaves\""), "{text}");
        assert_eq!(serde_json::from_str::<Told>(&text).unwrap(), told);
    }
}
