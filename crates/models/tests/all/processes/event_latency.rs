use super::{exactly, results, steady};
use crate::estimates::near;
use warpline_models::processes::event_latency::EventLatency;

/// As in SimPy's example: sent at 5, 10, … 95, received at 15, 20, … 95.
#[test]
fn messages_take_the_time_of_the_cable() {
    let found = results::<EventLatency>(&EventLatency::default(), 100.0);
    exactly(&found, "sent", 19.0);
    exactly(&found, "received", 17.0);
    exactly(&found, "latency", 10.0);
}

#[test]
fn jitter_comes_on_top() {
    let cable = EventLatency { jitter: 3.0, ..EventLatency::default() };
    near(&steady::<EventLatency>(&cable, 200_000.0), "latency", 13.0);
}
