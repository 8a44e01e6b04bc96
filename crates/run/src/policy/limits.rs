//! The numbers by which the policy decides.

/// Nothing else is tried before the event loop has taken this long, in seconds.
pub(super) const START: f64 = 0.025;
/// A trial takes this share of the expected time of the run, within these limits in seconds.
pub(super) const TRIAL_SHARE: f64 = 0.02;
pub(super) const TRIAL_LEAST: f64 = 0.02;
pub(super) const TRIAL_MOST: f64 = 0.25;
/// The first part of a stretch, which is not measured: caches fill, and windows adapt.
pub(super) const COLD_SHARE: f64 = 0.3;
/// What a parallel engine loses, in seconds, when it begins anew after the trial of another one,
/// until it is warm.
pub(super) const WARM_UP: f64 = 0.02;
/// A trial of an engine that still gets faster all the time begins anew, up to this often.
pub(super) const LONGER_MOST: u32 = 4;
/// A trial ends early if it is slower than this after half its time.
pub(super) const HOPELESS: f64 = 0.5;
/// Trials may cost this share of the expected time of the run; the first of an engine that promises
/// well, a larger one.
pub(super) const BUDGET: f64 = 0.025;
pub(super) const BUDGET_OF_PROMISE: f64 = 0.06;
/// What an engine that has not been tried is expected to reach, in rates of the present one: what a
/// trial costs follows from it.
pub(super) const EXPECTED: f64 = 0.6;
/// A trial pays if it costs less than this share of what is left of the run.
pub(super) const WORTH: f64 = 0.1;
pub(super) const WORTH_OF_PROMISE: f64 = 0.2;
/// An engine is faster if its rate is this many times the other's.
pub(super) const FASTER: f64 = 1.03;
/// With rates of this ratio or a greater one, it takes a comparison with the rates before and after
/// the trial.
pub(super) const DOUBTFUL: f64 = 0.85;
/// The rate of the chosen engine has changed if the present one is less than this share of the
/// former one, or the other way round.
pub(super) const CHANGED: f64 = 0.7;
/// Rates of a chosen engine are averages over this many seconds.
pub(super) const SPAN: f64 = 0.1;
/// Conservative PEs need this many events each in the time that the lookahead bridges.
pub(super) const WINDOW_LEAST: f64 = 16.0;
/// With so many, PEs hardly ever wait for each other.
pub(super) const WINDOW_AMPLE: f64 = 64.0;
/// With fewer pending events per PE than this, PEs mostly wait for each other.
pub(super) const PENDING_LEAST: f64 = 4.0;
/// If the busiest PE has this many times the mean work, the LPs are shared out again, by what they
/// turned out to cost.
pub(super) const UNEVEN: f64 = 1.15;
/// The share of the possible gain that is expected of it.
pub(super) const EVENED: f64 = 0.85;
/// How often that is tried, as long as the model does not change what it does.
pub(super) const EVENED_MOST: u32 = 2;
/// A model with this many LPs is large.
pub(super) const LARGE: u32 = 100_000;
