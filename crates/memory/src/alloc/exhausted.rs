use std::any::Any;
use std::fmt;
use std::panic::resume_unwind;

use super::reserve::release_reserve_to_end;

/// What ran out.
///
/// ```
/// use warpline_memory::{Exhausted, catch_exhausted};
/// let outcome = catch_exhausted(|| Exhausted::Memory { what: "a list", bytes: 6_400_000 }.unwind());
/// let Err(why) = outcome;
/// assert_eq!(why.to_string(), "the system has no memory for a list, which needed 6.4 MB more");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// Numbers: all that fit into 32 bits are taken.
    Numbers,
    /// Memory: the system gives no more.
    Memory {
        /// What it was needed for.
        what: &'static str,
        /// How much more was needed, in bytes.
        bytes: usize,
    },
    /// The budget of the run.
    Budget {
        /// How much it was, in bytes.
        limit: u64,
        /// How much the run needed, in bytes, when it had given back whatever it could do without.
        needed: u64,
    },
}

#[cfg(feature = "serde")]
mod serde {
    use ::serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Exhausted;

    /// The same with an owned text, which can be read back.
    #[derive(Serialize, Deserialize)]
    enum Written {
        Numbers,
        Memory { what: String, bytes: usize },
        Budget { limit: u64, needed: u64 },
    }

    impl Serialize for Exhausted {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let written = match *self {
                Exhausted::Numbers => Written::Numbers,
                Exhausted::Memory { what, bytes } => {
                    Written::Memory { what: what.to_owned(), bytes }
                }
                Exhausted::Budget { limit, needed } => Written::Budget { limit, needed },
            };
            written.serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for Exhausted {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Ok(match Written::deserialize(deserializer)? {
                Written::Numbers => Exhausted::Numbers,
                // Leaked: it is read once, at the end of a run that has failed.
                Written::Memory { what, bytes } => Exhausted::Memory { what: what.leak(), bytes },
                Written::Budget { limit, needed } => Exhausted::Budget { limit, needed },
            })
        }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Exhausted::Numbers => write!(f, "no more than {} can be numbered", u32::MAX),
            Exhausted::Memory { what, bytes } => {
                write!(f, "the system has no memory for {what}, which needed {} more", Size(bytes))
            }
            Exhausted::Budget { limit, needed } => {
                write!(
                    f,
                    "the run needs {} of memory, but its budget is {}",
                    Size(needed as usize),
                    Size(limit as usize)
                )
            }
        }
    }
}

impl std::error::Error for Exhausted {}

/// A number of bytes, with a unit that suits it.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 as f64 {
            bytes if bytes < 1e3 => write!(f, "{bytes} bytes"),
            bytes if bytes < 1e6 => write!(f, "{:.0} kB", bytes / 1e3),
            bytes if bytes < 1e9 => write!(f, "{:.1} MB", bytes / 1e6),
            bytes => write!(f, "{:.1} GB", bytes / 1e9),
        }
    }
}

impl Exhausted {
    /// Unwinds to [`catch_exhausted`](crate::catch_exhausted).
    #[cold]
    #[inline(never)]
    pub fn unwind(self) -> ! {
        if let Exhausted::Memory { .. } = self {
            release_reserve_to_end();
        }
        resume_unwind(Box::new(self))
    }

    /// This, if it is what a panic carries.
    ///
    /// # Errors
    /// Anything else that a panic carries, given back.
    pub fn from_panic(panic: Box<dyn Any + Send>) -> Result<Self, Box<dyn Any + Send>> {
        panic.downcast().map(|exhausted| *exhausted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_words() {
        let text = |bytes| Exhausted::Memory { what: "rows", bytes }.to_string();
        assert_eq!(text(640), "the system has no memory for rows, which needed 640 bytes more");
        let sizes = [6_400, 6_400_000, 6_440_000_000].map(|bytes| Size(bytes).to_string());
        assert_eq!(sizes, ["6 kB", "6.4 MB", "6.4 GB"]);
        assert_eq!(Exhausted::Numbers.to_string(), "no more than 4294967295 can be numbered");
    }
}
