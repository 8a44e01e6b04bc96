use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;

use super::segment::Segment;
use crate::sync::Arc;

/// A value that PEs share: it lies in a [`Region`](crate::Region), and stays as long as anybody has
/// it.
pub struct Common<T: ?Sized> {
    /// Without a detour, wherever the value lies.
    value: NonNull<T>,
    keeper: Keeper<T>,
}

/// Who keeps the value where it is.
enum Keeper<T: ?Sized> {
    Own(Arc<Box<T>>),
    Segment(Arc<Segment>),
}

// SAFETY: all that have it share the value, which is dropped by the last of them: as an `Arc`.
unsafe impl<T: ?Sized + Send + Sync> Send for Common<T> {}
// SAFETY: likewise.
unsafe impl<T: ?Sized + Send + Sync> Sync for Common<T> {}

impl<T: ?Sized> Common<T> {
    /// A value in the memory of this process.
    pub(crate) fn own(value: Box<T>) -> Self {
        let value = Arc::new(value);
        Common { value: NonNull::from(&**value), keeper: Keeper::Own(value) }
    }

    /// A value in a segment, which is never dropped.
    ///
    /// # Safety
    /// The value lies in the segment, is valid there before anybody uses it, and is never borrowed
    /// exclusively.
    pub(crate) unsafe fn placed(value: NonNull<T>, segment: Arc<Segment>) -> Self {
        Common { value, keeper: Keeper::Segment(segment) }
    }

    /// Whether other processes see it.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.keeper, Keeper::Segment(_))
    }
}

impl<T: ?Sized> Clone for Common<T> {
    fn clone(&self) -> Self {
        let keeper = match &self.keeper {
            Keeper::Own(value) => Keeper::Own(value.clone()),
            Keeper::Segment(segment) => Keeper::Segment(segment.clone()),
        };
        Common { value: self.value, keeper }
    }
}

impl<T: ?Sized> Deref for Common<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the keeper keeps the value where it is. Only shared references to it are made.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Common<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
