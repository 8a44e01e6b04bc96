//! Packet hops per second of `network` on a large topology.

use warpline::{Parameters, Simulation, Synchronisation};
use warpline_bench::measuring::{alternate, tell};
use warpline_models::network::{Network, NetworkParameters};

/// Model time of a run.
pub(crate) const END: &str = "20";

/// Prints the rate of the sequential engine. `topology` is a file; without one, a grid of 12 by 12
/// nodes is made.
pub(crate) fn compare(topology: Option<&str>) {
    let hops = on_topology(topology, |path| alternate(&[vec!["network", path, END]]));
    println!(
        "network, {}",
        topology.unwrap_or("a grid of 12 by 12 nodes, demand between all pairs")
    );
    println!(
        "{:>8.2} million packet hops per second, {:.0} MB\n",
        hops[0].rate / 1e6,
        hops[0].memory / 1e6
    );
}

/// Calls a function with the file of a topology, or that of a grid that is made for it.
pub(crate) fn on_topology<T>(topology: Option<&str>, work: impl FnOnce(&str) -> T) -> T {
    if let Some(topology) = topology {
        return work(topology);
    }
    let made =
        std::env::temp_dir().join(format!("warpline-bench-grid-{}.json", std::process::id()));
    std::fs::write(&made, grid(12)).expect("the temporary directory can be written");
    let done = work(&made.to_string_lossy());
    let _ = std::fs::remove_file(made);
    done
}

pub(crate) fn simulation<'a>(topology: &str) -> Simulation<'a, Network> {
    let mut parameters = NetworkParameters::default();
    parameters.set("topology", topology).expect("a path");
    Simulation::configured(&parameters).expect("a topology")
}

pub(crate) fn measure(topology: &str, end: &str) {
    let end: f64 = end.parse().expect("a number");
    let run = simulation(topology)
        .end(end)
        .sync(Synchronisation::Sequential)
        .run()
        .expect("the network runs");
    let hops = run.record.results["packet_hops"].as_f64().expect("a result");
    tell(hops / run.record.loop_seconds);
}

/// A square grid as node-link JSON.
fn grid(side: usize) -> String {
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    for id in 0..side * side {
        let x = id % side;
        let y = id / side;
        nodes.push(format!(r#"{{"id": {id}, "name": "{x}-{y}", "pos": [{x}.0, {y}.0]}}"#));
        let mut join =
            |to: usize| edges.push(format!(r#"{{"source": {id}, "target": {to}, "dist": 100.0}}"#));
        if x + 1 < side {
            join(id + 1);
        }
        if y + 1 < side {
            join(id + side);
        }
    }
    let head = r#""directed": false, "multigraph": false, "graph": {"name": "grid"}"#;
    format!(r#"{{{head}, "nodes": [{}], "edges": [{}]}}"#, nodes.join(","), edges.join(","))
}
