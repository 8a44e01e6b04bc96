//! Modelled machines: how many events this machine executes in a second for a cluster of so many
//! PEs, as a share of what the sequential engine executes of the same model.

use warpline::{GvtAlgorithm, Simulation, Synchronisation};
use warpline_bench::measuring::{alternate_for, tell};
use warpline_models::phold::{Phold, PholdParameters};

/// Numbers of PEs, and how often each is measured.
const PES: [(u32, usize); 4] = [(64, 5), (1024, 5), (16_384, 3), (216_000, 1)];
const LPS_A_PE: u32 = 10;
const MESSAGES_AN_LP: u32 = 10;
const LOOKAHEAD: f64 = 0.5;
/// About how many events a run has, and how long it lasts at least, in model time.
const EVENTS: f64 = 4e6;
const END_LEAST: f64 = 1.0;
const MACHINE: &str = "cray-xt5";

/// Prints a row for each number of PEs.
pub(crate) fn compare() {
    println!(
        "PHOLD on {MACHINE}, {LPS_A_PE} LPs a PE, {MESSAGES_AN_LP} messages an LP, lookahead \
         {LOOKAHEAD}, conservative: committed events per second of this machine, with the start \
         of the run, and as a share of the sequential engine\n"
    );
    print!("{:>8} {:>11}", "PEs", "sequential");
    GvtAlgorithm::ALL.iter().for_each(|gvt| print!(" {:>19}", gvt.name()));
    println!();
    for (pes, rounds) in PES {
        let pes = pes.to_string();
        let mut rivals = vec![vec!["cluster", &pes, "sequential"]];
        rivals.extend(GvtAlgorithm::ALL.iter().map(|gvt| vec!["cluster", &pes, gvt.name()]));
        let measured = alternate_for(rounds, &rivals);
        let alone = measured[0].rate;
        print!("{pes:>8} {:>9.2} M", alone / 1e6);
        for measured in &measured[1..] {
            print!(" {:>10.3} M {:>6.3}", measured.rate / 1e6, measured.rate / alone);
        }
        println!();
    }
    println!();
}

/// Measures a run with one algorithm, or a sequential one.
pub(crate) fn measure(pes: &str, way: &str) {
    let pes: u32 = pes.parse().expect("a number of PEs");
    let lps = pes * LPS_A_PE;
    let parameters = PholdParameters {
        lps,
        population: MESSAGES_AN_LP,
        lookahead: LOOKAHEAD,
        ..PholdParameters::default()
    };
    let messages = f64::from(lps) * f64::from(MESSAGES_AN_LP);
    let end = (EVENTS * (1.0 + LOOKAHEAD) / messages).max(END_LEAST);
    let simulation = Simulation::<Phold>::configured(&parameters).expect("valid").end(end);
    let simulation = match GvtAlgorithm::ALL.iter().find(|gvt| gvt.name() == way) {
        Some(gvt) => {
            simulation.sync(Synchronisation::Conservative).machine(MACHINE).pes(pes).gvt(*gvt)
        }
        None => simulation.sync(Synchronisation::Sequential),
    };
    let record = simulation.run().expect("PHOLD runs").record;
    tell(record.committed_events as f64 / record.wall_seconds);
}
