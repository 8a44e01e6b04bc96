//! The `warpline` command: the models of the library, with everything that
//! [`warpline::command`](mod@warpline::command) offers.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: warpline::Allocator = warpline::Allocator;

fn main() -> ExitCode {
    warpline_models::command()
}
