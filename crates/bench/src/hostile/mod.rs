//! The optimism window on hostile models: rates and efficiency, beside a rival's rule.

mod models;

use serde_json::{Value, json};
use warpline::{Simulation, Synchronisation};
use warpline_bench::measuring::this_program;

pub(crate) use self::models::Hostile;
use self::models::MODELS;

/// How often each run is repeated.
const ROUNDS: usize = 7;
/// The rules that are compared, the rival's first.
const RULES: [&str; 2] = ["devastator", "ours"];

/// The names of all models.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|model| model.0)
}

/// The printed figures of the runs under one rule.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Committed events per second.
    rate: f64,
    /// Committed over processed events.
    efficiency: f64,
    /// Rollbacks per 1000 committed events.
    rollbacks: f64,
    /// The width of the window at the end.
    window: f64,
}

/// Compares both rules on all models, or on one, with 2 threads and with 8.
///
/// # Panics
/// If any run does not commit what the sequential one does.
pub(crate) fn compare(only: Option<&str>) {
    for threads in ["2", "8"] {
        println!(
            "Hostile models, {threads} threads: million committed events per second, efficiency, \
             rollbacks per 1000 events, final window\n"
        );
        println!(
            "{:<11} {:<28} {:>6}  {:^29}  {:^29}  {:>15}",
            "", "", "seq.", RULES[0], RULES[1], "rate/eff. ratio"
        );
        let mut means = [1.0, 1.0];
        let models = MODELS.into_iter().filter(|model| only.is_none_or(|only| only == model.0));
        let count = models.clone().count() as f64;
        for (name, _, about, ..) in models {
            let (sequential, rivals) = alternate(name, threads);
            print!("{name:<11} {about:<28} {:>6.2}", sequential / 1e6);
            for Outcome { rate, efficiency, rollbacks, window } in rivals {
                print!("  {:>5.2} {efficiency:>5.3} {rollbacks:>6.1} {window:>10.2e}", rate / 1e6);
            }
            let ratios =
                [rivals[1].rate / rivals[0].rate, rivals[1].efficiency / rivals[0].efficiency];
            println!("  {:>7.2} {:>7.2}", ratios[0], ratios[1]);
            means.iter_mut().zip(ratios).for_each(|(mean, ratio)| *mean *= ratio.powf(1.0 / count));
        }
        println!("{:<111} {:>7.2} {:>7.2}\n", "geometric mean", means[0], means[1]);
    }
}

/// The sequential rate of a model, and the medians under both rules, which take turns.
fn alternate(name: &str, threads: &str) -> (f64, [Outcome; 2]) {
    let sequential = run(&[name, "sequential", "1"]);
    let mut outcomes = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (rule, outcomes) in RULES.iter().zip(&mut outcomes) {
            let told = run(&[name, rule, threads]);
            assert_eq!(
                told["digest"], sequential["digest"],
                "{name} under the rule of {rule} commits other events"
            );
            outcomes.push(outcome(&told));
        }
    }
    (number(&sequential, "rate"), outcomes.map(median))
}

fn outcome(told: &Value) -> Outcome {
    let committed = number(told, "committed");
    let rollbacks = 1e3 * number(told, "rollbacks") / committed;
    Outcome {
        rate: number(told, "rate"),
        efficiency: committed / number(told, "processed"),
        rollbacks,
        window: number(told, "window"),
    }
}

fn median(mut outcomes: Vec<Outcome>) -> Outcome {
    outcomes.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    outcomes[outcomes.len() / 2]
}

fn number(told: &Value, name: &str) -> f64 {
    told[name].as_f64().unwrap_or_else(|| panic!("{told} does not say how much {name}"))
}

/// Measures a run in a process of its own.
fn run(words: &[&str]) -> Value {
    let output = this_program()
        .args(["measure", "hostile"])
        .args(words)
        .output()
        .expect("the benchmark can start itself");
    let failed =
        || panic!("measuring {words:?} failed\n{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| failed())
}

/// One run in this process. `rule` is `sequential`, `ours`, `devastator`, or the width of a window.
/// With the seed of a virtual cluster, work can be counted, but rates mean nothing.
pub(crate) fn measure(name: &str, rule: &str, threads: &str, cluster: Option<&str>) {
    let (model, end) = Hostile::find(name).expect("the name of a model");
    let mut simulation = Simulation::new(model).end(end);
    if rule == "sequential" {
        simulation = simulation.sync(Synchronisation::Sequential);
    } else {
        simulation = simulation
            .sync(Synchronisation::Optimistic)
            .threads(threads.parse().expect("a number of threads"));
    }
    simulation = match rule {
        "sequential" | "ours" => simulation,
        "devastator" => simulation.devastator_window(),
        width => simulation.window(width.parse().expect("a rule or a width")),
    };
    if let Some(seed) = cluster {
        simulation = simulation.virtual_cluster(seed.parse().expect("a seed"));
    }
    let record = simulation.run().expect("hostile models run").record;
    let parallel = record.parallel.unwrap_or_default();
    let told = json!({
        "digest": record.digest,
        "rate": record.event_rate,
        "committed": record.committed_events,
        "processed": parallel.processed_events,
        "rollbacks": parallel.rollbacks.primary + parallel.rollbacks.secondary,
        "epochs": parallel.gvt_epochs,
        "window": record.engine.get("final_window"),
    });
    println!("{told}");
}
