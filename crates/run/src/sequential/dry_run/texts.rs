//! Values at two moments, compared by their `Debug` text: short ones field by field, and long ones
//! by a hash, so that states of many megabytes take neither memory nor much time.

use std::fmt::{self, Debug, Write};

use warpline_base::{StateDigest, text_hash};

use super::differ::{Difference, Path, differ, differ_from};

/// The longest text that is kept, in bytes.
const KEPT: usize = 1 << 16;
/// How many lines of a long text are compared at a time, to find the first that differs.
const LINES: usize = 1024;

/// The text of a value at one moment.
#[derive(PartialEq)]
pub(super) enum Text {
    Kept(String),
    /// The hash of a text that is too long to be kept.
    Long(u64),
}

/// How two values compare.
pub(super) enum Compared {
    Equal,
    /// They differ in nothing but the order of entries within braces, or in addresses.
    OrderDiffers,
    Differ(Difference),
}

impl Text {
    pub(super) fn of(value: &impl Debug) -> Self {
        let mut kept = Capped(String::new());
        match write!(kept, "{value:#?}") {
            Ok(()) => Text::Kept(kept.0),
            Err(_) => Text::Long(text_hash(value)),
        }
    }

    pub(super) fn is_long(&self) -> bool {
        matches!(self, Text::Long(_))
    }

    /// Compares it with the text of the value `now`. `was` is a copy of the earlier value, if there
    /// is one.
    pub(super) fn compare<T: Debug>(
        &self,
        when: &'static str,
        root: &str,
        was: Option<&T>,
        now: &T,
    ) -> Compared {
        let found = Text::of(now);
        if found == *self {
            return Compared::Equal;
        }
        if let (Text::Kept(expected), Text::Kept(found)) = (self, &found) {
            return match differ(when, root, expected, found) {
                Err(_)
                    if StateDigest::of(expected).content() == StateDigest::of(found).content() =>
                {
                    Compared::OrderDiffers
                }
                Err(difference) => Compared::Differ(difference),
                Ok(()) => Compared::Equal,
            };
        }
        let unlocated = |expected: &str| Difference {
            when,
            field: root.into(),
            expected: expected.into(),
            found: "another".into(),
        };
        let Some(was) = was else {
            return Compared::Differ(unlocated("the same, in a text that is too long to be shown"));
        };
        if Text::of(was) != *self {
            return Compared::Differ(unlocated(
                "left alone; a copy of it has changed with it, so the two share something, such as \
                 an `Arc<Mutex>`",
            ));
        }
        if content(was) == content(now) {
            return Compared::OrderDiffers;
        }
        locate(when, root, was, now).map_or_else(Compared::Differ, |()| {
            Compared::Differ(unlocated("what it was, in all but its short text"))
        })
    }
}

fn content(value: &impl Debug) -> String {
    StateDigest::of(&format_args!("{value:?}")).content()
}

/// The first field in which two values differ that are too large for their texts to be kept.
fn locate<T: Debug>(when: &'static str, root: &str, was: &T, now: &T) -> Result<(), Difference> {
    let blocks = |value: &T| {
        let mut hashes = Vec::new();
        let mut hash = 0;
        let mut count = 0;
        for_each_line(value, |line| {
            hash = warpline_base::random::mix64(hash ^ text_hash(&line));
            count += 1;
            if count % LINES == 0 {
                hashes.push(hash);
            }
        });
        hashes.push(hash);
        hashes
    };
    let left = blocks(was);
    let right = blocks(now);
    let same = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    // The hash of a block covers all blocks before it, too.
    let block = |value: &T| {
        let mut path = Path::new(root);
        let mut text = String::new();
        let mut number = 0;
        for_each_line(value, |line| {
            match number / LINES {
                before if before < same => path.follow(line),
                this if this == same => {
                    text += line;
                    text.push('\n');
                }
                _ => {}
            }
            number += 1;
        });
        (path, text)
    };
    let (path, expected) = block(was);
    let (_, found) = block(now);
    differ_from(when, path, &expected, &found)
}

/// Calls `read` with each line of the text of a value.
fn for_each_line(value: &impl Debug, read: impl FnMut(&str)) {
    let mut lines = Lines { line: String::new(), read };
    // A text that cannot be written ends where it fails.
    let _ = write!(lines, "{value:#?}");
    (lines.read)(&lines.line);
}

struct Lines<F> {
    line: String,
    read: F,
}

impl<F: FnMut(&str)> Write for Lines<F> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let mut rest = piece;
        while let Some((line, after)) = rest.split_once('\n') {
            self.line += line;
            (self.read)(&self.line);
            self.line.clear();
            rest = after;
        }
        self.line += rest;
        Ok(())
    }
}

/// Keeps a text as long as it is short.
struct Capped(String);

impl Write for Capped {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if self.0.len() + piece.len() > KEPT {
            return Err(fmt::Error);
        }
        self.0 += piece;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Debug)]
    #[allow(dead_code, reason = "it is compared by its Debug text")]
    struct State {
        numbers: Vec<u32>,
        last: u8,
    }

    fn difference<T: Debug + Clone>(was: &T, now: &T) -> String {
        match Text::of(was).compare("now", "state", Some(was), now) {
            Compared::Equal => "none".into(),
            Compared::OrderDiffers => "order".into(),
            Compared::Differ(Difference { field, expected, found, .. }) => {
                format!("{field}: {expected} -> {found}")
            }
        }
    }

    #[test]
    fn the_field_that_differs_is_found_however_long_the_text() {
        for size in [3, 50_000] {
            let state = State { numbers: (0..size).collect(), last: 1 };
            assert_eq!(Text::of(&state).is_long(), size > 3);
            assert_eq!(difference(&state, &state), "none");
            assert_eq!(
                difference(&state, &State { last: 2, ..state.clone() }),
                "state.last: 1 -> 2"
            );
            for place in [0, 1, size as usize - 1] {
                let mut other = state.clone();
                other.numbers[place] = 99_999;
                assert_eq!(
                    difference(&state, &other),
                    format!("state.numbers[{place}]: {place} -> 99999")
                );
            }
            let shorter = State { numbers: (1..size).collect(), ..state.clone() };
            assert_eq!(difference(&state, &shorter), "state.numbers[0]: 0 -> 1");
        }
    }

    #[test]
    fn the_order_of_a_map_is_no_difference() {
        for size in [9, 20_000] {
            let map: HashMap<u32, u32> = (0..size).map(|key| (key, key)).collect();
            let other: HashMap<u32, u32> = (0..size).rev().map(|key| (key, key)).collect();
            assert_eq!(difference(&map, &other), "order");
        }
    }

    #[test]
    fn what_a_copy_shares_is_found() {
        let state = Arc::new(Mutex::new(vec![0; 50_000]));
        let text = Text::of(&state);
        let copy = state.clone();
        state.lock().unwrap()[7] = 1;
        let Compared::Differ(found) = text.compare("now", "state", Some(&copy), &state) else {
            panic!("it has changed")
        };
        assert!(found.expected.contains("the two share something"), "{}", found.expected);
    }
}
