//! Blocks that go back to the process that has made them.

use std::sync::atomic::AtomicPtr;

use super::chunks::FreeBlock;
use super::classes::SHARED_CLASSES;

/// The blocks of a process that others have freed: the head of a list for each class.
#[derive(Debug, Default)]
pub(crate) struct Returned(pub(super) [AtomicPtr<FreeBlock>; SHARED_CLASSES]);
