//! The models by name, for programs that learn only at run time which one is wanted.

use warpline::{Configure, ParameterError, ParameterSpec, Parameters, nearest};

use crate::mm1::Mm1;
use crate::network::Network;
use crate::phold::{Phold, PholdParameters};

/// A model of the library.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line on what it simulates.
    pub about: &'static str,
    /// The unit of model time.
    pub time_unit: &'static str,
    /// The default end, in model time.
    pub default_end: f64,
    /// Whether it has reverse code.
    pub reversible: bool,
    /// Its parameters.
    pub parameters: Vec<ParameterSpec>,
}

/// All models, simplest first.
pub fn entries() -> Vec<ModelEntry> {
    vec![entry::<Mm1>(), entry::<Phold<8>>(), entry::<Network>()]
}

fn entry<M: Configure>() -> ModelEntry {
    ModelEntry {
        name: M::NAME,
        about: M::ABOUT,
        time_unit: M::TIME_UNIT,
        default_end: M::DEFAULT_END,
        reversible: M::REVERSIBLE,
        parameters: M::Parameters::specs(),
    }
}

/// The entry of this name.
///
/// # Errors
/// If there is none; the message lists the models.
pub fn find(name: &str) -> Result<ModelEntry, CatalogueError> {
    let entries = entries();
    entries.iter().find(|entry| entry.name == name).cloned().ok_or_else(|| CatalogueError::UnknownModel {
        name: name.to_owned(),
        nearest: nearest(name, entries.iter().map(|entry| entry.name)),
        known: entries.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}

/// Why no model could be chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum CatalogueError {
    /// No model has this name.
    UnknownModel {
        /// The name as given.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
        /// All names.
        known: String,
    },
    /// A parameter was refused.
    Parameter {
        /// The model.
        model: &'static str,
        /// Why.
        cause: ParameterError,
    },
}

impl std::fmt::Display for CatalogueError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CatalogueError::UnknownModel { name, nearest, known } => {
                write!(f, "there is no model `{name}`")?;
                if let Some(nearest) = nearest {
                    write!(f, "; did you mean `{nearest}`?")?;
                }
                write!(f, " (there are: {known})")
            }
            CatalogueError::Parameter { model, cause } => {
                write!(f, "model `{model}`: {cause}; `warpline models show {model}` lists all parameters")
            }
        }
    }
}

impl std::error::Error for CatalogueError {}

/// Code to be called with a model whose type is known only inside [`with_model`].
pub trait Visitor {
    /// What it returns.
    type Output;

    /// Calls it with the type of the model and its parameters.
    fn visit<M: Configure + 'static>(self, parameters: M::Parameters) -> Self::Output;
}

/// Reads the parameters of the model called `name` and passes both to `visitor`.
///
/// # Errors
/// If there is no such model or parameter, or a value is refused.
pub fn with_model<V: Visitor>(name: &str, given: &[(String, String)], visitor: V) -> Result<V::Output, CatalogueError> {
    match find(name)?.name {
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

fn read<M: Configure>(given: &[(String, String)]) -> Result<M::Parameters, CatalogueError> {
    let mut parameters = M::Parameters::default();
    for (name, value) in given {
        parameters.set(name, value).map_err(|cause| CatalogueError::Parameter { model: M::NAME, cause })?;
    }
    Ok(parameters)
}
