//! Processes that a launcher of MPI programs has started become a group.

use std::io;
use std::ops::Range;

use warpline_memory::Region;

use super::control_channel::MpiControlChannel;
use super::peers::Peers;
use super::{Group, Ranks};

impl Group {
    /// The group of processes that a launcher has started. Those of a machine share memory if they
    /// are to; all have to say the same.
    ///
    /// # Errors
    /// If memory cannot be shared, or MPI fails.
    pub fn launched(ranks: Ranks, shares: bool) -> io::Result<Self> {
        let number = ranks.number();
        let near = if shares { ranks.neighbours() } else { number..number + 1 };
        let (region, problem) = common_region(&ranks, &near);
        // If one cannot go on, none does.
        let problems = ranks.exchange(&problem).map_err(io::Error::other)?;
        if let Some(problem) = problems.into_iter().flatten().next() {
            return Err(io::Error::other(problem));
        }
        let peers = Peers::ranks(ranks.neighbour_processes());
        let cpu_share = ranks.cpu_share();
        let mut group = Group::place(region, number, ranks.count(), near, peers);
        // Whoever has created the region writes what is placed in it, and nobody may use it before.
        ranks.exchange(&()).map_err(io::Error::other)?;
        group.cpu_share = cpu_share;
        group.channel = Some(MpiControlChannel::new(ranks, shares).map_err(io::Error::other)?);
        Ok(group)
    }
}

/// Memory that this process shares with those near it; or why there is none.
fn common_region(ranks: &Ranks, near: &Range<u32>) -> (Region, Option<String>) {
    let (mut created, mut problem) = (None, None);
    if near.len() > 1 && near.start == ranks.number() {
        match Region::create(near.len() as u32) {
            Ok(region) => created = Some(region),
            Err(error) => problem = Some(error.to_string()),
        }
    }
    let mine = created.as_ref().map(|(_, ticket)| ticket.to_string());
    let tickets = match ranks.exchange(&mine) {
        Ok(tickets) => tickets,
        Err(error) => return (Region::own(), Some(error)),
    };
    if let Some((region, _)) = created {
        return (region, problem);
    }
    let Some(ticket) = &tickets[near.start as usize] else { return (Region::own(), problem) };
    let joined =
        ticket.parse().and_then(|ticket| Region::join(&ticket, ranks.number() - near.start));
    joined.map_or_else(|error| (Region::own(), Some(error.to_string())), |region| (region, problem))
}
