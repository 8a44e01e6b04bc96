//! Models by name, for programs that learn only at run time which one is wanted.

use std::marker::PhantomData;

use warpline_run::{
    Configure, Configured, Model, ParameterError, ParameterSpec, Parameters, Preset, Undo, nearest,
};

/// What is known about a model before it has parameters.
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
    /// Whether it has a journal.
    pub journaled: bool,
    /// Its parameters.
    pub parameters: Vec<ParameterSpec>,
    /// Its presets: parameters under one name.
    pub presets: &'static [Preset],
}

/// The ways to undo events of a model, which may have reverse code or a journal.
pub(crate) fn ways_to_undo(reversible: bool, journaled: bool) -> Vec<Undo> {
    let ways = [(Undo::Copy, true), (Undo::Reverse, reversible), (Undo::Journal, journaled)];
    ways.into_iter().filter(|(_, has)| *has).map(|(undo, _)| undo).collect()
}

impl ModelEntry {
    /// The entry of this model.
    pub fn of<M: Model + Configure>() -> Self {
        ModelEntry {
            name: M::NAME,
            about: M::ABOUT,
            time_unit: M::TIME_UNIT,
            default_end: M::DEFAULT_END,
            reversible: M::ABILITIES.has_reverse(),
            journaled: M::ABILITIES.journal().is_some(),
            parameters: M::Parameters::specs(),
            presets: M::presets(),
        }
    }
}

/// Code that is called with a model whose type is known only inside [`Catalogue::with_model`].
pub trait Visitor {
    /// What it returns.
    type Output;

    /// Calls it with the model.
    fn visit<M: Model>(self, model: Configured<M>) -> Self::Output;
}

/// The models of a program.
pub trait Catalogue {
    /// All of them, simplest first.
    fn entries(&self) -> Vec<ModelEntry>;

    /// Reads the parameters of the model called `name`, given as names and values, and passes it to
    /// `visitor`.
    ///
    /// # Errors
    /// If there is no such model or parameter, or a value is refused.
    fn with_model<V: Visitor>(
        &self,
        name: &str,
        given: &[(String, String)],
        visitor: V,
    ) -> Result<V::Output, CatalogueError>;

    /// The entry of this name.
    ///
    /// # Errors
    /// If there is none; the message lists the models.
    fn find(&self, name: &str) -> Result<ModelEntry, CatalogueError> {
        let entries = self.entries();
        entries.iter().find(|entry| entry.name == name).cloned().ok_or_else(|| {
            CatalogueError::UnknownModel {
                name: name.to_owned(),
                nearest: nearest(name, entries.iter().map(|entry| entry.name)),
                known: entries.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
            }
        })
    }
}

/// A catalogue of one model.
pub(crate) struct Only<M>(PhantomData<M>);

impl<M> Only<M> {
    pub(crate) const fn new() -> Self {
        Only(PhantomData)
    }
}

impl<M: Model + Configure> Catalogue for Only<M> {
    fn entries(&self) -> Vec<ModelEntry> {
        vec![ModelEntry::of::<M>()]
    }

    fn with_model<V: Visitor>(
        &self,
        name: &str,
        given: &[(String, String)],
        visitor: V,
    ) -> Result<V::Output, CatalogueError> {
        self.find(name)?;
        Ok(visitor.visit(configured::<M>(given)?))
    }
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
                write!(f, "model `{model}`: {cause}")
            }
        }
    }
}

impl std::error::Error for CatalogueError {}

/// A model with these names and values of parameters.
///
/// # Errors
/// If there is no such parameter, or a value is refused.
pub fn configured<M: Configure>(
    given: &[(String, String)],
) -> Result<Configured<M>, CatalogueError> {
    Ok(Configured::new(&read::<M>(given)?))
}

/// The parameters of a model with these names and values.
///
/// # Errors
/// If there is no such parameter, or a value is refused.
pub fn read<M: Configure>(given: &[(String, String)]) -> Result<M::Parameters, CatalogueError> {
    let mut parameters = M::Parameters::default();
    for (name, value) in given {
        parameters
            .set(name, value)
            .map_err(|cause| CatalogueError::Parameter { model: M::NAME, cause })?;
    }
    Ok(parameters)
}
