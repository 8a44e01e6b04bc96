//! The setting for figures of a modelled machine times a factor.

use warpline_machine::{FigureGroup, Machine};
use warpline_model::nearest;

use super::{Range, SettingValue};

/// Figures of a modelled machine times factors; see
/// [`Simulation::machine_scale`](crate::Simulation::machine_scale).
///
/// ```
/// use warpline::MachineScale;
/// use warpline::settings::SettingValue;
/// let scale = MachineScale::parse("event=2.5,latency=0.5").unwrap();
/// assert_eq!(scale.text(), "event=2.5,latency=0.5");
/// assert_eq!(MachineScale::parse("none"), Some(MachineScale::default()));
/// assert_eq!(MachineScale::parse("speed=2").or(MachineScale::parse("event=0")), None);
/// assert_eq!(MachineScale::nearest("laten=2").as_deref(), Some("latency"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineScale(Vec<(FigureGroup, f64)>);

impl MachineScale {
    /// The same, with these figures times one more factor.
    #[must_use]
    pub fn times(mut self, group: FigureGroup, factor: f64) -> Self {
        match self.0.iter_mut().find(|(known, _)| *known == group) {
            Some((_, before)) => *before *= factor,
            None => self.0.push((group, factor)),
        }
        self
    }

    /// The machine with its figures scaled.
    pub(crate) fn of(&self, machine: Machine) -> Machine {
        self.0.iter().fold(machine, |machine, (group, factor)| machine.scaled(*group, *factor))
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

fn is_factor(factor: f64) -> bool {
    (Machine::FACTOR_MOST.recip()..=Machine::FACTOR_MOST).contains(&factor)
}

impl SettingValue for MachineScale {
    const PLACEHOLDER: &'static str = "FACTORS";

    fn parse(text: &str) -> Option<Self> {
        if text.trim() == "none" {
            return Some(MachineScale::default());
        }
        let factor = |word: &str| {
            let (name, factor) = word.split_once('=')?;
            let group = FigureGroup::ALL.into_iter().find(|group| group.name() == name.trim())?;
            Some((group, factor.trim().parse().ok().filter(|factor| is_factor(*factor))?))
        };
        let factors: Option<Vec<_>> = text.split(',').map(factor).collect();
        let none = MachineScale::default();
        factors.map(|all| all.into_iter().fold(none, |all, (group, one)| all.times(group, one)))
    }

    fn text(&self) -> String {
        if self.is_none() {
            return "none".to_owned();
        }
        let factors = self.0.iter().map(|(group, factor)| format!("{}={factor}", group.name()));
        factors.collect::<Vec<_>>().join(",")
    }

    fn takes(_: &Range<Self>) -> String {
        let names = FigureGroup::ALL.map(FigureGroup::name).join(", ");
        let most = Machine::FACTOR_MOST;
        format!(
            "factors separated by commas, such as event=2, of {names}, each from {} to {most}; or \
             none",
            most.recip()
        )
    }

    fn within(&self, _: &Range<Self>) -> bool {
        self.0.iter().all(|(_, factor)| is_factor(*factor))
    }

    fn nearest(text: &str) -> Option<String> {
        let names = || FigureGroup::ALL.map(FigureGroup::name);
        let mut words = text.split(',').filter_map(|word| word.split('=').next()).map(str::trim);
        words.find(|word| !names().contains(word)).and_then(|word| nearest(word, names()))
    }
}
