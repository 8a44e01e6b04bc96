//! What is typed: the command line, and scenario files and presets in its place.

pub(crate) mod arguments;
mod command_line;
mod completions;
pub(crate) mod help;
pub(crate) mod notes;
mod presets;
pub(crate) mod request;
mod scenario;
mod short_help;
mod unknown;
