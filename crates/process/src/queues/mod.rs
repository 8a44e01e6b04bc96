//! Who waits for a thing, and in which order they are served.

pub(crate) mod shelf;
pub(crate) mod wait_queue;
