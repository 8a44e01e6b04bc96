//! Every distribution against its moments, and its goodness of fit against probabilities that were
//! worked out in another way.

mod bad_parameters;
mod continuous;
mod counts;
mod empirical;
mod fit;
mod known_draws;
