//! An order of nodes in which neighbours are close, so that consecutive nodes form a region.

use std::cmp::Reverse;

use super::topology::Topology;

/// For every node, its place in an order that visits the network from one end to the other, breadth
/// first and nodes with few neighbours first: the order of E. Cuthill and J. McKee, "Reducing
/// the bandwidth of sparse symmetric matrices", Proc. 24th ACM National Conference, 1969.
pub(super) fn places_of_nodes(topology: &Topology) -> Vec<u32> {
    let neighbours = neighbours(topology);
    let mut walk =
        Walk { neighbours: &neighbours, order: Vec::new(), distance: vec![None; neighbours.len()] };
    for node in 0..neighbours.len() as u32 {
        if walk.distance[node as usize].is_none() {
            walk.visit(node);
        }
    }
    let mut places = vec![0; neighbours.len()];
    for (place, node) in (0..).zip(walk.order) {
        places[node as usize] = place;
    }
    places
}

/// The neighbours of every node, those with few neighbours first.
fn neighbours(topology: &Topology) -> Vec<Vec<u32>> {
    let mut neighbours = vec![Vec::new(); topology.nodes.len()];
    for link in &topology.links {
        neighbours[link.source as usize].push(link.target);
        neighbours[link.target as usize].push(link.source);
    }
    let sorted = |list: &Vec<u32>| {
        let mut list = list.clone();
        list.sort_unstable();
        list.dedup();
        list
    };
    let plain: Vec<Vec<u32>> = neighbours.iter().map(sorted).collect();
    let mut all = plain.clone();
    all.iter_mut().for_each(|list| list.sort_by_key(|&node| plain[node as usize].len()));
    all
}

struct Walk<'a> {
    neighbours: &'a [Vec<u32>],
    order: Vec<u32>,
    /// The distance in links from the start of the walk; `None` where the walk has not been.
    distance: Vec<Option<u32>>,
}

impl Walk<'_> {
    /// Visits the connected part of the network around this node, starting at one of its ends.
    fn visit(&mut self, mut start: u32) {
        let before = self.order.len();
        let mut length = None;
        loop {
            self.walk_from(start);
            let reached =
                self.order[before..].iter().map(|&node| (self.distance[node as usize], node));
            let farthest = reached.max_by_key(|&(distance, node)| {
                (distance, Reverse(self.neighbours[node as usize].len()), Reverse(node))
            });
            let Some((distance, node)) = farthest else { return };
            // Moves to the farthest node as long as that makes the walk longer.
            if distance <= length {
                // Either direction would do; the smaller number comes first.
                if self.order[before] > node {
                    self.order[before..].reverse();
                }
                return;
            }
            length = distance;
            start = node;
            for node in self.order.drain(before..) {
                self.distance[node as usize] = None;
            }
        }
    }

    fn walk_from(&mut self, start: u32) {
        let mut next = self.order.len();
        self.distance[start as usize] = Some(0);
        self.order.push(start);
        while let Some(&node) = self.order.get(next) {
            next += 1;
            let distance = self.distance[node as usize].map(|distance| distance + 1);
            for &other in &self.neighbours[node as usize] {
                if self.distance[other as usize].is_none() {
                    self.distance[other as usize] = distance;
                    self.order.push(other);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::network::topology::{Edges, Link, Node};

    fn topology(nodes: u32, edges: &[(u32, u32)]) -> Topology {
        let node = |id| Node { id: json!(id), name: String::new(), position: None, degree: 0 };
        let link = |&(source, target): &(u32, u32)| Link {
            source,
            target,
            length: 1.0,
            lines: 1,
            capacity: None,
        };
        let edges_of = Edges { directed: true, ..Edges::default() };
        Topology {
            nodes: (0..nodes).map(node).collect(),
            links: edges.iter().map(link).collect(),
            demands: None,
            edges: edges_of,
            published: None,
            read_as: None,
            assumptions: Vec::new(),
        }
    }

    /// The greatest distance between the positions of linked nodes.
    fn bandwidth(topology: &Topology) -> u32 {
        let places = places_of_nodes(topology);
        let mut sorted = places.clone();
        sorted.sort_unstable();
        assert!(
            (0..).zip(sorted).all(|(place, found)| place == found),
            "every node has a place of its own: {places:?}"
        );
        let span =
            |link: &Link| places[link.source as usize].abs_diff(places[link.target as usize]);
        topology.links.iter().map(span).max().unwrap_or(0)
    }

    #[test]
    fn a_path_is_walked_from_end_to_end() {
        let edges: Vec<(u32, u32)> = (0..99).map(|i| (i * 37 % 100, (i + 1) * 37 % 100)).collect();
        assert_eq!(bandwidth(&topology(100, &edges)), 1);
    }

    #[test]
    fn a_grid_is_walked_along_its_diagonal() {
        // 20 x 5, numbered along the long side.
        let at = |x: u32, y: u32| y * 20 + x;
        let along = (0..19).flat_map(|x| (0..5).map(move |y| (at(x, y), at(x + 1, y))));
        let across = (0..20).flat_map(|x| (0..4).map(move |y| (at(x, y), at(x, y + 1))));
        assert_eq!(bandwidth(&topology(100, &along.chain(across).collect::<Vec<_>>())), 5);
    }

    #[test]
    fn parts_that_are_not_linked_follow_each_other() {
        assert_eq!(bandwidth(&topology(7, &[(0, 3), (3, 5), (1, 6), (2, 2)])), 1);
        assert_eq!(bandwidth(&topology(1, &[])), 0);
    }
}
