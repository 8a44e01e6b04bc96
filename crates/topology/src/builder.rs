//! Puts a graph together from the nodes and links of a file, in whatever order they come.

use std::collections::{BTreeMap, HashMap};

use crate::error::Problem;
use crate::graph::{Column, Coordinates, Demand, Format, Graph, Id, LINES, Link, Node, place};
use crate::meaning::{Given, LinkFacts, Meaning, Value};

/// A graph that is being read.
pub(crate) struct Builder<'a> {
    given: &'a Given,
    pub(crate) format: Format,
    pub(crate) directed: bool,
    pub(crate) multigraph: bool,
    /// What the file calls its lists of nodes and links, or [`LINES`].
    node_list: &'static str,
    link_list: &'static str,
    index: HashMap<Box<str>, u32>,
    /// In the order in which they are first named.
    drafts: Vec<Draft>,
    /// How many are declared.
    declared: u32,
    links: Vec<Link>,
    places: Vec<u32>,
    columns: BTreeMap<Box<str>, Column>,
    unclear: Vec<(u32, Box<str>)>,
    meanings: HashMap<Box<str>, Meaning>,
    without_unit: Tally,
    demands: Result<Option<Vec<Demand>>, Problem>,
    pub(crate) assumptions: Vec<String>,
}

/// A node that is declared or named by a link.
struct Draft {
    node: Node,
    /// Its rank among declared nodes and where that is.
    declared: Option<(u32, u32)>,
    /// The first link that names it, and as what.
    named: (u32, &'static str),
}

/// How often something was assumed, and where first.
#[derive(Default)]
struct Tally {
    count: usize,
    first: String,
}

impl Tally {
    fn add(&mut self, what: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = what();
        }
        self.count += 1;
    }
}

impl<'a> Builder<'a> {
    /// `lists` are the names of the lists of nodes and links, for messages.
    pub(crate) fn new(
        format: Format,
        lists: (&'static str, &'static str),
        given: &'a Given,
    ) -> Self {
        Builder {
            given,
            format,
            directed: false,
            multigraph: false,
            node_list: lists.0,
            link_list: lists.1,
            index: HashMap::new(),
            drafts: Vec::new(),
            declared: 0,
            links: Vec::new(),
            places: Vec::new(),
            columns: BTreeMap::new(),
            unclear: Vec::new(),
            meanings: HashMap::new(),
            without_unit: Tally::default(),
            demands: Ok(None),
            assumptions: Vec::new(),
        }
    }

    /// A builder for a format that tells places by line.
    pub(crate) fn of_lines(format: Format, given: &'a Given) -> Self {
        Builder { multigraph: true, ..Builder::new(format, (LINES, LINES), given) }
    }

    /// Declares a node, at this place of the list of nodes; `label` is its name where it has no
    /// `name`.
    pub(crate) fn node<'v>(
        &mut self,
        id: Id,
        at: u32,
        values: impl IntoIterator<Item = (&'v str, Value<'v>)>,
    ) -> Result<u32, Problem> {
        let here = place(self.node_list, at);
        let (mut name, mut label) = (None, None);
        let (mut longitude, mut latitude) = (None, None);
        for (key, value) in values {
            let degrees = || {
                value.number().map_err(|_| {
                    format!(
                        "has {} as {key} of node {} at {here}; it must be a number of degrees",
                        value.shown(),
                        quoted(&id)
                    )
                })
            };
            match (Meaning::of_node(key), value) {
                (Meaning::Name, Value::Text(text)) => name = Some(text.to_owned()),
                (Meaning::Label, Value::Text(text)) => label = Some(text.to_owned()),
                (Meaning::Longitude, _) => longitude = degrees()?,
                (Meaning::Latitude, _) => latitude = degrees()?,
                (Meaning::Position, Value::Pair(x, y)) => {
                    (longitude, latitude) = (Some(x), Some(y));
                }
                _ => {}
            }
        }
        let position = match (longitude, latitude) {
            (Some(longitude), Some(latitude)) if longitude.is_finite() && latitude.is_finite() => {
                Some(Coordinates { longitude, latitude })
            }
            _ => None,
        };
        let number = self.mention(&id.to_string(), (at, ""))?;
        let rank = self.declared;
        let draft = &mut self.drafts[number as usize];
        if let Some((_, before)) = draft.declared {
            return Err(format!(
                "has the id {} at {here}, but {} has it already; ids must differ",
                quoted(&id),
                place(self.node_list, before)
            ));
        }
        let name = name.or(label).filter(|name| !name.trim().is_empty());
        draft.node = Node { name: name.unwrap_or_else(|| id.to_string()), id, position };
        draft.declared = Some((rank, at));
        self.declared += 1;
        Ok(number)
    }

    /// The number of the node with this id, which may be declared later. `by` is the link that
    /// names it, and as what.
    pub(crate) fn mention(&mut self, id: &str, by: (u32, &'static str)) -> Result<u32, Problem> {
        if let Some(&number) = self.index.get(id) {
            return Ok(number);
        }
        let number = u32::try_from(self.drafts.len())
            .ok()
            .filter(|&number| number < u32::MAX)
            .ok_or_else(|| format!("has more nodes than can be numbered ({})", u32::MAX))?;
        self.index.insert(id.into(), number);
        let node = Node { id: Id::Text(id.to_owned()), name: id.to_owned(), position: None };
        self.drafts.push(Draft { node, declared: None, named: by });
        Ok(number)
    }

    /// The number of a declared node.
    pub(crate) fn find(&self, id: &str) -> Option<u32> {
        self.index.get(id).copied()
    }

    /// The nodes declared so far, in the order in which they are first named.
    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = (&Id, &str)> {
        self.drafts.iter().map(|draft| (&draft.node.id, draft.node.name.as_str()))
    }

    /// Adds a link, which the file has at this place of the list of links.
    pub(crate) fn link<'v>(
        &mut self,
        ends: (u32, u32),
        directed: bool,
        at: u32,
        values: impl IntoIterator<Item = (&'v str, Value<'v>)>,
    ) -> Result<(), Problem> {
        let number = u32::try_from(self.links.len())
            .map_err(|_| format!("has more links than can be numbered ({})", u32::MAX))?;
        let mut found = LinkFacts::default();
        for (name, value) in values {
            let meaning = match self.meanings.get(name) {
                Some(meaning) => *meaning,
                None => {
                    let meaning = self.given.of_link(name);
                    self.meanings.insert(name.into(), meaning);
                    meaning
                }
            };
            found
                .take(meaning, name, value)
                .map_err(|expected| self.wrong_value(ends, at, name, value, expected))?;
            if let Ok(Some(value)) = value.number() {
                self.keep_number(number, name, value, meaning);
            }
        }
        let capacity = found.capacity(|bare| {
            self.without_unit.add(|| format!("{bare} at {}", place(self.link_list, at)));
        });
        let capacity = capacity.map_err(|(value, why)| {
            self.wrong_value(ends, at, "capacity", Value::Number(value), why)
        })?;
        let (source, target) = ends;
        let LinkFacts { length, delay, weight, .. } = found;
        self.links.push(Link { source, target, directed, capacity, length, delay, weight });
        self.places.push(at);
        Ok(())
    }

    fn keep_number(&mut self, link: u32, name: &str, value: f64, meaning: Meaning) {
        match self.columns.get_mut(name) {
            Some(column) => column.push((link, value)),
            None => {
                self.columns.insert(name.into(), vec![(link, value)]);
            }
        }
        if meaning == Meaning::Unclear {
            self.unclear.push((link, name.into()));
        }
    }

    fn wrong_value(
        &self,
        (source, target): (u32, u32),
        at: u32,
        name: &str,
        value: Value<'_>,
        expected: &str,
    ) -> Problem {
        let value = value.shown();
        let here = match self.link_list {
            LINES => format!("`{name}` in line {at}"),
            list => format!("{list}[{at}].{name}"),
        };
        let [source, target] =
            [source, target].map(|node| quoted(&self.drafts[node as usize].node.id));
        format!(
            "has {value} as {here}; it must be {expected} (the link from node {source} to node {target})"
        )
    }

    /// The file's demands, or a mistake in them, which concerns only who wants them.
    pub(crate) fn demands(&mut self, demands: Result<Option<Vec<Demand>>, Problem>) {
        self.demands = demands;
    }

    /// The graph, with its nodes in the order in which they are declared.
    pub(crate) fn finish(mut self) -> Result<Graph, Problem> {
        if let Some(draft) = self.drafts.iter().find(|draft| draft.declared.is_none()) {
            let (at, end) = draft.named;
            let here = match self.link_list {
                LINES => format!("in line {at}: `{end}`"),
                list => format!("at {list}[{at}].{end}: it"),
            };
            let id = quoted(&draft.node.id);
            return Err(format!("has a mistake {here} is {id}, but there is no node {id}"));
        }
        if self.drafts.len() < 2 {
            return Err(format!("has {} node(s); a network needs at least 2", self.drafts.len()));
        }
        if self.without_unit.count > 0 {
            let Tally { count, first } = &self.without_unit;
            let (noun, verb) =
                if *count == 1 { ("capacity", "has") } else { ("capacities", "have") };
            self.assumptions
                .push(format!("{count} {noun} {verb} no unit: read as Mbit/s ({first})"));
        }
        let rank = |draft: &Draft| draft.declared.map_or(u32::MAX, |(rank, _)| rank);
        let ranks: Vec<u32> = self.drafts.iter().map(rank).collect();
        let renumbered = |node: u32| ranks[node as usize];
        for link in &mut self.links {
            (link.source, link.target) = (renumbered(link.source), renumbered(link.target));
        }
        for demand in self.demands.iter_mut().flatten().flatten() {
            (demand.source, demand.target) = (renumbered(demand.source), renumbered(demand.target));
        }
        self.drafts.sort_by_key(rank);
        Ok(Graph {
            subject: String::new(),
            format: self.format,
            directed: self.directed,
            multigraph: self.multigraph,
            nodes: self.drafts.into_iter().map(|draft| draft.node).collect(),
            links: self.links,
            list: self.link_list,
            places: self.places,
            columns: self.columns,
            unclear: self.unclear,
            demands: self.demands,
            assumptions: self.assumptions,
        })
    }
}

/// An id as in JSON: texts have quotes.
pub(crate) fn quoted(id: &Id) -> String {
    match id {
        Id::Number(number) => number.to_string(),
        Id::Text(text) => format!("{text:?}"),
    }
}
