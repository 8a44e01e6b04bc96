use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a logical process (LP): `0..lps` within one model.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct LpId(pub u32);

impl LpId {
    /// The id as an index into a table with one row per LP.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<u32> for LpId {
    #[inline]
    fn from(number: u32) -> Self {
        LpId(number)
    }
}

impl fmt::Display for LpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LP {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_number() {
        let id = LpId::from(7);
        assert_eq!((id, id.index(), id.to_string()), (LpId(7), 7, "LP 7".into()));
    }
}
