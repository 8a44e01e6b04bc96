use super::{exactly, refusal, results, steady};
use crate::estimates::near;
use warpline_models::processes::car_wash::CarWash;

/// Four cars come at 0 and two wait until 5. Then one comes at 7 and waits until 10, and one at 14.
#[test]
fn cars_at_fixed_times_can_be_followed_by_hand() {
    let found = results::<CarWash>(&CarWash { gap_spread: 0.0, ..CarWash::default() }, 20.0);
    exactly(&found, "washed", 6.0);
    exactly(&found, "wait", 13.0 / 6.0);
    exactly(&found, "waiting", 13.0 / 20.0);
    exactly(&found, "busy", (15.0 + 15.0) / 20.0);
}

#[test]
fn machines_are_as_busy_as_cars_need_them() {
    let found = steady::<CarWash>(&CarWash::default(), 200_000.0);
    near(&found, "busy", 5.0 / 7.0);
    near(&found, "dirt", 74.5);
}

#[test]
fn a_gap_cannot_be_negative() {
    let why = refusal::<CarWash>(&CarWash { gap: 1.0, ..CarWash::default() });
    assert!(why.contains("`gap-spread` (2) must be at most `gap` (1)"), "{why}");
}
