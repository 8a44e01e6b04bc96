//! What a study consists of.

use crate::output::format;
use crate::process::ways::{Placement, Way};
use warpline_record::Phases;

/// An experiment: some variants of the engine under some conditions. All runs under one condition
/// must give the same answer.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// Its name on the command line: the system and the experiment, such as `usik/rcphold`.
    pub name: &'static str,
    /// What is studied, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What the source found.
    pub claim: &'static str,
    /// How this machine or this engine differs from the source, where that explains the figures.
    pub differs: &'static str,
    /// The name of the model.
    pub model: &'static str,
    /// The conditions on this many PEs.
    pub conditions: fn(pes: u32) -> Vec<StudyCase>,
    /// The variants on this many PEs. Others are compared with the first.
    pub variants: fn(pes: u32) -> Vec<StudyCase>,
    /// Figures of the source beside those of this machine.
    pub figures: fn(&Measured) -> Vec<StudyFigure>,
    /// The end of all runs in model time: in full, and with `--quick`.
    pub ends: [f64; 2],
    /// About how long a run takes, in seconds: in full, and with `--quick`.
    pub seconds: [f64; 2],
    /// Whether the first variant is run again just before each other one, and only such pairs are
    /// compared. This is for small differences, as the speed of a machine drifts.
    pub in_pairs: bool,
}

/// A condition or a variant. The variant says where its PEs are, or else the condition does; by
/// default, they are threads.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyCase {
    /// Its name in tables and plots.
    pub name: String,
    /// Its model, if not that of the study.
    pub model: Option<&'static str>,
    /// Its options, such as `--lookahead=0.1`.
    pub arguments: Vec<String>,
    /// Where its PEs are.
    pub way: Option<Way>,
    /// The number of PEs, if not that of the study.
    pub pes: Option<u32>,
    /// The number of processes, for ways with several; by default, each PE has its own.
    pub processes: Option<u32>,
    /// Of a condition: where it is on the axis of the source, if that has one.
    pub place: Option<StudyPlace>,
    /// Of a condition: whether `--quick` leaves it out, as it takes long.
    pub only_in_full: bool,
}

/// Where a condition is in a plot of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyPlace {
    /// The quantity on the horizontal axis, such as `cores`.
    pub axis: &'static str,
    /// What the conditions have in common that are joined by lines, one for each variant.
    pub line: String,
    /// The value on the axis.
    pub value: f64,
}

impl StudyCase {
    /// A case of this name, with these arguments.
    pub fn new(
        name: impl Into<String>,
        arguments: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        StudyCase {
            name: name.into(),
            model: None,
            arguments,
            way: None,
            pes: None,
            processes: None,
            place: None,
            only_in_full: false,
        }
    }

    /// The same, with another model than that of the study.
    #[must_use]
    pub fn of(self, model: &'static str) -> Self {
        StudyCase { model: Some(model), ..self }
    }

    /// The same, with its PEs placed in this way.
    #[must_use]
    pub fn by(self, way: Way) -> Self {
        StudyCase { way: Some(way), ..self }
    }

    /// The same, with this many PEs.
    #[must_use]
    pub fn pes(self, pes: u32) -> Self {
        StudyCase { pes: Some(pes), ..self }
    }

    /// The same, with this many processes, for ways with several.
    #[must_use]
    pub fn processes(self, processes: u32) -> Self {
        StudyCase { processes: Some(processes), ..self }
    }

    /// The same condition, at this place of an axis, on a line of this name.
    #[must_use]
    pub fn at(self, axis: &'static str, line: impl Into<String>, value: f64) -> Self {
        StudyCase { place: Some(StudyPlace { axis, line: line.into(), value }), ..self }
    }

    /// The same condition, which `--quick` leaves out.
    #[must_use]
    pub fn only_in_full(self) -> Self {
        StudyCase { only_in_full: true, ..self }
    }

    /// Where the PEs of this variant are under a condition. By default, there are `pes`.
    pub(crate) fn placement(&self, condition: &StudyCase, pes: u32) -> Placement {
        let pes = self.pes.or(condition.pes).unwrap_or(pes);
        match self.way.or(condition.way).unwrap_or_default() {
            Way::Threads => Placement::threads(pes),
            Way::Modelled => Placement { way: Way::Modelled, ..Placement::threads(pes) },
            way => {
                let processes = self.processes.or(condition.processes).unwrap_or(pes).clamp(1, pes);
                Placement { way, processes, threads: pes / processes }
            }
        }
    }
}

/// The medians that a study has measured, by condition and variant. What was left out is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The names of the conditions.
    pub conditions: Vec<String>,
    /// Committed events per second. On a modelled machine, all times are its own.
    pub rates: Vec<Vec<Option<f64>>>,
    /// How many times as fast a variant is as the first.
    pub gains: Vec<Vec<Option<f64>>>,
    /// How long runs took, in seconds.
    pub seconds: Vec<Vec<Option<f64>>>,
    /// λ: how many times GVT was computed.
    pub gvt_epochs: Vec<Vec<Option<f64>>>,
    /// α: the mean number of rollbacks of a PE.
    pub rollbacks: Vec<Vec<Option<f64>>>,
    /// The share of the time of PEs that finding GVT took.
    pub gvt_shares: Vec<Vec<Option<f64>>>,
    /// What PEs spent their time on, in seconds, summed over PEs and runs.
    pub phases: Vec<Vec<Option<Phases>>>,
}

impl Measured {
    /// How many times as fast one variant is as another, under a condition.
    pub fn gain(&self, condition: usize, variant: usize, other: usize) -> Option<f64> {
        let of = |variant: usize| *self.gains.get(condition)?.get(variant)?;
        Some(of(variant)? / of(other)?)
    }

    /// The share of the time of all PEs that some phases took, by their names in [`Phases::list`].
    pub fn share(&self, condition: usize, variant: usize, names: &[&str]) -> Option<f64> {
        share_of(self.phases.get(condition)?.get(variant)?.as_ref()?, names)
    }

    /// The least and the greatest gain of one variant over another, over all conditions.
    pub fn gains(&self, variant: usize, other: usize) -> Option<[f64; 2]> {
        let gains = || {
            (0..self.conditions.len()).filter_map(|condition| self.gain(condition, variant, other))
        };
        Some([gains().reduce(f64::min)?, gains().reduce(f64::max)?])
    }
}

/// The share that the phases with these names have of all time; `None` if nothing took any.
pub(super) fn share_of(phases: &Phases, names: &[&str]) -> Option<f64> {
    let phases = phases.list();
    let all: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    let named = phases.iter().filter(|(name, _)| names.contains(name));
    let some: f64 = named.map(|(_, seconds)| seconds).sum();
    (all > 0.0).then(|| some / all)
}

/// A figure of a study's source, and what it is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyFigure {
    /// What it is.
    pub what: String,
    /// What the source says.
    pub source: String,
    /// What was measured; `None` if the runs that it takes were left out.
    pub here: Option<String>,
}

impl Study {
    /// Whether its PEs are on modelled machines. Then all runs of a kind take the same time.
    pub(super) fn is_modelled(&self, pes: u32) -> bool {
        (self.variants)(pes).iter().any(|variant| variant.way == Some(Way::Modelled))
    }

    /// How often each kind of run is made if it is asked for so many times.
    pub(super) fn times(&self, pes: u32, times: u32) -> u32 {
        if self.is_modelled(pes) { 1 } else { times }
    }

    /// Its conditions on this many PEs, as far as they are studied.
    pub(super) fn conditions_if(&self, pes: u32, quick: bool) -> Vec<StudyCase> {
        let all = (self.conditions)(pes).into_iter();
        all.filter(|condition| !quick || !condition.only_in_full).collect()
    }

    /// How many runs it takes.
    pub(crate) fn runs(&self, pes: u32, times: u32, quick: bool) -> u64 {
        let variants = (self.variants)(pes).len();
        // The first variant runs on one PE as well.
        let runs = variants + 1 + if self.in_pairs { variants - 1 } else { 0 };
        (self.conditions_if(pes, quick).len() * runs) as u64 * u64::from(self.times(pes, times))
    }

    /// About how long it takes, in words.
    pub(crate) fn time(&self, pes: u32, times: u32, quick: bool) -> String {
        let seconds = self.runs(pes, times, quick) as f64 * self.seconds[usize::from(quick)];
        format::duration(seconds.round().max(1.0))
    }
}
