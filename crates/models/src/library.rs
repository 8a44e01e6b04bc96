//! The models by name, for programs that learn only at run time which one is wanted.

use warpline::Configure;
use warpline::command::{Catalogue, CatalogueError, ModelEntry, Visitor, read};

use crate::mm1::Mm1;
use crate::network::Network;
use crate::phold::{Phold, PholdParameters};

/// All models of this library.
///
/// ```
/// use warpline::command::Catalogue;
/// let names: Vec<_> = warpline_models::Library.entries().iter().map(|entry| entry.name).collect();
/// assert_eq!(names, ["mm1", "phold", "network"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Library;

impl Catalogue for Library {
    fn entries(&self) -> Vec<ModelEntry> {
        vec![ModelEntry::of::<Mm1>(), ModelEntry::of::<Phold<8>>(), ModelEntry::of::<Network>()]
    }

    fn with_model<V: Visitor>(&self, name: &str, given: &[(String, String)], visitor: V) -> Result<V::Output, CatalogueError> {
        match self.find(name)?.name {
            Mm1::NAME => Ok(visitor.visit::<Mm1>(read::<Mm1>(given)?)),
            Network::NAME => Ok(visitor.visit::<Network>(read::<Network>(given)?)),
            <Phold<8>>::NAME => {
                let parameters: PholdParameters = read::<Phold<8>>(given)?;
                // Messages are values of fixed size: the smallest that holds the payload.
                Ok(match parameters.payload {
                    0..=8 => visitor.visit::<Phold<8>>(parameters),
                    9..=64 => visitor.visit::<Phold<64>>(parameters),
                    65..=512 => visitor.visit::<Phold<512>>(parameters),
                    _ => visitor.visit::<Phold<4096>>(parameters),
                })
            }
            name => unreachable!("`{name}` is among the entries and not here"),
        }
    }
}
