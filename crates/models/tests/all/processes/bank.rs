use super::{about, steady};
use crate::estimates::near;
use warpline_models::processes::bank::{Bank, Spread};

/// Customers in the queue and tellers who serve, on average, by the birth-death chain of Erlang A.
fn erlang_a(bank: &Bank) -> [f64; 2] {
    let Bank { gap, service, tellers, patience, .. } = *bank;
    let tellers = f64::from(tellers);
    let mut weight = 1.0;
    let mut sums = [0.0; 3];
    for number in 0..2000 {
        let inside = f64::from(number);
        let busy = inside.min(tellers);
        sums = [sums[0] + weight, sums[1] + weight * (inside - busy), sums[2] + weight * busy];
        let next = (inside + 1.0).min(tellers);
        weight /= gap * (next / service + (inside + 1.0 - next) / patience);
    }
    [sums[1] / sums[0], sums[2] / sums[0]]
}

#[test]
fn exponential_patience_is_erlang_a() {
    for (tellers, gap, patience) in [(1, 10.0, 8.0), (3, 4.0, 30.0)] {
        let spread = Spread::Exponential;
        let bank = Bank { gap, service: 12.0, tellers, patience, spread };
        let [waiting, busy] = erlang_a(&bank);
        // So long that three standard deviations of those who leave are 3 % of them.
        let end = 240_000.0 * gap;
        let found = steady::<Bank>(&bank, end);
        near(&found, "waiting", waiting);
        near(&found, "busy", busy);
        // Of all customers, those who leave too.
        near(&found, "wait", waiting * gap);
        let served = 0.98 * end * busy / bank.service;
        about(&found, "served", served, 0.02);
        about(&found, "reneged", 0.98 * end / gap - served, 0.03);
    }
}

/// The share of time in which the teller of M/M/1+G serves, if all are ready to wait for at least
/// `low` and at most `high`: by the density of the work that a customer would find (Baccelli and
/// Hébuterne 1981).
fn busy_with_uniform_patience(gap: f64, service: f64, low: f64, high: f64) -> f64 {
    let step = 1e-4;
    let mut ready = 0.0;
    let mut area = 0.0;
    for number in 0..2_000_000 {
        let work = (f64::from(number) + 0.5) * step;
        ready += step * ((high - work) / (high - low)).clamp(0.0, 1.0);
        area += step * (ready / gap - work / service).exp() / gap;
    }
    1.0 - 1.0 / (1.0 + area)
}

#[test]
fn patience_of_any_kind_keeps_the_teller_as_busy_as_in_theory() {
    let bank = Bank::default();
    let busy = busy_with_uniform_patience(bank.gap, bank.service, 1.0, 3.0);
    near(&steady::<Bank>(&bank, 500_000.0), "busy", busy);
}

#[test]
fn who_has_no_patience_is_served_at_once_or_never() {
    let bank = Bank { patience: 0.0, spread: Spread::None, ..Bank::default() };
    let found = steady::<Bank>(&bank, 500_000.0);
    // Erlang's loss formula for one teller.
    near(&found, "busy", 1.2 / 2.2);
    super::exactly(&found, "wait", 0.0);
}
