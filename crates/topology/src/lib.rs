//! Reads networks of nodes and links from the formats in which people have them: GraphML, GML,
//! SNDlib (XML and native), lists of edges (CSV), and JSON (node-link, adjacency, Cytoscape, JGF).
//!
//! A file's format is recognised by its content. Whatever the format, the result is one [`Graph`]:
//! nodes with names and perhaps coordinates, links with ends and perhaps a capacity, a length or a
//! delay, and demands where the file has them. Nothing here knows what the graph is for: it may be
//! a packet network, roads, or cities.
//!
//! Reading invents nothing. What a file does not say stays `None`, until a caller asks to have it
//! filled in ([`Graph::fill_lengths`], [`Graph::fill_capacities`]) or dropped
//! ([`Graph::drop_self_loops`]). What was assumed, filled in or dropped is kept in words
//! ([`Graph::assumptions`]), to be told to people in one line.
//!
//! ```
//! use warpline_topology::{Format, Reader};
//!
//! let text = "source,target,length_km,capacity\nPraha,Wien,251,10 Gbps\nWien,Bratislava,55.1,\n";
//! let mut graph = Reader::new().read_text(text)?;
//! assert_eq!(graph.format(), Format::EdgeList);
//! assert_eq!(graph.links()[0].capacity, Some(1e10)); // bit/s
//! assert_eq!(graph.links()[1].capacity, None);
//! graph.fill_capacities(1e8, "100 Mbit/s");
//! assert_eq!(graph.links()[1].capacity, Some(1e8));
//! assert!(graph.assumptions().last().unwrap().contains("1 link has no capacity: 100 Mbit/s"));
//! # Ok::<(), warpline_topology::ReadError>(())
//! ```
//!
//! Files are not trusted. Reading takes memory in proportion to a file's size, which is limited
//! ([`MOST_BYTES`]); entities of XML are refused, not expanded; nesting is limited.

mod builder;
mod error;
mod fill;
mod formats;
mod graph;
mod meaning;
mod reader;
mod text;

pub use error::ReadError;
pub use graph::{Coordinates, Demand, Format, Graph, Id, Link, Node, PROPAGATION_SPEED};
pub use reader::{MOST_BYTES, Reader};
