//! Messages between PEs that share no memory: couriers write them into batches of bytes, and carriers bring these to the couriers of other
//! processes, by MPI or, on one machine, through rings or in a segment of Boost.Interprocess.
//!
//! Who does the work of couriers is the difference between the communication of ROSS-CMT, where one PE of a process does all of it beside its
//! own, distributed MPI, where every PE does its own, and dedicated threads, which do nothing else: B. Williams, A. Eker, K. Chiu and
//! D. Ponomarev, "High-performance PDES on manycore clusters", SIGSIM-PADS 2021.

#[cfg(feature = "boost")]
mod boost;
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
#[cfg(all(test, not(miri)))]
pub(crate) mod tests;
mod trial;

#[cfg(feature = "boost")]
pub(crate) use self::boost::{boost_carriers, join_boost_carriers};
pub use self::carrier::Carrier;
pub(crate) use self::copies::copy_carriers;
pub use self::courier::{CourierCounts, Couriers, Service};
pub use self::feed::CommunicationRing;
#[cfg(feature = "mpi")]
pub(crate) use self::mpi::mpi_carriers;
pub use self::places::{CarrierKind, CourierLimits, CourierPlan, Places};
pub use self::port::{NodePort, node_ports};
pub(crate) use self::trial::try_out;
