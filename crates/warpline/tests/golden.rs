//! Digests that must never change: a change means that old results cannot be reproduced any more.
#![cfg(not(miri))]

use warpline_testkit::{Recipe, Settings, matrix};

/// Recipe, seed, committed events, digest.
const GOLDEN: [(u64, u64, u64, &str); 32] = [
    (0, 1, 3696, "ad575cae20ab25f8"),
    (0, 0xDEAD_BEEF, 3696, "2b020a41c3701de2"),
    (1, 1, 3696, "328e34d27edfc837"),
    (1, 0xDEAD_BEEF, 3696, "a14ca21b82067f9d"),
    (2, 1, 5658, "447c8c1b4a36cd31"),
    (2, 0xDEAD_BEEF, 5658, "33030087b1315014"),
    (3, 1, 2905, "9f260c7e6ef90798"),
    (3, 0xDEAD_BEEF, 2906, "af188940aea2c44d"),
    (4, 1, 202, "6e01321aa61eebc0"),
    (4, 0xDEAD_BEEF, 202, "0ecb78134bb16f2b"),
    (5, 1, 4413, "97ed476c921edeb0"),
    (5, 0xDEAD_BEEF, 4436, "d388885e7a94ee4f"),
    (6, 1, 560, "94f2bf5ff45933be"),
    (6, 0xDEAD_BEEF, 560, "2a17f08f5cc7bbdd"),
    (7, 1, 3525, "bd70f4bb6404e0cd"),
    (7, 0xDEAD_BEEF, 3551, "e7521f682070aa75"),
    (8, 1, 504, "fc5badb5f0a93a96"),
    (8, 0xDEAD_BEEF, 504, "bff7964ce0c73fd0"),
    (9, 1, 1359, "2adeb069d711ad73"),
    (9, 0xDEAD_BEEF, 1431, "0bf9d3b1d381f676"),
    (11, 1, 715, "2951b78500838bac"),
    (11, 0xDEAD_BEEF, 589, "64efb335358f4ebb"),
    (13, 1, 2916, "c0298e42ba1f2e6f"),
    (13, 0xDEAD_BEEF, 2916, "d4a01bced12921a7"),
    (17, 1, 1265, "30f73a3ef331c2a8"),
    (17, 0xDEAD_BEEF, 1126, "b45bc606ca49fd3c"),
    (42, 1, 3952, "6ea00e04714c7201"),
    (42, 0xDEAD_BEEF, 3878, "bb09bdd55afa4758"),
    (1_000_003, 1, 90, "3bb70ae1b68b296c"),
    (1_000_003, 0xDEAD_BEEF, 52, "5fb810e510e16b96"),
    (u64::MAX, 1, 403, "9d1b11309fbde6d4"),
    (u64::MAX, 0xDEAD_BEEF, 311, "7466f33a4fc7a4fa"),
];

#[test]
fn digests_are_as_ever() {
    for (recipe, seed, committed, digest) in GOLDEN {
        let settings = Settings::new(seed, 25.0);
        let outcome = matrix::check_recipe(&Recipe::from_seed(recipe), &settings).expect("one answer").expect("no fault is planned");
        assert_eq!((outcome.committed, outcome.digest.as_str()), (committed, digest), "recipe {recipe}, seed {seed}");
    }
}
