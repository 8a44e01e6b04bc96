//! Messages without a copy: payloads in memory that processes share, through rings.

use warpline_memory::{Consumer, IsPortable, Member, Payload, Producer, Region, ring_in};

use super::carrier::Carrier;

/// A message and its time.
type Sent = (u64, Payload);

/// The rings between this process and the others. By process; none to itself.
pub(super) struct Rings {
    to: Vec<Option<Producer<Sent>>>,
    from: Vec<Consumer<Sent>>,
    _member: Member,
}

impl Rings {
    /// Places all later payloads of this thread in the region. Each ring has room for so many
    /// messages. Every process must call this before anything else.
    pub(super) fn new(region: &Region, me: usize, processes: usize, messages: usize) -> Self {
        region.share_payloads();
        let mut rings = Rings {
            to: (0..processes).map(|_| None).collect(),
            from: Vec::new(),
            _member: region.enter(),
        };
        for sender in 0..processes {
            for receiver in (0..processes).filter(|&receiver| receiver != sender) {
                let (producer, consumer) = ring_in(region, Some(IsPortable::PROOF), messages);
                if sender == me {
                    rings.to[receiver] = Some(producer);
                } else if receiver == me {
                    rings.from.push(consumer);
                }
            }
        }
        rings
    }

    pub(super) fn send(&mut self, to: usize, time: u64, payload: Payload) -> Result<(), Payload> {
        let ring = self.to[to].as_mut().expect("no process sends to itself");
        ring.write((time, payload)).map_err(|(_, payload)| payload)?;
        ring.publish();
        Ok(())
    }

    pub(super) fn receive(&mut self, mut take: impl FnMut(u64, Payload)) {
        for ring in &mut self.from {
            ring.drain().into_iter().flatten().for_each(|(time, payload)| take(time, payload));
        }
    }
}

pub(super) struct ZeroCopy(pub(super) Rings);

impl Carrier for ZeroCopy {
    type Message = Payload;

    fn make(&mut self, bytes: &[u8]) -> Payload {
        Payload::from(bytes)
    }

    fn pass_on(&mut self, mut used: Payload, start: [u8; 8]) -> Payload {
        used.write_at(0, &start);
        used
    }

    fn free(&mut self, _: Payload) {}

    fn send(&mut self, to: usize, time: u64, message: Payload) -> Result<(), Payload> {
        self.0.send(to, time, message)
    }

    fn receive(&mut self, take: &mut impl FnMut(u64, Payload)) {
        self.0.receive(take);
    }
}
