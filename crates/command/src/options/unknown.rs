//! What to say of an option that a command does not have: which one may be meant, or which command
//! has it.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::models::catalogue::{Catalogue, ModelEntry};
use crate::models::program::{Program, RESERVED};
use crate::settings;
use crate::verbs::{COMPLETIONS, NEW, OF_MODELS};
use warpline_run::nearest;
use warpline_run::settings::Setting;

/// Commands that take no model.
const OTHERS: [&str; 4] = ["models", "report", NEW, COMPLETIONS];

/// A better message than clap's for an option that it does not know, if there is one.
pub(crate) fn explain<C: Catalogue>(
    program: &Program<C>,
    line: &[OsString],
    error: &clap::Error,
) -> Option<String> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let words: Vec<&str> = line.iter().skip(1).filter_map(|word| word.to_str()).collect();
    let verb = *words.iter().find(|word| OF_MODELS.contains(word) || OTHERS.contains(word))?;
    let model =
        program.only().or_else(|| program.entries.iter().find(|entry| words.contains(&entry.name)));
    let known = Known { program, verb, model };
    match unknown.strip_prefix("--") {
        Some(name) => {
            let suggested = match error.get(ContextKind::SuggestedArg) {
                Some(ContextValue::String(suggested)) => Some(suggested.trim_start_matches('-')),
                _ => None,
            };
            known.explain_option(name, suggested)
        }
        // Clap reads the letters after a single hyphen one by one, and names the first.
        None => {
            let word = words.iter().find(|word| word.starts_with(unknown.as_str()))?;
            known.explain_word(word)
        }
    }
}

/// The command and the model of a command line with an unknown option.
struct Known<'a, 'c, C> {
    program: &'a Program<'c, C>,
    verb: &'a str,
    /// The model of the command line, if it names one.
    model: Option<&'a ModelEntry>,
}

impl<C: Catalogue> Known<'_, '_, C> {
    fn explain_option(&self, name: &str, suggested: Option<&str>) -> Option<String> {
        let line = format!("{} {}", self.program.name, self.verb);
        let own = self.names();
        if own.iter().any(|known| known == name) {
            // The command has it, but not at this place.
            return None;
        }
        let near =
            suggested.map(str::to_owned).or_else(|| nearest(name, own.iter().map(String::as_str)));
        let or =
            near.as_deref().map_or_else(String::new, |near| format!("; did you mean `--{near}`?"));
        if let Some((verb, setting)) = elsewhere(self.verb, name) {
            let meaning = setting.meaning.trim_end_matches('.');
            return Some(format!(
                "`{line}` has no --{name}, but `{} {verb}` has: {meaning}{or}",
                self.program.name
            ));
        }
        let model = self.model.filter(|_| OF_MODELS.contains(&self.verb));
        let other = self.program.entries.iter().find(|entry| has(entry, name));
        if let (Some(model), Some(other)) = (model, other) {
            return Some(format!(
                "model `{}` has no parameter --{name}, but `{}` has{or}",
                model.name, other.name
            ));
        }
        // Clap's own message has the suggestion.
        if suggested.is_some() {
            return None;
        }
        let help = model
            .filter(|_| self.program.only().is_none())
            .map_or(line.clone(), |model| format!("{line} {}", model.name));
        Some(if or.is_empty() {
            format!("there is no option --{name}; `{help} --help-all` lists all")
        } else {
            format!("there is no option --{name}{or}")
        })
    }

    /// Explains a word that lacks the hyphens of an option, such as `seed` or `-seed`.
    fn explain_word(&self, word: &str) -> Option<String> {
        let name = word.trim_start_matches('-');
        let name = name.split_once('=').map_or(name, |(name, _)| name).replace('_', "-");
        let meant = self.names().into_iter().find(|known| *known == name)?;
        Some(format!("`{word}` is not an option: did you mean `--{meant}`?"))
    }

    /// The names of the options that the command has.
    fn names(&self) -> Vec<String> {
        let settings = settings::of(self.verb).into_iter().map(|setting| setting.name);
        let parameters = self
            .model
            .filter(|_| OF_MODELS.contains(&self.verb))
            .into_iter()
            .flat_map(|entry| &entry.parameters);
        settings
            .chain(parameters.map(|spec| spec.name.clone()))
            .chain(RESERVED.map(str::to_owned))
            .collect()
    }
}

fn has(entry: &ModelEntry, name: &str) -> bool {
    entry.parameters.iter().any(|spec| spec.name == name)
}

/// Another command that has this setting.
fn elsewhere(verb: &str, name: &str) -> Option<(&'static str, Setting)> {
    let mut others = OF_MODELS.into_iter().filter(|other| *other != verb);
    others.find_map(|other| {
        Some((other, settings::of(other).into_iter().find(|setting| setting.name == name)?))
    })
}

#[cfg(test)]
mod tests {
    use crate::options::arguments::parse;
    use crate::test_models::{one, two};

    use super::*;

    fn refused(line: &str) -> String {
        let line: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let outcome = if line[0] == "queue" { parse(&one(), &line) } else { parse(&two(), &line) };
        outcome.unwrap_err().message
    }

    #[test]
    fn an_option_of_another_command_is_said_to_be_there() {
        let compare = "`warpline run` has no --runs, but `warpline compare` has: Runs of each \
                       engine, in turn";
        for line in
            ["warpline run mm1 --runs 5", "warpline run --runs 5 mm1", "warpline run mm1 --runs=5"]
        {
            assert!(refused(line).starts_with(compare), "{}", refused(line));
        }
        assert!(
            refused("warpline run phold --with optimistic")
                .contains("`warpline compare` has: Engines")
        );
        assert!(
            refused("warpline verify mm1 --threads 2")
                .starts_with("`warpline verify` has no --threads, but `warpline run` has: PEs")
        );
        assert!(
            refused("warpline report out --end 5")
                .starts_with("`warpline report` has no --end, but `warpline run` has: ")
        );
        assert!(
            refused("warpline explain mm1 --threads 2")
                .starts_with("`warpline explain` has no --threads, but `warpline run` has: PEs")
        );
        assert!(
            refused("warpline run mm1 --event-cost counted")
                .contains("but `warpline explain` has: What an event costs")
        );
        assert!(
            refused("queue run --runs 5")
                .starts_with("`queue run` has no --runs, but `queue compare` has: ")
        );
    }

    #[test]
    fn a_parameter_of_another_model_is_said_to_be_there() {
        let message = "model `mm1` has no parameter --lps, but `phold` has";
        assert!(
            refused("warpline run mm1 --lps 5").starts_with(message),
            "{}",
            refused("warpline run mm1 --lps 5")
        );
        assert!(
            refused("warpline compare phold --arrival_rate 5")
                .starts_with("model `phold` has no parameter --arrival-rate, but `mm1` has")
        );
    }

    #[test]
    fn a_misspelt_option_has_a_suggestion() {
        for (line, meant) in [
            ("run mm1 --sead 3", "--seed"),
            ("run mm1 --arival_rate 1", "--arrival-rate"),
            ("run mm1 --gvt_intervall 5", "--gvt-interval"),
            ("run --therads 2 mm1", "--threads"),
            ("compare mm1 --run 5", "--runs"),
            ("explain mm1 --evnt-cost measured", "--event-cost"),
            ("run mm1 -seed 3", "--seed"),
            ("run mm1 -arrival_rate=3", "--arrival-rate"),
            ("run mm1 seed 3", "--seed"),
            ("run mm1 --jason", "--json"),
        ] {
            let message = refused(&format!("warpline {line}"));
            assert!(
                message.contains(&format!("'{meant}'"))
                    || message.ends_with(&format!("did you mean `{meant}`?")),
                "{line}: {message}"
            );
        }
        assert!(
            refused("warpline --end 5 run mm1").contains("'run --end' exists"),
            "{}",
            refused("warpline --end 5 run mm1")
        );
        assert_eq!(
            refused("warpline run mm1 --xyz 4"),
            "there is no option --xyz; `warpline run mm1 --help-all` lists all"
        );
        assert_eq!(
            refused("queue run --xyz 4"),
            "there is no option --xyz; `queue run --help-all` lists all"
        );
    }
}
