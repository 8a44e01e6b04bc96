//! The models that are attacked: those of the library, and two made to be hard.

use warpline::Configure;
use warpline::command::{Catalogue, CatalogueError, ModelEntry, Visitor, read};
use warpline::process::{Coroutines, Mixed};
use warpline_models::Library;

use crate::nasty::{Nasty, NastyParameters, Plain, Wire, Written};
use crate::nasty_processes::NastyProcesses;

/// All models that are attacked.
#[derive(Clone, Copy, Debug)]
pub struct Attacked;

impl Catalogue for Attacked {
    fn entries(&self) -> Vec<ModelEntry> {
        let mut entries = Library.entries();
        entries.push(ModelEntry::of::<Nasty<Plain>>());
        entries.push(ModelEntry::of::<Coroutines<NastyProcesses>>());
        entries
    }

    fn with_model<V: Visitor>(
        &self,
        name: &str,
        given: &[(String, String)],
        visitor: V,
    ) -> Result<V::Output, CatalogueError> {
        match self.find(name)?.name {
            <Nasty<Plain>>::NAME => {
                let parameters: NastyParameters = read::<Nasty<Plain>>(given)?;
                Ok(match parameters.wire {
                    Wire::Plain => visitor.visit::<Nasty<Plain>>(parameters),
                    Wire::Written => visitor.visit::<Nasty<Written>>(parameters),
                })
            }
            NastyProcesses::NAME => {
                let parameters = read::<Coroutines<NastyProcesses>>(given)?;
                Ok(match parameters.handlers {
                    0 => visitor.visit::<Coroutines<NastyProcesses>>(parameters),
                    _ => visitor.visit::<Mixed<NastyProcesses>>(parameters),
                })
            }
            _ => Library.with_model(name, given, visitor),
        }
    }
}
