//! Measures carriers before a run: how long it takes to send and receive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use warpline_memory::Region;

use super::carrier::{Address, Carrier};
use super::places::{CourierPlan, Places};

/// How many pieces each courier sends.
const PIECES: usize = 64;
/// The shortest piece worth a probe, in bytes.
const LEAST: usize = 64;
/// How often the thread that waits for the probe looks whether it goes on.
const LOOK_EVERY: Duration = Duration::from_micros(500);

/// Ends the probe of all couriers if that of one panics: they wait for what it would send.
struct StopOnPanic<'s>(&'s AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Lets all couriers of this process send pieces as long as full batches to another process at the
/// same time, each from a thread of its own, and receive as many. Returns how long it takes the
/// slowest of them to send and receive a piece, without the time that it waits for others. All
/// processes have to call it at the same time. Those that share memory do so in this region.
///
/// # Errors
/// That of `check`, or, in the inner result, that of a carrier.
pub(crate) fn try_out<E>(
    carriers: Vec<Box<dyn Carrier>>,
    plan: &CourierPlan,
    region: &Region,
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<Result<Duration, String>, E> {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let places = &plan.places;
        let length = plan.limits.batch.clamp(LEAST, plan.limits.piece);
        let stop = &stop;
        let spawn = |(number, carrier)| {
            let partner = address(places, number);
            let expected = expected(places, number);
            scope.spawn(move || {
                let _member = region.enter();
                exchange(carrier, partner, expected, length, stop)
            })
        };
        let couriers: Vec<_> = (0..).zip(carriers).map(spawn).collect();
        while !couriers.iter().all(|courier| courier.is_finished()) {
            if let Err(why) = check() {
                stop.store(true, Ordering::Relaxed);
                return Err(why);
            }
            thread::sleep(LOOK_EVERY);
        }
        let times = couriers
            .into_iter()
            .map(|courier| courier.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok(times
            .collect::<Result<Vec<_>, String>>()
            .map(|times| times.into_iter().max().unwrap_or_default()))
    })
}

/// The courier to which a courier sends. Processes whose numbers are far apart are most likely on
/// different machines.
fn address(places: &Places, courier: u32) -> Address {
    let processes = places.first_pes.len() as u32 - 1;
    let process = (places.process + (processes / 2).max(1)) % processes;
    Address { process, courier: courier % places.couriers_of(process) }
}

/// How many pieces come to a courier.
fn expected(places: &Places, courier: u32) -> usize {
    let processes = places.first_pes.len() as u32 - 1;
    let me = Address { process: places.process, courier };
    let senders = (0..processes).flat_map(|process| {
        let places = Places { process, ..places.clone() };
        (0..places.couriers_of(process))
            .map(move |courier| address(&places, courier))
            .collect::<Vec<_>>()
    });
    senders.filter(|to| *to == me).count() * PIECES
}

/// Sends pieces of this `length`, and receives as many as are `expected`. Returns the usual time
/// for both.
fn exchange(
    mut carrier: Box<dyn Carrier>,
    to: Address,
    expected: usize,
    length: usize,
    stop: &AtomicBool,
) -> Result<Duration, String> {
    let _guard = StopOnPanic(stop);
    let piece = vec![0; length];
    let mut sends = Vec::new();
    let mut receives = Vec::new();
    let mut received = 0;
    while sends.len() < PIECES || received < expected || !carrier.progress()? {
        if stop.load(Ordering::Relaxed) {
            return Err("the probe of the ways to communicate was given up".to_owned());
        }
        let before = (sends.len(), received);
        while sends.len() < PIECES && carrier.has_room(to)? {
            let began = Instant::now();
            if !carrier.send(to, &piece)? {
                break;
            }
            sends.push(began.elapsed());
        }
        let began = Instant::now();
        let mut arrived = 0;
        if carrier.receive(&mut |_| arrived += 1)? {
            receives.push(began.elapsed() / arrived.max(1));
            received += arrived as usize;
        }
        if before == (sends.len(), received) {
            thread::yield_now();
        }
    }
    Ok(median(sends) + median(receives))
}

/// The median is not disturbed by the one long time of a thread that loses its core for a while.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::couriers::{CarrierKind, CommunicationRing, CourierLimits};

    /// By receiver: the lengths of the pieces that are on their way.
    type Wires = Arc<Mutex<Vec<(Address, Vec<usize>)>>>;

    /// Brings pieces to other threads, eight at a time.
    struct Wire(Address, Wires);

    impl Wire {
        fn with<T>(&self, to: Address, then: impl FnOnce(&mut Vec<usize>) -> T) -> T {
            let mut wires = self.1.lock().unwrap();
            let place = wires.iter().position(|(address, _)| *address == to).unwrap_or_else(|| {
                wires.push((to, Vec::new()));
                wires.len() - 1
            });
            then(&mut wires[place].1)
        }
    }

    impl Carrier for Wire {
        fn has_room(&mut self, to: Address) -> Result<bool, String> {
            Ok(self.with(to, |pieces| pieces.len() < 8))
        }

        fn send(&mut self, to: Address, piece: &[u8]) -> Result<bool, String> {
            self.with(to, |pieces| pieces.push(piece.len()));
            Ok(true)
        }

        fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, String> {
            let pieces = self.with(self.0, std::mem::take);
            pieces.iter().for_each(|length| take(&vec![0; *length]));
            Ok(!pieces.is_empty())
        }

        fn progress(&mut self) -> Result<bool, String> {
            Ok(true)
        }
    }

    fn plan(process: u32, first_pes: &[u32], couriers: u32) -> CourierPlan {
        let first_pes = first_pes.to_vec();
        let near = first_pes[process as usize]..first_pes[process as usize + 1];
        let limits = CourierLimits { piece: 500, batch: 500, age: Duration::ZERO, in_flight: 8 };
        CourierPlan {
            places: Places { process, first_pes, near, couriers },
            feed: CommunicationRing::PerSender,
            carrier: CarrierKind::Rings,
            limits,
            bounds: true,
        }
    }

    fn carriers(plan: &CourierPlan, wires: &Wires) -> Vec<Box<dyn Carrier>> {
        let process = plan.places.process;
        let carrier = |courier| {
            Box::new(Wire(Address { process, courier }, wires.clone())) as Box<dyn Carrier>
        };
        (0..plan.places.couriers_of(process)).map(carrier).collect()
    }

    /// Whatever is sent is received, however many couriers processes have. Otherwise the probe
    /// would not end.
    #[test]
    fn all_processes_come_to_an_end() {
        for (first_pes, couriers) in
            [(&[0, 1, 2][..], 1), (&[0, 3, 4, 6], 2), (&[0, 3, 4, 6, 9], u32::MAX)]
        {
            let wires = Wires::default();
            let times: Vec<Duration> = thread::scope(|scope| {
                let processes: Vec<_> = (0..first_pes.len() as u32 - 1)
                    .map(|process| plan(process, first_pes, couriers))
                    .map(|plan| (carriers(&plan, &wires), plan))
                    .map(|(carriers, plan)| {
                        scope.spawn(move || {
                            try_out(carriers, &plan, &Region::own(), || Ok::<_, ()>(()))
                        })
                    })
                    .collect();
                processes
                    .into_iter()
                    .map(|process| process.join().unwrap().unwrap().unwrap())
                    .collect()
            });
            assert!(times.iter().all(|time| *time > Duration::ZERO), "{times:?}");
            assert!(
                wires.lock().unwrap().iter().all(|(_, pieces)| pieces.is_empty()),
                "pieces that nobody has waited for"
            );
        }
    }

    #[test]
    fn a_probe_without_the_others_is_given_up_when_they_are_gone() {
        let plan = plan(0, &[0, 1, 2], 1);
        let mut looks = 0;
        let check = || {
            looks += 1;
            if looks < 3 { Ok(()) } else { Err("they are gone") }
        };
        assert_eq!(
            try_out(carriers(&plan, &Wires::default()), &plan, &Region::own(), check),
            Err("they are gone")
        );
    }
}
