//! How many hops there are from one node to another.

/// How nodes are connected. Nodes are numbered from 0, along the first dimension first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// All nodes are one hop from each other.
    Flat,
    /// A torus: nodes have a neighbour on either side in each dimension.
    Torus {
        /// Nodes along each dimension.
        dimensions: Vec<u32>,
    },
    /// A fat tree of switches: each connects `radix` nodes, or switches of the level below. A
    /// message goes up to the lowest switch above both nodes, and down again.
    FatTree {
        /// At least 2.
        radix: u32,
    },
}

impl Topology {
    /// The names that a machine file may give.
    pub(crate) const NAMES: [&str; 3] = ["flat", "torus", "fat-tree"];

    /// The most nodes that it connects; without limit if `None`.
    pub fn nodes_most(&self) -> Option<u64> {
        match self {
            Topology::Flat | Topology::FatTree { .. } => None,
            Topology::Torus { dimensions } => {
                Some(dimensions.iter().map(|nodes| u64::from(*nodes)).product())
            }
        }
    }

    /// The hops from one node to another; 0 to itself.
    ///
    /// ```
    /// use warpline_machine::Topology;
    /// let torus = Topology::Torus { dimensions: vec![4, 3] };
    /// // One step back along the first dimension, and one back along the second.
    /// assert_eq!((torus.hops(0, 3), torus.hops(0, 11), torus.hops(5, 5)), (1, 2, 0));
    /// let tree = Topology::FatTree { radix: 4 };
    /// assert_eq!((tree.hops(0, 3), tree.hops(0, 4), tree.hops(0, 16)), (2, 4, 6));
    /// ```
    pub fn hops(&self, from: u32, to: u32) -> u64 {
        if from == to {
            return 0;
        }
        match self {
            Topology::Flat => 1,
            Topology::Torus { dimensions } => {
                let mut hops = 0;
                let (mut from, mut to) = (from, to);
                for nodes in dimensions {
                    let apart = (from % nodes).abs_diff(to % nodes);
                    hops += u64::from(apart.min(nodes - apart));
                    from /= nodes;
                    to /= nodes;
                }
                hops
            }
            Topology::FatTree { radix } => {
                let (mut from, mut to) = (from, to);
                let mut hops = 0;
                while from != to {
                    from /= radix;
                    to /= radix;
                    hops += 2;
                }
                hops
            }
        }
    }
}
