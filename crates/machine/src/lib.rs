//! Machines as models: what the steps of a parallel simulator cost on them, and how long their
//! messages take. The machine is the host of a run, not what the run simulates.
//!
//! A machine follows LogGOPS (T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim: simulating
//! large-scale applications in the LogGOPS model", HPDC 2010, after D. Culler et al., "LogP:
//! towards a realistic model of parallel computation", PPoPP 1993) on two levels: between the cores
//! of a node, and between nodes. It comes from a file that gives every figure with its unit and its
//! origin, or from a profile that the program has built in.

mod chip;
mod error;
mod figures;
mod file;
mod machine;
mod noise;
mod profiles;
mod scale;
mod sheet;
#[cfg(test)]
mod tests;
mod time;
mod topology;
mod value;

pub use chip::{MailboxUnit, RegisterUnit};
pub use error::MachineError;
pub use machine::{Costs, Level, Machine};
pub use noise::Noise;
pub use profiles::{THIS, names, open, place_of_this};
pub use scale::FigureGroup;
pub use sheet::Sheet;
pub use time::Time;
pub use topology::Topology;
