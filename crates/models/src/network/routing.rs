//! Shortest paths by hop count, and how they spread traffic over the links.
//!
//! At every node, traffic to a destination is split equally over all links that lie on a shortest
//! path to it.

use std::slice;

use super::limits;
use super::topology::{Flow, Topology};

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// Nowhere: it has arrived. Also at nodes without a path, where no packet comes.
    Here,
    /// To the only next hop.
    Link(u32),
    /// To one of several next hops, equally likely: `count` entries of [`Routing::splits`] from
    /// `first`.
    Split {
        /// How many there are.
        count: u16,
        /// The index of the first.
        first: u32,
    },
}

/// The routes of a topology towards all destinations of a traffic matrix.
#[derive(Debug)]
pub(super) struct Routing {
    /// For every node, one route for every destination.
    routes: Vec<Route>,
    /// How many destinations there are: the length of a node's row in `routes`.
    columns: u32,
    /// Next hops where there are several.
    splits: Vec<u32>,
    /// For every flow, the column of its destination.
    destinations: Vec<u32>,
    /// For every flow, how many links its packets take.
    hops: Vec<u32>,
    /// For every link, the traffic that it carries, in the unit of the flows' weights.
    loads: Vec<f64>,
}

impl Routing {
    /// Routes `flows`. The next hops of its routes are links.
    pub(super) fn new(topology: &Topology, flows: &[Flow]) -> Result<Self, String> {
        let graph = Graph::new(topology)?;
        let column_of = columns(topology, flows);
        let columns = column_of.iter().flatten().count();
        limits::check_routes(topology.nodes.len() as u64, columns as u64)?;
        let mut arriving: Vec<Vec<usize>> = vec![Vec::new(); columns];
        let mut destinations = Vec::with_capacity(flows.len());
        for (i, flow) in flows.iter().enumerate() {
            let Some(column) = column_of[flow.target as usize] else {
                unreachable!("every target has a column")
            };
            arriving[column as usize].push(i);
            destinations.push(column);
        }
        let mut routing = Routing {
            routes: vec![Route::Here; topology.nodes.len() * columns],
            columns: columns as u32,
            splits: Vec::new(),
            destinations,
            hops: vec![0; flows.len()],
            loads: vec![0.0; topology.links.len()],
        };
        for (target, column) in
            (0u32..).zip(&column_of).filter_map(|(node, column)| Some((node, (*column)?)))
        {
            let tree = graph.towards(target);
            routing.spread(topology, flows, &arriving[column as usize], &tree)?;
            routing.add_column(column, &tree);
        }
        Ok(routing)
    }

    /// Where the routes of a node begin, for [`route`](Self::route).
    pub(super) fn row(&self, node: u32) -> u32 {
        node * self.columns
    }

    /// The route of a flow's packets at the node with this [row](Self::row).
    #[inline]
    pub(super) fn route(&self, row: u32, flow: u32) -> Route {
        self.routes[row as usize + self.destinations[flow as usize] as usize]
    }

    /// A next hop of a [`Route::Split`], by its index.
    #[inline]
    pub(super) fn split(&self, index: u32) -> u32 {
        self.splits[index as usize]
    }

    /// For every flow, how many links its packets take.
    pub(super) fn hops(&self) -> &[u32] {
        &self.hops
    }

    /// For every link, the traffic that it carries, in the unit of the flows' weights.
    pub(super) fn loads(&self) -> &[f64] {
        &self.loads
    }

    /// The next hops of a route.
    pub(super) fn hops_of<'a>(&'a self, route: &'a Route) -> &'a [u32] {
        match route {
            Route::Here => &[],
            Route::Link(next) => slice::from_ref(next),
            Route::Split { count, first } => &self.splits[*first as usize..][..usize::from(*count)],
        }
    }

    /// The links, in order, that packets may take at `target` if they came from `source` by the
    /// next hop `by`.
    pub(super) fn hops_after(&self, by: u32, source: u32, target: u32) -> Vec<u32> {
        let row = |node: u32| {
            &self.routes[node as usize * self.columns as usize..][..self.columns as usize]
        };
        let mut next = Vec::new();
        for (here, there) in row(source).iter().zip(row(target)) {
            if self.hops_of(here).contains(&by) {
                next.extend_from_slice(self.hops_of(there));
            }
        }
        next.sort_unstable();
        next.dedup();
        next
    }

    /// Renames every next hop to its LP.
    pub(super) fn rename(&mut self, lps: &[u32]) {
        for route in &mut self.routes {
            if let Route::Link(link) = route {
                *link = lps[*link as usize];
            }
        }
        for link in &mut self.splits {
            *link = lps[*link as usize];
        }
    }

    /// Adds the flows to one destination to the loads, starting at the farthest nodes.
    fn spread(
        &mut self,
        topology: &Topology,
        flows: &[Flow],
        these: &[usize],
        tree: &Tree,
    ) -> Result<(), String> {
        let mut through = vec![0.0; topology.nodes.len()];
        for &i in these {
            let flow = flows[i];
            let Some(distance) = tree.distance[flow.source as usize] else {
                let name = |node: u32| {
                    format!(
                        "{} (node {})",
                        topology.nodes[node as usize].name, topology.nodes[node as usize].id
                    )
                };
                return Err(format!(
                    "there is no path from {} to {}, but a demand between them; add links, use `demand=file` without it, \
                     or drop such demands with `unreachable=drop`",
                    name(flow.source),
                    name(flow.target)
                ));
            };
            self.hops[i] = distance;
            through[flow.source as usize] += flow.weight;
        }
        for &node in tree.order.iter().rev() {
            let next = &tree.next[node as usize];
            let share = through[node as usize] / next.len() as f64;
            for &link in next {
                self.loads[link as usize] += share;
                through[topology.links[link as usize].target as usize] += share;
            }
        }
        Ok(())
    }

    fn add_column(&mut self, column: u32, tree: &Tree) {
        for (node, next) in tree.next.iter().enumerate() {
            let route = match next[..] {
                [] => Route::Here,
                [only] => Route::Link(only),
                _ => {
                    let first = self.splits.len() as u32;
                    self.splits.extend(next);
                    Route::Split { count: next.len() as u16, first }
                }
            };
            self.routes[node * self.columns as usize + column as usize] = route;
        }
    }
}

/// For every node, the column of its routes if it is the target of a flow.
fn columns(topology: &Topology, flows: &[Flow]) -> Vec<Option<u32>> {
    let mut columns = vec![None; topology.nodes.len()];
    flows.iter().for_each(|flow| columns[flow.target as usize] = Some(0));
    columns.iter_mut().flatten().zip(0..).for_each(|(column, number)| *column = number);
    columns
}

/// The links at every node.
struct Graph<'a> {
    topology: &'a Topology,
    leaving: Vec<Vec<u32>>,
    entering: Vec<Vec<u32>>,
}

/// The shortest paths to one node.
struct Tree {
    /// Links from here to there; `None` where there is no path.
    distance: Vec<Option<u32>>,
    /// The nodes with a path, the nearest first.
    order: Vec<u32>,
    /// The links on shortest paths out of every node.
    next: Vec<Vec<u32>>,
}

impl<'a> Graph<'a> {
    fn new(topology: &'a Topology) -> Result<Self, String> {
        let mut leaving = vec![Vec::new(); topology.nodes.len()];
        let mut entering = leaving.clone();
        for (i, link) in (0u32..).zip(&topology.links) {
            leaving[link.source as usize].push(i);
            entering[link.target as usize].push(i);
        }
        match leaving.iter().position(|links| links.len() > usize::from(u16::MAX)) {
            Some(node) => {
                Err(format!("node {} has more than {} links", topology.nodes[node].id, u16::MAX))
            }
            None => Ok(Graph { topology, leaving, entering }),
        }
    }

    /// Breadth-first search against the direction of the links.
    fn towards(&self, target: u32) -> Tree {
        let links = &self.topology.links;
        let mut distance = vec![None; self.leaving.len()];
        distance[target as usize] = Some(0);
        let mut order = vec![target];
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            let farther = distance[node as usize].map(|hops: u32| hops + 1);
            for &link in &self.entering[node as usize] {
                let before = links[link as usize].source;
                if distance[before as usize].is_none() {
                    distance[before as usize] = farther;
                    order.push(before);
                }
            }
        }
        let nearer = |from: Option<u32>, link: u32| {
            let to = distance[links[link as usize].target as usize];
            matches!((from, to), (Some(from), Some(to)) if to + 1 == from)
        };
        let next_of = |(node, from): (usize, &Option<u32>)| {
            self.leaving[node].iter().copied().filter(|&l| nearer(*from, l)).collect()
        };
        let next = distance.iter().enumerate().map(next_of).collect();
        Tree { distance, order, next }
    }
}
