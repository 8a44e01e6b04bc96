//! Scenario files: a run's model, settings and parameters in TOML, under the names that they have
//! on the command line.

use std::ops::Range;

use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, ModelEntry};
use crate::models::program::Program;
use crate::output::format;
use crate::settings::{self, GivenSetting};
use crate::verbs::{COMPARE, EXPLAIN, TORTURE, VERIFY};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use warpline_run::nearest;

/// The key that names the model.
const MODEL: &str = "model";
/// The table of the model's parameters.
const PARAMETERS: &str = "parameters";

/// What a scenario file says.
#[derive(Debug, PartialEq)]
pub(crate) struct Scenario {
    pub(crate) model: &'static str,
    pub(crate) settings: Vec<GivenSetting>,
    pub(crate) parameters: Vec<GivenSetting>,
}

impl Scenario {
    /// Reads a file.
    pub(crate) fn read<C: Catalogue>(program: &Program<C>, path: &str) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|cause| {
            Failure::wrong_use(format!("cannot read the scenario {path}: {cause}"))
        })?;
        Self::parse(program, &Source { path, text: &text })
    }

    fn parse<C: Catalogue>(program: &Program<C>, source: &Source) -> Result<Self, Failure> {
        let file = DeTable::parse(source.text)
            .map_err(|cause| source.fail(&cause.span().unwrap_or(0..0), cause.message()))?;
        let mut model = None;
        let mut parameters = None;
        let mut settings = Vec::new();
        for (key, value) in source.entries(file.get_ref()) {
            match typed(key).as_str() {
                MODEL => model = Some((source.given(key, value)?, key.span())),
                PARAMETERS => parameters = Some((key.span(), value.get_ref())),
                _ => settings.push((key, value)),
            }
        }
        let entry = match (model, program.only()) {
            (Some((model, place)), _) => program
                .find(&model.text)
                .map_err(|cause| source.fail(&place, &cause.to_string()))?,
            (None, Some(only)) => only.clone(),
            (None, None) => return Err(no_model(program, source)),
        };
        let names = Names::of(&entry);
        let parameters = match parameters {
            None => Vec::new(),
            Some((_, DeValue::Table(table))) => {
                source.all_given(source.entries(table), |name| names.wrong_parameter(name))?
            }
            Some((place, _)) => {
                return Err(source.fail(&place, "`parameters` must be a table: [parameters]"));
            }
        };
        let settings =
            source.all_given(settings, |name| names.wrong_setting(name, &program.name))?;
        Ok(Scenario { model: entry.name, settings, parameters })
    }
}

fn no_model<C: Catalogue>(program: &Program<C>, source: &Source) -> Failure {
    let known: Vec<_> = program.entries.iter().map(|entry| entry.name).collect();
    let known = known.join(", ");
    Failure::wrong_use(format!("{}: there is no `model`; name one of {known}", source.path))
}

/// The names that a scenario for one model may have.
struct Names {
    model: &'static str,
    /// Above the table of parameters.
    settings: Vec<String>,
    /// In the table of parameters.
    parameters: Vec<String>,
}

impl Names {
    fn of(entry: &ModelEntry) -> Self {
        let settings = settings::of_run().into_iter().map(|setting| setting.name);
        Names {
            model: entry.name,
            settings: [MODEL, PARAMETERS].map(str::to_owned).into_iter().chain(settings).collect(),
            parameters: entry.parameters.iter().map(|spec| spec.name.clone()).collect(),
        }
    }

    /// What is wrong with the name of a parameter, if anything is.
    fn wrong_parameter(&self, name: &str) -> Option<String> {
        if has(&self.parameters, name) {
            return None;
        }
        if has(&self.settings, name) {
            return Some(format!(
                "`{name}` is a setting of the run; it belongs above [parameters]"
            ));
        }
        let hint = hint(name, &self.parameters);
        Some(format!("model `{}` has no parameter `{name}`{hint}", self.model))
    }

    /// What is wrong with the name of a setting, if anything is.
    fn wrong_setting(&self, name: &str, program: &str) -> Option<String> {
        let elsewhere = [
            (COMPARE, settings::is_of_comparisons(name)),
            (EXPLAIN, settings::is_of_explanations(name)),
            (VERIFY, settings::is_of_verifications(name)),
            (TORTURE, settings::is_of_searches(name)),
        ];
        if let Some((command, _)) = elsewhere.iter().find(|(_, there)| *there) {
            return Some(format!(
                "there is no setting `{name}` in a scenario; give it to `{program} {command}`, as \
                 --{name}"
            ));
        }
        if has(&self.settings, name) {
            return None;
        }
        if has(&self.parameters, name) {
            return Some(format!(
                "`{name}` is a parameter of the model; it belongs below [parameters]"
            ));
        }
        Some(format!("there is no setting `{name}`{}", hint(name, &self.settings)))
    }
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

/// Which name may be meant: the nearest, or else one of all.
fn hint(name: &str, names: &[String]) -> String {
    match nearest(name, names.iter().map(String::as_str)) {
        None => format!(" (there are: {})", names.join(", ")),
        near => format::did_you_mean(near.as_deref()),
    }
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;

/// A name as it is typed on the command line.
fn typed(key: &Key) -> String {
    key.get_ref().replace('_', "-")
}

/// A file, and its places in messages.
struct Source<'a> {
    path: &'a str,
    text: &'a str,
}

impl Source<'_> {
    fn place(&self, span: &Range<usize>) -> String {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        format!("{}:{}", self.path, 1 + before.iter().filter(|byte| **byte == b'\n').count())
    }

    fn fail(&self, span: &Range<usize>, message: &str) -> Failure {
        Failure::wrong_use(message).at(Some(&self.place(span)))
    }

    /// The entries of a table, in the order of the file.
    fn entries<'t, 'a>(
        &self,
        table: &'t DeTable<'a>,
    ) -> Vec<(&'t Key<'a>, &'t Spanned<DeValue<'a>>)> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
    }

    /// The values of all entries. `wrong` says what is wrong with a name, if anything is.
    fn all_given<'t, 'a: 't>(
        &self,
        entries: Vec<(&'t Key<'a>, &'t Spanned<DeValue<'a>>)>,
        wrong: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<GivenSetting>, Failure> {
        let mut all: Vec<GivenSetting> = Vec::new();
        for (key, value) in entries {
            let name = typed(key);
            if let Some(message) = wrong(&name) {
                return Err(self.fail(&key.span(), &message));
            }
            if all.iter().any(|given| given.name == name) {
                return Err(self.fail(&key.span(), &format!("`{name}` is given twice")));
            }
            all.push(self.given(key, value)?);
        }
        Ok(all)
    }

    fn given(&self, key: &Key, value: &Spanned<DeValue>) -> Result<GivenSetting, Failure> {
        let name = typed(key);
        let text = match value.get_ref() {
            DeValue::String(text) => Some(text.clone().into_owned()),
            DeValue::Integer(digits) if digits.radix() == 10 => {
                Some(digits.as_str().replace('_', ""))
            }
            DeValue::Integer(digits) => {
                u64::from_str_radix(&digits.as_str().replace('_', ""), digits.radix())
                    .ok()
                    .map(|n| n.to_string())
            }
            DeValue::Float(digits) => Some(digits.as_str().replace('_', "")),
            DeValue::Boolean(value) => Some(value.to_string()),
            DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
        };
        let Some(text) = text else {
            return Err(self.fail(
                &value.span(),
                &format!("`{name}` must be a text, a number, true or false"),
            ));
        };
        Ok(GivenSetting { name, text, place: Some(self.place(&key.span())) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_models::{one, two};

    fn parse(text: &str) -> Result<Scenario, String> {
        Scenario::parse(&two(), &Source { path: "a.toml", text }).map_err(|failure| failure.message)
    }

    #[test]
    fn the_only_model_need_not_be_named() {
        for text in ["arrival_rate = 0.5", "model = 'mm1'\n[parameters]"] {
            let text = format!(
                "end = 5\n{}",
                if text.starts_with('a') { "[parameters]\narrival_rate = 0.5" } else { text }
            );
            let scenario = Scenario::parse(&one(), &Source { path: "a.toml", text: &text });
            assert_eq!(
                scenario.map(|scenario| (scenario.model, scenario.settings.len())),
                Ok(("mm1", 1)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_scenario_says_what_a_command_line_says() {
        let text = "# a queue\nmodel = 'mm1'\nend = 1_000\nseed = \
                    0x10\n\n[parameters]\narrival_rate = 0.5\ndiscipline = \"lifo\"\n";
        let scenario = parse(text).unwrap();
        let short = |given: &[GivenSetting]| {
            given
                .iter()
                .map(|g| format!("{} {}={}", g.place.as_deref().unwrap(), g.name, g.text))
                .collect::<Vec<_>>()
        };
        assert_eq!(scenario.model, "mm1");
        assert_eq!(short(&scenario.settings), ["a.toml:3 end=1000", "a.toml:4 seed=16"]);
        assert_eq!(
            short(&scenario.parameters),
            ["a.toml:7 arrival-rate=0.5", "a.toml:8 discipline=lifo"]
        );
    }

    #[test]
    fn mistakes_have_a_line_and_a_remedy() {
        let wrong = |text: &str| parse(text).unwrap_err();
        assert!(wrong("model = 'mm1'\nend = = 1").starts_with("a.toml:2: "));
        assert!(
            wrong("model = 'mm1'\nsead = 1")
                .starts_with("a.toml:2: there is no setting `sead`; did you mean `seed`?")
        );
        assert!(wrong("model = 'mm1'\nruns = 1").ends_with(
            "no setting `runs` in a scenario; give it to `warpline compare`, as --runs"
        ));
        let cost = wrong("model = 'mm1'\nevent-cost = 'measured'");
        assert!(
            cost.ends_with(
                "no setting `event-cost` in a scenario; give it to `warpline explain`, as \
                 --event-cost"
            ),
            "{cost}"
        );
        assert!(
            wrong("model = 'mm2'")
                .starts_with("a.toml:1: there is no model `mm2`; did you mean `mm1`?")
        );
        assert!(wrong("end = 1").starts_with("a.toml: there is no `model`; name one of mm1, "));
        assert!(wrong("").contains("there is no `model`"));
        let below = |entry: &str| wrong(&format!("model = 'mm1'\n[parameters]\n\n{entry}"));
        assert_eq!(
            below("arival-rate = 1"),
            "a.toml:4: model `mm1` has no parameter `arival-rate`; did you mean `arrival-rate`?"
        );
        assert!(below("end = 1").contains("belongs above [parameters]"));
        assert!(wrong("model = 'mm1'\nservice_rate = 1").contains("belongs below [parameters]"));
        assert!(
            below("arrival-rate = [1]")
                .contains("a.toml:4: `arrival-rate` must be a text, a number")
        );
        assert!(
            below("arrival-rate = 1\narrival_rate = 1").ends_with("`arrival-rate` is given twice")
        );
        assert!(wrong("parameters = 1\nmodel = 'mm1'").contains("must be a table"));
    }
}
