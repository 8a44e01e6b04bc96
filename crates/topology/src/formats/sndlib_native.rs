//! The native format of SNDlib, and what its two formats share.
//!
//! A link has a capacity that is installed, and modules of which some may be added. Which of them
//! would be is the question that SNDlib's problems ask, so where nothing is installed, the smallest
//! module is taken.

use crate::builder::{Builder, quoted};
use crate::error::Problem;
use crate::graph::{Coordinates, Demand, Format, Graph, Id};
use crate::meaning::{Given, Value};

/// Whether a file begins like SNDlib's.
pub(super) fn is_meant(start: &str) -> bool {
    if start.starts_with("?SNDlib") {
        return true;
    }
    let mut tokens = Tokens::new(start);
    matches!((tokens.next(), tokens.next()), (Some((_, "NODES" | "META")), Some((_, "("))))
}

/// A network of SNDlib that is being read.
pub(super) struct Network<'a> {
    builder: Builder<'a>,
    demands: Result<Vec<Demand>, Problem>,
    has_pixels: bool,
    nodes: Vec<Place>,
    links: Vec<Pair<Option<f64>>>,
    wanted: Vec<Pair<f64>>,
    from_modules: usize,
}

/// A node.
struct Place {
    id: String,
    line: u32,
    /// Longitude and latitude, if these are degrees.
    position: Option<(f64, f64)>,
}

/// Two nodes with a value: a link with its capacity, or a demand.
struct Pair<V> {
    source: String,
    target: String,
    line: u32,
    value: V,
}

/// The capacities of a link.
#[derive(Default)]
pub(super) struct WireLink {
    pub(super) installed: f64,
    pub(super) modules: Vec<f64>,
}

impl<'a> Network<'a> {
    pub(super) fn new(format: Format, given: &'a Given) -> Self {
        Network {
            builder: Builder::of_lines(format, given),
            demands: Ok(Vec::new()),
            has_pixels: false,
            nodes: Vec::new(),
            links: Vec::new(),
            wanted: Vec::new(),
            from_modules: 0,
        }
    }

    pub(super) fn node(
        &mut self,
        id: &str,
        line: u32,
        position: Option<(f64, f64)>,
        has_pixels: bool,
    ) {
        self.has_pixels |= has_pixels;
        self.nodes.push(Place { id: id.to_owned(), line, position });
    }

    pub(super) fn link(
        &mut self,
        ends: (&str, &str),
        line: u32,
        link: &WireLink,
    ) -> Result<(), Problem> {
        let least = link
            .modules
            .iter()
            .copied()
            .filter(|&module| module > 0.0)
            .fold(f64::INFINITY, f64::min);
        let capacity = if link.installed > 0.0 {
            Some(link.installed)
        } else if least.is_finite() {
            self.from_modules += 1;
            Some(least)
        } else {
            None
        };
        if link.installed < 0.0 {
            return Err(format!(
                "has {} as the capacity of a link in line {line}; it must be 0 or more",
                link.installed
            ));
        }
        let (source, target) = (ends.0.to_owned(), ends.1.to_owned());
        self.links.push(Pair { source, target, line, value: capacity });
        Ok(())
    }

    pub(super) fn demand(&mut self, ends: (&str, &str), line: u32, value: f64) {
        let (source, target) = (ends.0.to_owned(), ends.1.to_owned());
        self.wanted.push(Pair { source, target, line, value });
    }

    pub(super) fn finish(mut self) -> Result<Graph, Problem> {
        self.add_nodes()?;
        for Pair { source, target, line, value: capacity } in &self.links {
            let source = self.builder.mention(source, (*line, "source"))?;
            let target = self.builder.mention(target, (*line, "target"))?;
            let values = capacity.map(|capacity| ("capacity", Value::Number(capacity)));
            self.builder.link((source, target), false, *line, values)?;
        }
        if self.from_modules > 0 {
            let (links, have) =
                if self.from_modules == 1 { ("link has", "it") } else { ("links have", "each") };
            self.builder.assumptions.push(format!(
                "{} {links} no capacity installed: {have} gets its smallest module",
                self.from_modules
            ));
        }
        for Pair { source, target, line, value } in std::mem::take(&mut self.wanted) {
            let (source, target) =
                match [&source, &target].map(|id| self.builder.find(id).ok_or(id)) {
                    [Ok(source), Ok(target)] => (source, target),
                    [Err(id), _] | [_, Err(id)] => {
                        self.demands =
                            Err(format!("has a mistake in line {line}: there is no node {id:?}"));
                        break;
                    }
                };
            if !(value.is_finite() && value >= 0.0) {
                self.demands = Err(format!(
                    "has {value} as a demand in line {line}; it must be a finite number, 0 or more"
                ));
                break;
            }
            if let Ok(demands) = &mut self.demands {
                demands.push(Demand { source, target, value });
            }
        }
        self.builder.demands(
            self.demands.map(|demands| Some(demands).filter(|demands| !demands.is_empty())),
        );
        self.builder.finish()
    }

    /// Adds the nodes: without their coordinates, if these cannot be degrees.
    fn add_nodes(&mut self) -> Result<(), Problem> {
        let is_off_earth = |position: &Option<(f64, f64)>| {
            position.is_some_and(|(longitude, latitude)| {
                !Coordinates { longitude, latitude }.is_on_earth()
            })
        };
        let off = self.nodes.iter().find(|node| is_off_earth(&node.position));
        if self.has_pixels {
            self.builder.assumptions.push("coordinates are pixels: not used".into());
        } else if let Some(Place { id, line, .. }) = off {
            self.builder.assumptions.push(format!(
                "coordinates are no degrees: not used (those of {} in line {line})",
                quoted(&Id::Text(id.clone()))
            ));
        }
        let is_known = off.is_none();
        for Place { id, line, position } in std::mem::take(&mut self.nodes) {
            let position = position.filter(|_| is_known).map(|(x, y)| ("pos", Value::Pair(x, y)));
            self.builder.node(Id::Text(id), line, position)?;
        }
        Ok(())
    }
}

/// Words and parentheses with their lines; what follows `#` or a leading `?` is a remark.
struct Tokens<'a> {
    rest: &'a str,
    line: u32,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Tokens { rest: text, line: 1 }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (u32, &'a str);

    fn next(&mut self) -> Option<(u32, &'a str)> {
        loop {
            match self.rest.chars().next()? {
                '#' | '?' => {
                    self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
                }
                '\n' => {
                    self.line += 1;
                    self.rest = &self.rest[1..];
                }
                blank if blank.is_whitespace() => self.rest = &self.rest[blank.len_utf8()..],
                _ => break,
            }
        }
        let end = match self.rest.as_bytes()[0] {
            b'(' | b')' => 1,
            _ => self
                .rest
                .find(|c: char| c.is_whitespace() || c == '(' || c == ')')
                .unwrap_or(self.rest.len()),
        };
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some((self.line, token))
    }
}

/// Reads a graph from SNDlib's native format.
pub(super) fn read(text: &str, given: &Given) -> Result<Graph, Problem> {
    let mut parser = Parser { tokens: Tokens::new(text), line: 1 };
    let mut network = Network::new(Format::SndlibNative, given);
    let mut has_nodes = false;
    while let Some((line, section)) = parser.tokens.next() {
        parser.line = line;
        parser.expect("(")?;
        match section {
            "NODES" => {
                has_nodes = true;
                parser.entries(|parser, id| node(parser, &mut network, id))?;
            }
            "LINKS" => parser.entries(|parser, _| link(parser, &mut network))?,
            "DEMANDS" => parser.entries(|parser, _| demand(parser, &mut network))?,
            _ => parser.skip()?,
        }
    }
    if !has_nodes {
        return Err("has no section `NODES ( … )`".into());
    }
    network.finish()
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    /// That of the last token.
    line: u32,
}

impl<'a> Parser<'a> {
    fn token(&mut self) -> Result<&'a str, Problem> {
        let (line, token) = self
            .tokens
            .next()
            .ok_or_else(|| format!("ends too early, in line {}: is it cut off?", self.line))?;
        self.line = line;
        Ok(token)
    }

    fn expect(&mut self, expected: &str) -> Result<(), Problem> {
        let found = self.token()?;
        if found == expected {
            return Ok(());
        }
        Err(format!("has `{found}` in line {}, where `{expected}` is expected", self.line))
    }

    fn number(&mut self, what: &str) -> Result<f64, Problem> {
        let found = self.token()?;
        found
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| format!("has `{found}` in line {}, where {what} is expected", self.line))
    }

    /// Calls `entry` with the id of each entry of a section, up to the end of the section.
    fn entries(
        &mut self,
        mut entry: impl FnMut(&mut Self, &'a str) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        loop {
            match self.token()? {
                ")" => return Ok(()),
                "(" => {
                    return Err(format!("has `(` in line {}, where an id is expected", self.line));
                }
                id => entry(self, id)?,
            }
        }
    }

    /// Skips a section that says nothing of interest.
    fn skip(&mut self) -> Result<(), Problem> {
        let mut open = 1u32;
        while open > 0 {
            match self.token()? {
                "(" => open += 1,
                ")" => open -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn ends(&mut self) -> Result<(&'a str, &'a str), Problem> {
        self.expect("(")?;
        let ends = (self.token()?, self.token()?);
        self.expect(")")?;
        Ok(ends)
    }
}

/// `Praha ( 14.42 50.08 )`
fn node(parser: &mut Parser<'_>, network: &mut Network<'_>, id: &str) -> Result<(), Problem> {
    let line = parser.line;
    parser.expect("(")?;
    let position = (parser.number("a longitude")?, parser.number("a latitude")?);
    parser.expect(")")?;
    network.node(id, line, Some(position), false);
    Ok(())
}

/// `L1 ( Praha Wien ) installed cost routing-cost setup-cost ( capacity cost … )`
fn link(parser: &mut Parser<'_>, network: &mut Network<'_>) -> Result<(), Problem> {
    let line = parser.line;
    let ends = parser.ends()?;
    let mut link = WireLink { installed: parser.number("a capacity")?, modules: Vec::new() };
    for _ in 0..3 {
        parser.number("a cost")?;
    }
    parser.expect("(")?;
    loop {
        match parser.token()? {
            ")" => break,
            capacity => {
                link.modules.push(capacity.parse().map_err(|_| {
                    format!(
                        "has `{capacity}` in line {}, where the capacity of a module is expected",
                        parser.line
                    )
                })?);
                parser.number("the cost of a module")?;
            }
        }
    }
    network.link(ends, line, &link)
}

/// `D1 ( Praha Wien ) routing-unit value longest-path`
fn demand(parser: &mut Parser<'_>, network: &mut Network<'_>) -> Result<(), Problem> {
    let line = parser.line;
    let ends = parser.ends()?;
    parser.number("a routing unit")?;
    let value = parser.number("a demand")?;
    parser.token()?;
    network.demand(ends, line, value);
    Ok(())
}
