//! Digests that must never change: if one does, old results can no longer be reproduced.

use warpline_testkit::random_model::Declares;
use warpline_testkit::{Recipe, Settings, matrix};

/// Recipe, seed, committed events, digest.
const GOLDEN: [(u64, u64, u64, &str); 32] = [
    (0, 1, 3696, "d00e12cdc19c1eda"),
    (0, 0xDEAD_BEEF, 3696, "3a96a02e40289ab4"),
    (1, 1, 3696, "6a20d18020ac771d"),
    (1, 0xDEAD_BEEF, 3695, "d44f83e2c3727a11"),
    (2, 1, 5658, "4ee05c5ca9453c2c"),
    (2, 0xDEAD_BEEF, 5658, "7d0d5cf8ac3d0447"),
    (3, 1, 2905, "e2b73d9b00e8361e"),
    (3, 0xDEAD_BEEF, 2906, "4d17ed58a987efde"),
    (4, 1, 202, "3ca0f4bf1d348565"),
    (4, 0xDEAD_BEEF, 202, "c494bde71b4efca7"),
    (5, 1, 4413, "f1d953c48bad15fe"),
    (5, 0xDEAD_BEEF, 4436, "2f80e40ff51ee711"),
    (6, 1, 560, "96614416c46cde36"),
    (6, 0xDEAD_BEEF, 560, "70b349f6d191f006"),
    (7, 1, 3525, "ff59b9851f2d5f04"),
    (7, 0xDEAD_BEEF, 3551, "c519a71bbbfd5084"),
    (8, 1, 504, "da7f1612dc88079e"),
    (8, 0xDEAD_BEEF, 504, "aad27d9a267bdb51"),
    (9, 1, 1443, "43243b082386cadc"),
    (9, 0xDEAD_BEEF, 1446, "5513d08b5ce912fc"),
    (11, 1, 686, "4754401f26083143"),
    (11, 0xDEAD_BEEF, 614, "7a2dcf810e38059b"),
    (13, 1, 2916, "2d65d0f296b1c14e"),
    (13, 0xDEAD_BEEF, 2916, "22e94b5827243def"),
    (17, 1, 1302, "ee5daa5d295c3b89"),
    (17, 0xDEAD_BEEF, 1185, "67e38b516f95a16f"),
    (42, 1, 3952, "1702478afa2591e9"),
    (42, 0xDEAD_BEEF, 3878, "64daa2dece90d34f"),
    (1_000_003, 1, 90, "1f1f31c8b23fc5d8"),
    (1_000_003, 0xDEAD_BEEF, 56, "4b652c4de714839f"),
    (u64::MAX, 1, 401, "da2a32d0459503f8"),
    (u64::MAX, 0xDEAD_BEEF, 312, "e52478574a7f479b"),
];

#[test]
fn digests_have_not_changed() {
    let mut changed = String::new();
    for (recipe, seed, committed, digest) in GOLDEN {
        let settings = Settings::new(seed, 25.0);
        // These digests are older than forwarding, than timers, and than lookahead by LP and by
        // link, which lengthens delays.
        let recipe_then = Recipe {
            declares: Declares::Model,
            forwards: false,
            timers: false,
            ..Recipe::from_seed(recipe)
        };
        // Both sequential engines, a virtual cluster and threads: other tests check all.
        let few = matrix::configurations(seed, 1).into_iter().take(4).collect::<Vec<_>>();
        let outcome = matrix::check_recipe_under(&recipe_then, &settings, &few)
            .expect("one answer")
            .expect("no fault is planned");
        if (outcome.committed, outcome.digest.as_str()) != (committed, digest) {
            changed +=
                &format!("({recipe}, {seed:#X}, {}, \"{}\")\n", outcome.committed, outcome.digest);
        }
    }
    assert_eq!(changed, "", "histories have changed");
}
