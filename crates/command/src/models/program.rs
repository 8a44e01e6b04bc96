//! The program around models: its name, its models, and what else it offers.

use std::ffi::OsString;
use std::path::Path;

use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, CatalogueError, ModelEntry};
use crate::settings;
use crate::study::Study;
use crate::verbs::OF_MODELS;

/// The names of options that are not settings.
pub(crate) const RESERVED: [&str; 6] = ["json", "quiet", "help", "help-all", "version", "preset"];

/// The program whose command line this is.
pub(crate) struct Program<'c, C> {
    pub(crate) name: String,
    pub(crate) models: &'c C,
    pub(crate) entries: Vec<ModelEntry>,
    /// Whether it has the commands `new` and `calibrate`.
    pub(crate) new: bool,
    /// The experiments that it repeats; without any, it has no command `study`.
    pub(crate) studies: &'c [Study],
}

impl<'c, C: Catalogue> Program<'c, C> {
    /// The program of these models, called by this path.
    ///
    /// # Errors
    /// If a parameter of a model has the name of a setting or option.
    pub(crate) fn new(models: &'c C, path: Option<&OsString>) -> Result<Self, Failure> {
        let entries = models.entries();
        let settings = OF_MODELS.into_iter().flat_map(settings::of);
        let taken = settings.map(|setting| setting.name).chain(RESERVED.map(str::to_owned));
        let taken: Vec<String> = taken.collect();
        for entry in &entries {
            if let Some(spec) = entry.parameters.iter().find(|spec| taken.contains(&spec.name)) {
                return Err(Failure::wrong_use(format!(
                    "model `{}` calls a parameter `{1}`, which is the name of a setting or option, \
                     --{1}: give the parameter another one",
                    entry.name, spec.name
                )));
            }
        }
        let name = path
            .and_then(|path| Path::new(path).file_stem())
            .map(|stem| stem.to_string_lossy().into_owned());
        Ok(Program {
            name: name.unwrap_or_else(|| "warpline".to_owned()),
            models,
            entries,
            new: false,
            studies: &[],
        })
    }

    /// The only model, whose name need not be typed.
    pub(crate) fn only(&self) -> Option<&ModelEntry> {
        match &self.entries[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The start of a command line: `warpline run mm1`, or `rumour run` if there is no other model.
    pub(crate) fn line(&self, verb: &str, model: &str) -> String {
        let name = &self.name;
        if self.only().is_some() {
            format!("{name} {verb}")
        } else {
            format!("{name} {verb} {model}")
        }
    }

    /// The entry of this name.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn find(&self, model: &str) -> Result<ModelEntry, CatalogueError> {
        self.models.find(model)
    }
}

impl From<CatalogueError> for Failure {
    fn from(error: CatalogueError) -> Self {
        Self::wrong_use(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::catalogue::{CatalogueError, Visitor};
    use crate::test_models::{one, two};

    #[test]
    fn lines_name_a_model_where_there_are_several() {
        assert_eq!(
            (two().line("run", "mm1"), one().line("run", "mm1")),
            ("warpline run mm1".into(), "queue run".into())
        );
    }

    /// A model with one parameter.
    struct Odd(&'static str);

    impl Catalogue for Odd {
        fn entries(&self) -> Vec<ModelEntry> {
            let mut entries = one().entries;
            entries[0].parameters.truncate(1);
            entries[0].parameters[0].name = self.0.into();
            entries
        }

        fn with_model<V: Visitor>(
            &self,
            name: &str,
            _: &[(String, String)],
            _: V,
        ) -> Result<V::Output, CatalogueError> {
            Err(self.find(name).unwrap_err())
        }
    }

    #[test]
    fn parameters_must_not_be_called_like_settings() {
        for name in ["seed", "report", "runs", "json", "help"] {
            let refused = Program::new(&Odd(name), None).err().unwrap();
            let expected = format!(
                "model `mm1` calls a parameter `{name}`, which is the name of a setting or option, \
                 --{name}"
            );
            assert!(refused.message.starts_with(&expected), "{}", refused.message);
        }
        assert!(Program::new(&Odd("seeds"), None).is_ok());
    }
}
