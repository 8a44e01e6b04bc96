//! What a caller may have filled in or dropped. Each says what it did.

use std::collections::BTreeSet;

use crate::error::ReadError;
use crate::graph::Graph;

impl Graph {
    /// Drops the links from a node to itself.
    pub fn drop_self_loops(&mut self) {
        let Some(first) = self.links.iter().position(|link| link.source == link.target) else {
            return;
        };
        let of = format!(
            "{} of node {}",
            self.place(first),
            self.nodes[self.links[first].source as usize].id
        );
        let mut kept = 0;
        // By old number, the new one.
        let new: Vec<Option<u32>> = self
            .links
            .iter()
            .map(|link| {
                let number = (link.source != link.target).then_some(kept);
                kept += u32::from(number.is_some());
                number
            })
            .collect();
        let dropped = self.links.len() - kept as usize;
        let mut old = 0..self.links.len();
        self.places.retain(|_| old.next().is_some_and(|link| new[link].is_some()));
        self.links.retain(|link| link.source != link.target);
        let renumber = |link: &mut u32| match new[*link as usize] {
            Some(number) => {
                *link = number;
                true
            }
            None => false,
        };
        for column in self.columns.values_mut() {
            column.retain_mut(|(link, _)| renumber(link));
        }
        self.unclear.retain_mut(|(link, _)| renumber(link));
        self.assumptions.push(match dropped {
            1 => format!("1 link from a node to itself is dropped ({of})"),
            more => format!("{more} links from a node to itself are dropped (first {of})"),
        });
    }

    /// Refuses links from a node to itself.
    ///
    /// # Errors
    /// If there is one. The message names it.
    pub fn refuse_self_loops(&self) -> Result<(), ReadError> {
        let looped = |link: &crate::Link| link.source == link.target;
        match self.links.iter().position(looped) {
            None => Ok(()),
            Some(link) => Err(self.error(format!(
                "has a link from node {} to itself at {}; remove it",
                self.nodes[self.links[link].source as usize].id,
                self.place(link)
            ))),
        }
    }

    /// Gives every link a length: as the file has it; or that of its delay, at the speed of light in
    /// fibre ([`PROPAGATION_SPEED`](crate::PROPAGATION_SPEED)); or the great circle between its
    /// nodes; or else this many km.
    ///
    /// # Errors
    /// If a link has none of these, but has a number that may be its length, such as `weight`; or
    /// if the coordinates that it needs are no degrees.
    ///
    /// # Panics
    /// If `default_km` is negative or not finite.
    pub fn fill_lengths(&mut self, default_km: f64) -> Result<(), ReadError> {
        assert!(default_km.is_finite() && default_km >= 0.0, "{default_km} km is no length");
        let (mut circles, mut defaults) = (0, 0);
        let mut first_default = None;
        // Names of numbers that may be lengths, where coordinates say more.
        let mut idle = BTreeSet::new();
        for number in 0..self.links.len() {
            let link = self.links[number];
            if link.length.is_some() {
                continue;
            }
            let length = if let Some(delay) = link.delay {
                delay * crate::PROPAGATION_SPEED
            } else if let Some(length) = self.great_circle(number)? {
                circles += 1;
                idle.extend(self.unclear_name(number).map(str::to_owned));
                length
            } else {
                self.refuse_unclear(number)?;
                first_default.get_or_insert(number);
                defaults += 1;
                default_km
            };
            self.links[number].length = Some(length);
        }
        if circles > 0 {
            let links =
                if circles == 1 { "1 link is".to_owned() } else { format!("{circles} links are") };
            self.assumptions.push(
                format!("{links} as long as the great circle between its ends").replace(
                    "links are as long as the great circle between its ends",
                    "links are as long as the great circles between their ends",
                ),
            );
        }
        for name in idle {
            self.assumptions
                .push(format!("`{name}` of links is not used (it may be with `length-from`)"));
        }
        if let Some(first) = first_default {
            let ends = self.ends(&self.links[first]);
            self.assumptions.push(match defaults {
                1 => {
                    format!("1 link has no length: {default_km} km ({}, {ends})", self.place(first))
                }
                more => format!(
                    "{more} links have no length: {default_km} km each (first {}, {ends})",
                    self.place(first)
                ),
            });
        }
        Ok(())
    }

    /// Gives every link without a capacity this one, in bit/s; `words` are the same for people.
    ///
    /// # Panics
    /// If the capacity is not a finite number more than 0.
    pub fn fill_capacities(&mut self, default: f64, words: &str) {
        assert!(default.is_finite() && default > 0.0, "{default} bit/s is no capacity");
        let missing = self.links.iter().filter(|link| link.capacity.is_none()).count();
        // Where no link has one, there is nothing to tell links apart by.
        if missing > 0 {
            let whose = match missing {
                1 => "1 link has".to_owned(),
                all if all == self.links.len() => "links have".to_owned(),
                more => format!("{more} links have"),
            };
            self.assumptions.push(format!("{whose} no capacity: {words}"));
        }
        for link in &mut self.links {
            link.capacity = link.capacity.or(Some(default));
        }
    }

    /// The great-circle distance between the ends of a link, if it is known where they are.
    fn great_circle(&self, number: usize) -> Result<Option<f64>, ReadError> {
        let link = &self.links[number];
        let ends = [link.source, link.target].map(|node| &self.nodes[node as usize]);
        let [Some(from), Some(to)] = ends.map(|node| node.position) else { return Ok(None) };
        for (node, position) in ends.iter().zip([from, to]) {
            if !position.is_on_earth() {
                let (at, id) = (self.place(number), &node.id);
                let (longitude, latitude) = (position.longitude, position.latitude);
                return Err(self.error(format!(
                    "has no {at}.dist, and `pos` of node {id} is no [longitude, latitude] in degrees: [{longitude}, {latitude}]"
                )));
            }
        }
        Ok(Some(from.distance(to)))
    }

    /// Refuses a link without a length that has a number which may be one.
    fn refuse_unclear(&self, number: usize) -> Result<(), ReadError> {
        let Some(name) = self.unclear_name(number) else { return Ok(()) };
        let value = self.number(number, name).unwrap_or_default();
        let (here, ends) = (self.place(number), self.ends(&self.links[number]));
        Err(self.error(format!(
            "does not say how long the link {ends} at {here} is: it has `{name}` ({value}), which may be a length or a delay; \
             if it is, say so with its unit, as in `length-from={name}:km` or `length-from={name}:ms`, and otherwise `length-from=none`"
        )))
    }

    /// The name under which a link has a number that may be its length.
    fn unclear_name(&self, number: usize) -> Option<&str> {
        let at = self.unclear.partition_point(|(link, _)| (*link as usize) < number);
        let (link, name) = self.unclear.get(at)?;
        (*link as usize == number).then_some(&**name)
    }

    fn error(&self, problem: String) -> ReadError {
        ReadError::new(&self.subject, problem)
    }
}
