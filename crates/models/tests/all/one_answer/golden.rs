//! Digests that must not change without a reason: they pin the order of events, the random streams
//! and the models.

use warpline::command::{Catalogue, Visitor};
use warpline::{Configured, Model, Simulation, Synchronisation};
use warpline_models::Library;
use warpline_testkit::time_limit;

struct Digest {
    seed: u64,
    end: f64,
}

impl Visitor for Digest {
    type Output = (u64, String);

    fn visit<M: Model>(self, model: Configured<M>) -> (u64, String) {
        let simulation = || Simulation::of(&model).unwrap().seed(self.seed).end(self.end);
        let [sequential, parallel] =
            [simulation(), simulation().sync(Synchronisation::Optimistic).threads(2)].map(
                |simulation| {
                    let _limit = time_limit((model.name(), model.values().clone()));
                    let record = simulation.run().unwrap().record;
                    (record.committed_events, record.digest)
                },
            );
        assert_eq!(sequential, parallel);
        sequential
    }
}

fn digest(model: &str, parameters: &[(&str, &str)], seed: u64, end: f64) -> (u64, String) {
    let parameters: Vec<(String, String)> =
        parameters.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Library.with_model(model, &parameters, Digest { seed, end }).unwrap()
}

#[test]
fn digests_are_unchanged() {
    type Case =
        (&'static str, &'static [(&'static str, &'static str)], u64, f64, u64, &'static str);
    let cases: [Case; 29] = [
        ("mm1", &[], 1, 1_000.0, 2336, "9ed7633232873b1b"),
        (
            "mm1",
            &[("discipline", "lifo"), ("arrival-rate", "0.95")],
            2,
            1_000.0,
            2858,
            "8af4f1c2efebc376",
        ),
        ("phold", &[], 1, 10.0, 73634, "f3fa346a32d8c07d"),
        (
            "phold",
            &[("lps", "1024"), ("population", "16"), ("lookahead", "0")],
            7,
            5.0,
            82188,
            "fe6330c7db69e261",
        ),
        (
            "phold",
            &[
                ("lps", "1000"),
                ("clusters", "10"),
                ("reach", "2"),
                ("remote", "0.3"),
                ("payload", "100"),
            ],
            3,
            20.0,
            17942,
            "69bae82701cd2d76",
        ),
        ("simplesim", &[], 1, 80.0, 23474, "3309ae31ef64811b"),
        (
            "simplesim",
            &[("lps", "5"), ("limit", "30"), ("lookahead", "0.25"), ("message-size", "70")],
            4,
            60.0,
            6659,
            "ec09ea7bbb01437d",
        ),
        ("mupi-barrier", &[("ranks", "100"), ("barriers", "5")], 1, 1.0, 4000, "40b2669fcfc23157"),
        (
            "mupi-ping",
            &[("ranks", "51"), ("overhead", "0.2"), ("last-size", "200000")],
            1,
            1.0,
            867,
            "45824c1018b45ca5",
        ),
        ("stencil", &[("ranks", "50"), ("iterations", "20")], 1, 1.0, 4988, "76ad3df573028ec1"),
        (
            "stencil",
            &[("ranks", "50"), ("iterations", "20"), ("target", "cray-xt5")],
            1,
            1.0,
            5042,
            "1cea391e80dd8164",
        ),
        ("network", &[], 1, 0.2, 54902, "ee0900683a91cbfa"),
        (
            "network",
            &[("sources", "onoff"), ("sizes", "exponential"), ("load", "0.9"), ("buffer", "20000")],
            5,
            0.2,
            61454,
            "55b68fff6be8be38",
        ),
        ("hypercube", &[], 1, 30.0, 3771, "a4c102a36380bf21"),
        (
            "hypercube",
            &[("dimensions", "4"), ("lengths", "exponential"), ("redraw", "true")],
            2,
            30.0,
            473,
            "9a85c42a17d5b732",
        ),
        ("pcs", &[], 1, 5.0, 26861, "9d006635f0d72cf0"),
        (
            "pcs",
            &[("cells", "16"), ("portables", "900"), ("dwell", "1.5"), ("channels", "7")],
            3,
            40.0,
            32955,
            "a8894d7552742915",
        ),
        ("bank", &[], 1, 2_000.0, 369, "4efd9867b484ff72"),
        ("car-wash", &[], 1, 480.0, 138, "b15e4a17c345d725"),
        ("machine-shop", &[], 1, 1_000.0, 892, "4a59ff68acc085db"),
        ("gas-station", &[], 1, 20_000.0, 255, "0a77b9df3af69824"),
        ("movie", &[], 1, 120.0, 278, "442ca2f2876fbec2"),
        ("event-latency", &[("jitter", "5")], 1, 500.0, 196, "46ab12397aa09044"),
        ("hospital", &[], 1, 2_000.0, 535, "04eadfb5d0c7e42a"),
        (
            "job-shop",
            &[("rule", "most-work"), ("variation", "0.5")],
            1,
            1_000.0,
            36,
            "be2082bdc7a0a287",
        ),
        ("harbour", &[], 1, 1_000.0, 579, "f2194c1d920a8f30"),
        ("tandem", &[], 1, 100.0, 2142, "ab29e2c20e102b99"),
        ("replay", &[("servers", "3")], 1, 86_400.0, 1584, "2a254bee01b5b79c"),
        ("network", &[("topology", "star-clique:4")], 2, 2.0, 44746, "791bf1ba82f9eaf6"),
    ];
    let mut changed = String::new();
    for (model, parameters, seed, end, events, expected) in cases {
        let found = digest(model, parameters, seed, end);
        if found != (events, expected.to_owned()) {
            changed += &format!(
                "{model} {parameters:?} seed {seed}: {} events, digest {}\n",
                found.0, found.1
            );
        }
    }
    assert_eq!(changed, "", "histories have changed");
}
