//! Messages between PEs that share no memory: couriers write them into batches of bytes, and carriers bring these to the couriers of other
//! processes, by MPI or, on one machine, through rings.
//!
//! Who does the work of couriers is the difference between the communication of ROSS-CMT, where one PE of a process also does all of it, of
//! distributed MPI, where every PE does its own, and of threads that do nothing else (C. D. Carothers and others, "ROSS-MC-CMT": many cores,
//! clusters and threads; the paper on clusters of Knights Landing processors, §3 and §4).

mod carrier;
mod copies;
mod courier;
mod feed;
mod inbox;
#[cfg(feature = "mpi")]
mod mpi;
mod places;
mod port;
mod records;
mod sorter;

pub use self::carrier::Carrier;
pub(crate) use self::copies::copy_carriers;
pub use self::courier::{CourierCounts, Couriers};
pub use self::feed::Feed;
#[cfg(feature = "mpi")]
pub(crate) use self::mpi::mpi_carriers;
pub use self::places::{CourierLimits, CourierPlan, Places};
pub use self::port::{NodePort, Service, node_ports};
