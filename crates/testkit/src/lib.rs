//! For testing engines: a slow and obvious [reference](mod@reference) simulator, [random
//! models](random_model) with every feature of the model API, a [matrix](mod@matrix) of engine
//! configurations that must all give the reference's answer, [torture](mod@torture) by thousands of
//! schedules, small models for whatever else an engine does ([one](Hops) that is there, and
//! [others](Story) that a test tells in a few lines), models for [examples] in docs, and a
//! [limit](time_limit) to the time that a test may take.
//!
//! ```
//! use warpline_testkit::{Recipe, Settings, matrix};
//! matrix::check_recipe(&Recipe::from_seed(7), &Settings::new(1, 20.0))?;
//! # Ok::<(), String>(())
//! ```

#[cfg(doctest)]
mod book;
pub mod examples;
mod hops;
pub mod matrix;
mod panics;
pub mod random_model;
pub mod reference;
mod story;
pub mod talk;
mod time_limit;
pub mod torture;

pub use hops::Hops;
pub use random_model::{RandomModel, Recipe};
pub use reference::Settings;
pub use story::Story;
pub use time_limit::{TimeLimit, time_limit};

/// `count`, or a hundredth of it under Miri, which is about a hundred times slower.
pub fn scaled(count: u32) -> u32 {
    if cfg!(miri) { count.div_ceil(100) } else { count }
}

/// How many cases a property test runs: the number in `WARPLINE_CASES` if it is set, for a soak
/// test; otherwise `usual`, or 2 under Miri.
pub fn cases(usual: u32) -> u32 {
    let wanted = std::env::var("WARPLINE_CASES").ok().and_then(|text| text.parse().ok());
    wanted.unwrap_or(if cfg!(miri) { 2 } else { usual })
}
