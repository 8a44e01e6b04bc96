//! Files that are no topology, or a broken one: each is refused at once, with what is wrong and
//! where.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use warpline_topology::Reader;

/// In debug builds and on loaded machines, too.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Why these bytes are refused.
fn refused(what: &str, bytes: &[u8]) -> String {
    let start = Instant::now();
    let refused = Reader::new().read_bytes(bytes);
    let took = start.elapsed();
    assert!(took < AT_ONCE, "{what}: took {took:?}");
    match refused {
        Ok(graph) => {
            panic!("{what} is read as {} with {} links", graph.format(), graph.links().len())
        }
        Err(why) => why.to_string(),
    }
}

fn check(cases: &[(&str, &str, &str)]) {
    for (what, text, expected) in cases {
        let error = refused(what, text.as_bytes());
        assert!(error.contains(expected), "{what}\n gives: {error}\n not: {expected}");
    }
}

/// GraphML with this in its graph.
fn graphml(content: &str) -> String {
    format!(
        "<graphml>\n<key id=\"d0\" for=\"edge\" attr.name=\"capacity\"/>\n<graph edgedefault=\"undirected\">\n\
         <node id=\"a\"/><node id=\"b\"/>\n{content}\n</graph></graphml>"
    )
}

#[test]
fn what_is_no_text_says_what_it_is() {
    let cases: [(&[u8], &str); 9] = [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (&[0xef, 0xbb, 0xbf], "is empty"),
        (b"{\"nodes\": [\0]}", "is no text: byte 11 is 0"),
        (&[0x1f, 0x8b, 8, 0], "gunzip"),
        (b"PK\x03\x04abc", "ZIP archive"),
        (&[0xff, 0xfe, b'{', 0], "is UTF-16"),
        (b"{\"nodes\":\n \"Z\xfcrich\"", "byte 13, in line 2, is 0xfc"),
        (b"%PDF-1.4 x y", "is a PDF"),
    ];
    for (bytes, expected) in cases {
        let error = refused(expected, bytes);
        assert!(error.contains(expected), "{error}\n not: {expected}");
    }
}

#[test]
fn folders_missing_files_and_endless_devices_are_refused() {
    let read = |path: &str| Reader::new().read_file(PathBuf::from(path)).unwrap_err().to_string();
    assert!(read(env!("CARGO_MANIFEST_DIR")).contains("is a folder"));
    assert!(read("/no/such/file.gml").contains("`/no/such/file.gml` cannot be read: No such file"));
    #[cfg(target_os = "linux")]
    assert!(read("/dev/zero").contains("is no text: byte 0 is 0"));
}

#[test]
fn entities_are_never_expanded() {
    let laughs: String = (1..30)
        .map(|i| format!("<!ENTITY l{i} \"{}\">", format!("&l{};", i - 1).repeat(10)))
        .collect();
    let document = |entities: &str, used: &str| {
        format!(
            "<!DOCTYPE graphml [{entities}]><graphml><graph><node id=\"{used}\"/></graph></graphml>"
        )
    };
    check(&[
        (
            "billion laughs",
            &document(&format!("<!ENTITY l0 \"ha\">{laughs}"), "&l29;"),
            "defines entities",
        ),
        (
            "a circle",
            &document("<!ENTITY a \"&b;\"><!ENTITY b \"&a;\">", "&a;"),
            "defines entities",
        ),
        (
            "a file",
            &document("<!ENTITY a SYSTEM \"file:///etc/passwd\">", "&a;"),
            "defines entities",
        ),
        (
            "unknown",
            &graphml("<node id=\"c\"><data key=\"d0\">&nosuch;</data></node>"),
            "the entity `&nosuch;` in line 5",
        ),
        ("unknown in an attribute", &graphml("<node id=\"&nosuch;\"/>"), "in line 5"),
    ]);
    let plain =
        "<!DOCTYPE graphml SYSTEM \"http://graphml.graphdrawing.org/dtds/1.0rc/graphml.dtd\">";
    let text = format!(
        "{plain}{}",
        graphml("<node id=\"c&amp;&#100;\"/><edge source=\"a\" target=\"b\"/>")
    );
    let graph = Reader::new().read_text(&text).unwrap();
    assert_eq!(graph.nodes()[2].name, "c&d");
}

#[test]
fn deep_nesting_is_refused_in_every_format() {
    const DEEP: usize = 300_000;
    let cases = [
        ("JSON", "[".repeat(DEEP), "nested far deeper"),
        ("JSON objects", "{\"a\":".repeat(DEEP), "nested far deeper"),
        (
            "XML",
            format!("<graphml>{}", "<a>".repeat(DEEP)),
            "more than 100 elements within each other",
        ),
        (
            "GML",
            format!("graph [ {}", "a [ ".repeat(DEEP)),
            "more than 100 lists within each other",
        ),
        ("SNDlib", format!("NODES ( {}", "( ".repeat(DEEP)), "where an id is expected"),
    ];
    for (what, text, expected) in cases {
        let error = refused(what, text.as_bytes());
        assert!(error.contains(expected), "{what}\n gives: {error}\n not: {expected}");
    }
}

/// Every whole file is cut off at every character: none is read, none panics.
#[test]
fn files_that_are_cut_off_are_refused_wherever_it_is() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/odd");
    for file in ["ring.graphml", "pair.gml", "triangle.sndlib.xml", "cyto.json", "nanpos.json"] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let text = text.trim_end();
        for (end, _) in text.char_indices() {
            let part = &text[..end];
            assert!(
                Reader::new().read_text(part).is_err(),
                "{file} up to {end}: …{}",
                &part[part.len().saturating_sub(20)..]
            );
        }
        assert!(Reader::new().read_text(text).is_ok());
    }
}

#[test]
fn xml_names_the_line() {
    check(&[
        (
            "a page",
            "<html><body>404</body></html>",
            "whose root is `html`, which is no topology; expected GraphML",
        ),
        ("GEXF", "<gexf><graph/></gexf>", "whose root is `gexf`"),
        ("no graph", "<graphml></graphml>", "GraphML without a `<graph>`"),
        ("two graphs", "<graphml><graph/>\n<graph/></graphml>", "a second `<graph>` in line 2"),
        ("mixed tags", &graphml("<edge source=\"a\" target=\"b\"></node>"), "line 5"),
        ("no target", &graphml("\n<edge source=\"a\"/>"), "a `<edge>` without `target` in line 6"),
        (
            "no such node",
            &graphml("<edge source=\"a\" target=\"c\"/>"),
            "in line 5: `target` is \"c\", but there is no node \"c\"",
        ),
        (
            "an id twice",
            &graphml("<node id=\"a\"/>"),
            "the id \"a\" at line 5, but line 4 has it already",
        ),
        (
            "an unknown key",
            &graphml("<edge source=\"a\" target=\"b\"><data key=\"d9\">1</data></edge>"),
            "key `d9` in line 5",
        ),
        (
            "wrong unit",
            &graphml("<edge source=\"a\" target=\"b\">\n<data key=\"d0\">10 parsecs</data></edge>"),
            "has `10 parsecs` as `capacity` in line 5; it must be a bit rate such as `10 Gbps`",
        ),
        (
            "wrong unit",
            &graphml("<edge source=\"a\" target=\"b\"><data key=\"d0\">-4</data></edge>"),
            "(the link from node \"a\" to node \"b\")",
        ),
        (
            "SNDlib without an id",
            "<network>\n<link><source>a</source></link></network>",
            "a `<link>` without `id` in line 2",
        ),
        (
            "SNDlib with a word",
            "<network><nodes><node id=\"a\"><coordinates><x>east</x></coordinates></node></nodes></network>",
            "has `east` as `<x>` of a (line 1)",
        ),
        ("SNDlib without nodes", "<network/>", "has 0 node(s)"),
    ]);
}

#[test]
fn gml_names_the_line() {
    let gml = |content: &str| format!("graph [\n node [ id 1 ]\n node [ id 2 ]\n{content}\n]\n");
    check(&[
        ("no id", &gml("node [ label \"x\" ]"), "a node without `id` in line 4"),
        ("an id twice", &gml("node [ id 2 ]"), "the id 2 at line 4, but line 3"),
        ("two ids", &gml("node [ id 3 id 4 ]"), "`id` twice in the list of line 4"),
        ("no source", &gml("edge [ target 1 ]"), "an edge without `source` in line 4"),
        ("no such node", &gml("edge [ source 1 target 9 ]"), "in line 4: `target` is \"9\""),
        ("open quotes", &gml("edge [ label \"x ]"), "without closing quotes, from line 4 on"),
        ("a bracket too many", &gml("]"), "a `]` too many in line 5"),
        ("no value", "graph [ directed ]", "has `]` in line 1, where a value is expected"),
        ("directed", &gml("directed maybe"), "`directed maybe` in line 4; it must be 0 or 1"),
        (
            "wrong unit",
            &gml("edge [ source 1 target 2\n capacity \"3 GB\" ]"),
            "has `3 GB` as `capacity` in line 4",
        ),
        (
            "wrong length",
            &gml("edge [ source 1 target 2 dist -1 ]"),
            "has `-1` as `dist` in line 4; it must be a length",
        ),
        (
            "a wrong place",
            "graph [ node [ id 1 Latitude \"north\" ] ]",
            "has `north` as Latitude of node 1 at line 1",
        ),
    ]);
}

#[test]
fn native_files_of_sndlib_name_the_line() {
    let native = |links: &str| {
        format!("?SNDlib native format\nNODES (\n a ( 1 2 )\n b ( 3 4 )\n)\nLINKS (\n{links}\n)\n")
    };
    check(&[
        ("cut off", "?SNDlib native format\nNODES (\n a ( 1", "ends too early, in line 3"),
        ("no nodes", "?SNDlib native format; type: network\n", "has no section `NODES ( … )`"),
        ("one end", &native("l ( a ) 1 0 0 0 ( )"), "has `1` in line 7, where `)` is expected"),
        (
            "a word",
            &native("l ( a b ) fast 0 0 0 ( )"),
            "has `fast` in line 7, where a capacity is expected",
        ),
        (
            "half a module",
            &native("l ( a b ) 1 0 0 0 ( 155.0 )"),
            "where the cost of a module is expected",
        ),
        ("no such node", &native("l ( a c ) 1 0 0 0 ( )"), "in line 7: `target` is \"c\""),
        (
            "less than nothing",
            &native("l ( a b ) -1 0 0 0 ( )"),
            "-1 as the capacity of a link in line 7",
        ),
    ]);
}

#[test]
fn lists_of_edges_name_line_and_column() {
    check(&[
        ("prose", "Hello!", "is no topology: line 1 is \"Hello!\"; expected GraphML"),
        ("remarks", "# nothing\n", "has nothing but remarks"),
        (
            "sentences",
            "Two words\nand three more\n",
            "is no list of edges: line 2 has 3 columns, but the first has 2; expected GraphML",
        ),
        (
            "an unknown header",
            "city,other,length\na,b,1\n",
            "has `length` in line 1, which is no number; if that line is a header",
        ),
        ("no target", "source,target\na,b\nc,\n", "has no target in line 3 (column 2)"),
        ("too many", "source,target\na,b,3\n", "has 3 columns in line 2, but 2 in its header"),
        (
            "a wrong unit",
            "source,target,capacity\na,b,1 Gbps\nb,c,5 apples\n",
            "has `5 apples` as `capacity` in line 3",
        ),
        (
            "a wrong kind",
            "source,target,type\na,b,sideways\n",
            "`sideways` in line 2 (column `type`)",
        ),
        ("a dictionary", "a b {'weight': 3}\n", "a Python dictionary in line 1"),
        ("one node", "a a\n", "has 1 node(s)"),
    ]);
}
