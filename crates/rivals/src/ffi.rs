//! The functions of the shim, which documents them. No function throws.

use std::ffi::{c_char, c_int};

/// A segment as this process has opened it.
pub(crate) enum Opened {}

/// A message on its way into a queue or out of it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Arrival {
    pub(crate) time: u64,
    pub(crate) length: u64,
    pub(crate) bytes: *mut u8,
}

/// The outcomes of functions that may find no room. Any other means a lock that nobody will free.
pub(crate) const DONE: c_int = 0;
pub(crate) const FULL: c_int = 1;

unsafe extern "C" {
    pub(crate) fn warpline_boost_create(
        name: *const c_char,
        bytes: u64,
        queues: u32,
        text: *mut c_char,
        room: usize,
    ) -> *mut Opened;
    pub(crate) fn warpline_boost_open(
        name: *const c_char,
        queues: *mut u32,
        text: *mut c_char,
        room: usize,
    ) -> *mut Opened;
    pub(crate) fn warpline_boost_close(opened: *mut Opened);
    pub(crate) fn warpline_boost_remove(name: *const c_char) -> c_int;
    pub(crate) fn warpline_boost_room(opened: *mut Opened, bytes: *mut u64, free: *mut u64);
    pub(crate) fn warpline_boost_allocate(
        opened: *mut Opened,
        bytes: u64,
        block: *mut *mut u8,
    ) -> c_int;
    pub(crate) fn warpline_boost_free(opened: *mut Opened, bytes: *mut u8);
    pub(crate) fn warpline_boost_send(
        opened: *mut Opened,
        queue: u32,
        message: *const Arrival,
    ) -> c_int;
    pub(crate) fn warpline_boost_receive(
        opened: *mut Opened,
        queue: u32,
        into: *mut Arrival,
        most: usize,
        moved: *mut usize,
    ) -> c_int;
}
