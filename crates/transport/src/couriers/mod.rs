//! Messages between PEs that share no memory. Couriers write them into batches of bytes, and
//! carriers bring these to the couriers of other processes: by MPI, through rings on one machine,
//! or by a crate that plugs in.
//!
//! Communication differs in who works for couriers. In ROSS-CMT one PE of a process does, beside
//! its own work; with distributed MPI every PE does for itself; dedicated threads do nothing else:
//! B. Williams, A. Eker, K. Chiu and D. Ponomarev, "High-performance PDES on manycore clusters",
//! SIGSIM-PADS 2021.

mod carrier;
mod copies;
mod counts;
mod courier;
mod courier_report;
mod feed;
mod inbox;
#[cfg(feature = "mpi")]
mod mpi;
mod places;
mod plugged;
mod port;
mod probe;
mod records;
mod service;
mod sorter;
#[cfg(all(test, not(miri)))]
pub(crate) mod tests;

pub use self::carrier::{Address, Carrier};
pub(crate) use self::copies::copy_carriers;
pub use self::counts::CourierCounts;
pub use self::feed::CommunicationRing;
#[cfg(feature = "mpi")]
pub(crate) use self::mpi::mpi_carriers;
pub use self::places::{CarrierKind, CourierLimits, CourierPlan, Places};
pub use self::plugged::{CarrierMedium, PluggedCarriers};
pub use self::port::{NodePort, node_ports};
pub(crate) use self::probe::try_out;
pub use self::service::{Couriers, Service};
