//! How events of various sizes travel best between two threads: by value or in a shared buffer, those that are certain and those that may
//! be undone.

use warpline::{GoAhead, Simulation, Synchronisation, Wire};
use warpline_models::phold::{Phold, PholdParameters};

use crate::{alternate, tell_all};

/// Payloads in bytes.
const PAYLOADS: [&str; 6] = ["8", "32", "128", "512", "1024", "4096"];
const WIRES: [Wire; 2] = [Wire::Shared, Wire::Value];
/// About so many bytes are sent in a run, and no more than so many events.
const BYTES: f64 = 2e9;
const EVENTS: f64 = 2e7;

/// Prints a row for every size of payload.
pub(crate) fn compare() {
    println!("PHOLD of 8 192 LPs on two threads, million committed events per second by wire, and ratio of by value to shared buffers\n");
    println!("{:>8} {:>29} {:>29}", "", "certain events", "events that may be undone");
    println!("{:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}", "payload", "shared", "value", "ratio", "shared", "value", "ratio");
    for payload in PAYLOADS {
        let rival = |kind, wire: Wire| vec!["wire", payload, kind, wire.name()];
        let rivals: Vec<_> = ["certain", "ahead"].into_iter().flat_map(|kind| WIRES.map(|wire| rival(kind, wire))).collect();
        let measured = alternate(&rivals);
        print!("{payload:>8}");
        for pair in measured.chunks(2) {
            print!(" {:>9.2} {:>9.2} {:>9.2}", pair[0].rate / 1e6, pair[1].rate / 1e6, pair[1].rate / pair[0].rate);
        }
        println!();
    }
    println!();
}

pub(crate) fn measure(payload: &str, kind: &str, wire: &str) {
    match payload {
        "8" => run::<8>(kind, wire),
        "32" => run::<32>(kind, wire),
        "128" => run::<128>(kind, wire),
        "512" => run::<512>(kind, wire),
        "1024" => run::<1024>(kind, wire),
        _ => run::<4096>(kind, wire),
    }
}

fn run<const BYTES_EACH: usize>(kind: &str, wire: &str) {
    let parameters = PholdParameters { payload: BYTES_EACH as u32, ..PholdParameters::default() };
    let events = (BYTES / (64 + BYTES_EACH) as f64).min(EVENTS);
    // An event of every LP takes 1.1 in model time.
    let end = events / f64::from(parameters.lps) * 1.1;
    let wire = WIRES.into_iter().find(|one| one.name() == wire).expect("a wire");
    let simulation = Simulation::<Phold<BYTES_EACH>>::configured(&parameters).expect("valid parameters").end(end).threads(2).wire(wire);
    let simulation = match kind {
        "certain" => simulation.sync(Synchronisation::Conservative),
        _ => simulation.sync(Synchronisation::Optimistic).use_lookahead(false).go_ahead(GoAhead::Always),
    };
    let record = simulation.run().expect("PHOLD runs").record;
    tell_all(record.event_rate, record.parallel.map_or(1.0, |parallel| parallel.efficiency));
}
