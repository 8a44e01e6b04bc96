//! Makes a case that fails as small as it can be.

use std::time::{Duration, Instant};

use crate::answer::Wrong;
use crate::case::Case;

/// How often a case is run to learn how often it fails.
const RUNS: u32 = 10;
/// The probability that a candidate that fails as often as the case before it is given up by
/// mistake.
const MISSED: f64 = 0.05;
/// The most runs of a candidate.
const TRIES_MOST: u32 = 30;

/// A small case that fails.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The case.
    pub case: Case,
    /// What is wrong with it.
    pub wrong: Wrong,
    /// How often it failed, of how many runs.
    pub failed: u32,
    /// How many runs those were.
    pub runs: u32,
}

/// What may become of an option while a case is made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// It may be left out, or have a smaller value.
    Free,
    /// It may have a smaller value.
    Kept,
    /// It stays as it is.
    Fixed,
}

/// Runs cases, and says whether they fail in the way that is looked for.
pub trait Probe {
    /// Whether this very case fails.
    fn fails(&mut self, case: &Case) -> Option<Wrong>;

    /// Whether this case fails, or one that is as small and differs from it by chance alone; and
    /// which.
    fn nearly_fails(&mut self, case: &Case) -> Option<(Case, Wrong)> {
        self.fails(case).map(|wrong| (case.clone(), wrong))
    }

    /// What may become of an option. Without an end, runs would go on to the model's own.
    fn freedom(&self, name: &str) -> Freedom {
        if name == "end" { Freedom::Kept } else { Freedom::Free }
    }
}

/// Leaves out options and takes smaller values for as long as the case still fails and `time`
/// lasts.
pub fn shrink(case: Case, wrong: Wrong, probe: &mut impl Probe, time: Duration) -> Shrunk {
    let until = Instant::now() + time;
    let mut found = measure(Shrunk { case, wrong, failed: 1, runs: 1 }, probe, until);
    loop {
        let before = found.case.clone();
        for candidate in candidates(&before, |name| probe.freedom(name)) {
            // A candidate before this one may have succeeded, and removed this option.
            let Some(candidate) = candidate.applied_to(&found.case) else { continue };
            if Instant::now() >= until {
                return measure(found, probe, until + time / 2);
            }
            let failing = (0..tries(&found)).find_map(|_| probe.nearly_fails(&candidate));
            if let Some((case, wrong)) = failing {
                found = Shrunk { case, wrong, ..found };
            }
        }
        if found.case == before {
            return measure(found, probe, until + time / 2);
        }
    }
}

/// Runs a case often enough to learn how often it fails.
fn measure(found: Shrunk, probe: &mut impl Probe, until: Instant) -> Shrunk {
    let mut failed = 0;
    let mut runs = 0;
    while runs < RUNS && (runs == 0 || Instant::now() < until) {
        failed += u32::from(probe.fails(&found.case).is_some());
        runs += 1;
    }
    Shrunk { failed, runs, ..found }
}

/// How often a candidate is tried.
fn tries(found: &Shrunk) -> u32 {
    // At least one run has failed, the first.
    let rate = f64::from(found.failed.max(1)) / f64::from(found.runs.max(1));
    let tries = if rate >= 1.0 { 1.0 } else { (MISSED.ln() / (1.0 - rate).ln()).ceil() };
    (tries as u32).clamp(1, TRIES_MOST)
}

/// A change that makes a case smaller.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    name: String,
    value: Option<String>,
}

impl Change {
    /// The changed case; `None` if nothing changes.
    fn applied_to(&self, case: &Case) -> Option<Case> {
        case.get(&self.name)?;
        Some(case.replace(&self.name, self.value.as_deref())).filter(|changed| changed != case)
    }
}

/// Changes that may make a case smaller, the largest first.
fn candidates(case: &Case, freedom: impl Fn(&str) -> Freedom) -> Vec<Change> {
    let names = || case.options.iter().map(|(name, _)| name.clone());
    let without = names()
        .rev()
        .filter(|name| freedom(name) == Freedom::Free)
        .map(|name| Change { name, value: None });
    let changed = case.options.iter().filter(|(name, _)| freedom(name) != Freedom::Fixed);
    let smaller = changed.flat_map(|(name, value)| {
        smaller(value).into_iter().map(|value| Change { name: name.clone(), value: Some(value) })
    });
    without.chain(smaller).collect()
}

/// Smaller numbers than this one.
fn smaller(text: &str) -> Vec<String> {
    if let Ok(number) = text.parse::<u64>() {
        let mut values =
            vec![0, 1, number / 8, number / 2, number - number / 8, number.saturating_sub(1)];
        values.retain(|value| *value < number);
        values.dedup();
        return values.iter().map(u64::to_string).collect();
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number.abs() > 1e-3 => {
            [number / 8.0, number / 2.0, number.floor()]
                .into_iter()
                .filter(|value| *value != number && *value != 0.0)
                .map(|value| value.to_string())
                .collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails, every `every`-th time, where there are at least 5 LPs and a batch of 3.
    struct Planted {
        every: u32,
        runs: u32,
    }

    impl Probe for Planted {
        fn fails(&mut self, case: &Case) -> Option<Wrong> {
            self.runs += 1;
            let lps = case.get("lps")?.parse::<u32>().ok()?;
            let fails =
                lps >= 5 && case.get("batch") == Some("3") && self.runs.is_multiple_of(self.every);
            fails.then(|| Wrong::new("digest", "planted"))
        }
    }

    fn shrunk(every: u32) -> Shrunk {
        let case = Case::new("nasty")
            .with("lps", 40)
            .with("end", 3)
            .with("batch", 3)
            .with("undo", "copy")
            .with("window", 0.5);
        shrink(
            case,
            Wrong::new("digest", ""),
            &mut Planted { every, runs: 0 },
            Duration::from_secs(60),
        )
    }

    #[test]
    fn options_that_do_not_matter_are_left_out() {
        let found = shrunk(1);
        assert_eq!(
            (found.case.to_string().as_str(), found.failed, found.runs),
            ("nasty --lps 5 --end 0 --batch 3", RUNS, RUNS)
        );
    }

    #[test]
    fn a_case_that_seldom_fails_is_shrunk_all_the_same() {
        let found = shrunk(5);
        assert_eq!(
            (found.case.to_string().as_str(), found.failed),
            ("nasty --lps 5 --end 0 --batch 3", 2)
        );
    }
}
