//! Communicators made of others: of some of their ranks, on a grid, or as a graph.

mod cartesian;
mod graph;
mod split;

pub use self::cartesian::Cartesian;
pub use self::graph::Graph;
