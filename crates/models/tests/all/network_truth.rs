//! Simulated networks against queueing theory and published loads.

use crate::network_support::{TOPOLOGIES, chain, interval, network, path, results, truth};
use warpline::serde_json::Value;

/// Simulates all test topologies and compares the utilisation of every link with the published
/// loads.
fn utilisation_agrees(demand: &str, sizes: &str, seed: u64) {
    const LOAD: f64 = 0.7;
    for topology in TOPOLOGIES {
        let network = network(
            topology,
            &format!("demand={demand} load={LOAD} sizes={sizes} buffer=1000000000"),
        );
        let results = results(network, 1.0, 6.0, seed);
        assert_eq!(results["packets_dropped"], 0);
        let links = results["links"].as_array().unwrap();
        let truth = truth(&path(topology), demand);
        let mut within = 0;
        for (link, percent) in links.iter().zip(&truth) {
            let [simulated, ci95] =
                ["utilisation", "ci95"].map(|field| link[field].as_f64().unwrap());
            let error = (simulated - percent / 100.0 * LOAD).abs();
            assert!(error < ci95 / 1.96 * 4.0, "{topology} {demand}: {link} against {percent} %");
            within += usize::from(error < 1.3 * ci95);
        }
        assert!(
            within * 10 >= truth.len() * 9,
            "{topology} {demand}: only {within} of {} links within 1.3 intervals",
            truth.len()
        );
    }
}

#[test]
fn utilisation_agrees_with_published_loads_for_uniform_demand() {
    utilisation_agrees("uni", "exponential", 1);
}

#[test]
fn utilisation_agrees_with_published_loads_for_demand_by_degree() {
    utilisation_agrees("deg", "fixed", 2);
}

/// The mean delay in ms of ten runs of a chain of links at 100 Mbit/s with packets of 1000 bytes
/// (0.08 ms), as an interval.
fn mean_delay(links: usize, km: f64, words: &str) -> (f64, f64) {
    let delay = |seed: u64| {
        let network =
            chain(links, km, &format!("rate=100 packet-size=1000 buffer=1000000000 {words}"));
        1e3 * results(network, 0.5, 20.5, seed)["delay"]["mean"].as_f64().unwrap()
    };
    interval(std::array::from_fn(|run| delay(run as u64)))
}

const SERVICE_MS: f64 = 0.08;

#[test]
fn one_link_with_exponential_sizes_is_mm1() {
    for load in [0.5, 0.8] {
        let (mean, half) =
            mean_delay(1, 0.0, &format!("load={load} sizes=exponential processing=0"));
        let truth = SERVICE_MS / (1.0 - load);
        assert!(
            (mean - truth).abs() < half && half < 0.04 * truth,
            "load {load}: {mean} ± {half} against {truth}"
        );
    }
}

#[test]
fn one_link_with_fixed_sizes_is_md1() {
    for load in [0.5, 0.8] {
        let (mean, half) = mean_delay(1, 0.0, &format!("load={load} sizes=fixed processing=0"));
        let truth = SERVICE_MS * (1.0 + load / (2.0 * (1.0 - load)));
        assert!(
            (mean - truth).abs() < half && half < 0.04 * truth,
            "load {load}: {mean} ± {half} against {truth}"
        );
    }
}

/// Behind the first link, packets of one size come no closer than they are sent, and never wait
/// again.
#[test]
fn delay_along_a_chain_is_waiting_once_and_all_the_rest_at_every_link() {
    let links = 4;
    let load = 0.6;
    let (mean, half) =
        mean_delay(links, 100.0, &format!("load={load} sizes=fixed processing=0.001"));
    let each = 1.0 + SERVICE_MS + 0.5;
    let truth = links as f64 * each + SERVICE_MS * load / (2.0 * (1.0 - load));
    assert!((mean - truth).abs() < half && half < 0.003, "{mean} ± {half} against {truth}");
}

/// The share of packets lost by M/D/1/K (K packets in all): from the chain embedded at departures.
fn loss_of_md1k(load: f64, packets: usize) -> f64 {
    // arrivals[j]: the chance of j arrivals in one service.
    let mut arrivals = vec![(-load).exp()];
    (1..packets).for_each(|j| arrivals.push(arrivals[j - 1] * load / j as f64));
    // left[n]: the chance, up to a factor, that a departure leaves n behind, from the balance of
    // the cuts.
    let mut left = vec![1.0];
    for n in 0..packets - 1 {
        let inflow =
            left[0] * arrivals[n] + (1..=n).map(|m| left[m] * arrivals[n + 1 - m]).sum::<f64>();
        left.push((left[n] - inflow) / arrivals[0]);
    }
    let empty = left[0] / left.iter().sum::<f64>();
    1.0 - 1.0 / (empty + load)
}

#[test]
fn md1k_reference_knows_its_special_cases() {
    // K = 1 is Erlang's loss formula; K = 2 follows from one cut: left = (1, e^ρ − 1).
    assert!((loss_of_md1k(0.8, 1) - 0.8 / 1.8).abs() < 1e-12);
    assert!((loss_of_md1k(0.8, 2) - (1.0 - 1.0 / ((-0.8f64).exp() + 0.8))).abs() < 1e-12);
    assert!(loss_of_md1k(0.5, 30) < 1e-9);
}

#[test]
fn losses_of_a_small_buffer_are_those_of_md1k() {
    for (load, packets) in [(0.8, 1), (0.8, 3), (0.9, 8), (1.3, 5)] {
        let ratio = |seed: u64| {
            let network = chain(
                1,
                10.0,
                &format!("load={load} sizes=fixed packet-size=1000 buffer={}", 1000 * packets),
            );
            results(network, 0.1, 4.1, seed)["links"][0]["drop_ratio"].as_f64().unwrap()
        };
        let (mean, half) = interval(std::array::from_fn(|run| ratio(run as u64)));
        let truth = loss_of_md1k(load, packets);
        assert!(
            (mean - truth).abs() < half && half < 0.15 * truth,
            "load {load}, K {packets}: {mean} ± {half} against {truth}"
        );
    }
}

/// Counts of an interrupted Poisson process have mean λt and, over long times, a variance larger by
/// the factor 1 + 2 p a / (a + b)², with p the rate within on times, a = 1/on and b = 1/off.
#[test]
fn on_off_sources_have_the_right_rate_and_burstiness() {
    let on = 0.02;
    let off = 0.06;
    let end = 20.0;
    let polska = || {
        network(
            "sndlib-polska",
            &format!("sources=onoff on={on} off={off} load=0.5 rate=20 buffer=1000000000"),
        )
    };
    let runs: [Vec<f64>; 10] = std::array::from_fn(|seed| {
        let results = results(polska(), 0.0, end, seed as u64);
        results["demands"]
            .as_array()
            .unwrap()
            .iter()
            .map(|demand| demand["offered"].as_f64().unwrap())
            .collect()
    });
    let (mean, half) = interval(std::array::from_fn(|run| runs[run].iter().sum::<f64>()));
    // What all links carry, by the file, over the links that a packet takes on average: the mean
    // distance of two nodes.
    let hops = 282.0 / 132.0;
    let percent: f64 = truth(&path("sndlib-polska"), "uni").iter().sum();
    let packets_per_second = percent / 100.0 * 0.5 * 20e6 / 8000.0 / hops;
    let truth = packets_per_second * end;
    assert!((mean - truth).abs() < half && half < 0.02 * truth, "{mean} ± {half} against {truth}");
    let all: Vec<f64> = runs.concat();
    let average = all.iter().sum::<f64>() / all.len() as f64;
    let variance =
        all.iter().map(|count| (count - average).powi(2)).sum::<f64>() / (all.len() - 1) as f64;
    let peak = average / end * (on + off) / on;
    let factor = 1.0 + 2.0 * peak / on / (1.0 / on + 1.0 / off).powi(2);
    // 1320 counts tell their variance to within some 4 % (one deviation).
    let ratio = variance / average / factor;
    assert!(
        factor > 1.5 && (ratio - 1.0).abs() < 0.13,
        "variance over mean {} against {factor}",
        variance / average
    );
}

#[test]
fn every_packet_is_delivered_dropped_or_on_its_way() {
    let words = "load=1.2 buffer=20000 demand=deg";
    let run =
        warpline::Simulation::new(network("sndlib-geant", words)).end(3.0).seed(4).run().unwrap();
    let results = &run.record.results;
    let count = |field: &str| results[field].as_u64().unwrap();
    let sum = |list: &str, field: &str| {
        results[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item[field].as_u64().unwrap())
            .sum::<u64>()
    };
    let offered = count("packets_offered");
    let delivered = count("packets_delivered");
    let dropped = count("packets_dropped");
    // One event makes a packet, and one takes it over each link or drops it.
    assert_eq!(run.record.committed_events, offered + count("packet_hops") + dropped);
    assert_eq!(
        (sum("demands", "offered"), sum("demands", "delivered"), sum("demands", "dropped")),
        (offered, delivered, dropped)
    );
    assert_eq!((sum("links", "packets"), sum("links", "drops")), (count("packet_hops"), dropped));
    assert!(dropped > offered / 100);
    assert_eq!(
        (offered, sum("demands", "under_way")),
        (delivered + dropped + count("packets_under_way"), count("packets_under_way"))
    );
    // By Little's law, no more packets are on their way than are offered in the longest delay.
    let on_their_way = offered - delivered - dropped;
    let longest = results["delay"]["max"].as_f64().unwrap();
    assert!(
        on_their_way > 0 && (on_their_way as f64) < offered as f64 / 3.0 * longest,
        "{on_their_way}"
    );
    for demand in results["demands"].as_array().unwrap() {
        let [offered, delivered, dropped] =
            ["offered", "delivered", "dropped"].map(|field| demand[field].as_u64().unwrap());
        assert_eq!(demand["under_way"], offered - delivered - dropped, "{demand}");
    }
}

/// Packets that have not arrived when the run ends are not delivered: with three fibres of 10 ms,
/// no packet arrives in a run of 25 ms.
#[test]
fn packets_under_way_at_the_end_are_not_delivered() {
    let fibres =
        |end: f64| results(chain(3, 2000.0, "load=0.5 sizes=fixed processing=0.001"), 0.0, end, 3);
    let short = fibres(0.025);
    let [offered, delivered, under_way] =
        ["packets_offered", "packets_delivered", "packets_under_way"]
            .map(|field| short[field].as_u64().unwrap());
    assert!(offered > 100 && delivered == 0 && under_way == offered, "{short}");
    // A packet takes 3 * (0.001 + 0.00008 + 0.01) s and some waiting, so what was offered in the
    // last 33.24 ms is under way.
    let long = fibres(0.5);
    let [offered, delivered, under_way] =
        ["packets_offered", "packets_delivered", "packets_under_way"]
            .map(|field| long[field].as_u64().unwrap());
    assert_eq!(offered, delivered + under_way);
    let expected = 0.03324 * 0.5 * 100e6 / 8000.0;
    assert!(
        (under_way as f64 - expected).abs() < 4.0 * expected.sqrt()
            && long["delay"]["max"].as_f64().unwrap() < 0.05,
        "{under_way} against {expected}"
    );
}

/// An overloaded link is always busy, and loses what it cannot carry.
#[test]
fn an_overloaded_link_is_always_busy() {
    let results = results(chain(1, 10.0, "load=2 sizes=fixed"), 0.5, 5.0, 3);
    let link: &Value = &results["links"][0];
    let [utilisation, drop_ratio] =
        ["utilisation", "drop_ratio"].map(|field| link[field].as_f64().unwrap());
    assert!(utilisation > 0.9999 && (drop_ratio - 0.5).abs() < 0.01, "{link}");
}
