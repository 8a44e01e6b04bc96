//! Cases drawn from a seed. Models are small, so that a run takes about a millisecond; settings lie
//! at the ends of their ranges, where mistakes are.

use warpline_cases::draw::{of_engines, of_machine, of_pes, suit_machine};
use warpline_cases::{Case, Draw};

/// The model with LPs that are always conservative.
const NASTY_PROCESSES: &str = "nasty-processes";

/// Draws a model with its parameters, seed and end: all that the answer depends on.
pub(crate) fn model(seed: u64) -> Case {
    let mut draw = Draw::new(Case::new(""), seed, 0);
    draw.case.model = draw.word(
        "nasty nasty nasty nasty nasty-processes nasty-processes phold phold simplesim pcs hypercube \
         network mm1",
    );
    let draw = draw.number("seed", 1000);
    let mut draw = match draw.case.model.as_str() {
        "nasty" => nasty(draw),
        NASTY_PROCESSES => nasty_processes(draw),
        "phold" => phold(draw),
        "simplesim" => simplesim(draw),
        "pcs" => pcs(draw),
        "hypercube" => hypercube(draw),
        "network" => network(draw),
        _ => mm1(draw),
    };
    if draw.random.bernoulli(0.2) {
        let end: f64 = draw.case.get("end").and_then(|end| end.parse().ok()).unwrap_or(1.0);
        draw = draw.with("warmup", end / 3.0);
    }
    draw.some(0.1, &[("zero-delay-hops", "3 20 100")]).case
}

fn nasty(draw: Draw) -> Draw {
    let mut draw = draw
        .some(
            1.0,
            &[
                ("lps", "1 2 3 5 8 16 40"),
                ("energy", "1 5 20 60"),
                ("delays", "exponential unit integers whole vanishing powers far"),
            ],
        )
        .pick("end", "3 20 1e6 1e6 1e17 1.7976931348623157e308")
        .some(0.6, &[("lookahead", "0 0 1e-9 0.1 1"), ("zero", "0 0.2 0.9"), ("fan-out", "1 2 9")])
        .some(
            0.4,
            &[
                ("early", "panic flood loop unwritable negative"),
                ("wire", "written"),
                ("never", "0.1 1"),
            ],
        )
        .some(0.3, &[("payload", "1 60 700 9000"), ("state", "1 10 1000"), ("starters", "1 5")])
        .some(
            0.2,
            &[
                ("priorities", "true"),
                ("unbiased", "true"),
                ("rows", "false"),
                ("burst", "3 100 3000"),
            ],
        )
        .some(0.5, &[("timers", "0.2 1")])
        .some(0.25, &[("mistake", "panic fail nan negative stranger loop")]);
    // Once in 300 cases, as it takes long.
    if draw.random.below(300) == 0 {
        draw.case = draw.case.replace("burst", None).with("burst", 100_000);
    }
    draw
}

fn nasty_processes(draw: Draw) -> Draw {
    draw.some(
        1.0,
        &[
            ("lps", "1 2 3 5 8 16 40"),
            ("energy", "1 5 20 60"),
            ("delays", "exponential unit integers whole vanishing powers far"),
            ("handlers", "0 0 1 2 3 3"),
            // Without lookahead, the run is sequential if all LPs are processes.
            ("lookahead", "0 1e-9 0.1 0.5 1 1 3"),
        ],
    )
    .pick("end", "3 20 1e6 1e6 1e17 1.7976931348623157e308")
    .some(0.6, &[("starters", "1 2 10"), ("zero", "0 0.2 0.9"), ("patience", "0 0.1 0.5")])
    .some(0.4, &[("capacity", "1 3 10"), ("never", "0.1 0.5")])
    .some(0.2, &[("priorities", "true"), ("unbiased", "true"), ("rows", "false")])
    .some(0.2, &[("mistake", "panic fail nan negative stranger loop join foreign twice")])
    .some(0.2, &[("mistake-at", "1 20 100")])
}

fn phold(draw: Draw) -> Draw {
    let draw = draw
        .some(1.0, &[("lps", "1 2 7 32 256"), ("end", "1 4 10"), ("lookahead", "0 0 0.1 1")])
        .some(0.4, &[("population", "1 3 10"), ("mean", "0.01 1 5"), ("payload", "1 9 100 5000")]);
    match draw.case.get("lps") {
        Some("32" | "256") => {
            draw.some(0.4, &[("clusters", "2 4 8"), ("remote", "0 0.1 1"), ("reach", "0 1")])
        }
        _ => draw,
    }
}

fn simplesim(draw: Draw) -> Draw {
    draw.some(1.0, &[("lps", "1 2 3 8 13 40"), ("limit", "0 3 20 60"), ("end", "5 12 30")])
        .some(0.7, &[("lookahead", "0 0.1 1 5"), ("message-size", "0 1 8 500 65536")])
}

fn pcs(draw: Draw) -> Draw {
    draw.some(1.0, &[("cells", "4 4 9 16 64"), ("portables", "1 10 100 400"), ("end", "2 10 30")])
        .some(
            0.4,
            &[
                ("channels", "0 1 3 10"),
                ("dwell", "0 1 20"),
                ("call", "0.1 3 100"),
                ("inter-call", "0.1 3 100"),
            ],
        )
}

fn hypercube(draw: Draw) -> Draw {
    draw.some(1.0, &[("dimensions", "1 2 3 4 6"), ("in-flight", "1 10 100"), ("end", "2 10 30")])
        .some(
            0.4,
            &[
                ("shortest", "0 0.5 1"),
                ("propagation", "0 0.1 3"),
                ("redraw", "true"),
                ("lengths", "exponential"),
            ],
        )
}

fn network(draw: Draw) -> Draw {
    draw.some(1.0, &[("end", "0.0005 0.003 0.01"), ("load", "0.1 0.7 1.5")]).some(
        0.4,
        &[
            ("sources", "poisson onoff udp"),
            ("demand", "uni deg"),
            ("sizes", "fixed"),
            ("buffer", "1 3000"),
        ],
    )
}

fn mm1(draw: Draw) -> Draw {
    draw.some(1.0, &[("end", "5 100 2000"), ("arrival-rate", "0.1 0.8 1.2")])
        .some(0.4, &[("discipline", "lifo fifo"), ("service-rate", "0.5 1 20")])
}

/// Draws a way to run a model, the one with this number.
pub(crate) fn way(model: &Case, seed: u64, number: u64) -> Case {
    let mut draw = Draw::new(model.clone(), seed, number + 1);
    let has_processes = model.model == NASTY_PROCESSES;
    let sync = draw.word(if has_processes {
        "conservative conservative conservative mixed mixed optimistic auto sequential"
    } else {
        "optimistic optimistic optimistic mixed mixed conservative auto sequential"
    });
    let share = draw.share();
    let draw = of_engines(draw.with("sync", &sync), share);
    if sync == "sequential" {
        return draw.some(0.1, &[("stop-after", "0 0.5 2")]).case;
    }
    let mut draw = draw.pick("threads", "1 2 2 2 3 3 4 8");
    draw = match draw.random.below(20) {
        0 => processes(draw, share),
        1 => draw.some(1.0, &[("signal-after", "1 5 15")]),
        2 => draw.pick("memory", "40M 60M 100M"),
        _ => threads(draw, share, &sync),
    };
    if draw.random.bernoulli(0.25) {
        draw = draw.with("least-room", "yes");
    }
    let case = suit_machine(of_pes(draw, share, &sync).case);
    // Nothing undoes what processes do.
    if has_processes { case.replace("conservative-lps", None) } else { case }
}

/// Several PEs in one process.
fn threads(mut draw: Draw, share: f64, sync: &str) -> Draw {
    if sync != "auto" && draw.random.bernoulli(0.4) {
        return draw.number("virtual-cluster", 100_000);
    }
    if sync != "auto" && draw.random.bernoulli(0.2) {
        return machine(draw);
    }
    draw = draw.some(share, &[("mailbox", "shared per-sender cas"), ("one-thread-per-pe", "yes")]);
    if draw.random.bernoulli(0.3) {
        draw = draw.number("migrate-at-random", 100_000);
    }
    if sync == "auto" && draw.random.bernoulli(0.7) {
        draw = draw.number("changes", 100_000);
    }
    draw.some(0.08, &[("stop-after", "0 0.1 0.5 2")])
}

/// PEs on a modelled machine.
fn machine(mut draw: Draw) -> Draw {
    draw.case = draw.case.replace("threads", None);
    of_machine(draw).pick("pes", "1 2 3 5 8 12 13 24 40 64").pick("threads", "1 1 2 3")
}

/// Several processes.
fn processes(mut draw: Draw, share: f64) -> Draw {
    const COMMUNICATION: (&str, &str) = ("communication", "worker distributed dedicated");
    let threads = draw.word("1 1 2 3");
    draw.case = draw.case.replace("threads", Some(&threads));
    if cfg!(feature = "mpi") && draw.random.below(6) == 0 {
        return draw.pick("ranks", "2 3").some(share, &[COMMUNICATION]);
    }
    draw = draw.pick("processes", "2 2 3");
    if draw.random.bernoulli(0.6) {
        draw = draw.with("zero-copy", "no").some(0.5, &[COMMUNICATION]).some(
            share,
            &[
                ("communication-ring", "cas per-sender"),
                ("communication-batch", "256 300 16384"),
                ("communication-delay", "0 10 500"),
            ],
        );
    }
    draw.some(0.1, &[("kill-after", "5 20 60"), ("signal-after", "5 20")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::sorted;

    #[test]
    fn every_drawn_case_can_be_read() {
        let ways =
            (0..300).flat_map(|seed| (0..10).map(move |number| way(&model(seed), seed, number)));
        for case in ways {
            sorted(&case).unwrap_or_else(|why| panic!("{case}: {why}"));
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
        // Figures of machines have tests of their own.
        let left_out =
            ["carrier", "communication-threads", "machine-scale", "move-pes", "state-digest"];
        for setting in Settings::table().iter().filter(|setting| {
            setting.heading == PARALLEL && !left_out.contains(&setting.name.as_str())
        }) {
            assert!(all.iter().any(|case| case.get(&setting.name).is_some()), "{}", setting.name);
        }
    }
}
