use serde_json::{Value, json};

use super::super::failure::Failure;
use super::super::format;
use super::Runs;
use crate::command::studies::{Study, StudyCase};
use crate::record::RunRecord;

/// What is said of runs of `--quick`.
pub(super) const TOO_SHORT: &str = "These runs are too short to say how fast anything is.";
/// How many characters a line of text has, beside its heading.
const WIDTH: usize = 100;

/// What a study has found.
pub(crate) struct Findings<'s> {
    pub(super) study: &'s Study,
    pub(super) pes: u32,
    pub(super) conditions: Vec<StudyCase>,
    pub(super) variants: Vec<StudyCase>,
    /// By condition and variant.
    pub(super) runs: Vec<Vec<Runs>>,
    /// By condition: the first variant on one PE.
    pub(super) alone: Vec<Runs>,
}

/// The median of some figures, if there are any.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (values.get((values.len().max(1) - 1) / 2)?, values.get(values.len() / 2)?);
    Some((low + high) / 2.0)
}

/// λ: the number of GVT epochs.
pub(super) fn epochs(run: &RunRecord) -> f64 {
    run.parallel.as_ref().map_or(0.0, |parallel| parallel.gvt_epochs as f64)
}

/// ρ: the most rollbacks of a PE.
pub(super) fn rollbacks_most(run: &RunRecord) -> f64 {
    run.parallel.as_ref().map_or(0.0, |parallel| parallel.rollbacks.max_per_pe as f64)
}

/// α: the mean number of rollbacks of a PE.
pub(super) fn rollbacks_mean(run: &RunRecord) -> f64 {
    run.parallel.as_ref().map_or(0.0, |parallel| parallel.rollbacks.mean_per_pe)
}

impl<'s> Findings<'s> {
    pub(super) fn of(study: &'s Study, pes: u32) -> Self {
        let (conditions, variants) = ((study.conditions)(pes), (study.variants)());
        let runs = conditions.iter().map(|_| variants.iter().map(|_| Vec::new()).collect()).collect();
        let alone = conditions.iter().map(|_| Vec::new()).collect();
        Findings { study, pes, conditions, variants, runs, alone }
    }

    /// Measures each variant once under each condition, variants in turn; and first of all the first variant on one PE. `run` gets the number
    /// of PEs.
    pub(super) fn each(&mut self, mut run: impl FnMut(&StudyCase, &StudyCase, u32) -> Result<RunRecord, Failure>) -> Result<(), Failure> {
        for ((condition, of_condition), alone) in self.conditions.iter().zip(&mut self.runs).zip(&mut self.alone) {
            alone.push(run(condition, &self.variants[0], 1)?);
            for (variant, runs) in self.variants.iter().zip(of_condition) {
                runs.push(run(condition, variant, self.pes)?);
            }
        }
        Ok(())
    }

    /// The median of a figure of a variant under a condition.
    pub(super) fn median(&self, condition: usize, variant: usize, of: impl Fn(&RunRecord) -> f64) -> Option<f64> {
        median(self.runs[condition][variant].iter().map(of).collect())
    }

    /// F: how many times as fast a variant is as the first, under a condition.
    pub(super) fn gain(&self, condition: usize, variant: usize) -> Option<f64> {
        let rate = |variant| self.median(condition, variant, |run| run.event_rate);
        Some(rate(variant)? / rate(0)?)
    }

    /// Self-relative speed-up: how many times as fast a variant is as the first on one PE, under a condition.
    pub(super) fn speedup(&self, condition: usize, variant: usize) -> Option<f64> {
        let alone = median(self.alone[condition].iter().map(|run| run.event_rate).collect())?;
        Some(self.median(condition, variant, |run| run.event_rate)? / alone)
    }

    /// The gains of a variant, the least first.
    pub(super) fn gains(&self, variant: usize) -> Vec<f64> {
        let mut gains: Vec<f64> = (0..self.conditions.len()).filter_map(|condition| self.gain(condition, variant)).collect();
        gains.sort_unstable_by(f64::total_cmp);
        gains
    }

    /// The first condition under which two runs gave different answers.
    pub(super) fn failure(&self) -> Option<Failure> {
        let differs = |(runs, alone): (&Vec<Runs>, &Runs)| {
            let mut digests = runs.iter().flatten().chain(alone).map(|run| &run.digest);
            digests.next().is_some_and(|first| digests.any(|digest| digest != first))
        };
        let found = self.runs.iter().zip(&self.alone).position(differs)?;
        Some(Failure::failed(format!("runs under the condition `{}` gave different answers", self.conditions[found].name)))
    }

    /// What was measured, in a sentence for each variant but the first.
    pub(super) fn sentences(&self) -> Vec<String> {
        let first = &self.variants[0].name;
        (1..self.variants.len())
            .filter_map(|variant| {
                let gains = self.gains(variant);
                let (least, most, middle) = (gains.first()?, gains.last()?, median(gains.clone())?);
                let name = &self.variants[variant].name;
                let times = |gain: f64| format::significant(gain, 3);
                Some(format!(
                    "{name} was {} times as fast as {first} in the median over {} conditions, {} to {} times.",
                    times(middle),
                    gains.len(),
                    times(*least),
                    times(*most)
                ))
            })
            .collect()
    }

    pub(super) fn json(&self, quick: bool) -> Value {
        let row = |(condition, variant): (usize, usize)| {
            let of = |figure: fn(&RunRecord) -> f64| self.median(condition, variant, figure);
            json!({
                "condition": self.conditions[condition].name,
                "variant": self.variants[variant].name,
                "event_rates": self.runs[condition][variant].iter().map(|run| run.event_rate).collect::<Vec<_>>(),
                "event_rate": of(|run| run.event_rate),
                "gain": self.gain(condition, variant),
                "speedup": self.speedup(condition, variant),
                "gvt_epochs": of(epochs),
                "rollbacks_most_per_pe": of(rollbacks_most),
                "rollbacks_mean_per_pe": of(rollbacks_mean),
                "committed_events": self.runs[condition][variant].first().map(|run| run.committed_events),
                "digest": self.runs[condition][variant].first().map(|run| run.digest.clone()),
            })
        };
        json!({
            "study": self.study.name,
            "source": self.study.source,
            "claim": self.study.claim,
            "differs": self.study.differs,
            "measured": self.sentences(),
            "pes": self.pes,
            "quick": quick,
            "cases": self.cases().map(row).collect::<Vec<_>>(),
        })
    }

    /// All pairs of condition and variant.
    pub(super) fn cases(&self) -> impl Iterator<Item = (usize, usize)> {
        let variants = self.variants.len();
        (0..self.conditions.len()).flat_map(move |condition| (0..variants).map(move |variant| (condition, variant)))
    }

    /// A table for the terminal, with claim and measurement below.
    pub(super) fn text(&self, quick: bool) -> String {
        let head =
            ["condition", "variant", "events/s", "gain", "speed-up", "GVT epochs", "most rollbacks", "mean rollbacks"].map(str::to_owned);
        let row = |(condition, variant): (usize, usize)| {
            let of = |figure: fn(&RunRecord) -> f64| {
                self.median(condition, variant, figure).map_or_else(String::new, |value| format::significant(value, 4))
            };
            let times = |times: Option<f64>| times.map_or_else(String::new, |times| format::significant(times, 3));
            let (gain, speedup) = (times(self.gain(condition, variant)), times(self.speedup(condition, variant)));
            let name = if variant == 0 { self.conditions[condition].name.clone() } else { String::new() };
            let rate = self.median(condition, variant, |run| run.event_rate).map_or_else(String::new, format::event_rate);
            [name, self.variants[variant].name.clone(), rate, gain, speedup, of(epochs), of(rollbacks_most), of(rollbacks_mean)]
        };
        let rows: Vec<[String; 8]> = std::iter::once(head).chain(self.cases().map(row)).collect();
        let Study { name, source, claim, differs, .. } = self.study;
        let mut text = format!("{name}, {} PEs\n\n{}\n", self.pes, format::columns(&rows, 0));
        let mut say = |head: &str, what: &str| {
            for (number, line) in format::wrapped(what, WIDTH).iter().enumerate() {
                text += &format!("{:14}{line}\n", if number == 0 { head } else { "" });
            }
        };
        say("Claim", claim);
        say("", &format!("({source})"));
        say("Speed-up", &format!("relative to {} on one PE", self.variants[0].name));
        self.sentences().iter().enumerate().for_each(|(number, sentence)| say(if number == 0 { "Measured" } else { "" }, sentence));
        if quick {
            say("", TOO_SHORT);
        }
        say("What differs", differs);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::sample;

    const STUDY: Study = Study {
        name: "clocks/speed",
        about: "clocks",
        source: "Huygens, 1657",
        claim: "pendulums are twice as fast",
        differs: "there is no pendulum",
        model: "clock",
        conditions: |pes| (0..pes).map(|number| StudyCase::new(format!("room {number}"), ["--room"])).collect(),
        variants: || ["spring", "pendulum"].map(|name| StudyCase::new(name, [format!("--by={name}")])).into(),
        ends: [100.0, 1.0],
        seconds: [2.0, 0.1],
    };

    /// Three runs of each kind: springs at 1 to 3 million events per second, pendulums twice as fast in the first room and equal in the second.
    fn findings() -> Findings<'static> {
        let mut findings = Findings::of(&STUDY, 2);
        for rate in [1e6, 3e6, 2e6] {
            let run = |condition: &StudyCase, variant: &StudyCase, pes: u32| {
                let faster = if variant.name == "pendulum" && condition.name == "room 0" { 2.0 } else { 1.0 };
                Ok(sample::optimistic(if pes == 1 { 0.5 } else { faster } * rate))
            };
            findings.each(run).unwrap();
        }
        findings
    }

    #[test]
    fn medians_are_compared() {
        assert_eq!([vec![], vec![3.0], vec![4.0, 1.0], vec![5.0, 1.0, 2.0]].map(median), [None, Some(3.0), Some(2.5), Some(2.0)]);
        let findings = findings();
        assert_eq!((findings.gain(0, 1), findings.gain(1, 1), findings.gain(0, 0)), (Some(2.0), Some(1.0), Some(1.0)));
        assert_eq!(findings.gains(1), [1.0, 2.0]);
        assert_eq!((findings.speedup(0, 1), findings.speedup(1, 0)), (Some(4.0), Some(2.0)));
        assert_eq!(findings.sentences(), ["pendulum was 1.5 times as fast as spring in the median over 2 conditions, 1 to 2 times."]);
        let text = findings.text(false);
        for words in ["clocks/speed, 2 PEs", "room 1", "pendulums are twice", "(Huygens, 1657)", "there is no pendulum", "17", "30", "21"] {
            assert!(text.contains(words), "no `{words}` in {text}");
        }
        assert!(!text.contains(TOO_SHORT) && findings.text(true).contains(TOO_SHORT));
    }

    #[test]
    fn programs_read_all_figures() {
        let json = findings().json(false);
        let first = &json["cases"][1];
        assert_eq!((&first["condition"], &first["variant"]), (&"room 0".into(), &"pendulum".into()));
        assert_eq!((&first["gain"], &first["speedup"]), (&2.0.into(), &4.0.into()));
        assert_eq!(first["event_rates"], json!([2e6, 6e6, 4e6]));
        assert_eq!(
            (&first["gvt_epochs"], &first["rollbacks_most_per_pe"], &first["rollbacks_mean_per_pe"]),
            (&17.0.into(), &30.0.into(), &21.0.into())
        );
        assert_eq!((json["cases"].as_array().unwrap().len(), &json["pes"]), (4, &2.into()));
    }

    /// A study stands or falls with its answers.
    #[test]
    fn another_answer_is_a_failure() {
        let mut findings = findings();
        assert_eq!(findings.failure(), None);
        findings.runs[1][1][2].digest = "00000000000000bb".into();
        let failure = findings.failure().unwrap();
        assert_eq!((failure.message.as_str(), failure.code), ("runs under the condition `room 1` gave different answers", 1));
    }

    /// The report has a picture of each figure, and claim and measurement in words.
    #[test]
    fn a_report_shows_what_was_found() {
        let findings = findings();
        let record = findings.record(findings.json(true), None, Default::default(), true);
        let page = warpline_report::render_study(&record);
        for words in [
            "pendulums are twice as fast",
            "too short to say",
            "Committed event rate",
            "GVT epochs",
            "rollbacks",
            "room 1",
            "Gain of pendulum",
            "Self-relative speed-up",
        ] {
            assert!(page.contains(words), "no `{words}`");
        }
        assert_eq!((record.settings["end"].as_f64(), record.settings["runs"].as_u64()), (Some(1.0), Some(3)));
    }
}
