use super::{exactly, refusal, results, steady};
use crate::estimates::near;
use warpline_models::processes::gas_station::GasStation;

/// Cars come every 50 s and take 40 l of the 100. The second leaves 20, so the truck is called at
/// 100 and comes at 200, for which the third car waits. The fourth leaves 20 again, at 240.
#[test]
fn a_small_station_can_be_followed_by_hand() {
    let station = GasStation {
        pumps: 1,
        tank: 100.0,
        threshold: 0.5,
        truck: 100.0,
        speed: 1.0,
        least_fill: 40.0,
        most_fill: 40.0,
        least_gap: 50.0,
        most_gap: 50.0,
    };
    let found = results::<GasStation>(&station, 300.0);
    exactly(&found, "cars", 4.0);
    exactly(&found, "trucks", 1.0);
    exactly(&found, "stay", (40.0 + 40.0 + 90.0 + 80.0) / 4.0);
    exactly(&found, "level", (5000.0 + 3000.0 + 2000.0 + 2400.0 + 1200.0) / 300.0);
    exactly(&found, "busy", 230.0 / 300.0);
}

#[test]
fn what_trucks_bring_is_what_cars_take() {
    let station = GasStation { pumps: 5, tank: 10_000.0, ..GasStation::default() };
    let found = steady::<GasStation>(&station, 2_000_000.0);
    near(&found, "fill", 35.0);
    // The time at a pump is that of filling, as the tank is never empty.
    near(&found, "busy", 17.5 / 165.0);
    near(&found, "stay", 17.5);
}

#[test]
fn a_car_that_could_wait_for_ever_is_refused() {
    let why = refusal::<GasStation>(&GasStation { threshold: 0.2, ..GasStation::default() });
    assert!(why.contains("`most-fill`") && why.contains("less than 40 l"), "{why}");
    let why = refusal::<GasStation>(&GasStation { least_gap: 301.0, ..GasStation::default() });
    assert!(why.contains("`least-gap` (301) must be at most `most-gap` (300)"), "{why}");
    let why = refusal::<GasStation>(&GasStation { least_fill: 46.0, ..GasStation::default() });
    assert!(why.contains("`least-fill` (46)"), "{why}");
}
