mod models;
mod nasty;
fn main() -> std::process::ExitCode { warpline::command::of(&models::Attacked) }
