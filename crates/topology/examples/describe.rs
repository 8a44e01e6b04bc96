//! Says what a file of a network has, and what has to be assumed.
//!
//! ```sh
//! cargo run --release --package warpline-topology --example describe -- FILE…
//! ```

use std::time::Instant;

use warpline_topology::Reader;

fn main() {
    for file in std::env::args().skip(1) {
        let start = Instant::now();
        match Reader::new().read_file(&file) {
            Ok(mut graph) => {
                let took = start.elapsed();
                let (nodes, links) = (graph.nodes().len(), graph.links().len());
                println!("{file}: {}, {nodes} nodes, {links} links, in {took:.2?}", graph.format());
                graph.drop_self_loops();
                if let Err(why) = graph.fill_lengths(100.0) {
                    println!("  {why}");
                }
                graph.fill_capacities(1e8, "100 Mbit/s");
                for assumption in graph.assumptions() {
                    println!("  {assumption}");
                }
            }
            Err(why) => println!("{why}"),
        }
    }
}
