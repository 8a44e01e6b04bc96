//! Cases drawn from a seed. Models are small, so that a run takes about a millisecond; settings lie
//! at the ends of their ranges, where mistakes are.

use warpline::base::LpId;
use warpline::base::random::Random;

use crate::case::Case;

/// The stream of a case with this number among those of one model.
fn stream(seed: u64, number: u64) -> Random {
    Random::new(seed, LpId(number as u32), 0)
}

/// Draws one of these words.
fn any(random: &mut Random, words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    words[random.below(words.len() as u32) as usize].to_owned()
}

/// Adds some of these options, each with this probability. A word that stands twice is twice as
/// likely.
fn some(mut case: Case, random: &mut Random, share: f64, options: &[(&str, &str)]) -> Case {
    for (name, words) in options {
        if random.bernoulli(share) {
            let value = any(random, words);
            case = case.with(name, value);
        }
    }
    case
}

/// Draws a model with its parameters, seed and end: all that the answer depends on.
pub(crate) fn model(seed: u64) -> Case {
    let random = &mut stream(seed, 0);
    let name =
        any(random, "nasty nasty nasty nasty phold phold simplesim pcs hypercube network mm1");
    let case = Case::new(&name).with("seed", random.below(1000));
    let case = match name.as_str() {
        "nasty" => nasty(case, random),
        "phold" => phold(case, random),
        "simplesim" => {
            let case = some(
                case,
                random,
                1.0,
                &[("lps", "1 2 3 8 13 40"), ("limit", "0 3 20 60"), ("end", "5 12 30")],
            );
            some(
                case,
                random,
                0.7,
                &[("lookahead", "0 0.1 1 5"), ("message-size", "0 1 8 500 65536")],
            )
        }
        "pcs" => {
            let case = some(
                case,
                random,
                1.0,
                &[("cells", "4 4 9 16 64"), ("portables", "1 10 100 400"), ("end", "2 10 30")],
            );
            some(
                case,
                random,
                0.4,
                &[
                    ("channels", "0 1 3 10"),
                    ("dwell", "0 1 20"),
                    ("call", "0.1 3 100"),
                    ("inter-call", "0.1 3 100"),
                ],
            )
        }
        "hypercube" => {
            let case = some(
                case,
                random,
                1.0,
                &[("dimensions", "1 2 3 4 6"), ("in-flight", "1 10 100"), ("end", "2 10 30")],
            );
            some(
                case,
                random,
                0.4,
                &[
                    ("shortest", "0 0.5 1"),
                    ("propagation", "0 0.1 3"),
                    ("redraw", "true"),
                    ("lengths", "exponential"),
                ],
            )
        }
        "network" => {
            let case =
                some(case, random, 1.0, &[("end", "0.0005 0.003 0.01"), ("load", "0.1 0.7 1.5")]);
            some(
                case,
                random,
                0.4,
                &[
                    ("sources", "poisson onoff udp"),
                    ("demand", "uni deg"),
                    ("sizes", "fixed"),
                    ("buffer", "1 3000"),
                ],
            )
        }
        _ => {
            let case =
                some(case, random, 1.0, &[("end", "5 100 2000"), ("arrival-rate", "0.1 0.8 1.2")]);
            some(case, random, 0.4, &[("discipline", "lifo fifo"), ("service-rate", "0.5 1 20")])
        }
    };
    let end: f64 = case.get("end").and_then(|end| end.parse().ok()).unwrap_or(1.0);
    let case = if random.bernoulli(0.2) { case.with("warmup", end / 3.0) } else { case };
    some(case, random, 0.1, &[("zero-delay-hops", "3 20 100")])
}

fn nasty(case: Case, random: &mut Random) -> Case {
    let sizes = [
        ("lps", "1 2 3 5 8 16 40"),
        ("energy", "1 5 20 60"),
        ("delays", "exponential unit integers whole vanishing powers far"),
    ];
    let case = some(case, random, 1.0, &sizes);
    let case = case.with("end", any(random, "3 20 1e6 1e6 1e17 1.7976931348623157e308"));
    let case = some(
        case,
        random,
        0.6,
        &[("lookahead", "0 0 1e-9 0.1 1"), ("zero", "0 0.2 0.9"), ("fan-out", "1 2 9")],
    );
    let case = some(
        case,
        random,
        0.4,
        &[
            ("early", "panic flood loop unwritable negative"),
            ("wire", "written"),
            ("never", "0.1 1"),
        ],
    );
    let case = some(
        case,
        random,
        0.3,
        &[("payload", "1 60 700 9000"), ("state", "1 10 1000"), ("starters", "1 5")],
    );
    let case = some(
        case,
        random,
        0.2,
        &[("priorities", "true"), ("unbiased", "true"), ("rows", "false"), ("burst", "3 100 3000")],
    );
    let case = some(case, random, 0.25, &[("crime", "panic fail nan negative stranger loop")]);
    // At most once in some hundred cases, as it takes long.
    if random.below(300) == 0 { case.replace("burst", None).with("burst", 100_000) } else { case }
}

fn phold(case: Case, random: &mut Random) -> Case {
    let case = some(
        case,
        random,
        1.0,
        &[("lps", "1 2 7 32 256"), ("end", "1 4 10"), ("lookahead", "0 0 0.1 1")],
    );
    let case = some(
        case,
        random,
        0.4,
        &[("population", "1 3 10"), ("mean", "0.01 1 5"), ("payload", "1 9 100 5000")],
    );
    match case.get("lps") {
        Some("32" | "256") => some(
            case,
            random,
            0.4,
            &[("clusters", "2 4 8"), ("remote", "0 0.1 1"), ("reach", "0 1")],
        ),
        _ => case,
    }
}

/// Draws a way to run a model, the one with this number.
pub(crate) fn way(model: &Case, seed: u64, number: u64) -> Case {
    let random = &mut stream(seed, number + 1);
    let case = model.clone();
    let sync =
        any(random, "optimistic optimistic optimistic mixed mixed conservative auto sequential");
    let share = [0.05, 0.15, 0.4];
    let share = share[random.below(3) as usize];
    let case = some(
        case.with("sync", &sync),
        random,
        share,
        &[("pending", "heap ladder"), ("stack", "4 16")],
    );
    if sync == "sequential" {
        return some(case, random, 0.1, &[("stop-after", "0 0.5 2")]);
    }
    let case = case.with("threads", any(random, "1 2 2 2 3 3 4 8"));
    let case = match random.below(20) {
        0 => processes(case, random, share),
        1 => some(case, random, 1.0, &[("signal-after", "1 5 15")]),
        2 => case.with("memory", any(random, "40M 60M 100M")),
        _ => threads(case, random, share, &sync),
    };
    let case = some(
        case,
        random,
        share,
        &[
            ("batch", "1 2 3 16 128"),
            ("messages", "auto copy shared value"),
            ("pool-order", "lifo fifo"),
        ],
    );
    let case = some(
        case,
        random,
        share,
        &[("gvt-interval", "1 3 50 1000"), ("gvt-interval-control", "fixed adaptive")],
    );
    let case = match any(random, "none none synchronous synchronous asynchronous one-sided gsu")
        .as_str()
    {
        "none" => case,
        "synchronous" => some(
            case.with("gvt", "synchronous"),
            random,
            0.6,
            &[("barrier", "condvar central tree")],
        ),
        gvt => case.with("gvt", gvt),
    };
    let case = match any(random, "none none partitioned sender receiver").as_str() {
        "none" => case,
        "partitioned" if sync == "optimistic" || sync == "mixed" => some(
            case.with("pool", "partitioned"),
            random,
            share,
            &[("sub-pool", "unlimited 1 5 adaptive")],
        ),
        pool => case.with("pool", pool),
    };
    let case = if random.bernoulli(0.25) { case.with("least-room", "yes") } else { case };
    engine(case, random, share, &sync)
}

/// Options that only some engines use.
fn engine(case: Case, random: &mut Random, share: f64, sync: &str) -> Case {
    if sync == "conservative" {
        return some(case, random, share, &[("conservative", "windows free-running")]);
    }
    let case = match sync {
        "mixed" => some(case, random, 0.7, &[("conservative-lps", "all none 0 0-2 1,3")]),
        _ => case,
    };
    if sync == "auto" {
        return case;
    }
    let case = some(
        case,
        random,
        share,
        &[("undo", "copy reverse journal"), ("cancellation", "aggressive lazy dynamic")],
    );
    let case = some(
        case,
        random,
        share,
        &[
            ("kps", "1 2 7"),
            ("copy-interval", "auto 1 3 100"),
            ("fossil-collection", "on-the-fly batch"),
        ],
    );
    let case =
        some(case, random, share, &[("window", "1e-9 0.01 0.5 1e9"), ("go-ahead", "always auto")]);
    some(case, random, share.max(0.3), &[("use-lookahead", "no yes")])
}

/// Several PEs in one process.
fn threads(case: Case, random: &mut Random, share: f64, sync: &str) -> Case {
    if sync != "auto" && random.bernoulli(0.4) {
        return case.with("virtual-cluster", random.below(100_000));
    }
    let case = some(
        case,
        random,
        share,
        &[("mailbox", "shared per-sender cas"), ("one-thread-per-pe", "yes")],
    );
    let case = if random.bernoulli(0.3) {
        case.with("migrate-at-random", random.below(100_000))
    } else {
        case
    };
    let case = if sync == "auto" && random.bernoulli(0.7) {
        case.with("changes", random.below(100_000))
    } else {
        case
    };
    some(case, random, 0.08, &[("stop-after", "0 0.1 0.5 2")])
}

/// Several processes.
fn processes(case: Case, random: &mut Random, share: f64) -> Case {
    let case = case.replace("threads", Some(&any(random, "1 1 2 3")));
    if cfg!(feature = "mpi") && random.below(6) == 0 {
        return some(
            case.with("ranks", any(random, "2 3")),
            random,
            share,
            &[("communication", "worker distributed dedicated")],
        );
    }
    let case = case.with("processes", any(random, "2 2 3"));
    let case = if random.bernoulli(0.6) {
        let case = some(
            case.with("zero-copy", "no"),
            random,
            0.5,
            &[("communication", "worker distributed dedicated")],
        );
        some(
            case,
            random,
            share,
            &[
                ("communication-ring", "cas per-sender"),
                ("communication-batch", "256 300 16384"),
                ("communication-delay", "0 10 500"),
            ],
        )
    } else {
        case
    };
    some(case, random, 0.1, &[("kill-after", "5 20 60"), ("signal-after", "5 20")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drawn_case_can_be_read() {
        let ways =
            (0..300).flat_map(|seed| (0..10).map(move |number| way(&model(seed), seed, number)));
        for case in ways {
            case.sorted().unwrap_or_else(|why| panic!("{case}: {why}"));
        }
    }

    #[test]
    fn a_case_follows_from_its_numbers() {
        assert_eq!(way(&model(7), 7, 3), way(&model(7), 7, 3));
        assert_ne!(model(7), model(8));
        assert_ne!(way(&model(7), 7, 3), way(&model(7), 7, 4));
    }

    #[test]
    fn every_setting_of_an_engine_is_drawn() {
        use warpline::Settings;
        use warpline::settings::PARALLEL;
        let all: Vec<Case> = (0..500)
            .flat_map(|seed| (0..10).map(move |number| way(&model(seed), seed, number)))
            .collect();
        // Boost is for comparison, and when PEs move is drawn as `migrate_at_random`.
        let left_out = ["carrier", "communication-threads", "move-pes", "state-digest"];
        for setting in Settings::table().iter().filter(|setting| {
            setting.heading == PARALLEL && !left_out.contains(&setting.name.as_str())
        }) {
            assert!(all.iter().any(|case| case.get(&setting.name).is_some()), "{}", setting.name);
        }
    }
}
