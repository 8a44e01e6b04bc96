use warpline_rivals::{Error, Segment};
use warpline_transport::{Address, Carrier, CarrierMedium, PluggedCarriers};

/// The least bytes of the segment: room for a hundred of the largest messages from each of eight
/// processes, and less than a container has for shared memory by default.
const SEGMENT_BYTES: usize = 32 << 20;
/// How many of the longest pieces of each courier have room in the segment.
const PIECES: usize = 8;

/// Brings pieces to processes of the same machine, in the way of Boost.Interprocess in G. F.
/// Riley's report. Each piece is a block of one managed segment, from its one allocator with its
/// one lock. The block's offset pointer goes through a queue of the receiver, which has a lock of
/// its own, and the receiver frees the block. In the source, models write into the blocks and read
/// from them; here a piece is copied in and out, as with the other carriers.
struct BoostCarrier {
    /// This carrier's own view, as threads do not share a segment.
    segment: Segment,
    /// The number of its queue.
    me: u32,
    /// All couriers, by queue.
    addresses: Vec<Address>,
    /// The error that ended its work. It is kept so that nothing waits again for a lock that nobody
    /// frees.
    failed: Option<Error>,
}

/// Boost.Interprocess as a carrier.
#[derive(Clone, Copy, Debug)]
pub struct BoostCarriers;

impl PluggedCarriers for BoostCarriers {
    fn create(&self, couriers: usize, piece: usize) -> Result<Box<dyn CarrierMedium>, String> {
        let bytes = SEGMENT_BYTES.max(couriers * PIECES * piece);
        let segment = Segment::create(bytes, couriers as u32).map_err(in_words)?;
        Ok(Box::new(NamedSegment(segment)))
    }

    fn join(
        &self,
        name: &str,
        process: u32,
        couriers: &[Address],
    ) -> Result<Vec<Box<dyn Carrier>>, String> {
        let own = (0..).zip(couriers).filter(|(_, address)| address.process == process);
        let carrier = |(me, _)| {
            let segment = Segment::open(name).map_err(in_words)?;
            Ok(Box::new(BoostCarrier { segment, me, addresses: couriers.to_vec(), failed: None })
                as Box<dyn Carrier>)
        };
        own.map(carrier).collect()
    }
}

/// The segment of its creator. Its name goes when this is dropped.
struct NamedSegment(Segment);

impl CarrierMedium for NamedSegment {
    fn name(&self) -> &str {
        self.0.name()
    }
}

impl BoostCarrier {
    /// Whether there was room, by this outcome.
    fn room(&mut self, outcome: Result<(), Error>) -> Result<bool, String> {
        match outcome {
            Ok(()) => Ok(true),
            Err(Error::Full { .. }) => Ok(false),
            Err(error) => Err(self.fail(error)),
        }
    }

    fn fail(&mut self, error: Error) -> String {
        in_words(self.failed.insert(error).clone())
    }

    /// # Errors
    /// If something has gone wrong before.
    fn check(&self) -> Result<(), String> {
        self.failed.clone().map_or(Ok(()), |error| Err(in_words(error)))
    }
}

impl Carrier for BoostCarrier {
    /// Room cannot be told beforehand: whoever asks first for a block gets it.
    fn has_room(&mut self, _: Address) -> Result<bool, String> {
        self.check().map(|()| true)
    }

    fn send(&mut self, to: Address, piece: &[u8]) -> Result<bool, String> {
        self.check()?;
        let queue = self
            .addresses
            .iter()
            .position(|address| *address == to)
            .unwrap_or_else(|| panic!("there is no queue of {to:?}"));
        let sent = self.segment.message(piece.len()).and_then(|mut message| {
            message.copy_from_slice(piece);
            self.segment.send(queue as u32, 0, message).map_err(|(_, error)| error)
        });
        self.room(sent)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, String> {
        self.check()?;
        let received = self.segment.receive(self.me, |_, message| take(&message));
        received.map(|count| count > 0).map_err(|error| self.fail(error))
    }

    fn progress(&mut self) -> Result<bool, String> {
        Ok(true)
    }
}

fn in_words(error: Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_segment_holds_senders_up_until_there_is_room_again() {
        let couriers = [0, 1].map(|process| Address { process, courier: 0 });
        let segment = BoostCarriers.create(2, 100_000).unwrap();
        let [mut first, mut second] =
            [0, 1].map(|process| BoostCarriers.join(segment.name(), process, &couriers).unwrap());
        drop(segment);
        let [back, to] = couriers;
        let piece = |number: usize| vec![number as u8; 100_000 - number % 7];
        let mut sent = 0;
        let mut received = 0;
        while first[0].send(to, &piece(sent)).unwrap() {
            sent += 1;
        }
        assert!((300..340).contains(&sent), "{sent} pieces fill it");
        assert_eq!(second[0].send(back, &piece(0)), Ok(false), "it is full for all");
        assert!(first[0].has_room(to).unwrap() && first[0].progress().unwrap());
        for _ in 0..3 {
            let some = second[0].receive(&mut |found| {
                assert_eq!(found, piece(received));
                received += 1;
            });
            assert_eq!((some, received), (Ok(true), sent));
            assert_eq!(second[0].receive(&mut |_| panic!("nothing is left")), Ok(false));
            assert_eq!(first[0].send(to, &piece(sent)), Ok(true));
            sent += 1;
        }
    }
}
