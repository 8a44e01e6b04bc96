//! How processing elements (PEs) reach each other: between threads by rings in shared memory, and in a virtual cluster, which lives in
//! one thread and delays, reorders and refuses messages as a seed tells it.

mod pin;
mod rings;
mod virtual_cluster;

pub use pin::pin;
pub use rings::{RingPort, ring_ports};
pub use virtual_cluster::{VirtualCluster, VirtualPort};
