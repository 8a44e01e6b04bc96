//! Circles in which the parts of a folder use each other.
//!
//! A folder's parts are its files, the folders in it, each with all that it holds, and the folder's
//! own file: `lib.rs` for the whole crate, `pe.rs` or `pe/mod.rs` for the folder `pe`. No circle of
//! files is missed: if its files lie in different folders, two parts of the folder that holds all
//! of them form a circle, too.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use super::tree::Names;
use super::uses::Uses;

/// The name of a folder's own file among its parts.
pub(crate) const OWN_FILE: &str = "mod";

/// A largest set of parts of one folder that can all be reached from each other.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Circle {
    /// The folder's module, from the crate's root.
    pub(crate) folder: Names,
    pub(crate) parts: BTreeSet<String>,
    /// A shortest way around, as an example.
    pub(crate) way: Vec<Step>,
    /// One use for each pair of parts that use each other.
    pub(crate) steps: Vec<Step>,
}

/// One part uses another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) from: String,
    pub(crate) to: String,
    /// The module that names something, and what it names.
    pub(crate) module: String,
    pub(crate) name: String,
}

impl fmt::Display for Circle {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.way.iter().try_for_each(|step| write!(out, "{} -> ", step.from))?;
        out.write_str(self.way.first().map_or("", |step| &step.from))?;
        for step in &self.way {
            write!(out, "\n    {} names {}", step.module, step.name)?;
        }
        Ok(())
    }
}

type Graph<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Step>>;

/// The circles of all folders, from the root down.
pub(crate) fn circles(uses: &Uses) -> Vec<Circle> {
    let files = uses.keys().flat_map(|(user, used)| [user, used]);
    let folders: BTreeSet<&[String]> =
        files.flat_map(|file| (0..file.len()).map(move |length| &file[..length])).collect();
    folders.into_iter().flat_map(|folder| circles_of(folder, &graph(uses, folder))).collect()
}

/// Which parts of a folder use which.
fn graph<'a>(uses: &'a Uses, folder: &[String]) -> Graph<'a> {
    let mut graph = Graph::new();
    for ((user, used), name) in uses {
        if !user.starts_with(folder) || !used.starts_with(folder) {
            continue;
        }
        let part = |file: &'a Names| file.get(folder.len()).map_or(OWN_FILE, String::as_str);
        let from = part(user);
        let to = part(used);
        if from != to {
            let module = if user.is_empty() { "lib".into() } else { user.join("::") };
            let step = || Step { from: from.into(), to: to.into(), module, name: name.clone() };
            graph.entry(from).or_default().entry(to).or_insert_with(step);
        }
    }
    graph
}

fn circles_of(folder: &[String], graph: &Graph) -> Vec<Circle> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|part| (*part, reached_from(graph, part))).collect();
    let mut circles = Vec::new();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for (part, theirs) in &reached {
        if theirs.contains(part) && !done.contains(part) {
            let back =
                |other: &&str| reached.get(other).is_some_and(|theirs| theirs.contains(part));
            let parts: BTreeSet<&str> = theirs.iter().copied().filter(back).collect();
            done.extend(&parts);
            let ways = parts.iter().filter_map(|part| way_around(graph, part));
            let way = ways.min_by_key(Vec::len).unwrap_or_default();
            let uses = parts.iter().filter_map(|part| graph.get(part)).flat_map(BTreeMap::values);
            let steps = uses.filter(|step| parts.contains(step.to.as_str())).cloned().collect();
            circles.push(Circle {
                folder: folder.to_vec(),
                parts: parts.into_iter().map(str::to_owned).collect(),
                way,
                steps,
            });
        }
    }
    circles
}

fn reached_from<'a>(graph: &Graph<'a>, start: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(part) = waiting.pop() {
        for next in graph.get(part).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(*next) {
                waiting.push(next);
            }
        }
    }
    reached
}

/// A shortest way from a part back to itself.
fn way_around(graph: &Graph, start: &str) -> Option<Vec<Step>> {
    let mut before: BTreeMap<&str, &Step> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(part) = waiting.pop_front() {
        for (next, step) in graph.get(part).into_iter().flatten() {
            if !before.contains_key(next) {
                before.insert(next, step);
                waiting.push_back(next);
            }
        }
    }
    let mut way = Vec::new();
    let mut part = start;
    loop {
        let step = *before.get(part)?;
        way.push(step.clone());
        part = &step.from;
        if part == start {
            way.reverse();
            return Some(way);
        }
    }
}
