//! Reading topologies, and the analytic loads of their links against the published ones.

use std::path::Path;

use crate::network_support::{
    assert_loads, files, mistake, parameters, path, read_network, results, three,
};
use warpline::Configure;
use warpline_models::network::{Network, Topology};
use warpline_topology::Reader;

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
