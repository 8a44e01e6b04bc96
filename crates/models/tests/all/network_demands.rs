//! Reading the demands of topologies: which way they go, and the loads that they make.

use std::path::PathBuf;

use crate::network_support::{
    assert_loads, files, mistake, parameters, path, read_network, results, three,
};
use warpline::Configure;
use warpline_models::network::{Network, Topology};

/// Some files list each pair once, some list all pairs in both orders with different values, some
/// only a few. The published loads of most count every entry both ways.
#[test]
fn loads_of_the_demands_of_files_agree_with_the_published_ones() {
    let files: Vec<PathBuf> =
        files().into_iter().filter(|file| file.to_string_lossy().contains("sndlib")).collect();
    let mut both_ways = 0;
    for file in files {
        let topology = || Topology::from_file(&file).unwrap();
        let network = Network::new(topology(), &parameters("demand=file load=1")).unwrap();
        assert_loads(&network, &file, "org");
        let found = reading(network);
        let way = ["both ways", "as listed"]
            .into_iter()
            .find(|way| found.starts_with(way))
            .expect("one of the two");
        assert_eq!(found, format!("{way}, as in the loads that the file publishes"));
        let directions = if way == "both ways" { "both" } else { "listed" };
        let asked = Network::new(
            topology(),
            &parameters(&format!("demand=file load=1 demand-directions={directions}")),
        )
        .unwrap();
        assert_loads(&asked, &file, "org");
        assert_eq!(reading(asked), format!("{way}, as asked for"));
        both_ways += u32::from(way == "both ways");
    }
    assert!(both_ways >= 3);
}

/// How a network reads the demands of its file, as its results say.
fn reading(network: Network) -> String {
    results(network, 0.0, 1e-6, 1)["demand_directions"].as_str().unwrap().to_owned()
}

/// A line of three nodes with these demands; what every link carries of the busiest one's load, and
/// how the demands were read.
fn read(demands: &str, more: &str, published: [&str; 4], words: &str) -> (Vec<f64>, String) {
    let loads = |way: &str, load: &str| {
        if load.is_empty() { String::new() } else { format!(r#", "{way}": {{"org": {load}}}"#) }
    };
    let edge = |from: u32, forth: &str, back: &str| {
        let to = from + 1;
        let forth = loads("ecmp_fwd", forth);
        let back = loads("ecmp_bwd", back);
        format!(r#"{{"source": {from}, "target": {to}, "dist": 1{forth}{back}}}"#)
    };
    let edges =
        [edge(0, published[0], published[1]), edge(1, published[2], published[3])].join(",");
    let nodes = r#"[{"id": 0}, {"id": 1}, {"id": 2}]"#;
    let text = format!(
        r#"{{"graph": {{"demands": {demands}}}, {more}"nodes": {nodes}, "edges": [{edges}]}}"#
    );
    let network = Network::new(
        Topology::parse(&text).unwrap(),
        &parameters(&format!("demand=file load=1 {words}")),
    )
    .unwrap();
    (network.expected_utilisation().to_vec(), reading(network))
}

#[test]
fn files_decide_which_way_their_demands_go() {
    let says = |demands: &str, more: &str, published: [&str; 4], expected: &[f64], words: &str| {
        let (loads, reading) = read(demands, more, published, "");
        assert_eq!((loads.as_slice(), reading.as_str()), (expected, words), "{demands} {more}");
    };
    let silent = [""; 4];
    let once = r#"{"0": {"1": 1, "2": 1}}"#;
    let twice = r#"{"0": {"2": 4}, "2": {"0": 1}, "1": {"2": 1}}"#;
    says(
        once,
        "",
        silent,
        &[1.0, 1.0, 0.5, 0.5],
        "both ways, as the file lists each pair once, and its links go both ways",
    );
    says(once, r#""directed": true, "#, silent, &[1.0, 0.5], "as listed, as the file is directed");
    says(
        twice,
        "",
        silent,
        &[0.8, 0.2, 1.0, 0.2],
        "as listed, as the file lists pairs in both orders",
    );
    // Published loads come before the rest.
    says(
        once,
        "",
        ["100", "0", "50", "0"],
        &[1.0, 0.0, 0.5, 0.0],
        "as listed, as in the loads that the file publishes",
    );
    says(
        twice,
        "",
        ["83.33", "83.33", "100", "100"],
        &[5.0 / 6.0, 5.0 / 6.0, 1.0, 1.0],
        "both ways, as in the loads that the file publishes",
    );
    let unlike = "as listed, as the file lists pairs in both orders; neither reading makes the \
                  loads that the file publishes";
    says(twice, "", ["100", "20", "80", "20"], &[0.8, 0.2, 1.0, 0.2], unlike);
    // Loads of only some links do not count.
    says(
        once,
        "",
        ["100", "0", "", ""],
        &[1.0, 1.0, 0.5, 0.5],
        "both ways, as the file lists each pair once, and its links go both ways",
    );
    let (loads, reading) = read(once, "", silent, "demand-directions=listed");
    assert_eq!(
        (loads.as_slice(), reading.as_str()),
        (&[1.0, 0.0, 0.5, 0.0][..], "as listed, as asked for")
    );
}

#[test]
fn the_built_in_network_takes_all_demands() {
    for demand in ["uni", "deg", "file"] {
        let network = Network::configure(&parameters(&format!("demand={demand}"))).unwrap();
        let most = network.expected_utilisation().iter().copied().fold(0.0, f64::max);
        assert!((most - 0.7).abs() < 1e-12);
        assert!(network.topology().nodes.iter().all(|node| node.position.is_some()));
    }
}

#[test]
fn measured_demands_of_files_are_used() {
    for topology in ["sndlib-geant", "sndlib-nobel-eu", "sndlib-polska"] {
        let words = format!("topology={} demand=file load=0.5", path(topology).display());
        let network = Network::configure(&parameters(&words)).unwrap();
        let most = network.expected_utilisation().iter().copied().fold(0.0, f64::max);
        assert!((most - 0.5).abs() < 1e-12, "{topology}: {most}");
    }
    let none = Network::configure(&parameters(&format!(
        "topology={} demand=file",
        path("topozoo-Abilene").display()
    )))
    .unwrap_err();
    assert!(none.contains("`graph.demands`") && none.contains("demand=uni"), "{none}");
}

#[test]
fn demands_of_sndlib_are_those_of_the_file() {
    let native = "?SNDlib native format; type: network; version: 1.0\nNODES (\n a ( 14 50 )\n b ( 16 48 )\n c ( 17 48 )\n)\n\
                  LINKS (\n l1 ( a b ) 100 0 0 0 ( )\n l2 ( b c ) 0 0 0 0 ( 50 7 200 9 )\n)\n\
                  DEMANDS (\n d1 ( a b ) 1 30 UNLIMITED\n d2 ( a c ) 1 20 UNLIMITED\n d3 ( a c ) 1 5 UNLIMITED\n)\n";
    let network = read_network(native, "demand=file load=0.5").unwrap();
    // 55 of 100 and 25 of 50, each way.
    let expected = network.expected_utilisation();
    let second = 0.5 * (25.0 / 50.0) / (55.0 / 100.0);
    assert!(
        expected.iter().zip([0.5, 0.5, second, second]).all(|(a, b)| (a - b).abs() < 1e-12),
        "{expected:?}"
    );
}

#[test]
fn mistakes_in_demands_name_the_element() {
    let file = |demands: &str| {
        let edges =
            r#"[{"source": 1, "target": 2, "dist": 1}, {"source": 2, "target": "x", "dist": 1}]"#;
        three(&format!(r#""graph": {{"demands": {demands}}}, "edges": {edges}"#))
    };
    let cases = [
        ("null", "needs `graph.demands`"),
        ("[]", "a list at graph.demands"),
        (r#"{"1": 3}"#, r#"a number at graph.demands["1"]"#),
        (r#"{"9": {}}"#, r#"graph.demands["9"]: there is no node `9`"#),
        (r#"{"1": {"y": 1}}"#, r#"graph.demands["1"]["y"]: there is no node `y`"#),
        (r#"{"1": {"x": -2}}"#, r#"-2 at graph.demands["1"]["x"]"#),
        (r#"{"1": {"x": "2"}}"#, r#""2" at graph.demands["1"]["x"]"#),
        (r#"{"1": {"2": 0, "1": 5}}"#, "sum to 0"),
        (r#"{"1": {"2": 1e308}, "2": {"1": 1e308}}"#, "sum to inf"),
    ];
    for (demands, expected) in cases {
        let error = mistake(&file(demands), "demand=file");
        assert!(error.contains(expected), "{demands}\n gives: {error}\n not: {expected}");
    }
    assert!(
        Network::new(
            Topology::parse(&file(r#"{"1": {"x": 2, "1": 5}}"#)).unwrap(),
            &parameters("demand=file")
        )
        .is_ok()
    );
    assert!(Network::new(Topology::parse(&file("[]")).unwrap(), &parameters("demand=uni")).is_ok());
    assert!(mistake(&three(r#""edges": []"#), "demand=deg").contains("sum to 0"));
}
