//! The models by name, for programs that choose one at run time.

use warpline::command::{Catalogue, CatalogueError, ModelEntry, Visitor, configured, read};
use warpline::process::{AnyCoroutines, Coroutines, Mixed, ProcessModel};
use warpline::ranks::{AnyRanks, RankProgram, Ranks};
use warpline::{Configure, Configured, Payload, Portable};

use crate::hypercube::Hypercube;
use crate::mm1::Mm1;
use crate::network::Network;
use crate::pcs::Pcs;
use crate::phold::{Phold, PholdParameters};
use crate::processes::bank::Bank;
use crate::processes::car_wash::CarWash;
use crate::processes::event_latency::EventLatency;
use crate::processes::fleet::Fleet;
use crate::processes::gas_station::GasStation;
use crate::processes::harbour::Harbour;
use crate::processes::hospital::Hospital;
use crate::processes::job_shop::JobShop;
use crate::processes::machine_shop::MachineShop;
use crate::processes::movie::Movie;
use crate::processes::tandem::Tandem;
use crate::ranks::mupi_barrier::MupiBarrier;
use crate::ranks::mupi_ping::MupiPing;
use crate::ranks::stencil::Stencil;
use crate::replay::Replay;
use crate::simplesim::SimpleSim;

/// All models of this library.
///
/// ```
/// use warpline::command::Catalogue;
/// let names: Vec<_> = warpline_models::Library.entries().iter().map(|entry| entry.name).collect();
/// assert_eq!(names[..4], ["mm1", "simplesim", "phold", "hypercube"]);
/// assert_eq!(names[4..9], ["bank", "car-wash", "machine-shop", "gas-station", "movie"]);
/// assert_eq!(names[9..14], ["event-latency", "hospital", "job-shop", "harbour", "tandem"]);
/// assert_eq!(names[14..18], ["fleet", "mupi-barrier", "mupi-ping", "stencil"]);
/// assert_eq!(names[18..], ["replay", "pcs", "network"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Library;

impl Catalogue for Library {
    fn entries(&self) -> Vec<ModelEntry> {
        vec![
            ModelEntry::of::<Mm1>(),
            ModelEntry::of::<SimpleSim>(),
            ModelEntry::of::<Phold>(),
            ModelEntry::of::<Hypercube>(),
            ModelEntry::of::<Coroutines<Bank>>(),
            ModelEntry::of::<Coroutines<CarWash>>(),
            ModelEntry::of::<Coroutines<MachineShop>>(),
            ModelEntry::of::<Coroutines<GasStation>>(),
            ModelEntry::of::<Coroutines<Movie>>(),
            ModelEntry::of::<Coroutines<EventLatency>>(),
            ModelEntry::of::<Coroutines<Hospital>>(),
            ModelEntry::of::<Coroutines<JobShop>>(),
            ModelEntry::of::<Coroutines<Harbour>>(),
            ModelEntry::of::<Coroutines<Tandem>>(),
            ModelEntry::of::<Mixed<Fleet>>(),
            ModelEntry::of::<Ranks<MupiBarrier>>(),
            ModelEntry::of::<Ranks<MupiPing>>(),
            ModelEntry::of::<Ranks<Stencil>>(),
            ModelEntry::of::<Replay>(),
            ModelEntry::of::<Pcs>(),
            ModelEntry::of::<Network>(),
        ]
    }

    fn with_model<V: Visitor>(
        &self,
        name: &str,
        given: &[(String, String)],
        visitor: V,
    ) -> Result<V::Output, CatalogueError> {
        match self.find(name)?.name {
            Mm1::NAME => Ok(visitor.visit(configured::<Mm1>(given)?)),
            SimpleSim::NAME => Ok(visitor.visit(configured::<SimpleSim>(given)?)),
            Hypercube::NAME => Ok(visitor.visit(configured::<Hypercube>(given)?)),
            Pcs::NAME => Ok(visitor.visit(configured::<Pcs>(given)?)),
            Bank::NAME => Ok(visitor.visit(coroutines::<Bank>(given)?)),
            CarWash::NAME => Ok(visitor.visit(coroutines::<CarWash>(given)?)),
            MachineShop::NAME => Ok(visitor.visit(coroutines::<MachineShop>(given)?)),
            GasStation::NAME => Ok(visitor.visit(coroutines::<GasStation>(given)?)),
            Movie::NAME => Ok(visitor.visit(coroutines::<Movie>(given)?)),
            EventLatency::NAME => Ok(visitor.visit(coroutines::<EventLatency>(given)?)),
            Hospital::NAME => Ok(visitor.visit(coroutines::<Hospital>(given)?)),
            JobShop::NAME => Ok(visitor.visit(coroutines::<JobShop>(given)?)),
            Harbour::NAME => Ok(visitor.visit(coroutines::<Harbour>(given)?)),
            Tandem::NAME => Ok(visitor.visit(coroutines::<Tandem>(given)?)),
            Fleet::NAME => Ok(visitor.visit(configured::<Mixed<Fleet>>(given)?)),
            MupiBarrier::NAME => Ok(visitor.visit(ranks::<MupiBarrier>(given)?)),
            MupiPing::NAME => Ok(visitor.visit(ranks::<MupiPing>(given)?)),
            Stencil::NAME => Ok(visitor.visit(ranks::<Stencil>(given)?)),
            Network::NAME => Ok(visitor.visit(configured::<Network>(given)?)),
            Replay::NAME => Ok(visitor.visit(configured::<Replay>(given)?)),
            <Phold>::NAME => {
                let parameters: PholdParameters = read::<Phold>(given)?;
                // A number alone fits into the message and needs no memory of its own.
                Ok(match parameters.payload {
                    0..=8 => visitor.visit(Configured::<Phold>::new(&parameters)),
                    _ => visitor.visit(Configured::<Phold<Payload>>::new(&parameters)),
                })
            }
            name => unreachable!("`{name}` is among the entries and not here"),
        }
    }
}

/// A model of processes, whose engines are those of all that have the same messages.
fn coroutines<M>(
    given: &[(String, String)],
) -> Result<Configured<AnyCoroutines<M::Message>>, CatalogueError>
where
    M: ProcessModel<Message: Portable> + Configure,
{
    Ok(configured::<Coroutines<M>>(given)?.map(AnyCoroutines::from))
}

/// A program of ranks, whose engines are those of all programs.
fn ranks<P: RankProgram + Configure>(
    given: &[(String, String)],
) -> Result<Configured<AnyRanks>, CatalogueError> {
    Ok(configured::<Ranks<P>>(given)?.map(AnyRanks::from))
}
