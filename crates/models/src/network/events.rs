//! LP states, events, and what events do to states.

use std::num::NonZeroU32;

use warpline::prelude::*;

use super::routing::Route;
use super::statistics::{DELAY, DROPS, LOST, OFFERED, PACKETS, UNDER_WAY, UTILISATION};
use super::structure::Network;
use super::traffic::Pattern;

/// The state of an LP, 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Journaled)]
pub enum State {
    /// A directed link with its buffer: the output port of a router.
    Link {
        /// Which link.
        link: u32,
        /// When it will have sent all that it holds, in s.
        free_at: f64,
    },
    /// A source of packets from one node to another.
    Source {
        /// Which demand.
        demand: u32,
        /// Whether the next wake-up sends a packet (or only begins an on time).
        sends: bool,
        /// The end of the present or next on time of on-off sources, in s; unused by others.
        on_until: f64,
    },
}

/// What reaches an LP, 16 bytes.
#[derive(Clone, Debug, PartialEq, Portable)]
pub enum Event {
    /// A source wakes up.
    Wake,
    /// A packet reaches a link, from a source or from the link before.
    Packet(Packet),
}

/// A packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Portable)]
pub struct Packet {
    /// When its source made it, in s.
    pub created: f64,
    /// The demand that it belongs to.
    pub demand: u32,
    /// Its size in bits.
    pub bits: NonZeroU32,
}

const _: () = assert!(size_of::<State>() == 16 && size_of::<Event>() == 16);

impl Network {
    /// A packet reaches a link: it is dropped, or sent on to the next link, or delivered.
    #[inline]
    pub(super) fn forward(
        &self,
        link: u32,
        free_at: &mut f64,
        packet: &Packet,
        lp: &mut Context<Self>,
    ) {
        lp.save(*free_at);
        let port = &self.ports[link as usize];
        let now = lp.now();
        let bits = packet.bits.get();
        let wait = (*free_at - now).max(0.0);
        // In whole bits, so that rounding in time neither fills nor empties a buffer.
        let backlog = (wait * port.bits_per_second + 0.5) as u64;
        if backlog.saturating_add(u64::from(bits)) > self.buffer_bits {
            lp.count(DROPS.at(link), 1);
            lp.count(LOST.at(packet.demand), 1);
            return;
        }
        let begin = now + wait;
        let end = begin + f64::from(bits) * port.seconds_per_bit;
        *lp.change(free_at) = end;
        lp.count(PACKETS.at(link), 1);
        lp.span(UTILISATION.at(link), begin, end, 1.0);
        match self.next_hop(self.routing.route(port.row, packet.demand), lp) {
            None if end + port.propagation < lp.end() => {
                lp.sample(DELAY.at(packet.demand), end + port.propagation - packet.created)
            }
            None => lp.count(UNDER_WAY.at(packet.demand), 1),
            Some(next) => self.pass(next, end - now + port.onward, *packet, lp),
        }
    }

    /// A packet leaves for its next link. It counts as under way if it does not get there before
    /// the end of the run.
    #[inline]
    fn pass(&self, next: LpId, delay: f64, packet: Packet, lp: &mut Context<Self>) {
        if lp.now() + delay >= lp.end() {
            lp.count(UNDER_WAY.at(packet.demand), 1);
        }
        lp.send(next, delay, Event::Packet(packet));
    }

    /// A source wakes up: it may send a packet, and sets its next wake-up.
    #[inline]
    pub(super) fn wake(
        &self,
        demand: u32,
        sends: &mut bool,
        on_until: &mut f64,
        lp: &mut Context<Self>,
    ) {
        let source = self.sources[demand as usize];
        if *sends {
            let packet = Packet { created: lp.now(), demand, bits: self.size(lp.random()) };
            lp.count(OFFERED.at(demand), 1);
            if let Some(next) = self.next_hop(source.route, lp) {
                self.pass(next, self.processing, packet, lp);
            }
        }
        let delay = match self.traffic.pattern {
            Pattern::Poisson => lp.random().exponential(source.gap),
            Pattern::OnOff { on, off } => {
                let gap = lp.random().exponential(source.gap);
                lp.save(*sends);
                lp.save(*on_until);
                *lp.change(sends) = lp.now() + gap < *on_until;
                if *sends {
                    gap
                } else {
                    (next_on(lp.change(on_until), on, off, lp.random()) - lp.now()).max(0.0)
                }
            }
            Pattern::Udp { on, off, .. } => next_datagram(source.gap, on, off, lp.random()),
        };
        lp.send(lp.id(), delay, Event::Wake);
    }

    /// Undoes what [`forward`](Self::forward) and [`wake`](Self::wake) did to a state.
    #[inline]
    pub(super) fn undo(&self, state: &mut State, lp: &mut Reverse<Self>) {
        match state {
            State::Link { free_at, .. } => *free_at = lp.restore(),
            State::Source { sends, on_until, .. } => {
                if let Pattern::OnOff { .. } = self.traffic.pattern {
                    *on_until = lp.restore();
                    *sends = lp.restore();
                }
            }
        }
    }

    /// A source at time 0, and its first wake-up. On-off sources begin in their steady state, UDP
    /// sources with an on time.
    pub(super) fn start(&self, demand: u32, lp: &mut Init<Self>) -> State {
        let id = lp.id();
        let gap = self.sources[demand as usize].gap;
        let (sends, on_until, delay) = match self.traffic.pattern {
            Pattern::Poisson => (true, 0.0, lp.random().exponential(gap)),
            Pattern::OnOff { on, off } => {
                let random = lp.random();
                let begin =
                    if random.bernoulli(on / (on + off)) { 0.0 } else { random.exponential(off) };
                (false, begin + random.exponential(on), begin)
            }
            Pattern::Udp { on, off, start } => {
                let random = lp.random();
                (true, 0.0, start * random.uniform() + next_datagram(gap, on, off, random))
            }
        };
        lp.send(id, delay, Event::Wake);
        State::Source { demand, sends, on_until }
    }

    /// The LP that a packet goes to next; `None` where it has arrived.
    #[inline]
    fn next_hop(&self, route: Route, lp: &mut Context<Self>) -> Option<LpId> {
        match route {
            Route::Here => None,
            Route::Link(next) => Some(LpId(next)),
            Route::Split { count, first } => {
                let choice = first + lp.random().below(u32::from(count));
                Some(LpId(self.routing.split(choice)))
            }
        }
    }

    /// The size of a new packet, in bits.
    #[inline]
    fn size(&self, random: &mut Random) -> NonZeroU32 {
        if !self.traffic.exponential_sizes {
            return self.traffic.mean_bits;
        }
        let bits = random.exponential(f64::from(self.traffic.mean_bits.get())) + 0.5;
        NonZeroU32::new(bits as u32).unwrap_or(NonZeroU32::MIN)
    }
}

/// The time to the next datagram of a source that sends one whenever it has been on for `gap`. On
/// times are exponential and so have no memory; the number of off times in between is Poisson.
fn next_datagram(gap: f64, on: f64, off: f64, random: &mut Random) -> f64 {
    match random.poisson(gap / on) {
        0 => gap,
        breaks => gap + random.gamma(breaks as f64, off),
    }
}

/// Draws the next off and on time of a source; returns when it goes on again.
fn next_on(on_until: &mut f64, on: f64, off: f64, random: &mut Random) -> f64 {
    let begin = *on_until + random.exponential(off);
    *on_until = begin + random.exponential(on);
    begin
}
