//! Which ranks are on the same machine.

use super::comm::Comm;
use super::error::{Error, Result};

/// What counts as a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeView {
    /// Ranks are on one node if they can share memory.
    Shared,
    /// Each rank counts as a node of its own, to try out on one machine what happens between nodes.
    Apart,
}

/// Which ranks share a node. A node has the number of its lowest rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    rank: u32,
    /// The node of each rank.
    node_of: Vec<u32>,
}

impl Nodes {
    /// Finds the node of each rank. All ranks must call this, with the same view. It waits for the
    /// others.
    ///
    /// # Errors
    /// [`Error::Mpi`], or [`Error::Memory`].
    pub fn find(comm: &Comm<'_>, view: NodeView) -> Result<Nodes> {
        let rank = comm.rank();
        if view == NodeView::Apart {
            return Ok(Nodes { rank, node_of: (0..comm.size()).collect() });
        }
        let node = comm.shared().split_by_node()?;
        let mut lowest = rank.to_le_bytes();
        node.broadcast(&mut lowest)?;
        let all = comm.shared().all_gather(u64::from(u32::from_le_bytes(lowest)))?;
        let narrow = |node| u32::try_from(node).map_err(|_| Error::Foreign { source: rank });
        Ok(Nodes { rank, node_of: all.into_iter().map(narrow).collect::<Result<_>>()? })
    }

    /// The node of a rank.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn node_of(&self, rank: u32) -> u32 {
        self.node_of[rank as usize]
    }

    /// How many nodes there are.
    pub fn count(&self) -> usize {
        (0..).zip(&self.node_of).filter(|&(rank, &node)| rank == node).count()
    }

    /// The ranks on this rank's node, itself included, in ascending order.
    pub fn neighbours(&self) -> impl Iterator<Item = u32> + '_ {
        let here = self.node_of(self.rank);
        (0..).zip(&self.node_of).filter(move |&(_, &node)| node == here).map(|(rank, _)| rank)
    }

    /// How many ranks are on this rank's node.
    pub fn node_size(&self) -> usize {
        self.neighbours().count()
    }

    /// How many ranks on this rank's node are lower than it.
    pub fn node_rank(&self) -> usize {
        self.neighbours().take_while(|&rank| rank < self.rank).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counted_within_their_node() {
        let nodes = Nodes { rank: 4, node_of: vec![0, 1, 0, 1, 1] };
        assert_eq!(nodes.neighbours().collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!(
            (nodes.count(), nodes.node_size(), nodes.node_rank(), nodes.node_of(2)),
            (2, 3, 2, 0)
        );
    }
}
