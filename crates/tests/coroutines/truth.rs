//! Queues of processes against formulas, with confidence intervals over independent runs.

use std::future::Future;

use warpline::process::prelude::*;

use crate::story::{Log, Telling};

const RUNS: u64 = 12;
/// Of Student's distribution with 11 degrees of freedom, for 99.9 %.
const T: f64 = 4.44;
const END: f64 = 20_000.0;

/// Asserts that each measured value is the expected one, within its confidence interval, and that
/// the interval is narrow.
fn assert_truth<F: Future<Output = ()> + Send + 'static>(
    expected: &[f64],
    tell: impl Fn(Sim<u32>, Log) -> F + Send + Sync + Clone + 'static,
) {
    let runs: Vec<Vec<f64>> = (1..=RUNS)
        .map(|seed| {
            let telling = Telling { end: END, seed, hops: 1_000_000 };
            telling.tell(tell.clone()).unwrap().values
        })
        .collect();
    for (place, &expected) in expected.iter().enumerate() {
        let of_run = |run: &Vec<f64>| run[place];
        let n = RUNS as f64;
        let mean = runs.iter().map(of_run).sum::<f64>() / n;
        let squares: f64 = runs.iter().map(|run| (of_run(run) - mean).powi(2)).sum();
        let half = T * (squares / (n - 1.0) / n).sqrt();
        let told = format!("value {place}: {mean} ± {half}, expected {expected}");
        assert!((mean - expected).abs() <= half && half < 0.1 * expected, "{told}");
    }
}

/// Measures at the end of the run.
async fn at_the_end(sim: Sim<u32>, measure: impl FnOnce()) {
    sim.sleep(END - 1.0).await;
    measure();
}

/// The stationary distribution of a birth-death process with these rates.
fn stationary(
    states: usize,
    birth: impl Fn(usize) -> f64,
    death: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut weights = vec![1.0];
    for state in 1..states {
        weights.push(weights[state - 1] * birth(state - 1) / death(state));
    }
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

#[test]
fn a_queue_with_three_servers_is_as_erlang_says() {
    let (servers, arrivals) = (3, 2.4);
    let p = stationary(1000, |_| arrivals, |state| state.min(servers) as f64);
    let waiting: f64 =
        p.iter().enumerate().map(|(state, p)| state.saturating_sub(servers) as f64 * p).sum();
    assert_truth(&[waiting / arrivals, waiting, arrivals], move |sim, log| async move {
        let tills = Resource::new(sim, "tills", 3);
        sim.spawn(at_the_end(sim, move || {
            let figures = tills.figures();
            [figures.mean_wait, figures.mean_waiting, figures.mean_in_use]
                .iter()
                .for_each(|value| log.measure(*value));
        }));
        loop {
            sim.sleep(sim.exponential(1.0 / arrivals)).await;
            sim.spawn(async move {
                let _till = tills.request().await;
                sim.sleep(sim.exponential(1.0)).await;
            });
        }
    });
}

/// Customers of two classes, of which the first is served first.
#[test]
fn priorities_with_general_service_are_as_cobham_says() {
    // Services of Erlang's distribution with 2 stages and mean 1: E[S²] = 1.5.
    let (first, second) = (0.3, 0.4);
    let residual = (first + second) * 1.5 / 2.0;
    let wait_first = residual / (1.0 - first);
    let wait_second = wait_first / (1.0 - first - second);
    assert_truth(&[wait_first, wait_second], move |sim, log| async move {
        let server = Resource::new(sim, "server", 1);
        let waits = Shared::new(sim, [(0.0, 0.0); 2]);
        sim.spawn(at_the_end(sim, move || {
            waits.get().iter().for_each(|(sum, count)| log.measure(sum / count));
        }));
        for (class, rate) in [(0, first), (1, second)] {
            sim.spawn(async move {
                loop {
                    sim.sleep(sim.exponential(1.0 / rate)).await;
                    sim.spawn(async move {
                        let came = sim.now();
                        let _server = server.request_with_priority(class).await;
                        let waited = sim.now() - came;
                        waits.with(|waits| {
                            waits[class as usize].0 += waited;
                            waits[class as usize].1 += 1.0;
                        });
                        sim.sleep(sim.draw(|random| random.erlang(2, 1.0))).await;
                    });
                }
            });
        }
    });
}

/// As before, but the first class interrupts the second, which resumes later.
#[test]
fn preemption_is_as_the_formula_says() {
    let (first, second) = (0.3, 0.4);
    let stay_first = 1.0 / (1.0 - first);
    let idle = 1.0 - first - second;
    let stay_second = (idle + first + second) / ((1.0 - first) * idle);
    assert_truth(&[stay_first, stay_second], move |sim, log| async move {
        let server = Resource::new(sim, "server", 1);
        let stays = Shared::new(sim, [(0.0, 0.0); 2]);
        sim.spawn(at_the_end(sim, move || {
            stays.get().iter().for_each(|(sum, count)| log.measure(sum / count));
        }));
        for (class, rate) in [(0, first), (1, second)] {
            sim.spawn(async move {
                loop {
                    sim.sleep(sim.exponential(1.0 / rate)).await;
                    sim.spawn(async move {
                        let came = sim.now();
                        let mut left = sim.exponential(1.0);
                        loop {
                            let _server = server.request_preempting(class).await;
                            let began = sim.now();
                            if sim.interruptible(sim.sleep(left)).await.is_ok() {
                                break;
                            }
                            left -= sim.now() - began;
                        }
                        stays.with(|stays| {
                            stays[class as usize].0 += sim.now() - came;
                            stays[class as usize].1 += 1.0;
                        });
                    });
                }
            });
        }
    });
}

#[test]
fn machines_under_repair_are_as_many_as_the_formula_says() {
    let machines = 6;
    let p = stationary(7, |down| 0.1 * (machines - down) as f64, |down| 0.25 * down.min(2) as f64);
    let down: f64 = p.iter().enumerate().map(|(down, p)| down as f64 * p).sum();
    assert_truth(&[down], move |sim, log| async move {
        let crew = Resource::new(sim, "crew", 2);
        sim.spawn(at_the_end(sim, move || {
            let figures = crew.figures();
            log.measure(figures.mean_waiting + figures.mean_in_use);
        }));
        for _ in 0..machines {
            sim.spawn(async move {
                loop {
                    sim.sleep(sim.exponential(10.0)).await;
                    let _crew = crew.request().await;
                    sim.sleep(sim.exponential(4.0)).await;
                }
            });
        }
    });
}

/// Customers lose patience after an exponential time.
#[test]
fn who_loses_patience_is_as_erlang_a_says() {
    let (servers, arrivals, patience) = (3, 3.0, 2.0);
    let death =
        |state: usize| state.min(servers) as f64 + state.saturating_sub(servers) as f64 / patience;
    let p = stationary(500, |_| arrivals, death);
    let waiting: f64 =
        p.iter().enumerate().map(|(state, p)| state.saturating_sub(servers) as f64 * p).sum();
    let lost = waiting / patience / arrivals;
    assert_truth(&[waiting, lost], move |sim, log| async move {
        let tills = Resource::new(sim, "tills", 3);
        sim.spawn(at_the_end(sim, move || {
            let figures = tills.figures();
            log.measure(figures.mean_waiting);
            let all = figures.granted + figures.withdrawn;
            log.measure(figures.withdrawn as f64 / all as f64);
        }));
        loop {
            sim.sleep(sim.exponential(1.0 / arrivals)).await;
            sim.spawn(async move {
                let limit = sim.exponential(patience);
                if let Some(_till) = sim.timeout(limit, tills.request()).await {
                    sim.sleep(sim.exponential(1.0)).await;
                }
            });
        }
    });
}
