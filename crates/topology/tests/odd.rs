//! Small files in the shapes in which people have their networks, and what becomes of each.

use std::path::{Path, PathBuf};

use warpline_topology::{Coordinates, Format, Graph, Id, ReadError, Reader};

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/odd").join(file)
}

fn read(file: &str) -> Graph {
    Reader::new().read_file(path(file)).unwrap_or_else(|why| panic!("{file}: {why}"))
}

fn refused(file: &str) -> String {
    Reader::new().read_file(path(file)).map(|_| ()).expect_err(file).to_string()
}

/// Reads a file and fills it in as a packet network would; and what was assumed.
fn filled(file: &str) -> (Graph, String) {
    let mut graph = read(file);
    graph.drop_self_loops();
    graph.fill_lengths(100.0).unwrap_or_else(|why| panic!("{file}: {why}"));
    graph.fill_capacities(1e8, "100 Mbit/s");
    let assumed = graph.assumptions().join("; ");
    (graph, assumed)
}

/// The links as pairs of ids.
fn ends(graph: &Graph) -> Vec<(String, String)> {
    let id = |node: u32| graph.nodes()[node as usize].id.to_string();
    graph.links().iter().map(|link| (id(link.source), id(link.target))).collect()
}

fn capacities(graph: &Graph) -> Vec<Option<f64>> {
    graph.links().iter().map(|link| link.capacity).collect()
}

#[test]
fn graphml_of_the_zoo_has_names_places_and_speeds_in_words() {
    let graph = read("ring.graphml");
    assert_eq!(graph.format(), Format::GraphMl);
    assert!(graph.is_multigraph() && !graph.is_directed());
    assert_eq!(graph.nodes().len(), 5);
    assert_eq!(graph.nodes()[0].name, "Praha");
    assert_eq!(graph.nodes()[0].position, Some(Coordinates { longitude: 14.42, latitude: 50.08 }));
    assert_eq!(graph.nodes()[3].position, None);
    assert_eq!(graph.nodes()[4].name, "4", "`None` is no name");
    assert_eq!(
        capacities(&graph),
        [Some(1e10), Some(2.5e9), Some(16.0 * 155.52e6), None, Some(155e6), None]
    );
    let (graph, assumed) = filled("ring.graphml");
    assert_eq!(graph.links().len(), 5);
    for said in [
        "1 link from a node to itself is dropped (line 26 of node 2)",
        "4 links are as long as the great circles between their ends",
        "1 link has no length: 100 km (line 25, from node 2 to node 3)",
        "1 link has no capacity: 100 Mbit/s",
    ] {
        assert!(assumed.contains(said), "{assumed}\n lacks: {said}");
    }
}

#[test]
fn gml_of_the_zoo_has_character_references_and_raw_speeds() {
    let graph = read("pair.gml");
    assert_eq!(graph.format(), Format::Gml);
    assert_eq!(graph.nodes()[0].name, "Praha & region");
    assert_eq!(graph.nodes()[2].id, Id::Number(7));
    assert_eq!(capacities(&graph), [Some(2.5e9), None]);
    let (graph, assumed) = filled("pair.gml");
    assert!((graph.links()[0].length.unwrap() - 251.0).abs() < 2.0);
    assert!(assumed.contains("no length: 100 km (line 29, from node 1 to node 7)"), "{assumed}");
}

#[test]
fn both_formats_of_sndlib_say_the_same() {
    for (file, format) in
        [("triangle.sndlib.xml", Format::SndlibXml), ("triangle.sndlib.txt", Format::SndlibNative)]
    {
        let (graph, assumed) = filled(file);
        assert_eq!(graph.format(), format);
        assert_eq!(ends(&graph)[1], ("Wien".into(), "Bratislava".into()));
        let third = if format == Format::SndlibXml { 1e8 } else { 155e6 };
        let second = if format == Format::SndlibXml { 155e6 } else { 1e8 };
        assert_eq!(capacities(&graph), [Some(40e6), Some(second), Some(third)], "{file}");
        assert!(assumed.contains("1 link has no capacity installed: it gets its smallest module"));
        assert!(assumed.contains("no unit: read as Mbit/s"), "{assumed}");
        let demands = graph.demands().unwrap().unwrap();
        let values: Vec<_> = demands.iter().map(|d| (d.source, d.target, d.value)).collect();
        assert_eq!(values, [(0, 2, 12.5), (1, 0, 3.0)]);
    }
}

#[test]
fn a_list_of_edges_has_units_in_its_cells_and_its_header() {
    let (graph, assumed) = filled("edges.csv");
    assert_eq!(graph.format(), Format::EdgeList);
    assert_eq!(ends(&graph)[2], ("Bratislava".into(), "Praha".into()));
    assert_eq!(capacities(&graph), [Some(1e10), Some(2.5e9), Some(1e8)]);
    assert_eq!(graph.links()[1].length, Some(55.1));
    assert_eq!(assumed, "1 link has no capacity: 100 Mbit/s");
}

#[test]
fn other_shapes_of_json_are_the_same_grid() {
    let mut grid: Vec<(usize, usize)> = (0..9)
        .flat_map(|i| [(i, i + 3), (i, i + 1)])
        .filter(|&(a, b)| b < 9 && (b == a + 3 || b % 3 > 0))
        .collect();
    grid.sort_unstable();
    for file in ["adjacency.json", "cyto.json", "grid_edges.json", "float_target.json"] {
        let graph = read(file);
        let mut links: Vec<(usize, usize)> = graph
            .links()
            .iter()
            .map(|link| {
                (link.source.min(link.target) as usize, link.source.max(link.target) as usize)
            })
            .collect();
        links.sort_unstable();
        assert_eq!(links, grid, "{file}");
        assert!(graph.links().iter().all(|link| link.length == Some(10.0)), "{file}");
        assert!(graph.assumptions().is_empty(), "{file}: {:?}", graph.assumptions());
    }
    assert_eq!(read("grid_edges.json").nodes()[4].id, Id::Text("(1, 1)".into()));
}

#[test]
fn links_may_name_nodes_by_their_place() {
    let graph = read("nx1_index.json");
    assert_eq!(ends(&graph), [("a".into(), "b".into()), ("b".into(), "c".into())]);
    assert_eq!(graph.assumptions(), ["links name nodes by their place in the list, from 0"]);
}

#[test]
fn what_is_plain_runs_and_is_said() {
    let (graph, assumed) = filled("nanpos.json");
    assert_eq!(graph.nodes()[1].position, None);
    assert!(assumed.contains("1 value is NaN or Infinity: taken as missing"), "{assumed}");
    assert!(assumed.contains("no length: 100 km (edges[0], from node x to node y)"), "{assumed}");
    let (graph, assumed) = filled("zoo_attrs.json");
    assert!((graph.links()[0].length.unwrap() - 1145.0).abs() < 5.0, "{:?}", graph.links());
    assert!(
        assumed.contains("1 link is as long as the great circle between its ends"),
        "{assumed}"
    );
    assert_eq!(filled("strdist.json").0.links()[0].length, Some(10.0));
    assert!(!read("dir0.json").is_directed());
    let (graph, assumed) = filled("selfloop.json");
    assert_eq!(graph.links().len(), 12);
    assert!(
        assumed.contains("1 link from a node to itself is dropped (edges[12] of node 0)"),
        "{assumed}"
    );
    assert!(
        read("selfloop.json")
            .refuse_self_loops()
            .unwrap_err()
            .to_string()
            .contains("from node 0 to itself at edges[12]")
    );
    assert_eq!(read("isolated.json").nodes().len(), 10);
}

#[test]
fn a_weight_is_no_length_until_somebody_says_so() {
    let fill = |reader: Reader| -> Result<Graph, ReadError> {
        let mut graph = reader.read_file(path("weight.json"))?;
        graph.fill_lengths(100.0)?;
        Ok(graph)
    };
    let error = fill(Reader::new()).unwrap_err().to_string();
    assert!(
        error.contains(
            "weight.json` does not say how long the link from node x to node y at edges[0] is"
        ) && error.contains("`weight` (3)")
            && error.contains("`length-from=weight:km`"),
        "{error}"
    );
    let length =
        |given: &str| fill(Reader::new().length_from(given).unwrap()).unwrap().links()[0].length;
    assert_eq!(length("weight:km"), Some(3.0));
    assert_eq!(length("weight:ms"), Some(600.0), "3 ms at 200 000 km/s");
    assert_eq!(length("none"), Some(100.0));
}

#[test]
fn what_contradicts_itself_is_refused_by_name() {
    let both = refused("both_keys_edges_empty.json");
    assert!(both.contains("both `edges` (0) and `links` (12)"), "{both}");
    let twice = refused("dupkeys.json");
    assert!(twice.contains("the key \"nodes\" is there twice"), "{twice}");
    let latin = refused("latin1.json");
    assert!(latin.contains("byte 18, in line 1, is 0xfc") && latin.contains("iconv"), "{latin}");
}
