//! The `warpline` command: the models of the library, with everything that [`warpline::command`](mod@warpline::command) offers.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpline::command::with_new(&warpline_models::Library)
}
