//! How events of various sizes travel best between two threads: by value or in a shared buffer.
//! Some are certain, and some may be undone: senders keep a copy of these if they go by value.

use warpline::prelude::*;
use warpline::{GoAhead, Messages, Synchronisation};
use warpline_bench::measuring::{alternate, tell_run};

/// Payloads in bytes.
const PAYLOADS: [&str; 6] = ["8", "32", "128", "512", "1024", "4096"];
const WIRES: [Messages; 2] = [Messages::Shared, Messages::Copy];
/// About how many bytes are sent in a run.
const BYTES: f64 = 2e9;
/// The most events of a run.
const EVENTS: f64 = 2e7;

const LPS: u32 = 8192;

/// PHOLD whose messages are values of this many bytes.
struct Hops<const BYTES_EACH: usize>;

impl<const BYTES_EACH: usize> Hops<BYTES_EACH> {
    const LOOKAHEAD: f64 = 0.1;

    fn delay(&self, random: &mut Random) -> f64 {
        Self::LOOKAHEAD + random.exponential(1.0)
    }
}

impl<const BYTES_EACH: usize> Model for Hops<BYTES_EACH> {
    type State = u64;
    type Event = [u8; BYTES_EACH];

    fn lps(&self) -> u32 {
        LPS
    }

    fn lookahead(&self) -> f64 {
        Self::LOOKAHEAD
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        let delay = self.delay(lp.random());
        lp.send(lp.id(), delay, [1; BYTES_EACH]);
        0
    }

    fn handle(&self, sum: &mut u64, bytes: &[u8; BYTES_EACH], lp: &mut Context<Self>) {
        *sum += u64::from(bytes[0]);
        let delay = self.delay(lp.random());
        let to = lp.random().below(LPS);
        lp.send(to, delay, *bytes);
    }
}

/// Prints a row for every size of payload.
pub(crate) fn compare() {
    println!(
        "PHOLD of 8 192 LPs on two threads, million committed events per second and ratio of \
         copies to shared buffers\n"
    );
    println!("{:>8} {:>29} {:>29}", "", "certain events", "events that may be undone");
    println!(
        "{:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "payload", "shared", "copy", "ratio", "shared", "copy", "ratio"
    );
    for payload in PAYLOADS {
        let rival = |kind, messages: Messages| vec!["wire", payload, kind, messages.name()];
        let rivals: Vec<_> = ["certain", "ahead"]
            .into_iter()
            .flat_map(|kind| WIRES.map(|messages| rival(kind, messages)))
            .collect();
        let measured = alternate(&rivals);
        print!("{payload:>8}");
        for pair in measured.chunks(2) {
            print!(
                " {:>9.2} {:>9.2} {:>9.2}",
                pair[0].rate / 1e6,
                pair[1].rate / 1e6,
                pair[1].rate / pair[0].rate
            );
        }
        println!();
    }
    println!();
}

pub(crate) fn measure(payload: &str, kind: &str, messages: &str) {
    match payload {
        "8" => run::<8>(kind, messages),
        "32" => run::<32>(kind, messages),
        "128" => run::<128>(kind, messages),
        "512" => run::<512>(kind, messages),
        "1024" => run::<1024>(kind, messages),
        _ => run::<4096>(kind, messages),
    }
}

fn run<const BYTES_EACH: usize>(kind: &str, messages: &str) {
    let events = (BYTES / (64 + BYTES_EACH) as f64).min(EVENTS);
    // Every LP has an event each 1.1 in model time.
    let end = events / f64::from(LPS) * 1.1;
    let messages = WIRES.into_iter().find(|one| one.name() == messages).expect("one of them");
    let simulation = Simulation::new(Hops::<BYTES_EACH>).end(end).threads(2).messages(messages);
    let simulation = match kind {
        "certain" => simulation.sync(Synchronisation::Conservative),
        _ => simulation
            .sync(Synchronisation::Optimistic)
            .use_lookahead(false)
            .go_ahead(GoAhead::Always),
    };
    let record = simulation.run().expect("the model runs").record;
    tell_run(&record);
}
