//! The models by name, for programs that choose one at run time.

use warpline::command::{Catalogue, CatalogueError, ModelEntry, Visitor, read};
use warpline::{Configure, Payload};

use crate::hypercube::Hypercube;
use crate::mm1::Mm1;
use crate::network::Network;
use crate::pcs::Pcs;
use crate::phold::{Phold, PholdParameters};
use crate::simplesim::SimpleSim;

/// All models of this library.
///
/// ```
/// use warpline::command::Catalogue;
/// let names: Vec<_> = warpline_models::Library.entries().iter().map(|entry| entry.name).collect();
/// assert_eq!(names, ["mm1", "simplesim", "phold", "hypercube", "pcs", "network"]);
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
            Mm1::NAME => Ok(visitor.visit::<Mm1>(read::<Mm1>(given)?)),
            SimpleSim::NAME => Ok(visitor.visit::<SimpleSim>(read::<SimpleSim>(given)?)),
            Hypercube::NAME => Ok(visitor.visit::<Hypercube>(read::<Hypercube>(given)?)),
            Pcs::NAME => Ok(visitor.visit::<Pcs>(read::<Pcs>(given)?)),
            Network::NAME => Ok(visitor.visit::<Network>(read::<Network>(given)?)),
            <Phold>::NAME => {
                let parameters: PholdParameters = read::<Phold>(given)?;
                // A number alone fits into the message and needs no memory of its own.
                Ok(match parameters.payload {
                    0..=8 => visitor.visit::<Phold>(parameters),
                    _ => visitor.visit::<Phold<Payload>>(parameters),
                })
            }
            name => unreachable!("`{name}` is among the entries and not here"),
        }
    }
}
