//! Numbers in documents and help texts are those of the code: each promise is a sentence with a
//! gap, and the constant whose value belongs there.
//!
//! The sentence may stand in any document or source file. It must stand somewhere, and wherever it
//! stands, its number must be right.

use std::path::{Path, PathBuf};

use crate::files::{files_with, read};

/// A sentence about a number of the code.
struct Promise<'a> {
    /// The sentence, with `{}` for the number.
    says: &'a str,
    /// The crate that has the number, and the code before the number.
    code: (&'a str, &'a str),
    /// Converts the number in the code to the unit of the sentence.
    told: fn(f64) -> f64,
}

const fn promise<'a>(says: &'a str, code: (&'a str, &'a str), told: fn(f64) -> f64) -> Promise<'a> {
    Promise { says, code, told }
}

const PROMISES: &[Promise] = &[
    // Memory.
    promise("{} MiB for each PE", ("fuzz", "const BUDGET_MORE: u64 ="), mebibytes),
    promise("at most {} more memory", ("fuzz", "const BUDGET_SHARE: f64 ="), itself),
    promise("a sequential one does, {} more", ("fuzz", "const BUDGET_SHARE: f64 ="), itself),
    promise(
        "default is {} % of the machine's memory",
        ("run", "memory: MemoryLimit = MemoryLimit::Share("),
        percent,
    ),
    promise("less than {} of the limit is left", ("kernel", "const SPARE: u64 ="), one_in),
    promise("less than {} of the budget is left", ("kernel", "const SPARE: u64 ="), one_in),
    // Messages.
    promise("a ring for each sender with up to {} PEs", ("run", "const RINGS_MOST: u32 ="), itself),
    promise("Per sender with up to {} PEs", ("run", "const RINGS_MOST: u32 ="), itself),
    promise("with more than {} PEs, in", ("run", "const RINGS_MOST: u32 ="), itself),
    promise("from {} PEs on each has one inbox", ("run", "const RINGS_MOST: u32 ="), next),
    promise("for payloads of up to {} bytes", ("run", "const VALUE_BYTES_MOST: usize ="), itself),
    promise(
        "if payloads have at most {} bytes",
        ("run", "const VALUE_BYTES_MOST: usize ="),
        itself,
    ),
    // Payloads of models.
    promise(
        "with payloads from 8 bytes to {} KiB",
        ("models", "default = 8, range = 0..="),
        kibibytes,
    ),
    promise("with messages of 0 to {} KiB", ("models", "default = 500, range = 0..="), kibibytes),
    // Statistics and traces.
    promise("right to within {} %", ("model", "const OPEN_BITS: u32 = 52 -"), share_of_power),
    promise("It has at most {} MB unless --trace-limit", ("run", "trace_limit: u32 ="), itself),
    promise("(Self::trace_limit), {} MB by default", ("run", "trace_limit: u32 ="), itself),
    // Ends of runs.
    promise(
        "unless it comes within {} s",
        ("command", "const SAME_WITHIN: Duration = Duration::from_millis("),
        thousandths,
    ),
    promise(
        "a warning comes after {} s",
        ("run", "const WARN_AFTER: Duration = Duration::from_secs("),
        itself,
    ),
    promise(
        "if there are fewer than {} events before it",
        ("command", "const EVENTS_ENOUGH: u64 ="),
        itself,
    ),
    // Time Warp.
    promise(
        "{} times as many if lookahead makes them certain",
        ("kernel", "const GVT_SELDOM: u64 ="),
        itself,
    ),
    promise("copies over {} events of their PE old", ("kernel", "const LAG: u64 ="), itself),
    promise(
        "the interval is doubled or halved, within {} and",
        ("kernel", "const SHORTER: u32 ="),
        one_in,
    ),
    promise(
        "times the first; in passes, {} times",
        ("kernel", "const LONGER_IN_PASSES: u32 ="),
        itself,
    ),
];

fn itself(value: f64) -> f64 {
    value
}

fn next(value: f64) -> f64 {
    value + 1.0
}

fn kibibytes(bytes: f64) -> f64 {
    bytes / 1024.0
}

fn mebibytes(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

fn percent(share: f64) -> f64 {
    100.0 * share
}

fn one_in(parts: f64) -> f64 {
    1.0 / parts
}

fn thousandths(milliseconds: f64) -> f64 {
    milliseconds / 1000.0
}

/// One of `2^bits` equal ranges, in percent of all.
fn share_of_power(bits: f64) -> f64 {
    100.0 / bits.exp2()
}

/// A file and its text.
type Text = (PathBuf, String);

pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    for (folder, extension) in [("crates", "rs"), ("crates", "md"), ("docs", "md")] {
        let files = files_with(&root.join(folder), extension)?;
        // This file itself has the sentences, too.
        texts.extend(files.into_iter().filter(|file| !file.ends_with("layers/src/promises.rs")));
    }
    texts.extend(
        ["README.md", "ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md"]
            .map(|name| root.join(name)),
    );
    let with_text = |file: PathBuf| {
        let text = read(&file)?;
        Ok((file.strip_prefix(root).unwrap_or(&file).to_owned(), text))
    };
    let texts = texts.into_iter().map(with_text).collect::<Result<Vec<Text>, String>>()?;
    Ok(breaches(PROMISES, &texts))
}

fn breaches(promises: &[Promise], texts: &[Text]) -> Vec<String> {
    let prose: Vec<Text> =
        texts.iter().map(|(file, text)| (file.clone(), one_line(text))).collect();
    let mut breaches = Vec::new();
    for promise in promises {
        let value = match number_in_code(promise.code, texts) {
            Ok(value) => (promise.told)(value),
            Err(why) => {
                breaches.push(why);
                continue;
            }
        };
        let mut is_said = false;
        for (file, text) in &prose {
            for said in said(promise.says, text) {
                is_said = true;
                if !said.fits(value) {
                    let claim = promise.says.replace("{}", said.words);
                    breaches.push(format!(
                        "{} says \"{claim}\", but the code has {value}: `{}`",
                        file.display(),
                        promise.code.1
                    ));
                }
            }
        }
        if !is_said {
            let claim = promise.says.replace("{}", &value.to_string());
            breaches.push(format!(
                "no document or help text says \"{claim}\" any more: write it, or change the list \
                 of promises"
            ));
        }
    }
    breaches
}

/// The number after a piece of code, which must stand in exactly one place of the crate.
fn number_in_code((name, code): (&str, &str), texts: &[Text]) -> Result<f64, String> {
    let folder = Path::new("crates").join(name).join("src");
    let sources = texts.iter().filter(|(file, _)| {
        file.starts_with(&folder) && file.extension().is_some_and(|end| end == "rs")
    });
    let found: Vec<&str> = sources.flat_map(|(_, text)| text.split(code).skip(1)).collect();
    let [after] = found[..] else {
        return Err(format!("crate {name} has `{code}` in {} places, and not in one", found.len()));
    };
    let expression = after.split([';', ',', ')', '\n']).next().unwrap_or_default();
    let mut factors =
        expression.split("<<").map(|factor| factor.trim().replace('_', "").parse::<f64>());
    let first = factors.next().and_then(Result::ok);
    let shifted = factors
        .try_fold(first.unwrap_or(f64::NAN), |value, bits| bits.map(|bits| value * bits.exp2()));
    shifted.ok().filter(|value| !value.is_nan()).ok_or_else(|| {
        format!("crate {name}: `{code}{expression}` is not a number that can be read")
    })
}

/// A text on one line, without the marks of comments and of code.
fn one_line(text: &str) -> String {
    let words = text.lines().flat_map(|line| {
        let line = line.trim_start();
        let line = line.trim_start_matches('/').trim_start_matches('!');
        line.trim_end_matches('\\').split_whitespace()
    });
    words.collect::<Vec<_>>().join(" ").replace('`', "")
}

/// A number that a text has where a promise has its gap.
#[derive(Debug, PartialEq)]
struct Said<'a> {
    words: &'a str,
    value: f64,
    /// How far off the number may be because it is rounded.
    rounding: f64,
}

impl Said<'_> {
    fn fits(&self, value: f64) -> bool {
        (self.value - value).abs() <= self.rounding
    }
}

/// Every number that a text has in the gap of a sentence.
fn said<'t>(says: &str, text: &'t str) -> Vec<Said<'t>> {
    let (before, after) = says.split_once("{}").unwrap_or((says, ""));
    let mut found = Vec::new();
    if before.is_empty() {
        for (end, _) in text.match_indices(after) {
            let starts = text[..end].char_indices().rev().take(20).map(|(start, _)| start);
            let numbers = starts.filter(|start| {
                !text[..*start].ends_with(|c: char| c.is_alphanumeric() || c == '.')
            });
            found.extend(numbers.filter_map(|start| number(&text[start..end])).last());
        }
    } else {
        for (start, _) in text.match_indices(before) {
            let rest = &text[start + before.len()..];
            found.extend(rest.find(after).and_then(|end| number(&rest[..end])));
        }
    }
    found
}

/// Numbers that are written as words.
const WORDS: [(&str, f64); 7] = [
    ("a tenth", 0.1),
    ("an eighth", 0.125),
    ("a quarter", 0.25),
    ("half", 0.5),
    ("two", 2.0),
    ("eight", 8.0),
    ("ten thousand", 1e4),
];

/// A whole text as a number, in words or in digits with spaces between thousands.
fn number(text: &str) -> Option<Said<'_>> {
    if let Some((_, value)) = WORDS.iter().find(|(word, _)| *word == text) {
        return Some(Said { words: text, value: *value, rounding: 1e-9 });
    }
    let groups: Vec<&str> = text.split(' ').collect();
    let is_grouped = groups.iter().skip(1).all(|group| group.len() == 3) && groups[0].len() <= 3
        || groups.len() == 1;
    let is_digits = text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '.'));
    let value = groups.concat().parse().ok().filter(|_| is_grouped && is_digits)?;
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let rounding = if decimals == 0 { 1e-9 } else { 0.5000001 * 0.1_f64.powi(decimals as i32) };
    Some(Said { words: text, value, rounding })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RINGS: [Promise; 1] = [promise("with up to {} PEs", ("w", "const RINGS: u32 ="), itself)];

    fn found(code: &str, document: &str) -> Vec<String> {
        let texts = [("crates/w/src/plan.rs", code), ("docs/book/src/settings.md", document)];
        breaches(&RINGS, &texts.map(|(file, text)| (file.into(), text.to_owned())))
    }

    #[test]
    fn a_number_that_is_right_passes() {
        assert_eq!(found("const RINGS: u32 = 32;", "a ring with\nup to `32` PEs"), [""; 0]);
        assert_eq!(
            found("/// A ring with up\n/// to 32 PEs.\nconst RINGS: u32 = 1 << 5;", ""),
            [""; 0]
        );
    }

    #[test]
    fn a_number_that_is_wrong_or_nowhere_is_found() {
        let wrong = "docs/book/src/settings.md says \"with up to 33 PEs\", but the code has 32: \
            `const RINGS: u32 =`";
        assert_eq!(
            found("const RINGS: u32 = 32;", "with up to 33 PEs; with up to 32 PEs"),
            [wrong]
        );
        assert!(
            found("const RINGS: u32 = 32;", "with up to many PEs")[0]
                .starts_with("no document or help text says \"with up to 32 PEs\"")
        );
    }

    #[test]
    fn code_that_is_not_there_or_twice_is_found() {
        assert_eq!(
            found("", "with up to 32 PEs"),
            ["crate w has `const RINGS: u32 =` in 0 places, and not in one"]
        );
        let twice = "const RINGS: u32 = 32;\nconst RINGS: u32 = 32;";
        assert_eq!(
            found(twice, "with up to 32 PEs"),
            ["crate w has `const RINGS: u32 =` in 2 places, and not in one"]
        );
        assert!(
            found("const RINGS: u32 = most();", "")[0]
                .ends_with("is not a number that can be read")
        );
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let value = |text| number(text).map(|said| said.value);
        assert_eq!(
            ["10 000", "1024", "a tenth", "1.6"].map(value),
            [Some(1e4), Some(1024.0), Some(0.1), Some(1.6)]
        );
        assert_eq!(["10 00", "many", "", "3 PEs"].map(value), [None; 4]);
        assert!(number("1.6").unwrap().fits(1.5625) && !number("1.5").unwrap().fits(1.5625));
        let first = |text| said("{} MiB for each PE", text).first().map(|said| said.value);
        assert_eq!(
            ["and 4 MiB for each PE", "10 000 MiB for each PE", "MiB for each PE"].map(first),
            [Some(4.0), Some(1e4), None]
        );
    }
}
