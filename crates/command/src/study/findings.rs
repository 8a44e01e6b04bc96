use serde_json::{Value, json};

use super::super::failure::Failure;
use super::super::format;
use crate::studies::{Measured, Study, StudyCase, StudyFigure};
use crate::ways::Placement;
use warpline_record::{Phases, RunRecord};

/// The runs of a variant under a condition.
type Runs = Vec<RunRecord>;

/// The remark on runs of `--quick`.
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
    /// By condition and variant, if the study is in pairs: the first variant, each time just before
    /// the other one.
    before: Vec<Vec<Runs>>,
    /// Why there is no launcher, if there is none. Cases that take one have no runs.
    no_launcher: Option<String>,
}

/// The median of some figures, if there are any.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (values.get((values.len().max(1) - 1) / 2)?, values.get(values.len() / 2)?);
    Some((low + high) / 2.0)
}

/// How long the events of a run took, in seconds, without the start of its processes.
pub(super) fn seconds(run: &RunRecord) -> f64 {
    run.loop_seconds
}

/// The peak memory of a run, in bytes; 0 if the system does not report it. Of several processes, it
/// is that of the first.
pub(super) fn memory(run: &RunRecord) -> f64 {
    run.peak_rss_bytes.map_or(0.0, |bytes| bytes as f64)
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

/// What the PEs of all runs spent their time on, if there were any.
fn phases(runs: &[RunRecord]) -> Option<Phases> {
    runs.iter().filter_map(|run| run.parallel.as_ref()).map(|parallel| parallel.phase_seconds).reduce(|mut all, more| {
        all.add(&more);
        all
    })
}

/// The share of time that PEs spent on some phases; 0 for a sequential run.
fn share(run: &RunRecord, names: &[&str]) -> f64 {
    let Some(parallel) = &run.parallel else { return 0.0 };
    let phases = parallel.phase_seconds.list();
    let all: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    phases.iter().filter(|(name, _)| names.contains(name)).map(|(_, seconds)| seconds).sum::<f64>() / all.max(f64::MIN_POSITIVE)
}

/// The share of time that went to sending and receiving.
pub(super) fn messages_share(run: &RunRecord) -> f64 {
    share(run, &["send", "receive"])
}

/// The share of time that went to finding GVT.
pub(super) fn gvt_share(run: &RunRecord) -> f64 {
    share(run, &["GVT"])
}

impl<'s> Findings<'s> {
    /// Findings without any runs. `no_launcher` says why cases that take a launcher will have none.
    pub(super) fn of(study: &'s Study, pes: u32, no_launcher: Option<&str>) -> Self {
        let (conditions, variants) = ((study.conditions)(pes), (study.variants)(pes));
        let runs: Vec<Vec<Runs>> = conditions.iter().map(|_| variants.iter().map(|_| Vec::new()).collect()).collect();
        let alone = conditions.iter().map(|_| Vec::new()).collect();
        let before = runs.clone();
        Findings { study, pes, conditions, variants, runs, alone, before, no_launcher: no_launcher.map(str::to_owned) }
    }

    pub(super) fn placement(&self, condition: usize, variant: usize) -> Placement {
        self.variants[variant].placement(&self.conditions[condition], self.pes)
    }

    /// Measures each variant once under each condition, in turn; before them, the first variant on
    /// one PE. If the study is in pairs, the first variant is run again before each other one.
    /// `run` gets the place of the PEs.
    pub(super) fn each(
        &mut self,
        mut run: impl FnMut(&StudyCase, &StudyCase, Placement) -> Result<RunRecord, Failure>,
    ) -> Result<(), Failure> {
        let first = &self.variants[0];
        let in_pairs = self.study.in_pairs;
        let of_conditions = self.conditions.iter().zip(&mut self.runs).zip(&mut self.before).zip(&mut self.alone);
        for (((condition, of_condition), before), alone) in of_conditions {
            alone.push(run(condition, first, Placement::threads(1))?);
            for (number, ((variant, runs), before)) in self.variants.iter().zip(of_condition).zip(before).enumerate() {
                let placement = variant.placement(condition, self.pes);
                if !placement.way.takes_launcher() || self.no_launcher.is_none() {
                    if in_pairs && number > 0 {
                        before.push(run(condition, first, first.placement(condition, self.pes))?);
                    }
                    runs.push(run(condition, variant, placement)?);
                }
            }
        }
        Ok(())
    }

    /// Why nothing at all can be measured, if so.
    pub(super) fn nothing_left(&self) -> Option<&str> {
        let all = self.cases().all(|(condition, variant)| self.placement(condition, variant).way.takes_launcher());
        self.no_launcher.as_deref().filter(|_| all)
    }

    /// Which variants are left out, and why, in a sentence.
    pub(super) fn skipped(&self) -> Option<String> {
        let why = self.no_launcher.as_ref()?;
        let launched = |variant: usize| (0..self.conditions.len()).any(|condition| self.placement(condition, variant).way.takes_launcher());
        let names: Vec<&str> =
            (0..self.variants.len()).filter(|variant| launched(*variant)).map(|variant| self.variants[variant].name.as_str()).collect();
        (!names.is_empty()).then(|| format!("Left out: {}; {why}.", names.join(", ")))
    }

    /// The least and the greatest number of PEs.
    pub(super) fn pes(&self) -> [u32; 2] {
        let all = || self.cases().map(|(condition, variant)| self.placement(condition, variant).pes());
        [all().min().unwrap_or(self.pes), all().max().unwrap_or(self.pes)]
    }

    /// What has to be known to read the figures.
    pub(super) fn notes(&self, cores: usize) -> Vec<String> {
        let [_, pes] = self.pes();
        let crowded = pes as usize > cores;
        let crowded = crowded.then(|| {
            let cores = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
            format!(
                "Up to {pes} PEs share {cores} here. Processes take turns then, and wait for each other's turns, so that these figures \
                 say how well they bear that, and not what they would do with a core each."
            )
        });
        self.skipped().into_iter().chain(crowded).collect()
    }

    /// Figures of the source beside those of this machine.
    pub(super) fn figures(&self) -> Vec<StudyFigure> {
        let of = |figure: fn(&RunRecord) -> f64| {
            let by_variant = |condition| (0..self.variants.len()).map(|variant| self.median(condition, variant, figure)).collect();
            (0..self.conditions.len()).map(by_variant).collect()
        };
        let conditions = self.conditions.iter().map(|condition| condition.name.clone()).collect();
        let phases = self.runs.iter().map(|variants| variants.iter().map(|runs| phases(runs)).collect()).collect();
        let gains_of = |condition| (0..self.variants.len()).map(|variant| self.gain(condition, variant)).collect();
        let gains = (0..self.conditions.len()).map(gains_of).collect();
        (self.study.figures)(&Measured { conditions, rates: of(|run| run.event_rate), gains, seconds: of(seconds), phases })
    }

    /// The median of a figure of a variant under a condition.
    pub(super) fn median(&self, condition: usize, variant: usize, of: impl Fn(&RunRecord) -> f64) -> Option<f64> {
        median(self.runs[condition][variant].iter().map(of).collect())
    }

    /// F: how many times as fast a variant is as the first, under a condition: the ratio of medians
    /// or, if the study is in pairs, the median of the pairs' ratios.
    pub(super) fn gain(&self, condition: usize, variant: usize) -> Option<f64> {
        if self.study.in_pairs && variant > 0 {
            let pairs = self.runs[condition][variant].iter().zip(&self.before[condition][variant]);
            return median(pairs.map(|(run, before)| run.event_rate / before.event_rate).collect());
        }
        let rate = |variant| self.median(condition, variant, |run| run.event_rate);
        Some(rate(variant)? / rate(0)?)
    }

    /// Self-relative speed-up: how many times as fast a variant is as the first on one PE, under a
    /// condition.
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
        let differs = |((runs, before), alone): ((&Vec<Runs>, &Vec<Runs>), &Runs)| {
            let mut digests = runs.iter().chain(before).flatten().chain(alone).map(|run| &run.digest);
            digests.next().is_some_and(|first| digests.any(|digest| digest != first))
        };
        let found = self.runs.iter().zip(&self.before).zip(&self.alone).position(differs)?;
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

    pub(super) fn json(&self, quick: bool, cores: usize) -> Value {
        let row = |(condition, variant): (usize, usize)| {
            let of = |figure: fn(&RunRecord) -> f64| self.median(condition, variant, figure);
            json!({
                "condition": self.conditions[condition].name,
                "variant": self.variants[variant].name,
                "way": self.placement(condition, variant).way.name(),
                "processes": self.placement(condition, variant).processes,
                "pes": self.placement(condition, variant).pes(),
                "event_rates": self.runs[condition][variant].iter().map(|run| run.event_rate).collect::<Vec<_>>(),
                "event_rate": of(|run| run.event_rate),
                "loop_seconds": of(seconds),
                "gain": self.gain(condition, variant),
                "speedup": self.speedup(condition, variant),
                "peak_rss_bytes": of(memory),
                "gvt_epochs": of(epochs),
                "messages_share": of(messages_share),
                "gvt_share": of(gvt_share),
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
            "figures": self.figures().iter().map(|StudyFigure { what, source, here }| json!({ "what": what, "source": source, "here": here })).collect::<Vec<_>>(),
            "notes": self.notes(cores),
            "pes": self.pes()[1],
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
    pub(super) fn text(&self, quick: bool, cores: usize) -> String {
        let head = [
            "condition",
            "variant",
            "PEs",
            "events/s",
            "time",
            "gain",
            "speed-up",
            "memory",
            "GVT epochs",
            "most rollbacks",
            "mean rollbacks",
        ]
        .map(str::to_owned);
        let row = |(condition, variant): (usize, usize)| {
            let of = |figure: fn(&RunRecord) -> f64| {
                self.median(condition, variant, figure).map_or_else(String::new, |value| format::significant(value, 4))
            };
            let times = |times: Option<f64>| times.map_or_else(String::new, |times| format::significant(times, 3));
            let (gain, speedup) = (times(self.gain(condition, variant)), times(self.speedup(condition, variant)));
            let name = if variant == 0 { self.conditions[condition].name.clone() } else { String::new() };
            let rate = self.median(condition, variant, |run| run.event_rate).map_or_else(String::new, format::event_rate);
            let time = self.median(condition, variant, seconds).map_or_else(|| "left out".to_owned(), format::duration);
            let pes = self.placement(condition, variant).name();
            let memory = self.median(condition, variant, memory).map_or_else(String::new, |bytes| format::bytes(bytes as u64));
            let variant = self.variants[variant].name.clone();
            [name, variant, pes, rate, time, gain, speedup, memory, of(epochs), of(rollbacks_most), of(rollbacks_mean)]
        };
        let rows: Vec<[String; 11]> = std::iter::once(head).chain(self.cases().map(row)).collect();
        let Study { name, source, claim, differs, .. } = self.study;
        let pes = match self.pes() {
            [least, most] if least < most => format!("{least} to {most}"),
            [_, most] => most.to_string(),
        };
        let mut text = format!("{name}, {pes} PEs\n\n{}\n", format::columns(&rows, 0));
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
        for (number, StudyFigure { what, source, here }) in self.figures().iter().enumerate() {
            let here = here.as_deref().unwrap_or("left out");
            say(if number == 0 { "Figures" } else { "" }, &format!("{what}: {source}; here {here}."));
        }
        say("What differs", differs);
        self.notes(cores).iter().enumerate().for_each(|(number, note)| say(if number == 0 { "Note" } else { "" }, note));
        text
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sample;
    use crate::ways::Way;

    pub(in super::super) const STUDY: Study = Study {
        name: "clocks/speed",
        about: "clocks",
        source: "Huygens, 1657",
        claim: "pendulums are twice as fast",
        differs: "there is no pendulum",
        model: "clock",
        conditions: |pes| (0..pes).map(|number| StudyCase::new(format!("room {number}"), ["--room"])).collect(),
        variants: |_| ["spring", "pendulum"].map(|name| StudyCase::new(name, [format!("--by={name}")])).into(),
        figures: |measured| {
            let here = measured.gains(1, 0).map(|[least, most]| format!("{least} to {most} times"));
            vec![StudyFigure { what: "how much faster pendulums are".into(), source: "2 times".into(), here }]
        },
        ends: [100.0, 1.0],
        seconds: [2.0, 0.1],
        in_pairs: false,
    };

    /// Three runs of each kind: springs at 1 to 3 million events per second, pendulums twice as
    /// fast in the first room and equal in the second.
    fn findings() -> Findings<'static> {
        let mut findings = Findings::of(&STUDY, 2, None);
        for rate in [1e6, 3e6, 2e6] {
            let run = |condition: &StudyCase, variant: &StudyCase, placement: Placement| {
                let faster = if variant.name == "pendulum" && condition.name == "room 0" { 2.0 } else { 1.0 };
                Ok(sample::optimistic(if placement.pes() == 1 { 0.5 } else { faster } * rate))
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
        let text = findings.text(false, 2);
        for words in ["clocks/speed, 2 PEs", "room 1", "pendulums are twice", "(Huygens, 1657)", "there is no pendulum", "17", "30", "21"] {
            assert!(text.contains(words), "no `{words}` in {text}");
        }
        assert!(!text.contains(TOO_SHORT) && findings.text(true, 2).contains(TOO_SHORT));
    }

    /// It does not matter to pairs if the speed of the machine changes between them, here after
    /// every fourth run.
    #[test]
    fn pairs_are_compared_run_by_run() {
        const PAIRS: Study = Study { in_pairs: true, ..STUDY };
        let mut findings = Findings::of(&PAIRS, 2, None);
        let mut count = 0;
        for _ in 0..4 {
            let run = |_: &StudyCase, variant: &StudyCase, placement: Placement| {
                let speed = if count / 4 % 2 == 0 { 1e6 } else { 3e6 };
                count += 1;
                let faster = if variant.name == "pendulum" && placement.pes() > 1 { 1.5 } else { 1.0 };
                Ok(sample::optimistic(speed * faster))
            };
            findings.each(run).unwrap();
        }
        assert_eq!(count, PAIRS.runs(2, 4));
        assert_eq!([0, 1].map(|condition| findings.gain(condition, 1)), [Some(1.5); 2]);
        findings.before[0][1][1].digest = "00000000000000bb".into();
        assert!(findings.failure().is_some());
    }

    #[test]
    fn programs_read_all_figures() {
        let json = findings().json(false, 2);
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

    /// Figures of the source stand beside those of this machine.
    #[test]
    fn figures_are_compared() {
        let findings = findings();
        let expected = "how much faster pendulums are: 2 times; here 1 to 2 times.";
        assert!(findings.text(false, 2).contains(expected), "{}", findings.text(false, 2));
        assert_eq!(findings.json(false, 2)["figures"][0]["here"], "1 to 2 times");
    }

    /// Without a launcher, what takes one is left out with a note, and the rest is done.
    #[test]
    fn cases_that_take_a_launcher_are_left_out_without_one() {
        let study =
            Study { variants: |_| vec![StudyCase::new("spring", ["--a"]), StudyCase::new("pendulum", ["--b"]).by(Way::Mpi)], ..STUDY };
        let mut findings = Findings::of(&study, 3, Some("there is no launcher"));
        let mut placements = Vec::new();
        let run = |_: &StudyCase, _: &StudyCase, placement: Placement| {
            placements.push(placement.name());
            Ok(sample::optimistic(1e6))
        };
        assert_eq!(findings.nothing_left(), None);
        findings.each(run).unwrap();
        assert_eq!(placements, ["1 thread", "3 threads"].repeat(3));
        assert_eq!((findings.failure(), findings.gain(0, 1), findings.gain(0, 0)), (None, None, Some(1.0)));
        let notes = findings.notes(2);
        assert_eq!(notes[0], "Left out: pendulum; there is no launcher.");
        assert!(notes[1].starts_with("Up to 3 PEs share 2 cores here."), "{notes:?}");
        assert_eq!(findings.notes(3).len(), 1);
        let text = findings.text(false, 2);
        assert!(text.contains("here left out.") && text.contains("Left out: pendulum"), "{text}");
        let json = findings.json(false, 2);
        assert_eq!((&json["notes"][0], &json["cases"][1]["way"]), (&notes[0].clone().into(), &"mpi".into()));
        assert!(json["cases"][1]["event_rate"].is_null());
        let page = warpline_report::render_study(&findings.record(json, None, Default::default(), false, 2));
        let ranks = Study { variants: |_| vec![StudyCase::new("pendulum", ["--b"]).by(Way::MpiCopies)], ..STUDY };
        assert_eq!(Findings::of(&ranks, 3, Some("there is no launcher")).nothing_left(), Some("there is no launcher"));
        assert_eq!(Findings::of(&ranks, 3, None).nothing_left(), None);
        assert!(page.contains("Left out: pendulum") && page.contains("Run time"), "the report lacks something");
    }

    /// The report has a picture of each figure, and claim and measurement in words.
    #[test]
    fn a_report_shows_what_was_found() {
        let findings = findings();
        let record = findings.record(findings.json(true, 2), None, Default::default(), true, 2);
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
