use super::hospital::erlang_c;
use super::{about, steady};
use crate::estimates::{near, near_within};
use warpline_models::processes::tandem::Tandem;

/// Departures of M/M/c are as random as arrivals (Burke 1956), so stations add up.
#[test]
fn stations_in_tandem_are_queues_of_their_own() {
    for (servers, arrival_rate) in [(1, 0.7), (3, 2.4)] {
        let tandem = Tandem { stations: 5, servers, arrival_rate, ..Tandem::default() };
        let end = 60_000.0 / arrival_rate;
        let found = steady::<Tandem>(&tandem, end);
        let wait = erlang_c(servers, arrival_rate) / (f64::from(servers) - arrival_rate);
        near_within(&found, "stay", 5.0 * (wait + 1.0) + 4.0 * tandem.way, 0.08);
        near(&found, "busy", 5.0 * arrival_rate);
        about(&found, "left", 0.98 * 60_000.0, 0.03);
    }
}
