use std::any::Any;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The memory of a coroutine. When the coroutine has come to its end, another one of the same type
/// may live there, so that starting a process allocates nothing if one like it has ended before.
pub(crate) trait Frame: Send {
    /// Polls the coroutine. One that has ended has been dropped.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()>;

    /// Drops the coroutine, if it has not ended.
    fn clear(self: Pin<&mut Self>);

    /// Moves the coroutine of another frame, which is of this type, here.
    fn refill(self: Pin<&mut Self>, frame: &mut dyn Any);
}
