use super::{refusal, steady};
use crate::estimates::{estimate, near};
use warpline_models::processes::harbour::Harbour;

/// Where nobody waits for others, a ship waits for the water alone: if it comes while the water is
/// low, for half that time on average.
#[test]
fn ships_wait_for_high_water() {
    let harbour = Harbour { berths: 1000, tugs: 1000, unloading: 0.0, ..Harbour::default() };
    let low = harbour.period - harbour.high_water;
    let found = steady::<Harbour>(&harbour, 500_000.0);
    let wait = low * low / (2.0 * harbour.period);
    near(&found, "wait", wait);
    // A ship that was towed in during the last half hour of high water waits until the next.
    let late = (low - harbour.tow / 2.0) * harbour.tow / harbour.period;
    near(&found, "stay", wait + 2.0 * harbour.tow + late);
    near(&found, "tugs", 3.0 * harbour.tow / harbour.gap);
}

#[test]
fn little_holds_for_ships_that_wait_for_berths_and_tugs() {
    let found = steady::<Harbour>(&Harbour { tugs: 2, ..Harbour::default() }, 500_000.0);
    let (stay, half) = estimate(&found, "stay");
    let (wait, _) = estimate(&found, "wait");
    // Ships wait for berths too, so they stay longer than they have one.
    let (berths, _) = estimate(&found, "berths");
    assert!(berths * 8.0 < stay + half && berths * 8.0 > stay - wait, "{found}");
    near(&found, "tugs", 3.0 * 0.5 / 8.0);
}

#[test]
fn water_cannot_be_high_for_longer_than_a_period() {
    let why = refusal::<Harbour>(&Harbour { period: 4.0, ..Harbour::default() });
    assert!(why.contains("`high-water` (5) must be at most `period` (4)"), "{why}");
}
