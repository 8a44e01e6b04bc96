//! The models that are attacked: those of the library, and two made to be hard.

use warpline::command::{Catalogue, CatalogueError, ModelEntry, Visitor, read};
use warpline::process::{Coroutines, Mixed};
use warpline::{Configure, Configured};
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
                    Wire::Plain => visitor.visit(Configured::<Nasty<Plain>>::new(&parameters)),
                    Wire::Written => visitor.visit(Configured::<Nasty<Written>>::new(&parameters)),
                })
            }
            NastyProcesses::NAME => {
                let parameters = read::<Coroutines<NastyProcesses>>(given)?;
                Ok(match parameters.handlers {
                    0 => visitor.visit(Configured::<Coroutines<NastyProcesses>>::new(&parameters)),
                    _ => visitor.visit(Configured::<Mixed<NastyProcesses>>::new(&parameters)),
                })
            }
            _ => Library.with_model(name, given, visitor),
        }
    }
}
