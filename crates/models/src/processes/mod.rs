//! Models whose LPs are processes: what users of SimPy know from its examples, and a few more.
//!
//! Each is one file: parameters, statistics, and what its processes do.

pub mod bank;
pub mod car_wash;
pub mod event_latency;
pub mod fleet;
pub mod gas_station;
pub mod harbour;
pub mod hospital;
pub mod job_shop;
pub mod machine_shop;
pub mod movie;
pub mod tandem;
