//! Tests every distribution against its moments, and its fit against independently computed
//! probabilities.

mod bad_parameters;
mod continuous;
mod counts;
mod empirical;
mod fit;
mod known_draws;
