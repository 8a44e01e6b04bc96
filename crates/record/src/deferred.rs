//! Values that are computed on demand.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that takes no memory until it is needed, because it can be read from a file or computed.
/// It derefs to the value, which it then keeps. Serialising it does not keep the value.
///
/// ```
/// use warpline_record::Deferred;
/// let list: Deferred<Vec<u32>> = Deferred::new(|| (0..1000).collect());
/// assert_eq!(list.made().len(), 1000); // made, and dropped again
/// assert_eq!(list[7], 7); // made, and kept
/// ```
pub struct Deferred<T> {
    make: Option<Arc<dyn Fn() -> T + Send + Sync>>,
    kept: OnceLock<Box<T>>,
}

impl<T> Deferred<T> {
    /// A value that `make` computes on demand.
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Deferred { make: Some(Arc::new(make)), kept: OnceLock::new() }
    }

    /// The value, without keeping it.
    pub fn made(&self) -> T
    where
        T: Clone + Default,
    {
        match (self.kept.get(), &self.make) {
            (Some(value), _) => (**value).clone(),
            (None, Some(make)) => make(),
            (None, None) => T::default(),
        }
    }
}

impl<T> From<T> for Deferred<T> {
    fn from(value: T) -> Self {
        Deferred { make: None, kept: OnceLock::from(Box::new(value)) }
    }
}

impl<T: Default> Default for Deferred<T> {
    fn default() -> Self {
        Deferred::from(T::default())
    }
}

impl<T: Default> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.kept
            .get_or_init(|| Box::new(self.make.as_ref().map_or_else(T::default, |make| make())))
    }
}

impl<T: Clone> Clone for Deferred<T> {
    fn clone(&self) -> Self {
        // A value that can be computed again is not copied.
        match &self.make {
            Some(make) => Deferred { make: Some(make.clone()), kept: OnceLock::new() },
            None => Deferred { make: None, kept: self.kept.clone() },
        }
    }
}

impl<T: Default + Clone + fmt::Debug> fmt::Debug for Deferred<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.made().fmt(f)
    }
}

impl<T: Default + Clone + PartialEq> PartialEq for Deferred<T> {
    fn eq(&self, other: &Self) -> bool {
        self.made() == other.made()
    }
}

impl<T: Default + Clone + Serialize> Serialize for Deferred<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.made().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Deferred<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Deferred::from)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_value_that_is_only_written_is_not_kept() {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let value = Deferred::new(|| MADE.fetch_add(1, Ordering::Relaxed));
        assert_eq!(
            (serde_json::to_string(&value).unwrap().as_str(), value.clone().made()),
            ("0", 1)
        );
        assert_eq!((*value, *value, value.made()), (2, 2, 2));
        let read: Deferred<u32> = serde_json::from_str("7").unwrap();
        assert_eq!((*read, read.clone().made(), *Deferred::<u32>::default()), (7, 7, 0));
        assert_eq!(read, Deferred::from(7));
    }
}
