//! The functions of `shim/shim.c`, which documents them.
//!
//! Those that call MPI, except `warpline_mpi_start`, need it to be initialised and not finalised,
//! and a thread that may call it: [`Session::enter`](super::session::Session::enter) makes sure of
//! both. Pointers must be valid for what the C function reads or writes.

use std::ffi::{c_char, c_int, c_void};

/// An array of requests, which C makes and frees.
#[repr(C)]
pub(crate) struct RequestArray {
    opaque: [u8; 0],
}

unsafe extern "C" {
    pub(crate) fn warpline_mpi_start(
        wanted: c_int,
        granted: *mut c_int,
        elsewhere: *mut c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_finish() -> c_int;
    pub(crate) fn warpline_mpi_abort(code: c_int);
    pub(crate) fn warpline_mpi_error_text(code: c_int, text: *mut c_char, room: c_int) -> c_int;

    pub(crate) fn warpline_mpi_world() -> u64;
    pub(crate) fn warpline_mpi_rank_and_size(
        comm: u64,
        rank: *mut c_int,
        size: *mut c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_duplicate(comm: u64, duplicate: *mut u64) -> c_int;
    pub(crate) fn warpline_mpi_split_by_node(comm: u64, part: *mut u64) -> c_int;
    pub(crate) fn warpline_mpi_free(comm: u64) -> c_int;

    pub(crate) fn warpline_mpi_send(
        comm: u64,
        bytes: *const c_void,
        length: c_int,
        to: c_int,
        tag: c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_receive(
        comm: u64,
        bytes: *mut c_void,
        length: c_int,
        from: c_int,
        tag: c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_broadcast(
        comm: u64,
        bytes: *mut c_void,
        length: c_int,
        from: c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_all_gather(comm: u64, mine: *const u64, all: *mut u64) -> c_int;

    pub(crate) fn warpline_mpi_make_requests(count: c_int) -> *mut RequestArray;
    pub(crate) fn warpline_mpi_free_requests(all: *mut RequestArray);
    pub(crate) fn warpline_mpi_move_request(all: *mut RequestArray, from: c_int, to: c_int);
    pub(crate) fn warpline_mpi_start_send(
        all: *mut RequestArray,
        index: c_int,
        comm: u64,
        bytes: *const c_void,
        length: c_int,
        to: c_int,
        tag: c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_start_receive(
        all: *mut RequestArray,
        index: c_int,
        comm: u64,
        bytes: *mut c_void,
        length: c_int,
        from: c_int,
        tag: c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_start_reduce(
        all: *mut RequestArray,
        index: c_int,
        comm: u64,
        mine: *const u64,
        result: *mut u64,
        count: c_int,
        sum: c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_start_composite(
        all: *mut RequestArray,
        index: c_int,
        comm: u64,
        mine: *const u64,
        result: *mut u64,
        words: c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_end_composite(all: *mut RequestArray);
    pub(crate) fn warpline_mpi_start_barrier(
        all: *mut RequestArray,
        index: c_int,
        comm: u64,
    ) -> c_int;
    pub(crate) fn warpline_mpi_test(
        all: *mut RequestArray,
        index: c_int,
        done: *mut c_int,
        source: *mut c_int,
        length: *mut c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_test_some(
        all: *mut RequestArray,
        count: c_int,
        found: *mut c_int,
        indices: *mut *const c_int,
    ) -> c_int;
    pub(crate) fn warpline_mpi_cancel(all: *mut RequestArray, index: c_int) -> c_int;
    pub(crate) fn warpline_mpi_wait_all(all: *mut RequestArray, count: c_int) -> c_int;
}
