//! Digests that must never change: a change means that old results cannot be reproduced any more.
#![cfg(not(miri))]

use warpline_testkit::{Recipe, Settings, matrix};

/// Recipe, seed, committed events, digest.
const GOLDEN: [(u64, u64, u64, &str); 32] = [
    (0, 1, 3696, "f83a7c872eb59fa0"),
    (0, 0xDEAD_BEEF, 3696, "12a438b07b5cdacb"),
    (1, 1, 3696, "22fb612f23fbd8fe"),
    (1, 0xDEAD_BEEF, 3695, "09192392e9df4db4"),
    (2, 1, 5658, "447c8c1b4a36cd31"),
    (2, 0xDEAD_BEEF, 5658, "33030087b1315014"),
    (3, 1, 2905, "9f260c7e6ef90798"),
    (3, 0xDEAD_BEEF, 2906, "af188940aea2c44d"),
    (4, 1, 202, "6e01321aa61eebc0"),
    (4, 0xDEAD_BEEF, 202, "0ecb78134bb16f2b"),
    (5, 1, 4413, "97ed476c921edeb0"),
    (5, 0xDEAD_BEEF, 4436, "d388885e7a94ee4f"),
    (6, 1, 560, "77dad7e056d0ef04"),
    (6, 0xDEAD_BEEF, 560, "b495f3cf8e6e07f6"),
    (7, 1, 3525, "bd70f4bb6404e0cd"),
    (7, 0xDEAD_BEEF, 3551, "e7521f682070aa75"),
    (8, 1, 504, "fc5badb5f0a93a96"),
    (8, 0xDEAD_BEEF, 504, "bff7964ce0c73fd0"),
    (9, 1, 1443, "4fad19d242c658df"),
    (9, 0xDEAD_BEEF, 1446, "d5aec39b87387821"),
    (11, 1, 686, "2ec646a5cdcba0fa"),
    (11, 0xDEAD_BEEF, 614, "b6097c87c8934ee2"),
    (13, 1, 2916, "4169095482bd3d08"),
    (13, 0xDEAD_BEEF, 2916, "9c3e25a47cf66a0c"),
    (17, 1, 1302, "dc666f48b707849d"),
    (17, 0xDEAD_BEEF, 1185, "65ef41f8bfbfbc37"),
    (42, 1, 3952, "6ea00e04714c7201"),
    (42, 0xDEAD_BEEF, 3878, "bb09bdd55afa4758"),
    (1_000_003, 1, 90, "3bb70ae1b68b296c"),
    (1_000_003, 0xDEAD_BEEF, 56, "5589eb8415bb58cb"),
    (u64::MAX, 1, 401, "9cd75397ca433437"),
    (u64::MAX, 0xDEAD_BEEF, 312, "e3f7424e829ba386"),
];

#[test]
fn digests_are_as_ever() {
    let mut changed = String::new();
    for (recipe, seed, committed, digest) in GOLDEN {
        let settings = Settings::new(seed, 25.0);
        let outcome = matrix::check_recipe(&Recipe::from_seed(recipe), &settings).expect("one answer").expect("no fault is planned");
        if (outcome.committed, outcome.digest.as_str()) != (committed, digest) {
            changed += &format!("({recipe}, {seed:#X}, {}, \"{}\")\n", outcome.committed, outcome.digest);
        }
    }
    assert_eq!(changed, "", "histories have changed");
}
