//! The models that are attacked: those of the library, and one made to be hard.

use warpline::Configure;
use warpline::command::{Catalogue, CatalogueError, ModelEntry, Visitor, read};
use warpline_models::Library;

use crate::nasty::{Nasty, NastyParameters, Plain, Wire, Written};

/// All models that are attacked.
#[derive(Clone, Copy, Debug)]
pub struct Attacked;

impl Catalogue for Attacked {
    fn entries(&self) -> Vec<ModelEntry> {
        let mut entries = Library.entries();
        entries.push(ModelEntry::of::<Nasty<Plain>>());
        entries
    }

    fn with_model<V: Visitor>(
        &self,
        name: &str,
        given: &[(String, String)],
        visitor: V,
    ) -> Result<V::Output, CatalogueError> {
        if self.find(name)?.name != <Nasty<Plain>>::NAME {
            return Library.with_model(name, given, visitor);
        }
        let parameters: NastyParameters = read::<Nasty<Plain>>(given)?;
        Ok(match parameters.wire {
            Wire::Plain => visitor.visit::<Nasty<Plain>>(parameters),
            Wire::Written => visitor.visit::<Nasty<Written>>(parameters),
        })
    }
}
