//! Runs of the network model: one answer, undo, and what is reported of it.

use crate::network_support::{chain, network, parameters, results};
use warpline::Synchronisation;
use warpline::prelude::*;
use warpline::record::View;
use warpline::serde_json::Value;
use warpline_models::network::{Network, NetworkParameters, Topology};

#[test]
fn the_answer_depends_on_the_seed_alone() {
    let run = |seed| {
        Simulation::new(network("sndlib-polska", "sources=onoff buffer=10000 load=0.9"))
            .end(1.0)
            .seed(seed)
            .run()
            .unwrap()
            .record
    };
    let a = run(5);
    let b = run(5);
    let other = run(6);
    assert_eq!((&a.digest, &a.results), (&b.digest, &b.results));
    assert_ne!(a.digest, other.digest);
}

#[test]
fn series_add_up_to_the_results() {
    let run = Simulation::new(network("sndlib-polska", "sources=onoff buffer=5000 load=1.2"))
        .end(0.5)
        .seed(5)
        .run()
        .unwrap()
        .record;
    assert_eq!(run.series.keys().collect::<Vec<_>>(), ["delay", "drops", "offered"]);
    for (name, result) in [
        ("delay", "packets_delivered"),
        ("drops", "packets_dropped"),
        ("offered", "packets_offered"),
    ] {
        let total: u64 = run.series[name].counts.iter().sum();
        assert!(
            total > 0 && run.results[result] == total,
            "{name}: {total}, {result}: {}",
            run.results[result]
        );
    }
    let delay = &run.series["delay"];
    let sum: f64 = delay
        .values
        .iter()
        .zip(&delay.counts)
        .filter_map(|(mean, count)| Some((*mean)? * *count as f64))
        .sum();
    let mean = sum / delay.counts.iter().sum::<u64>() as f64;
    assert!((mean / run.results["delay"]["mean"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{mean}");
}

#[test]
fn links_are_next_hops() {
    let network = network("sndlib-nobel-eu", "processing=0.001");
    assert_eq!(network.lookahead(), 0.001);
    let links = network.topology().links.len();
    assert_eq!(network.lps() as usize, links + 28 * 27);
    let degree = |lp: u32| network.links(LpId(lp)).unwrap().len();
    // A source sends to the next hops at its node, a link to those at its end but never back.
    assert!((0..network.lps()).all(|lp| degree(lp) <= 5));
    let line = chain(3, 1.0, "processing=0.001");
    let next: Vec<Vec<LpId>> = (0..line.lps())
        .map(|lp| line.links(LpId(lp)).unwrap().iter().map(|link| link.to).collect())
        .collect();
    // By nodes: 0 → 1 and the source; 1 → 0 and 1 → 2; 2 → 1 and 2 → 3; 3 → 2. Nothing ever goes
    // back.
    let expected: [&[u32]; 7] = [&[3], &[0], &[], &[5], &[], &[], &[]];
    assert_eq!(next, expected.map(|lps| lps.iter().copied().map(LpId).collect::<Vec<_>>()));
    // A source sends at once, a link through its fibre.
    let lookahead = |lp| line.links(LpId(lp)).unwrap()[0].lookahead;
    assert_eq!(
        [lookahead(1), lookahead(0), lookahead(3)],
        [0.001, 1.0 / 200_000.0 + 0.001, 1.0 / 200_000.0 + 0.001]
    );
}

#[test]
fn every_event_can_be_undone_by_copy_and_by_reverse_code() {
    for (topology, words) in [
        ("sndlib-polska", "sources=onoff on=0.01 off=0.02 load=1.2 buffer=5000"),
        ("sndlib-nobel-eu", "demand=deg sizes=fixed"),
        ("sndlib-geant", "demand=file load=1 buffer=3000"),
    ] {
        let verified = |undo| {
            Simulation::new(network(topology, words)).end(0.05).seed(3).undo(undo).verify().unwrap()
        };
        let copy = verified(Undo::Copy);
        let reverse = verified(Undo::Reverse);
        let journal = verified(Undo::Journal);
        assert_eq!(journal.digest, copy.digest);
        let run = Simulation::new(network(topology, words)).end(0.05).seed(3).run().unwrap().record;
        assert_eq!((&copy.digest, copy.events), (&run.digest, run.committed_events));
        assert_eq!((&reverse.digest, reverse.events), (&run.digest, run.committed_events));
        assert!(
            run.committed_events > 3000
                && (run.results["packets_dropped"] != 0 || topology == "sndlib-nobel-eu")
        );
    }
}

/// Blocks of LPs are whole nodes, so messages between PEs go through fibres.
#[test]
fn pes_are_whole_nodes_apart() {
    for (topology, threads) in [
        ("sndlib-polska", 2),
        ("sndlib-nobel-eu", 2),
        ("sndlib-nobel-eu", 3),
        ("sndlib-geant", 2),
        ("", 2),
    ] {
        let make = || {
            if topology.is_empty() {
                Network::configure(&NetworkParameters::default()).unwrap()
            } else {
                network(topology, "")
            }
        };
        let processing = make().lookahead();
        let fibres = make()
            .topology()
            .links
            .iter()
            .map(|link| link.length / 200_000.0 + processing)
            .fold(f64::INFINITY, f64::min);
        let least = Simulation::new(make()).threads(threads).least_delay().unwrap();
        assert!(
            least.is_finite() && least >= fibres && fibres > 2.0 * processing,
            "{topology}, {threads} PEs: {least} s"
        );
        let run = |sync| {
            Simulation::new(make())
                .end(0.01)
                .threads(threads)
                .sync(sync)
                .virtual_cluster(5)
                .run()
                .unwrap()
                .record
        };
        let expected = Simulation::new(make()).end(0.01).run().unwrap().record;
        for sync in [Synchronisation::Conservative, Synchronisation::Optimistic] {
            assert_eq!(run(sync).digest, expected.digest, "{topology}, {sync:?}");
        }
    }
}

#[test]
fn results_name_both_directions_of_every_edge() {
    let text = r#"{"nodes": [{"id": "a", "name": "Ostend"}, {"id": 7}], "edges": [{"source": 7, "target": "a", "dist": 2.5}]}"#;
    let network = Network::new(Topology::parse(text).unwrap(), &parameters("load=0.5")).unwrap();
    let record = Simulation::new(network).end(0.5).run().unwrap().record;
    let [forth, back] = &record.results["links"].as_array().unwrap()[..] else {
        panic!("{}", record.results["links"])
    };
    assert_eq!(
        (&forth["source"], &forth["target"], &forth["source_name"], &forth["target_name"]),
        (&7.into(), &"a".into(), &"7".into(), &"Ostend".into())
    );
    assert_eq!(
        (&back["source"], &back["target"], &back["length_km"]),
        (&"a".into(), &7.into(), &2.5.into())
    );
    assert_eq!(
        (&forth["expected"], &forth["drop_ratio"], &forth["drops"]),
        (&0.5.into(), &0.0.into(), &0.into())
    );
    let demands = record.results["demands"].as_array().unwrap();
    assert_eq!(demands.len(), 2);
    for field in ["mean", "p50", "p90", "p95", "p99"] {
        assert!(
            demands[0]["delay"][field].as_f64().unwrap() > 0.0
                && record.results["delay"][field].as_f64().unwrap() > 0.0
        );
    }
    assert_eq!(record.results["hops_mean"], 1.0);
}

#[test]
fn views_show_map_distributions_and_tables() {
    let views = |network: Network| Simulation::new(network).end(0.2).run().unwrap().record.views;
    let [
        View::Map(map),
        View::Histogram(utilisation),
        View::Histogram(delay),
        View::Table(links),
        View::Table(demands),
    ] = &views(network("sndlib-geant", ""))[..]
    else {
        panic!("other views");
    };
    assert_eq!(
        (map.nodes.len(), map.links.len(), links.rows.len(), demands.rows.len()),
        (22, 72, 72, 462)
    );
    assert_eq!(
        (map.low, map.high, map.nodes[0].longitude, map.nodes[0].latitude),
        (0.0, 1.0, 16.37, 48.21)
    );
    assert_eq!(utilisation.bars.iter().map(|bar| bar.count).sum::<u64>(), 72);
    assert_eq!((delay.unit.as_str(), delay.marks.len()), ("ms", 2));
    assert!(
        links.rows.iter().all(|row| row.len() == links.columns.len())
            && demands.rows.iter().all(|row| row.len() == demands.columns.len())
    );
    let [View::Map(map), ..] = &views(chain(3, 10.0, ""))[..] else { panic!("no map") };
    let radii = map.nodes.iter().map(|node| node.longitude.hypot(node.latitude));
    assert!(radii.clone().all(|radius| (radius - 10.0).abs() < 1e-9));
}

/// Packets of long demands are dropped more often, so their share of what is delivered is less than
/// of what was offered.
#[test]
fn mean_hops_are_those_of_delivered_packets() {
    let results = results(network("sndlib-polska", "load=2 buffer=2000"), 0.1, 0.5, 7);
    let demands = results["demands"].as_array().unwrap();
    let mean_weighted_by = |count: &str| {
        let packets = |demand: &Value| demand[count].as_u64().unwrap();
        let hops: u64 =
            demands.iter().map(|demand| packets(demand) * demand["hops"].as_u64().unwrap()).sum();
        hops as f64 / demands.iter().map(packets).sum::<u64>() as f64
    };
    let mean = mean_weighted_by("delivered");
    let offered = mean_weighted_by("offered");
    assert_eq!(results["hops_mean"], mean);
    assert!(mean < 0.99 * offered, "{mean} of what was delivered, {offered} of what was offered");
}

/// A run too short for any packet has no mean number of hops.
#[test]
fn a_run_without_packets_has_no_means() {
    let run = Simulation::new(network("topozoo-Abilene", "")).end(1e-9).run().unwrap();
    assert_eq!(
        (&run.record.results["packets_offered"], &run.record.results["hops_mean"]),
        (&0.into(), &().into())
    );
}
