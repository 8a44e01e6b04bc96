use warpline_mpi::{Comm, ReceiveLimits, Receiver, SendLimits, SendPool, Tag};

use super::carrier::{Address, Carrier};
use super::places::CourierPlan;

/// The tag of the first courier. Control messages have the one before.
const FIRST_TAG: u16 = 1;

/// Brings pieces by MPI.
struct MpiCarrier {
    pool: SendPool<'static>,
    receiver: Receiver<'static>,
    /// How many pieces may be in flight.
    most: usize,
    /// By process.
    ranks: Vec<u32>,
}

/// A carrier for each courier of this process; `ranks` are those of the processes.
pub(crate) fn mpi_carriers(
    comm: &Comm<'static>,
    ranks: &[u32],
    plan: &CourierPlan,
) -> Result<Vec<Box<dyn Carrier>>, String> {
    let capacity = plan.limits.piece;
    let most = plan.limits.in_flight;
    let carrier = |number: u32| {
        let pool = SendPool::new(comm, SendLimits { capacity, batches: most, large: 1 })?;
        let receiver = Receiver::new(comm, tag(number), ReceiveLimits { capacity, buffers: most })?;
        Ok(Box::new(MpiCarrier { pool, receiver, most, ranks: ranks.to_vec() }) as Box<dyn Carrier>)
    };
    let carriers: Result<_, warpline_mpi::Error> =
        (0..plan.places.couriers_of(plan.places.process)).map(carrier).collect();
    carriers.map_err(|error| error.to_string())
}

fn tag(courier: u32) -> Tag {
    Tag::new(FIRST_TAG + courier as u16)
}

impl Carrier for MpiCarrier {
    fn is_written_into(&self) -> bool {
        true
    }

    fn has_room(&mut self, _: Address) -> Result<bool, String> {
        Ok(self.pool.in_flight() < self.most || self.pool.progress().map_err(in_words)? < self.most)
    }

    fn send(&mut self, to: Address, piece: &[u8]) -> Result<bool, String> {
        let mut buffer = self.pool.take().map_err(in_words)?;
        assert!(buffer.write(piece), "a piece is no longer than a buffer");
        let refused = self
            .pool
            .send(self.ranks[to.process as usize], tag(to.courier), buffer)
            .map_err(in_words)?
            .refused();
        assert!(refused.is_none(), "there is room");
        Ok(true)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, String> {
        Ok(self.receiver.poll(|_, piece| take(piece)).map_err(in_words)? > 0)
    }

    fn progress(&mut self) -> Result<bool, String> {
        Ok(self.pool.in_flight() == 0 || self.pool.progress().map_err(in_words)? == 0)
    }
}

fn in_words(error: warpline_mpi::Error) -> String {
    error.to_string()
}
