/// A value on cache lines of its own: two, as processors fetch lines in pairs. So writes of one core do not slow down another core's access
/// to the values beside it.
///
/// ```
/// let counts = [warpline_memory::Apart(1), warpline_memory::Apart(2)];
/// assert_eq!((counts[1].0, size_of_val(&counts)), (2, 256));
/// ```
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub struct Apart<T>(pub T);
