use warpline_memory::{Consumer, IsPortable, Payload, Producer, Region, ring_in};

use super::carrier::{Address, Carrier};
use super::places::CourierPlan;

/// Brings pieces to processes of the same machine through rings in memory that they share. Each
/// piece is copied there once and read in place.
struct CopyCarrier {
    /// A ring to each courier of other processes.
    to: Vec<(Address, Producer<Payload>)>,
    from: Vec<Consumer<Payload>>,
}

/// A carrier for each courier of this process. All processes have to call it at the same point.
pub(crate) fn copy_carriers(region: &Region, plan: &CourierPlan) -> Vec<Box<dyn Carrier>> {
    let places = &plan.places;
    let all = places.addresses();
    let none = |_| CopyCarrier { to: Vec::new(), from: Vec::new() };
    let mut carriers: Vec<CopyCarrier> =
        (0..places.couriers_of(places.process)).map(none).collect();
    for sender in &all {
        for receiver in all.iter().filter(|receiver| receiver.process != sender.process) {
            let (producer, consumer) =
                ring_in(region, Some(IsPortable::PROOF), plan.limits.in_flight);
            if sender.process == places.process {
                carriers[sender.courier as usize].to.push((*receiver, producer));
            } else if receiver.process == places.process {
                carriers[receiver.courier as usize].from.push(consumer);
            }
        }
    }
    carriers.into_iter().map(|carrier| Box::new(carrier) as Box<dyn Carrier>).collect()
}

impl CopyCarrier {
    fn ring(&mut self, to: Address) -> &mut Producer<Payload> {
        let ring = self.to.iter_mut().find(|(address, _)| *address == to);
        ring.map(|(_, ring)| ring).unwrap_or_else(|| panic!("there is no ring to {to:?}"))
    }
}

impl Carrier for CopyCarrier {
    fn has_room(&mut self, to: Address) -> Result<bool, String> {
        Ok(self.ring(to).has_room())
    }

    fn send(&mut self, to: Address, piece: &[u8]) -> Result<bool, String> {
        let ring = self.ring(to);
        assert!(ring.write(Payload::from(piece)).is_ok(), "there is room");
        ring.publish();
        Ok(true)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, String> {
        let mut some = false;
        for ring in &mut self.from {
            for piece in ring.drain().into_iter().flatten() {
                take(&piece);
                some = true;
            }
        }
        Ok(some)
    }

    fn progress(&mut self) -> Result<bool, String> {
        Ok(true)
    }
}
