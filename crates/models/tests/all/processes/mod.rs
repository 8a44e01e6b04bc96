//! Models of processes against formulas and small cases that can be followed by hand.

mod bank;
mod car_wash;
mod event_latency;
mod fleet;
mod gas_station;
mod harbour;
mod hospital;
mod job_shop;
mod machine_shop;
mod movie;
mod tandem;

use warpline::Configured;
use warpline::prelude::*;
use warpline::process::{AnyCoroutines, Coroutines, ProcessModel};
use warpline::serde_json::Value;

/// The results of a run from time 0 to `end`.
fn results<M>(parameters: &M::Parameters, end: f64) -> Value
where
    M: ProcessModel<Message: Portable> + Configure,
{
    run::<M>(parameters, end, 0.0)
}

/// The results of a long run, without its beginning.
fn steady<M>(parameters: &M::Parameters, end: f64) -> Value
where
    M: ProcessModel<Message: Portable> + Configure,
{
    run::<M>(parameters, end, 0.02 * end)
}

fn run<M>(parameters: &M::Parameters, end: f64, warmup: f64) -> Value
where
    M: ProcessModel<Message: Portable> + Configure,
{
    simulation::<M>(parameters).end(end).warmup(warmup).seed(3).run().unwrap().record.results.into()
}

/// A run with the engines of the library, which are compiled already.
fn simulation<M>(parameters: &M::Parameters) -> Simulation<'static, AnyCoroutines<M::Message>>
where
    M: ProcessModel<Message: Portable> + Configure,
{
    let model = Configured::<Coroutines<M>>::new(parameters);
    Simulation::of(&model.map(AnyCoroutines::from)).unwrap()
}

/// A counter, as a number.
fn count(results: &Value, name: &str) -> f64 {
    results[name].as_f64().unwrap_or_else(|| panic!("{name} in {results}"))
}

/// A result must be this number, but for rounding.
fn exactly(results: &Value, name: &str, truth: f64) {
    let found = match &results[name]["mean"] {
        Value::Null => count(results, name),
        mean => mean.as_f64().unwrap(),
    };
    assert!((found - truth).abs() <= 1e-9 * truth.abs(), "{name}: {found}, should be {truth}");
}

/// A counter must lie within this share of the truth.
fn about(results: &Value, name: &str, truth: f64, share: f64) {
    let found = count(results, name);
    assert!((found - truth).abs() < share * truth, "{name}: {found}, in theory {truth}");
}

/// Why parameters are refused.
fn refusal<M: Configure>(parameters: &M::Parameters) -> String {
    M::configure(parameters).err().expect("these parameters are refused")
}
