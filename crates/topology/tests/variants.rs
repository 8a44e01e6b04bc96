//! What else the formats allow, and what people write in them.

use warpline_topology::{Format, Graph, Id, Reader};

fn read(text: &str) -> Graph {
    Reader::new().read_text(text).unwrap_or_else(|why| panic!("{text}\n{why}"))
}

fn capacities(graph: &Graph) -> Vec<Option<f64>> {
    graph.links().iter().map(|link| link.capacity).collect()
}

fn pairs(graph: &Graph) -> Vec<(u32, u32)> {
    graph.links().iter().map(|link| (link.source, link.target)).collect()
}

#[test]
fn edges_of_graphml_may_come_first_and_say_their_direction() {
    let graph = read(
        r#"<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns"><g:graph edgedefault="directed">
        <g:edge source="b" target="a"/><g:edge source="a" target="c" directed="false"/>
        <g:node id="a"/><g:node id="b"/><g:node id="c"/></g:graph></g:graphml>"#,
    );
    assert!(graph.is_directed());
    assert_eq!(pairs(&graph), [(1, 0), (0, 2)], "nodes are in the order of their declarations");
    assert_eq!(graph.links().iter().map(|link| link.directed).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn graphml_has_defaults_hyperedges_nested_graphs_and_data_within_data() {
    let graph = read(
        r#"<graphml><key id="k" for="edge" attr.name="capacity"><default>1 Gbps</default></key>
        <key id="l" for="node" attr.name="label"/><key id="y" for="node"/>
        <graph edgedefault="undirected"><node id="a"><data key="l"><![CDATA[A & B]]></data>
        <data key="y"><y:ShapeNode xmlns:y="x"><y:NodeLabel>Yed</y:NodeLabel></y:ShapeNode></data>
        <graph id="inner"><node id="b"/></graph></node>
        <edge source="a" target="b"/><edge source="a" target="b"><data key="k">10GE</data></edge>
        <hyperedge><endpoint node="a"/><endpoint node="b"/></hyperedge></graph></graphml>"#,
    );
    assert_eq!(capacities(&graph), [Some(1e9), Some(1e10)]);
    let mut names: Vec<&str> = graph.nodes().iter().map(|node| node.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["A & B", "b"]);
    let assumed = graph.assumptions().join("; ");
    assert!(
        assumed.contains("1 hyperedge is left out") && assumed.contains("graphs within nodes"),
        "{assumed}"
    );
}

#[test]
fn speeds_of_the_zoo_are_read_from_whichever_attribute_has_them() {
    let edge = |fields: &str| format!("edge [ source 0 target 1 {fields} ]\n");
    let edges = [
        edge(r#"LinkSpeed "2.5" LinkSpeedUnits "G" LinkSpeedRaw 2500000000.0"#),
        edge(r#"LinkSpeed "155" LinkSpeedUnits "M""#),
        edge(r#"LinkSpeed "10-100" LinkLabel "10-100 Mbps""#),
        edge(r#"LinkSpeed "2" LinkLabel "2x STM-1""#),
        edge(r#"LinkLabel "Fibre" LinkType "OC-12""#),
        edge(r#"LinkLabel "Microwave""#),
        edge(r#"LinkLabel "< 622 Mbps >" LinkNote "old""#),
        edge(r#"LinkSpeed "None" LinkSpeedRaw 0"#),
    ];
    let graph =
        read(&format!("graph [ multigraph 1 node [ id 0 ] node [ id 1 ] {} ]", edges.concat()));
    let expected = [
        Some(2.5e9),
        Some(155e6),
        Some(100e6),
        Some(2.0 * 155.52e6),
        Some(12.0 * 51.84e6),
        None,
        Some(622e6),
        None,
    ];
    assert_eq!(capacities(&graph), expected);
    assert!(graph.is_multigraph());
}

#[test]
fn gml_has_remarks_quotes_repeated_keys_and_nested_blocks() {
    let graph = read(
        "# a remark\nCreator \"yFiles [of sorts]\"\nVersion 2.2\ngraph\n[\n  hierarchic 1\n  directed 1\n  Note \"a ] in\n two lines\"\n\
         node [ id 5 label \"Z&uuml;rich &amp; &#233;t&#233;\" graphics [ x 1.0 y 2.0 fill [ r 1 ] ] Type \"a\" Type \"b\" ]\n\
         node [ id -1 name \"M\u{fc}nchen\" Longitude 11.58 Latitude 48.14 ]\n\
         edge [ source 5 target -1 graphics [ Line [ point [ x 1 ] ] ] dist 240.5 ]\n]\nmore [ a [ b 1 ] ]\n",
    );
    assert_eq!(graph.format(), Format::Gml);
    assert!(graph.is_directed() && graph.links()[0].directed);
    assert_eq!(graph.nodes()[1].id, Id::Number(-1));
    assert_eq!(graph.nodes()[1].name, "München");
    assert_eq!(
        graph.nodes()[0].name,
        "Z&uuml;rich &amp; &#233;t&#233;",
        "one unknown reference: as it is"
    );
    assert_eq!(graph.nodes()[1].position.map(|at| at.latitude), Some(48.14));
    assert_eq!(graph.links()[0].length, Some(240.5));
}

#[test]
fn sndlib_has_pixels_modules_and_sections_that_do_not_matter() {
    let graph = read(
        "?SNDlib native format; type: network; version: 1.0\n# di-yuan\nMETA (\n granularity = year\n)\nNODES (\n a ( 1200.00 430.00 )\n b ( 10.00 20.00 )\n)\n\
         LINKS (\n l ( a b ) 0.00 1.00 2.00 3.00 ( 0.00 0.00 622.00 9.00 155.00 3.00 )\n)\n\
         ADMISSIBLE_PATHS (\n d (\n P ( l )\n )\n)\nDEMANDS (\n d ( a z ) 1 5.00 UNLIMITED\n)\n",
    );
    assert_eq!(capacities(&graph), [Some(155e6)]);
    assert!(graph.nodes().iter().all(|node| node.position.is_none()));
    let assumed = graph.assumptions().join("; ");
    assert!(
        assumed.contains("coordinates are no degrees: not used (those of \"a\" in line 7)"),
        "{assumed}"
    );
    // A mistake in demands concerns only who wants them.
    let error = graph.demands().unwrap_err().to_string();
    assert!(error.contains("line 19: there is no node \"z\""), "{error}");
    let xml = "<network><networkStructure><nodes coordinatesType=\"pixel\"><node id=\"a\"><coordinates><x>1</x><y>2</y></coordinates></node>\
               <node id=\"b\"/></nodes><links/></networkStructure></network>";
    assert_eq!(read(xml).assumptions(), ["coordinates are pixels: not used"]);
}

#[test]
fn latin_1_is_read_where_xml_declares_it() {
    let mut bytes =
        b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><graphml><graph><node id=\"Z".to_vec();
    bytes.extend(b"\xfcrich\"/><node id=\"b\"/></graph></graphml>");
    assert_eq!(Reader::new().read_bytes(&bytes).unwrap().nodes()[0].name, "Zürich");
}

#[test]
fn json_of_other_programs_is_read() {
    // D3: no ids, links by place.
    let graph = read(
        r#"{"nodes": [{"name": "a"}, {"name": "b"}], "links": [{"source": 0, "target": 1, "value": 4}]}"#,
    );
    assert_eq!((pairs(&graph), graph.nodes()[1].name.as_str()), (vec![(0, 1)], "b"));
    // Links by name.
    let graph = read(
        r#"{"nodes": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "edges": [{"from": "b", "to": "a"}]}"#,
    );
    assert_eq!(pairs(&graph), [(1, 0)]);
    assert_eq!(graph.assumptions(), ["links name nodes by their names, not their ids"]);
    // Ids and pairs alone.
    let graph = read(
        r#"{"nodes": ["a", "b", "c"], "edges": [["a", "b"], ["c", "b", {"capacity": "2 Gbps"}]]}"#,
    );
    assert_eq!((pairs(&graph), capacities(&graph)), (vec![(0, 1), (2, 1)], vec![None, Some(2e9)]));
    // The JSON Graph Format.
    let graph = read(
        r#"{"graph": {"directed": true, "nodes": {"a": {"label": "A", "metadata": {"lat": 1, "lon": 2}}, "b": {}},
            "edges": [{"source": "a", "target": "b", "metadata": {"length_km": 7, "delay": "3 ms"}}]}}"#,
    );
    assert_eq!((graph.format(), graph.nodes()[0].name.as_str()), (Format::JsonGraph, "A"));
    assert_eq!(graph.nodes()[0].position.map(|at| at.longitude), Some(2.0));
    assert_eq!((graph.links()[0].length, graph.links()[0].delay), (Some(7.0), Some(3e-3)));
    assert!(graph.links()[0].directed);
    // graphology.
    let graph = read(
        r#"{"nodes": [{"key": "a", "attributes": {"label": "A"}}, {"key": "b"}],
            "edges": [{"source": "a", "target": "b", "attributes": {"bandwidth_mbps": 40}}]}"#,
    );
    assert_eq!((graph.nodes()[0].name.as_str(), capacities(&graph)), ("A", vec![Some(40e6)]));
    // Cytoscape, as one list.
    let graph = read(
        r#"{"elements": [{"data": {"id": "a"}}, {"data": {"id": "b"}}, {"data": {"id": "e", "source": "b", "target": "a"}}]}"#,
    );
    assert_eq!((graph.format(), pairs(&graph)), (Format::Cytoscape, vec![(1, 0)]));
    // A multigraph as networkx lists its adjacency: each of two links twice.
    let graph = read(
        r#"{"directed": false, "multigraph": true, "graph": [], "nodes": [{"id": 0}, {"id": 1}],
            "adjacency": [[{"id": 1, "key": 0}, {"id": 1, "key": 1}], [{"id": 0, "key": 0}, {"id": 0, "key": 1}]]}"#,
    );
    assert_eq!(pairs(&graph), [(0, 1), (0, 1)]);
}

#[test]
fn lists_of_edges_have_any_separator_and_perhaps_a_header() {
    let semicolons = read("From;To;Length (m);bw\nA;B;1500;3 Mbps\n");
    assert_eq!(
        (semicolons.links()[0].length, capacities(&semicolons)),
        (Some(1.5), vec![Some(3e6)])
    );
    let tabs = read("\u{feff}# FromNodeId\tToNodeId\r\n0\t1\r\n1\t2\r\n");
    assert_eq!((pairs(&tabs), tabs.nodes()[2].id.clone()), (vec![(0, 1), (1, 2)], Id::Number(2)));
    assert_eq!(
        tabs.assumptions(),
        ["there is no header: the first two columns are the ends of a link"]
    );
    let blanks = read("u v 10\nv  c 20\n");
    assert_eq!(blanks.number(1, "column 3"), Some(20.0));
    let networkx = read("a b {}\nb c {}\n");
    assert_eq!(pairs(&networkx), [(0, 1), (1, 2)]);
    let quoted = read("source,target\n\"Praha, region\",\"Wien\"\n");
    assert_eq!(quoted.nodes()[0].name, "Praha, region");
    let gephi =
        read("Source,Target,Type,Id,Label,Weight\n0,1,Directed,0,,1.0\n1,2,Undirected,1,,2.5\n");
    assert_eq!(gephi.links().iter().map(|link| link.directed).collect::<Vec<_>>(), [true, false]);
    assert_eq!(gephi.links()[1].weight, Some(2.5));
}

#[test]
fn a_delay_makes_a_length_and_an_idle_weight_is_said() {
    let mut graph = read("source,target,delay_ms\na,b,5\n");
    graph.fill_lengths(100.0).unwrap();
    assert_eq!(graph.links()[0].length, Some(1000.0));
    let mut graph = read(
        r#"{"nodes": [{"id": 1, "pos": [0, 0]}, {"id": 2, "pos": [1, 0]}], "edges": [{"source": 1, "target": 2, "length": 5}]}"#,
    );
    graph.fill_lengths(100.0).unwrap();
    assert!((graph.links()[0].length.unwrap() - 111.195).abs() < 0.001, "a degree of the equator");
    assert!(graph.assumptions().join("; ").contains("`length` of links is not used"));
}

#[test]
fn dropping_self_loops_keeps_what_is_known_of_other_links() {
    let mut graph = read("u,v,use,weight\na,a,1,10\na,b,2,20\nb,b,3,30\nb,c,4,40\n");
    graph.drop_self_loops();
    assert_eq!(pairs(&graph), [(0, 1), (1, 2)]);
    assert_eq!([graph.place(0), graph.place(1)], ["line 3", "line 5"]);
    assert_eq!([graph.number(0, "use"), graph.number(1, "use")], [Some(2.0), Some(4.0)]);
    assert_eq!(
        graph.assumptions(),
        ["2 links from a node to itself are dropped (first line 2 of node a)"]
    );
    let error = graph.fill_lengths(1.0).unwrap_err().to_string();
    assert!(error.contains("at line 3 is: it has `weight` (20)"), "{error}");
}

/// Work grows with the size of a file, not with its square, whatever is repeated in it.
#[test]
fn files_of_many_links_names_or_values_take_no_time() {
    let start = std::time::Instant::now();
    const MANY: usize = 100_000;
    let edges: String = (0..MANY).map(|i| format!("{} {}\n", i % 1000, i / 1000)).collect();
    assert_eq!(read(&edges).links().len(), MANY);
    let own_names: Vec<String> = (0..MANY)
        .map(|i| format!("{{\"source\": 0, \"target\": 1, \"dist\": 1, \"n{i}\": {i}}}"))
        .collect();
    let text = format!(
        "{{\"nodes\": [{{\"id\": 0}}, {{\"id\": 1}}], \"edges\": [{}]}}",
        own_names.join(",")
    );
    assert_eq!(read(&text).number(777, "n777"), Some(777.0));
    let values: String = (0..MANY).map(|i| format!("k{i} 1 ")).collect();
    let error = Reader::new()
        .read_text(&format!("graph [ node [ id 1 {values} ] ]"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("more than 1000 values"), "{error}");
    let attributes: String = (0..MANY).map(|i| format!("a{i}=\"\" ")).collect();
    let error = Reader::new()
        .read_text(&format!("<graphml><graph><node {attributes}/></graph></graphml>"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("more than 100 attributes"), "{error}");
    let keys: String = (0..MANY).map(|i| format!("<key id=\"{i}\"/>")).collect();
    let error =
        Reader::new().read_text(&format!("<graphml>{keys}</graphml>")).unwrap_err().to_string();
    assert!(error.contains("more than 1000 keys"), "{error}");
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}
