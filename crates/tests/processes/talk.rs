//! Events that cannot be written as bytes or read back, with every way to communicate.

use warpline::prelude::*;
use warpline::{Communication, CommunicationRing, Fault, Place, Synchronisation};
use warpline_testkit::talk::{Gossips, Talk};

use crate::Ended;

/// Four ways to communicate, with none or one of three kinds of events that cannot be written or
/// read.
pub(crate) const CASES: u64 = 4 * 4;

/// Memory budgets in bytes. With all but the last, some process cannot go on.
pub(crate) const BUDGETS: [u64; 4] = [2_000, 20_000, 60_000, 2_000_000];

/// If memory runs out in one process, all stop, and the run says so.
pub(crate) fn run_short(bytes: u64) -> Result<(), Ended> {
    let simulation = Simulation::new(Gossips { lps: 64, beyond: true, says: None })
        .end(6.0)
        .sync(Synchronisation::Optimistic);
    let simulation = simulation
        .processes(2)
        .threads(1)
        .communication(Communication::Distributed)
        .communication_delay(0.0);
    match simulation.engine_budget(bytes).run() {
        Ok(_) if bytes == BUDGETS[3] => Ok(()),
        Err(Error::Memory { .. }) if bytes < BUDGETS[3] => Ok(()),
        Err(error) => Err(Ended::of(error, |error| format!("with {bytes} bytes: {error:?}"))),
        Ok(run) => Err(format!("with {bytes} bytes: {}", run.record.digest).into()),
    }
}

/// In the right order, no event is sent that cannot be written or read, unless `says` plans one;
/// events executed too early send many. If a planned one happens, the run ends there, and no
/// process waits for another.
pub(crate) fn gossip(number: u64) -> Result<(), Ended> {
    let says =
        [None, Some(Talk::Secret), Some(Talk::Slip), Some(Talk::Riddle)][number as usize % 4];
    let (communication, ring) = [
        (Communication::Worker, CommunicationRing::PerSender),
        (Communication::Distributed, CommunicationRing::PerSender),
        (Communication::Dedicated, CommunicationRing::PerSender),
        (Communication::Dedicated, CommunicationRing::Cas),
    ][number as usize / 4];
    let simulation =
        || Simulation::new(Gossips { lps: 8, beyond: number % 8 < 4, says }).end(12.0).seed(number);
    let alone = simulation()
        .sync(Synchronisation::Sequential)
        .run()
        .map_err(|why| format!("alone: {why}"))?;
    let together = simulation()
        .sync(Synchronisation::Optimistic)
        .processes(2)
        .threads(2)
        .communication(communication);
    let together = if communication == Communication::Dedicated {
        together.communication_ring(ring)
    } else {
        together
    };
    match (together.communication_delay(0.0).batch(4).window(10.0).run(), says) {
        (Ok(run), None) if run.record.digest == alone.record.digest => Ok(()),
        (Err(Error::Fault(failure)), Some(_))
            if matches!(
                (&failure.fault, &failure.place),
                (Fault::Unreadable(_), Place::Event { lp: LpId(7), time: 5.9, .. })
            ) =>
        {
            Ok(())
        }
        (Ok(run), _) => {
            Err(format!("it gave {} for {}", run.record.digest, alone.record.digest).into())
        }
        (Err(error), _) => Err(Ended::of(error, |error| error.to_string())),
    }
}
