//! Digests that must never change: a change means that old results cannot be reproduced any more.
#![cfg(not(miri))]

use warpline_testkit::{Recipe, Settings, matrix};

/// Recipe, seed, committed events, digest.
const GOLDEN: [(u64, u64, u64, &str); 32] = [
    (0, 1, 3696, "ad575cae20ab25f8"),
    (0, 0xDEAD_BEEF, 3696, "2b020a41c3701de2"),
    (1, 1, 3630, "1524b5fc0384da37"),
    (1, 0xDEAD_BEEF, 3620, "f63837878aab60ea"),
    (2, 1, 5740, "97fd6c7d6b342903"),
    (2, 0xDEAD_BEEF, 5740, "5bf188e9d0911c7e"),
    (3, 1, 2905, "9f260c7e6ef90798"),
    (3, 0xDEAD_BEEF, 2906, "af188940aea2c44d"),
    (4, 1, 202, "6e01321aa61eebc0"),
    (4, 0xDEAD_BEEF, 202, "0ecb78134bb16f2b"),
    (5, 1, 4413, "97ed476c921edeb0"),
    (5, 0xDEAD_BEEF, 4436, "d388885e7a94ee4f"),
    (6, 1, 560, "94f2bf5ff45933be"),
    (6, 0xDEAD_BEEF, 560, "2a17f08f5cc7bbdd"),
    (7, 1, 1873, "3cff81ddd1e83180"),
    (7, 0xDEAD_BEEF, 2046, "ace1b9dbe451dd0b"),
    (8, 1, 504, "7c378cbcff7d77cc"),
    (8, 0xDEAD_BEEF, 504, "c9bf20971caeaec0"),
    (9, 1, 675, "d048bce32c8612b4"),
    (9, 0xDEAD_BEEF, 693, "2533e9a3888f71e2"),
    (11, 1, 715, "2951b78500838bac"),
    (11, 0xDEAD_BEEF, 589, "64efb335358f4ebb"),
    (13, 1, 2904, "821fb3369256d273"),
    (13, 0xDEAD_BEEF, 2869, "c7c78a185286c7d3"),
    (17, 1, 1265, "30f73a3ef331c2a8"),
    (17, 0xDEAD_BEEF, 1126, "b45bc606ca49fd3c"),
    (42, 1, 3722, "99e6954187d97fe9"),
    (42, 0xDEAD_BEEF, 3694, "325260df5d81ca30"),
    (1_000_003, 1, 90, "3bb70ae1b68b296c"),
    (1_000_003, 0xDEAD_BEEF, 52, "5fb810e510e16b96"),
    (u64::MAX, 1, 269, "e24347f7eb27ffea"),
    (u64::MAX, 0xDEAD_BEEF, 204, "8be1708cca649c1c"),
];

#[test]
fn digests_are_as_ever() {
    for (recipe, seed, committed, digest) in GOLDEN {
        let settings = Settings::new(seed, 25.0);
        let outcome = matrix::check_recipe(&Recipe::from_seed(recipe), &settings).expect("one answer").expect("no fault is planned");
        assert_eq!((outcome.committed, outcome.digest.as_str()), (committed, digest), "recipe {recipe}, seed {seed}");
    }
}
