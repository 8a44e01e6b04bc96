//! What the tests of the network model share.

use std::path::{Path, PathBuf};

use warpline::prelude::*;
use warpline::serde_json::{Value, from_str};
use warpline::{ParameterError, Parameters};
use warpline_models::network::{Network, NetworkParameters, Topology};
use warpline_testkit::time_limit;
use warpline_topology::Reader;

/// The topologies that lie beside the tests.
pub(crate) const TOPOLOGIES: [&str; 4] =
    ["sndlib-geant", "sndlib-nobel-eu", "sndlib-polska", "topozoo-Abilene"];

pub(crate) fn path(topology: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/topologies/{topology}.json"))
}

/// The files beside the tests, and those of the folder that `WARPLINE_TOPOLOGIES` names.
pub(crate) fn files() -> Vec<PathBuf> {
    let folder = std::env::var_os("WARPLINE_TOPOLOGIES");
    let more = folder
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"))
        .flatten()
        .map(|entry| entry.path());
    let mut more: Vec<PathBuf> =
        more.filter(|path| path.extension().is_some_and(|ext| ext == "json")).collect();
    more.sort();
    TOPOLOGIES.iter().map(|name| path(name)).chain(more).collect()
}

/// The loads of all links that a file publishes, in percent of the most loaded one: for each edge,
/// forth and back.
pub(crate) fn truth(file: &Path, demand: &str) -> Vec<f64> {
    let json: Value = from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let edges = json["edges"].as_array().unwrap();
    edges
        .iter()
        .flat_map(|edge| ["ecmp_fwd", "ecmp_bwd"].map(|way| edge[way][demand].as_f64().unwrap()))
        .collect()
}

/// Parameters from `name=value` words.
pub(crate) fn parameters(words: &str) -> NetworkParameters {
    let mut parameters = NetworkParameters::default();
    for word in words.split_whitespace() {
        let (name, value) = word.split_once('=').unwrap();
        let set: Result<(), ParameterError> = parameters.set(name, value);
        set.unwrap_or_else(|why| panic!("{word}: {why}"));
    }
    parameters
}

/// The network of a topology beside the tests.
pub(crate) fn network(topology: &str, words: &str) -> Network {
    Network::new(Topology::from_file(path(topology)).unwrap(), &parameters(words)).unwrap()
}

/// A chain of nodes `0 - 1 - … - links`, each link `km` long, with one demand from its start to its
/// end.
pub(crate) fn chain(links: usize, km: f64, words: &str) -> Network {
    let nodes: Vec<String> = (0..=links).map(|id| format!(r#"{{"id": {id}}}"#)).collect();
    let edges: Vec<String> = (0..links)
        .map(|i| format!(r#"{{"source": {i}, "target": {}, "dist": {km}}}"#, i + 1))
        .collect();
    let nodes = nodes.join(",");
    let edges = edges.join(",");
    let text = format!(
        r#"{{"graph": {{"demands": {{"0": {{"{links}": 1}}}}}}, "nodes": [{nodes}], "edges": [{edges}]}}"#
    );
    Network::new(
        Topology::parse(&text).unwrap(),
        &parameters(&format!("demand=file demand-directions=listed {words}")),
    )
    .unwrap()
}

/// The results of a run from `warmup` to `end`, in s.
pub(crate) fn results(network: Network, warmup: f64, end: f64, seed: u64) -> Value {
    let _limit = time_limit((warmup, end, seed));
    Simulation::new(network).warmup(warmup).end(end).seed(seed).run().unwrap().record.results.into()
}

/// Mean and half-width of the 99.9 % interval of independent values; 10 of them.
pub(crate) fn interval(values: [f64; 10]) -> (f64, f64) {
    const STUDENT_T_9: f64 = 4.781;
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, STUDENT_T_9 * (variance / n).sqrt())
}

/// The network of `text`.
pub(crate) fn read_network(text: &str, words: &str) -> Result<Network, String> {
    let parameters = parameters(words);
    let graph = Reader::new().read_text(text).map_err(|why| why.to_string())?;
    Topology::from_graph(graph, &parameters)
        .and_then(|topology| Network::new(topology, &parameters))
}

/// Why no network can be made of `text`.
pub(crate) fn mistake(text: &str, words: &str) -> String {
    read_network(text, words).map(|_| ()).unwrap_err()
}

/// A file of three nodes with this as its other fields.
pub(crate) fn three(fields: &str) -> String {
    format!(r#"{{"nodes": [{{"id": 1, "name": "one"}}, {{"id": 2}}, {{"id": "x"}}], {fields}}}"#)
}

/// The loads of a network are those that its file publishes for this demand.
pub(crate) fn assert_loads(network: &Network, file: &Path, demand: &str) {
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
