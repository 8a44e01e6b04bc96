//! Who waits for what can never come.

use serde::{Deserialize, Serialize};

/// What a model still waited for when no event was left that could bring it.
///
/// ```
/// # use warpline_record::Stuck;
/// let mut all = Stuck::default();
/// all.add(Stuck { waits: 1, lines: vec!["Ann waits for the key".into()] });
/// all.add(Stuck { waits: 900, lines: vec!["Ben waits for Ann".into(), "Cem waits for Ben".into()] });
/// assert_eq!((all.waits, all.lines.len()), (901, 3));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stuck {
    /// How many wait.
    pub waits: u64,
    /// The first of them, at most [`Stuck::MOST`], each in words: who waits, for what, since when.
    pub lines: Vec<String>,
}

impl Stuck {
    /// The most lines of a run.
    pub const MOST: usize = 32;

    /// How many more lines there is room for.
    pub fn room(&self) -> usize {
        Self::MOST - self.lines.len().min(Self::MOST)
    }

    /// Adds those who wait elsewhere.
    pub fn add(&mut self, more: Stuck) {
        self.waits += more.waits;
        let room = self.room();
        self.lines.extend(more.lines.into_iter().take(room));
    }
}
