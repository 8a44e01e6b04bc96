//! Reading topologies, and the analytic loads of their links against the published ones.

use std::path::{Path, PathBuf};

use crate::network_support::{files, parameters, path, results, truth};
use warpline::Configure;
use warpline_models::network::{Network, Topology};
use warpline_topology::Reader;

/// The network of `text`.
fn read_network(text: &str, words: &str) -> Result<Network, String> {
    let parameters = parameters(words);
    let graph = Reader::new().read_text(text).map_err(|why| why.to_string())?;
    Topology::from_graph(graph, &parameters)
        .and_then(|topology| Network::new(topology, &parameters))
}

/// Why no network can be made of `text`.
fn mistake(text: &str, words: &str) -> String {
    read_network(text, words).map(|_| ()).unwrap_err()
}

/// A file of three nodes with this as its other fields.
fn three(fields: &str) -> String {
    format!(r#"{{"nodes": [{{"id": 1, "name": "one"}}, {{"id": 2}}, {{"id": "x"}}], {fields}}}"#)
}

#[test]
fn loads_agree_with_the_published_ones() {
    for file in files() {
        for demand in ["uni", "deg"] {
            let network = Network::new(
                Topology::from_file(&file).unwrap(),
                &parameters(&format!("demand={demand} load=1")),
            )
            .unwrap();
            assert_loads(&network, &file, demand);
        }
    }
}

/// The loads of a network are those that its file publishes for this demand.
fn assert_loads(network: &Network, file: &Path, demand: &str) {
    let truth = truth(file, demand);
    assert_eq!(network.expected_utilisation().len(), truth.len());
    for (i, (expected, published)) in network.expected_utilisation().iter().zip(&truth).enumerate()
    {
        let error = (100.0 * expected - published).abs();
        assert!(
            error <= 0.0101,
            "{} {demand} link {i}: {expected} against {published} %",
            file.display()
        );
    }
}

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
fn files_that_cannot_be_read_are_named() {
    let error = Network::configure(&parameters("topology=/no/such/file.json")).unwrap_err();
    assert!(error.contains("`/no/such/file.json`") && error.contains("No such file"), "{error}");
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("network-syntax.json");
    std::fs::write(&file, "{\"nodes\": [\n  {\"id\": 1},,\n").unwrap();
    let error =
        Network::configure(&parameters(&format!("topology={}", file.display()))).unwrap_err();
    assert!(
        error.contains("network-syntax.json` is not valid JSON")
            && error.contains("line 2 column 13"),
        "{error}"
    );
}

#[test]
fn mistakes_in_files_name_the_element() {
    let cases = [
        ("[1, 2]", "is a list, not a JSON object"),
        (r#"{"edges": []}"#, "has no `nodes`"),
        (&three(r#""graph": {}"#), "has no `edges` or `links`"),
        (r#"{"nodes": {}, "edges": []}"#, "has an object as `nodes`"),
        (r#"{"nodes": [{"id": 1}], "edges": []}"#, "1 node(s); a network needs at least 2"),
        (
            r#"{"nodes": [{"id": 1}, {"id": 1}], "edges": []}"#,
            "id 1 at nodes[1], but nodes[0] has it",
        ),
        (r#"{"nodes": [{"id": 1}, {"id": "1"}], "edges": []}"#, "id \"1\" at nodes[1]"),
        (r#"{"nodes": [{"id": 1}, {"id": 1.5}], "edges": []}"#, "1.5 as nodes[1].id"),
        (r#"{"nodes": [{"id": 1}, {}], "edges": []}"#, "null as nodes[1].id"),
        (r#"{"nodes": [{"id": 1}, 2], "edges": []}"#, "a number at nodes[1]"),
        (r#"{"nodes": [{"id": 1}, {"id": 2, "pos": [1]}], "edges": []}"#, "[1] as nodes[1].pos"),
        (
            r#"{"nodes": [{"id": 1}, {"id": 2, "pos": [1, "2"]}], "edges": []}"#,
            "nodes[1].pos; it must be [longitude, latitude]",
        ),
        (&three(r#""directed": 2, "edges": []"#), "`directed`: 2"),
        (&three(r#""edges": [3]"#), "a number at edges[0]"),
        (&three(r#""edges": [{"source": 1, "dist": 1}]"#), "no edges[0].target"),
        (
            &three(
                r#""edges": [{"source": 1, "target": 2, "dist": 1}, {"source": 1, "target": 17, "dist": 1}]"#,
            ),
            "edges[1].target: there is no node 17",
        ),
        (
            &three(r#""links": [{"source": "y", "target": 2, "dist": 1}]"#),
            "links[0].source: there is no node \"y\"",
        ),
        (
            &three(r#""edges": [{"source": 2, "target": 2, "dist": 1}]"#),
            "from node 2 to itself at edges[0]",
        ),
        (
            &three(r#""edges": [{"source": 1, "target": 2, "weight": 7}]"#),
            "how long the link from node 1 to node 2 at edges[0] is: it has `weight` (7)",
        ),
        (&three(r#""edges": [{"source": 1, "target": 2, "dist": -3}]"#), "-3 as edges[0].dist"),
        (
            &three(r#""edges": [{"source": 1, "target": 2, "dist": "three"}]"#),
            "`three` as edges[0].dist; it must be a length in km",
        ),
        (
            &three(r#""edges": [{"source": 1, "target": 2, "dist": 1e999}]"#),
            "not valid JSON: number out of range at line 1",
        ),
        (
            &three(r#""edges": [{"source": 1, "target": 2, "dist": nan}]"#),
            "not valid JSON: expected ident at line 1",
        ),
        (
            &three(r#""edges": [{"source": 1, "target": 2, "dist": 3}]"#),
            "no path from x (node \"x\") to one (node 1)",
        ),
        (
            r#"{"nodes": [{"id": 1, "pos": [0, 95]}, {"id": 2, "pos": [0, 0]}], "edges": [{"source": 1, "target": 2}]}"#,
            "no edges[0].dist, and `pos` of node 1",
        ),
    ];
    for (text, expected) in cases {
        let error = mistake(text, "self-loops=refuse unreachable=refuse");
        assert!(error.contains(expected), "{text}\n gives: {error}\n not: {expected}");
    }
}

/// A triangle of cities as the Topology Zoo writes one, with a link from Praha to itself and a node
/// without links.
const ZOO: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="Latitude" attr.type="double" for="node" id="d1"/>
  <key attr.name="Longitude" attr.type="double" for="node" id="d2"/>
  <key attr.name="label" attr.type="string" for="node" id="d3"/>
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d9"/>
  <graph edgedefault="undirected">
    <node id="0"><data key="d1">50.08</data><data key="d2">14.42</data><data key="d3">Praha</data></node>
    <node id="1"><data key="d1">48.21</data><data key="d2">16.37</data><data key="d3">Wien</data></node>
    <node id="2"><data key="d1">48.15</data><data key="d2">17.11</data><data key="d3">Bratislava</data></node>
    <node id="3"><data key="d3">None</data></node>
    <edge source="0" target="1"><data key="d9">200000000.0</data></edge>
    <edge source="1" target="2"/>
    <edge source="2" target="0"><data key="d9">50000000.0</data></edge>
    <edge source="0" target="0"/>
  </graph>
</graphml>"#;

#[test]
fn links_have_the_capacity_of_the_file_or_the_rate() {
    let network = read_network(ZOO, "rate=100 load=0.8").unwrap();
    // Each link carries one demand, so the slowest is the most loaded.
    let expected = network.expected_utilisation();
    assert!(
        expected.iter().zip([0.2, 0.2, 0.4, 0.4, 0.8, 0.8]).all(|(a, b)| (a - b).abs() < 1e-12),
        "{expected:?}"
    );
    // So they are in a run, too, and as many packets pass each.
    let results = results(network, 0.0, 5.0, 3);
    let links = results["links"].as_array().unwrap();
    for (link, expected) in links.iter().zip([0.2, 0.2, 0.4, 0.4, 0.8, 0.8]) {
        let found = link["utilisation"].as_f64().unwrap();
        assert!((found - expected).abs() < 0.05 * expected, "{link}");
    }
    // Without what the file says, all are alike.
    let given = parameters("capacity-from=none load=0.8");
    let graph = Reader::new().capacity_from("none").unwrap().read_text(ZOO).unwrap();
    let network = Network::new(Topology::from_graph(graph, &given).unwrap(), &given).unwrap();
    assert_eq!(network.expected_utilisation(), [0.8; 6]);
}

#[test]
fn what_is_assumed_and_dropped_is_said_in_one_line() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("network-zoo.graphml");
    std::fs::write(&file, ZOO).unwrap();
    let topology = format!("topology={}", file.display());
    let notes = Network::notes(&parameters(&topology));
    let (_, said) = notes.iter().find(|(name, _)| *name == "topology").expect("a note");
    assert_eq!(
        said,
        "is GraphML with 4 nodes and 3 links; 1 link from a node to itself is dropped (line 15 of node 0); \
         3 links are as long as the great circles between their ends; 6 of 12 demands have no path and are dropped, \
         50.000 % of the traffic (first from Praha (node \"0\") to 3 (node \"3\")); \
         2 of 6 directions of links have no capacity: 100 Mbit/s"
    );
    let refused =
        |words: &str| Network::configure(&parameters(&format!("{topology} {words}"))).unwrap_err();
    let error = refused("self-loops=refuse");
    assert!(
        error.contains("network-zoo.graphml` has a link from node 0 to itself at line 15"),
        "{error}"
    );
    let error = refused("unreachable=refuse");
    assert!(error.contains("no path from 3 (node \"3\") to Praha (node \"0\")"), "{error}");
    let error = refused("length-from=weight");
    assert!(error.contains("`weight` does not say where the lengths"), "{error}");
    let no_links = r#"{"nodes": [{"id": 1}, {"id": 2}], "edges": []}"#;
    let error = mistake(no_links, "");
    assert!(error.contains("no path for any of the 2 demands"), "{error}");
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

#[test]
fn networks_too_large_are_refused_before_memory_runs_out() {
    let star = |nodes: usize| {
        let list: Vec<String> = (0..nodes).map(|id| format!(r#"{{"id":{id}}}"#)).collect();
        let edges: Vec<String> =
            (1..nodes).map(|id| format!(r#"{{"source":0,"target":{id},"dist":1}}"#)).collect();
        format!(r#"{{"nodes":[{}],"edges":[{}]}}"#, list.join(","), edges.join(","))
    };
    let error = mistake(&star(65_537), "");
    assert!(error.contains("65537 nodes") && error.contains("4295163904 LPs"), "{error}");
    let error = mistake(&star(20_000), "");
    assert!(error.contains("400000000 routes"), "{error}");
}

#[test]
fn parameters_that_do_not_go_together_are_refused() {
    let error = Network::configure(&parameters("sizes=fixed buffer=999")).unwrap_err();
    assert!(error.contains("`buffer` (999 bytes)") && error.contains("1000 bytes"), "{error}");
}

#[test]
fn missing_lengths_are_great_circles() {
    let text = r#"{"nodes": [{"id": "a", "pos": [0, 0]}, {"id": "b", "pos": [90, 0]}, {"id": "c", "pos": [123, 90]}],
        "links": [{"source": "a", "target": "b"}, {"source": "b", "target": "c", "dist": null}]}"#;
    let topology = Topology::parse(text).unwrap();
    let quarter = std::f64::consts::FRAC_PI_2 * 6371.0;
    assert_eq!(topology.links.len(), 4);
    assert!(
        topology.links.iter().all(|link| (link.length - quarter).abs() < 0.001),
        "{:?}",
        topology.links
    );
}

/// The published lengths of edges are great circles too.
#[test]
fn great_circles_agree_with_published_lengths() {
    let text = std::fs::read_to_string(path("topozoo-Abilene")).unwrap();
    let given = Topology::parse(&text).unwrap();
    let worked_out = Topology::parse(&text.replace("\"dist\"", "\"was\"")).unwrap();
    for (a, b) in given.links.iter().zip(&worked_out.links) {
        assert!((a.length - b.length).abs() < 0.01 * a.length, "{} against {}", a.length, b.length);
    }
}

/// A triangle with the edge from 0 to 1 twice, the second time the other way round.
fn twice(more: &str) -> Topology {
    let nodes = r#"[{"id": 0}, {"id": 1}, {"id": 2}]"#;
    let edges = r#"[{"source": 0, "target": 1, "dist": 5}, {"source": 1, "target": 2, "dist": 1}, {"source": 2, "target": 0, "dist": 1},
        {"source": 1, "target": 0, "dist": 3}]"#;
    Topology::parse(&format!(r#"{{"nodes": {nodes}, "edges": {edges}{more}}}"#)).unwrap()
}

#[test]
fn links_named_twice_are_refused() {
    let refused =
        |topology: Topology| Network::new(topology, &parameters("")).map(|_| ()).unwrap_err();
    let remedy = "remove one, or add up their capacities with `duplicates=merge`";
    let message = refused(twice(""));
    assert!(
        message.starts_with(&format!(
            "the topology names the link from 1 to 0 twice, at edges[0] and edges[3]: {remedy}"
        )),
        "{message}"
    );
    // One way only, edges[0] and edges[3] are different links.
    assert!(Network::new(twice(r#", "directed": true"#), &parameters("")).is_ok());
    let again = r#"{"directed": true, "nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, "dist": 1},
        {"source": 1, "target": 0, "dist": 1}, {"source": 1, "target": 0, "dist": 1}]}"#;
    let message = refused(Topology::parse(again).unwrap());
    assert!(message.contains("the link from 1 to 0 twice, at links[1] and links[2]"), "{message}");
    assert!(
        mistake(&again.replace("\"directed\"", "\"multigraph\": 2, \"directed\""), "")
            .contains("says `multigraph`: 2; it must be true or false")
    );
}

#[test]
fn links_named_twice_are_merged_if_told() {
    let network = |topology, words: &str| Network::new(topology, &parameters(words)).unwrap();
    let merged = network(twice(""), "duplicates=merge load=0.6");
    let links: Vec<_> = merged
        .topology()
        .links
        .iter()
        .map(|link| (link.source, link.target, link.lines, link.length))
        .collect();
    assert_eq!(
        links,
        [
            (0, 1, 2, 3.0),
            (1, 0, 2, 3.0),
            (1, 2, 1, 1.0),
            (2, 1, 1, 1.0),
            (2, 0, 1, 1.0),
            (0, 2, 1, 1.0)
        ]
    );
    assert!(merged.topology().nodes.iter().all(|node| node.degree == 2));
    // Every link carries one of the six demands; two lines share theirs.
    assert_eq!(merged.expected_utilisation(), [0.3, 0.3, 0.6, 0.6, 0.6, 0.6]);
    // So does the simulation: two lines send twice as fast, and what the sources offer is the same.
    let results = results(merged, 0.0, 5.0, 3);
    let links = results["links"].as_array().unwrap();
    let utilisation = |i: usize| links[i]["utilisation"].as_f64().unwrap();
    let packets = |i: usize| links[i]["packets"].as_f64().unwrap();
    assert!(
        (utilisation(0) - 0.3).abs() < 0.01 && (utilisation(2) - 0.6).abs() < 0.01,
        "{} and {}",
        utilisation(0),
        utilisation(2)
    );
    assert!(
        (packets(0) / packets(2) - 1.0).abs() < 0.03 && links[0]["lines"] == 2,
        "{} and {}",
        packets(0),
        packets(2)
    );
    // In a multigraph too; without being told, its edges are links of their own.
    let multigraph = || twice(r#", "multigraph": true"#);
    assert_eq!(network(multigraph(), "duplicates=merge").topology().links.len(), 6);
    assert_eq!(network(multigraph(), "").topology().links.len(), 8);
}

#[test]
fn directed_edges_are_one_link_and_parallel_edges_share() {
    let ring = r#"{"directed": true, "multigraph": true, "nodes": [{"id": 0}, {"id": 1}, {"id": 2}], "edges": [
        {"source": 0, "target": 1, "dist": 1, "key": 0}, {"source": 0, "target": 1, "dist": 5, "key": 1},
        {"source": 1, "target": 2, "dist": 1}, {"source": 2, "target": 0, "dist": 1}]}"#;
    let network = Network::new(Topology::parse(ring).unwrap(), &parameters("load=0.6")).unwrap();
    // Each link of the ring carries 3 of the 6 demands; the parallel ones half of that each.
    let expected = network.expected_utilisation();
    assert!(
        expected.iter().zip([0.3, 0.3, 0.6, 0.6]).all(|(a, b)| (a - b).abs() < 1e-12),
        "{expected:?}"
    );
    let degrees: Vec<u32> = network.topology().nodes.iter().map(|node| node.degree).collect();
    assert_eq!(degrees, [3, 3, 2]);
}
