//! Makes a group of the processes that a launcher of MPI programs has started.

use std::io;
use std::ops::Range;

use warpline_memory::Region;

use super::control_channel::MpiControlChannel;
use super::peers::Peers;
use super::{Group, Ranks};

impl Group {
    /// The group of processes that a launcher has started. Those of a machine share memory if
    /// `shares` is set, which has to be the same in all.
    ///
    /// # Errors
    /// If memory cannot be shared, or MPI fails.
    pub fn launched(ranks: Ranks, shares: bool) -> io::Result<Self> {
        let number = ranks.number();
        let near = if shares { ranks.neighbours() } else { number..number + 1 };
        let region = common_region(&ranks, &near);
        // If one cannot go on, none does.
        let problem = region.as_ref().err();
        let problems = ranks.exchange(&problem.cloned()).map_err(io::Error::other)?;
        if let Some(problem) = problems.into_iter().flatten().next() {
            return Err(io::Error::other(problem));
        }
        let region = region.map_err(io::Error::other)?;
        let peers = Peers::ranks(ranks.neighbour_processes());
        let cpu_share = ranks.cpu_share();
        let mut group = Group::place(region, number, ranks.count(), near, peers);
        // The creator of a region initialises what is placed in it. Nobody may use it before.
        ranks.exchange(&()).map_err(io::Error::other)?;
        group.cpu_share = cpu_share;
        group.channel = Some(MpiControlChannel::new(ranks, shares).map_err(io::Error::other)?);
        Ok(group)
    }
}

/// Memory that this process shares with those near it; or why it cannot. If nobody is near, or the
/// first of those near has no region to share, which it tells itself, the memory is its own.
fn common_region(ranks: &Ranks, near: &Range<u32>) -> Result<Region, String> {
    let creates = near.len() > 1 && near.start == ranks.number();
    let created = creates.then(|| Region::create(near.len() as u32)).transpose();
    let mine = created.as_ref().ok().and_then(Option::as_ref);
    // Even a process that has failed takes part in the exchange: the others wait for it.
    let tickets = ranks.exchange(&mine.map(|(_, ticket)| ticket.to_string()))?;
    if let Some((region, _)) = created.map_err(in_words)? {
        return Ok(region);
    }
    let Some(ticket) = &tickets[near.start as usize] else { return Ok(Region::own()) };
    ticket
        .parse()
        .and_then(|ticket| Region::join(&ticket, ranks.number() - near.start))
        .map_err(in_words)
}

fn in_words(error: io::Error) -> String {
    error.to_string()
}
