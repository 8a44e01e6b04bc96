/// A value on cache lines of its own: two, as processors fetch lines in pairs. So what one core writes now and then does not take away from
/// another what lies beside it.
///
/// ```
/// let counts = [warpline_memory::Apart(1), warpline_memory::Apart(2)];
/// assert_eq!((counts[1].0, size_of_val(&counts)), (2, 256));
/// ```
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub struct Apart<T>(pub T);
