//! A case: a model, its parameters and how to run it, as the words of a command line.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A model and its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The name of the model.
    pub model: String,
    /// Names without dashes in front, and values.
    pub options: Vec<(String, String)>,
}

impl Case {
    /// A model without options.
    pub fn new(model: &str) -> Self {
        Case { model: model.to_owned(), options: Vec::new() }
    }

    /// Reads a case as it is typed.
    ///
    /// # Errors
    /// If an option has no value, or does not begin with two dashes.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let [model, rest @ ..] = words else {
            return Err("a case begins with the name of a model".to_owned());
        };
        let mut case = Case::new(model);
        for pair in rest.chunks(2) {
            match pair {
                [name, value] if name.starts_with("--") => {
                    case.options.push((name[2..].to_owned(), value.clone()))
                }
                [name, _] => return Err(format!("`{name}` does not begin with two dashes")),
                _ => return Err(format!("`{}` has no value", pair[0])),
            }
        }
        Ok(case)
    }

    /// The same case with one more option.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.options.push((name.to_owned(), value.to_string()));
        self
    }

    /// The value of an option, if it has one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The same case with another value for an option, or without it.
    #[must_use]
    pub fn replace(&self, name: &str, value: Option<&str>) -> Self {
        let kept = self.options.iter().filter_map(|(known, old)| {
            let value = if known == name { value? } else { old };
            Some((known.clone(), value.to_owned()))
        });
        Case { model: self.model.clone(), options: kept.collect() }
    }

    /// The same case with those of its options that `keep` says.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self.options.iter().filter(|(name, _)| keep(name)).cloned();
        Case { model: self.model.clone(), options: kept.collect() }
    }

    /// The words of its command line.
    pub fn words(&self) -> Vec<String> {
        let options =
            self.options.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]);
        std::iter::once(self.model.clone()).chain(options).collect()
    }

    /// Its options as they are typed in a shell.
    pub fn options_text(&self) -> String {
        let texts: Vec<String> = self
            .options
            .iter()
            .map(|(name, value)| format!("--{name} {}", quoted(value)))
            .collect();
        texts.join(" ")
    }
}

/// A word as it is typed in a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.,:/+=@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(format!("{} {}", self.model, self.options_text()).trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_written_as_a_shell_reads_it() {
        let case =
            Case::new("shop").with("lps", 4).with("file", "a b.txt").with("owner", "O'Neill");
        assert_eq!(case.to_string(), r"shop --lps 4 --file 'a b.txt' --owner 'O'\''Neill'");
        assert_eq!(Case::new("shop").to_string(), "shop");
        assert_eq!(case.only(|name| name == "lps").to_string(), "shop --lps 4");
        assert_eq!(Case::parse(&case.words()), Ok(case));
    }
}
