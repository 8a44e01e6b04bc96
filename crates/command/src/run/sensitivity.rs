//! How far the prediction of a run on a modelled machine depends on the figures of that machine.

use warpline_record::{MachineSensitivity, RunRecord};
use warpline_run::{FigureGroup, Settings};

use crate::failure::Failure;
use crate::output::progress::RunCounter;

/// Figures are taken at half, and at twice.
const FACTORS: [f64; 2] = [0.5, 2.0];

/// How many more runs it takes.
const RUNS: u64 = (FigureGroup::ALL.len() * FACTORS.len()) as u64;

/// Why these settings leave nothing to find out, if so.
pub(super) fn refusal(settings: &Settings, replications: u32) -> Option<&'static str> {
    if settings.machine.is_none() {
        Some("`sensitivity` is about figures of a modelled machine: name one by `machine`")
    } else if replications > 1 {
        Some("`sensitivity` is about one run: leave `replications` out")
    } else {
        None
    }
}

/// Repeats a finished run with figures of the machine at half and at twice, and notes in its record
/// how that went. A run that was ended early is left as it is, and so is what is left when
/// `repeat` is.
///
/// # Errors
/// If a run fails, or has another answer.
pub(super) fn note(
    record: &mut RunRecord,
    settings: &Settings,
    quiet: bool,
    mut repeat: impl FnMut(Settings) -> Result<RunRecord, Failure>,
) -> Result<(), Failure> {
    if record.partial.is_some() {
        return Ok(());
    }
    let mut found = Vec::new();
    let mut counter = RunCounter::new(RUNS, quiet);
    let all = FigureGroup::ALL.into_iter().flat_map(|group| FACTORS.map(|factor| (group, factor)));
    for (number, (group, factor)) in (0..).zip(all) {
        counter.show(number, &format!("{} × {factor}", group.name()));
        let scale = settings.machine_scale.clone().unwrap_or_default().times(group, factor);
        let mut scaled = settings.clone();
        scaled.machine_scale = Some(scale);
        let run = repeat(scaled)?;
        if run.partial.is_some() {
            break;
        }
        if run.digest != record.digest {
            return Err(Failure::failed(format!(
                "with {} × {factor}, the answer is {} and not {}, which must never be: please \
                 report it",
                group.name(),
                run.digest,
                record.digest
            )));
        }
        let machine = run.parallel.and_then(|parallel| parallel.machine).unwrap_or_default();
        found.push(MachineSensitivity {
            figures: group.name().to_owned(),
            factor,
            seconds: machine.seconds,
            event_rate: machine.event_rate,
            efficiency: machine.efficiency,
        });
    }
    counter.finish();
    if let Some(machine) = record.parallel.as_mut().and_then(|all| all.machine.as_mut()) {
        machine.sensitivity = found;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use warpline_record::MachineRecord;
    use warpline_run::settings::SettingValue;

    fn on_machine(seconds: f64) -> RunRecord {
        let mut record = sample::optimistic(1e6);
        let machine = MachineRecord { seconds, ..MachineRecord::default() };
        record.parallel.as_mut().unwrap().machine = Some(machine);
        record
    }

    fn found(record: &RunRecord) -> &[MachineSensitivity] {
        &record.parallel.as_ref().unwrap().machine.as_ref().unwrap().sensitivity
    }

    #[test]
    fn every_group_of_figures_is_taken_at_half_and_at_twice() {
        let mut record = on_machine(1.0);
        let mut settings = Settings::default();
        settings.set("machine-scale", "event=3").unwrap();
        let mut scales = Vec::new();
        note(&mut record, &settings, true, |settings| {
            scales.push(settings.machine_scale.as_ref().map(SettingValue::text).unwrap());
            Ok(on_machine(scales.len() as f64))
        })
        .unwrap();
        assert_eq!(scales[..2], ["event=3,latency=0.5", "event=3,latency=2"]);
        assert_eq!(scales[4..6], ["event=1.5", "event=6"]);
        let found = found(&record);
        assert_eq!(found.len() as u64, RUNS);
        let last = found.last().unwrap();
        assert_eq!((last.figures.as_str(), last.factor, last.seconds), ("noise", 2.0, RUNS as f64));
    }

    #[test]
    fn another_answer_is_an_error() {
        let other = RunRecord { digest: "0".to_owned(), ..on_machine(1.0) };
        let failure = note(&mut on_machine(1.0), &Settings::default(), true, |_| Ok(other.clone()));
        assert!(
            failure.unwrap_err().message.starts_with("with latency × 0.5, the answer is 0 and")
        );
    }

    #[test]
    fn it_takes_a_machine_and_one_run() {
        let mut settings = Settings::default();
        assert!(refusal(&settings, 1).unwrap().contains("name one by `machine`"));
        settings.set("machine", "cray-xt5").unwrap();
        assert_eq!(refusal(&settings, 1), None);
        assert!(refusal(&settings, 2).unwrap().contains("leave `replications` out"));
    }
}
