//! Settings that choose some of a model's LPs.

use warpline_base::LpId;
use warpline_model::nearest;

use super::{Range, SettingValue};

/// How a choice of the first LPs begins.
const FIRST: &str = "first-";

/// Some of a model's LPs: those that it declares, all, none, the
/// first, or kinds, ids and ranges of ids.
///
/// ```
/// use warpline::LpChoice;
/// use warpline::settings::SettingValue;
/// let choice = LpChoice::parse("declared, server, 3, 10-19").unwrap();
/// assert_eq!(choice.text(), "declared,server,3,10-19");
/// assert_eq!([LpChoice::parse("19-10"), LpChoice::parse("none,3")], [None, None]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LpChoice(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Declared,
    All,
    Kind(String),
    /// From one id to another, both included.
    Ids(u32, u32),
    /// This many, or all if there are fewer.
    First(u32),
}

impl Default for LpChoice {
    /// Those that the model declares.
    fn default() -> Self {
        LpChoice(vec![Part::Declared])
    }
}

impl LpChoice {
    /// None.
    pub fn none() -> Self {
        LpChoice(Vec::new())
    }

    /// All.
    pub fn all() -> Self {
        LpChoice(vec![Part::All])
    }

    /// The first `count`, or all if there are fewer.
    pub fn first(count: u32) -> Self {
        LpChoice(vec![Part::First(count)])
    }

    /// LPs with these ids.
    pub fn ids(ids: impl IntoIterator<Item = u32>) -> Self {
        LpChoice(ids.into_iter().map(|id| Part::Ids(id, id)).collect())
    }

    /// Which LPs of `lps` are chosen, if their kinds are among `kinds`: a function of id, kind, and
    /// whether the model declares it.
    ///
    /// # Errors
    /// In words, if there is no such kind or id.
    pub(crate) fn among(
        &self,
        lps: u32,
        kinds: &[String],
    ) -> Result<impl Fn(LpId, &str, bool) -> bool + use<'_>, String> {
        let has_ids = self.0.iter().any(|part| matches!(part, Part::Ids(..)));
        let mut by_id = vec![false; if has_ids { lps as usize } else { 0 }];
        for part in &self.0 {
            match part {
                Part::Declared | Part::All | Part::First(_) => {}
                Part::Ids(from, to) => match by_id.get_mut(*from as usize..=*to as usize) {
                    Some(ids) => ids.fill(true),
                    None => {
                        return Err(format!("there is no LP {to}: ids go from 0 to {}", lps - 1));
                    }
                },
                Part::Kind(kind) if kinds.contains(kind) => {}
                Part::Kind(kind) => {
                    let named: Vec<&str> =
                        kinds.iter().map(String::as_str).filter(|kind| !kind.is_empty()).collect();
                    let meant = nearest(kind, named.iter().copied())
                        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    let known = if named.is_empty() {
                        "the model names none".to_owned()
                    } else {
                        format!("there are {}", named.join(", "))
                    };
                    return Err(format!("there is no kind of LP called `{kind}`: {known}{meant}"));
                }
            }
        }
        Ok(move |lp: LpId, kind: &str, declared: bool| {
            by_id.get(lp.index()) == Some(&true)
                || self.0.iter().any(|part| match part {
                    Part::Declared => declared,
                    Part::All => true,
                    Part::Kind(chosen) => chosen == kind,
                    Part::First(count) => lp.0 < *count,
                    Part::Ids(..) => false,
                })
        })
    }
}

impl Part {
    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        match text {
            "declared" => Some(Part::Declared),
            "all" => Some(Part::All),
            "" | "none" => None,
            _ if text.starts_with(FIRST) => number(&text[FIRST.len()..]).map(Part::First),
            _ if !text.starts_with(|first: char| first.is_ascii_digit()) => {
                Some(Part::Kind(text.to_owned()))
            }
            _ => {
                let (from, to) = text.split_once('-').unwrap_or((text, text));
                let from = number(from)?;
                let to = number(to)?;
                (from <= to).then_some(Part::Ids(from, to))
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Part::Declared => "declared".to_owned(),
            Part::All => "all".to_owned(),
            Part::Kind(kind) => kind.clone(),
            Part::First(count) => format!("{FIRST}{count}"),
            Part::Ids(from, to) if from == to => from.to_string(),
            Part::Ids(from, to) => format!("{from}-{to}"),
        }
    }
}

impl SettingValue for LpChoice {
    const PLACEHOLDER: &'static str = "LPS";

    fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "none" => Some(LpChoice::none()),
            text => text
                .split(',')
                .map(|part| Part::parse(part.trim()))
                .collect::<Option<_>>()
                .map(LpChoice),
        }
    }

    fn text(&self) -> String {
        if self.0.is_empty() {
            "none".to_owned()
        } else {
            self.0.iter().map(Part::text).collect::<Vec<_>>().join(",")
        }
    }

    fn takes(_: &Range<Self>) -> String {
        "declared, all, none, first-N, or kinds, ids and ranges of ids, separated by commas"
            .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The LPs chosen out of six, of which 0 and 1 are clerks, and 2 and 4 are declared.
    fn chosen(text: &str) -> Result<Vec<u32>, String> {
        let choice = LpChoice::parse(text).ok_or("unreadable")?;
        assert_eq!(LpChoice::parse(&choice.text()), Some(choice.clone()));
        let chosen = choice.among(6, &["clerk".to_owned(), String::new()])?;
        Ok((0..6)
            .filter(|lp| chosen(LpId(*lp), if *lp < 2 { "clerk" } else { "" }, [2, 4].contains(lp)))
            .collect())
    }

    #[test]
    fn lps_are_chosen_by_id_kind_and_declaration() {
        assert_eq!(LpChoice::default().text(), "declared");
        for (text, expected) in [
            ("declared", &[2, 4][..]),
            ("none", &[]),
            ("all", &[0, 1, 2, 3, 4, 5]),
            ("clerk", &[0, 1]),
            ("3", &[3]),
            ("1-3", &[1, 2, 3]),
            ("first-2", &[0, 1]),
            ("first-9", &[0, 1, 2, 3, 4, 5]),
            (" clerk , 5, declared,3-4", &[0, 1, 2, 3, 4, 5]),
        ] {
            assert_eq!(chosen(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", ",", "3-1", "none,3", "4x", "1-", "-1-2,"] {
            assert_eq!(chosen(text), Err("unreadable".to_owned()), "{text}");
        }
        assert_eq!(chosen("4-6"), Err("there is no LP 6: ids go from 0 to 5".to_owned()));
        assert_eq!(
            chosen("clark"),
            Err("there is no kind of LP called `clark`: there are clerk; did you mean `clerk`?"
                .to_owned())
        );
    }
}
