//! Stars whose hubs form a clique, and the UDP sources in them.

use std::collections::BTreeSet;

use crate::network_support::{interval, network, parameters, results};
use warpline::prelude::*;
use warpline::serde_json::Value;
use warpline_models::network::{Network, Topology};

fn star_clique(stars: u32, words: &str) -> Network {
    Network::configure(&parameters(&format!("topology=star-clique:{stars} {words}"))).unwrap()
}

fn counts(results: &Value, field: &str) -> Vec<u64> {
    results["demands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|demand| demand[field].as_u64().unwrap())
        .collect()
}

#[test]
fn every_star_sends_to_every_other_one() {
    for stars in [2, 3, 7] {
        let topology = Topology::star_clique(stars).unwrap();
        assert_eq!(
            (topology.nodes.len() as u32, topology.links.len() as u32),
            (stars * stars, 3 * stars * (stars - 1))
        );
        let hubs =
            topology.nodes.iter().filter(|node| node.degree == 2 * (stars - 1)).count() as u32;
        assert!(
            topology.nodes.iter().all(|node| [1, 2 * (stars - 1)].contains(&node.degree))
                && (hubs == stars || stars == 2)
        );
        let results = results(star_clique(stars, "rate=1"), 0.0, 1.0, 1);
        let demands = results["demands"].as_array().unwrap();
        let pairs: BTreeSet<(&str, &str)> = demands
            .iter()
            .map(|demand| (demand["source"].as_str().unwrap(), demand["target"].as_str().unwrap()))
            .collect();
        let expected: Vec<(String, String)> = (0..stars)
            .flat_map(|star| (0..stars).map(move |other| (star, other)))
            .filter(|(star, other)| star != other)
            .map(|(star, other)| (format!("{star}-{other}"), format!("{other}-{star}")))
            .collect();
        assert_eq!(
            pairs,
            expected.iter().map(|(source, target)| (source.as_str(), target.as_str())).collect()
        );
        assert!(demands.iter().all(|demand| demand["hops"] == 3));
        // A fifth of the rate in a quarter of the time, and one demand on every link.
        let network = star_clique(stars, "");
        assert!(
            network.expected_utilisation().iter().all(|share| (share - 0.05).abs() < 1e-12),
            "{:?}",
            network.expected_utilisation()
        );
    }
}

/// On average, a source is on for a share on / (on + off) of the time, in which it sends a fifth of
/// what the link can.
#[test]
fn throughput_is_that_of_the_sources() {
    let on = 0.02;
    let off = 0.06;
    let warmup = 1.0;
    let end = 201.0;
    let words = format!("rate=10 on={on} off={off}");
    let runs: [Value; 10] =
        std::array::from_fn(|seed| results(star_clique(4, &words), warmup, end, seed as u64));
    let truth = 0.2 * 10e6 / (1024.0 * 8.0) * on / (on + off) * (end - warmup);
    for field in ["offered", "delivered"] {
        let counts: [Vec<u64>; 10] = std::array::from_fn(|run| counts(&runs[run], field));
        let of_demand =
            |demand: usize| interval(std::array::from_fn(|run| counts[run][demand] as f64));
        for demand in 0..12 {
            let (mean, half) = of_demand(demand);
            assert!(
                (mean - truth).abs() < half && half < 0.05 * truth,
                "{field}, demand {demand}: {mean} ± {half} against {truth}"
            );
        }
        let (mean, half) =
            interval(std::array::from_fn(|run| counts[run].iter().sum::<u64>() as f64 / 12.0));
        assert!(
            (mean - truth).abs() < half && half < 0.02 * truth,
            "{field}: {mean} ± {half} against {truth}"
        );
        // The time that a source is on in a long time T has variance 2 T (on off)² / (on + off)³;
        // 120 counts tell theirs to within some 13 %.
        let all: Vec<f64> = counts.concat().into_iter().map(|count| count as f64).collect();
        let average = all.iter().sum::<f64>() / all.len() as f64;
        let variance =
            all.iter().map(|count| (count - average).powi(2)).sum::<f64>() / (all.len() - 1) as f64;
        let per_second = 0.2 * 10e6 / (1024.0 * 8.0);
        let expected = 2.0 * (end - warmup) * (on * off * per_second).powi(2) / (on + off).powi(3);
        assert!(
            (variance / expected - 1.0).abs() < 0.4,
            "{field}: variance {variance} against {expected}"
        );
    }
    for link in runs[0]["links"].as_array().unwrap() {
        let [utilisation, ci95] =
            ["utilisation", "ci95"].map(|field| link[field].as_f64().unwrap());
        assert!((utilisation - 0.05).abs() < 2.5 * ci95 && ci95 < 0.005, "{link}");
    }
}

/// No link has more than one source, which sends less than the link can, so nothing waits and
/// nothing is dropped, and all delays are alike.
#[test]
fn every_datagram_is_delivered_or_on_its_way() {
    let processing = 1e-5;
    let transmission = 1024.0 * 8.0 / 100e6;
    let propagation = 1e-3 + 10e-3 + 1e-3;
    let record = Simulation::new(star_clique(5, "")).end(3.0).seed(4).run().unwrap().record;
    let [offered, delivered, dropped, under_way] = ["offered", "delivered", "dropped", "under_way"]
        .map(|name| record.results[format!("packets_{name}")].as_u64().unwrap());
    assert!(offered > 10_000 && dropped == 0 && under_way > 0);
    assert_eq!(
        (offered, record.committed_events),
        (delivered + under_way, offered + record.results["packet_hops"].as_u64().unwrap())
    );
    for demand in record.results["demands"].as_array().unwrap() {
        let [offered, delivered, under_way] =
            ["offered", "delivered", "under_way"].map(|field| demand[field].as_u64().unwrap());
        assert_eq!(offered, delivered + under_way, "{demand}");
    }
    let truth = 3.0 * (processing + transmission) + propagation;
    for name in ["min", "mean", "max"] {
        let delay = record.results["delay"][name].as_f64().unwrap();
        assert!((delay - truth).abs() < 1e-9, "{name}: {delay} against {truth}");
    }
}

/// If sources offer more than the links can carry, some datagrams are dropped, and the counts still
/// balance.
#[test]
fn overloaded_links_drop_datagrams() {
    let results =
        results(star_clique(3, "demand=uni udp-share=1 on=1 off=0.01 buffer=3000"), 0.0, 0.5, 4);
    let count = |name: &str| results[name].as_u64().unwrap();
    assert!(count("packets_dropped") > count("packets_offered") / 10);
    assert_eq!(
        count("packets_offered"),
        count("packets_delivered") + count("packets_dropped") + count("packets_under_way")
    );
}

/// A source that is never off sends at equal intervals, from a random start on.
#[test]
fn sources_start_at_random() {
    let gap = 1024.0 * 8.0 / (0.2 * 1e6);
    let end = 10.0;
    let offered =
        counts(&results(star_clique(8, "rate=1 on=1000000 udp-start=4"), 0.0, end, 3), "offered");
    // The start of each source, to within a gap, is uniform in 0 to 4.
    let starts: Vec<f64> = offered.iter().map(|count| end - (*count as f64 + 0.5) * gap).collect();
    assert!(starts.iter().all(|start| (-gap..4.0 + gap).contains(start)), "{starts:?}");
    let mean = starts.iter().sum::<f64>() / starts.len() as f64;
    let deviation = 4.0 / 12f64.sqrt() / (starts.len() as f64).sqrt();
    assert!((mean - 2.0).abs() < 3.5 * deviation, "{mean}, expected 2 ± {deviation}");
    let together =
        counts(&results(star_clique(8, "rate=1 on=1000000 udp-start=0"), 0.0, end, 3), "offered");
    assert!(together.iter().all(|&count| count == (end / gap) as u64), "{together:?}");
}

/// With as many PEs as stars, messages between PEs go from hub to hub.
#[test]
fn every_pe_has_a_star() {
    for stars in [2, 3, 4, 8] {
        let least = Simulation::new(star_clique(stars, "")).threads(stars).least_delay().unwrap();
        assert!((least - (10e-3 + 1e-5)).abs() < 1e-12, "{stars} stars: {least} s");
        let network = star_clique(stars, "");
        assert_eq!(network.lps(), 4 * stars * (stars - 1));
        let per_star = network.lps() / stars;
        let links = (0..network.lps()).flat_map(|lp| {
            network.links(LpId(lp)).unwrap().into_iter().map(move |link| (lp, link))
        });
        let (inside, across): (Vec<_>, Vec<_>) =
            links.partition(|(lp, link)| lp / per_star == link.to.0 / per_star);
        assert!(
            across.iter().all(|(_, link)| link.lookahead > 10e-3)
                && inside.iter().all(|(_, link)| link.lookahead < 10e-3)
        );
        let stars_reached: BTreeSet<(u32, u32)> =
            across.iter().map(|(lp, link)| (lp / per_star, link.to.0 / per_star)).collect();
        assert_eq!(stars_reached.len() as u32, stars * (stars - 1));
    }
}

#[test]
fn what_is_no_star_clique_is_refused() {
    for topology in [
        "star-clique:1",
        "star-clique:0",
        "star-clique:x",
        "star-clique:",
        "star-clique",
        "star-clique:-3",
        "star-clique:4,5",
    ] {
        let why = Network::configure(&parameters(&format!("topology={topology}"))).unwrap_err();
        assert_eq!(
            why,
            format!(
                "`topology` cannot be `{topology}`: a star-clique has from 2 to 128 stars, as in \
                 `star-clique:4`"
            )
        );
    }
    for topology in
        ["star-clique:129", "star-clique:5000", "star-clique:4294967295", "star-clique:4294967296"]
    {
        let why = Network::configure(&parameters(&format!("topology={topology}"))).unwrap_err();
        assert!(why.contains(topology) && why.contains("from 2 to 128 stars"), "{why}");
    }
    // Files may have similar names.
    let why = Network::configure(&parameters("topology=star-cliques.json")).unwrap_err();
    assert!(why.contains("the topology file `star-cliques.json` cannot be read"), "{why}");
    let why = Network::configure(&parameters("topology=star-clique:4 buffer=1023")).unwrap_err();
    assert!(
        why.contains("`buffer` (1023 bytes)") && why.contains("`udp-size`, 1024 bytes"),
        "{why}"
    );
}

/// A star-clique can have other demands and sources, and other topologies can have UDP sources.
#[test]
fn demand_and_sources_may_be_chosen() {
    let poisson = star_clique(3, "demand=uni sources=poisson load=0.6");
    assert_eq!(poisson.lps(), 18 + 9 * 8);
    let most = poisson.expected_utilisation().iter().copied().fold(0.0, f64::max);
    assert!((most - 0.6).abs() < 1e-12);
    assert_eq!(star_clique(3, "demand=file").lps(), star_clique(3, "").lps());
    let udp = network("sndlib-polska", "sources=udp demand=deg udp-share=0.01 off=0.1");
    let results = results(udp, 1.0, 21.0, 3);
    let offered: Vec<f64> =
        counts(&results, "offered").into_iter().map(|count| count as f64).collect();
    let mean = offered.iter().sum::<f64>() / offered.len() as f64;
    let truth = 0.01 * 100e6 / 8192.0 * 0.5 * 20.0;
    assert!((mean / truth - 1.0).abs() < 0.03, "{mean} against {truth}");
}

#[test]
fn parameters_without_effect_are_named() {
    let named = |words: &str| -> Vec<&str> {
        Network::notes(&parameters(words)).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(
        named("topology=star-clique:4"),
        ["load", "packet-size", "sizes", "demand-directions"]
    );
    assert_eq!(
        named("topology=star-clique:4 demand=file"),
        ["load", "packet-size", "sizes", "demand-directions"]
    );
    assert_eq!(named("sources=udp demand=file"), ["load", "packet-size", "sizes"]);
    assert_eq!(
        named("topology=star-clique:4 sources=onoff"),
        ["udp-share", "udp-size", "udp-start", "demand-directions"]
    );
    assert_eq!(named(""), ["on", "off", "udp-share", "udp-size", "udp-start", "demand-directions"]);
    assert_eq!(named(""), named("topology=star-clique:4 sources=poisson"));
}

#[test]
fn every_event_can_be_undone() {
    for words in ["", "demand=uni udp-share=1 on=0.01 buffer=3000"] {
        let run = Simulation::new(star_clique(3, words)).end(0.6).seed(3).run().unwrap().record;
        assert!(run.committed_events > 1000);
        for undo in [Undo::Copy, Undo::Reverse, Undo::Journal] {
            assert_eq!(
                Simulation::new(star_clique(3, words))
                    .end(0.6)
                    .seed(3)
                    .undo(undo)
                    .verify()
                    .unwrap()
                    .digest,
                run.digest
            );
        }
    }
}
