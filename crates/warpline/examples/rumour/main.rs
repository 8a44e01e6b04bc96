//! The model of the README, as a program: `cargo run --example rumour -- run --people 1000`.

include!("readme.rs");
