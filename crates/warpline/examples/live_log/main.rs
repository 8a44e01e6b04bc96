//! A plant whose tanks are filled and emptied, and a control room that writes a live log to the
//! terminal and to a file: `cargo run --release --example live_log -- run --threads 2`.
//!
//! The tanks are optimistic: they go ahead of each other, and undo what was too early. The control
//! room is conservative: each of its events is executed once, in order, and on the state that a
//! sequential run would have. Its lines wait until they are settled. So no line has to be taken
//! back, even if a tank has failed at an earlier time. It is the only LP that writes; so with
//! `--processes`, one process has the log.

mod plant;

fn main() -> std::process::ExitCode {
    warpline::command::<plant::Plant>()
}
