//! What this machine costs: its figures as a model of the machine has them, measured by the
//! engine's own wires and runs, and written as a machine file.
//!
//! Costs of events, messages, copies, undo and GVT are differences between runs that differ in that
//! alone, taken in turn, so that a machine that grows slower or faster meanwhile changes both.
//!
//! Programs depend on `warpline`, which hands this on.

mod cores;
mod loopback;
mod noise;
mod runs;
mod sample;
mod threads;

use std::time::Instant;

use warpline_machine::Sheet;
use warpline_run::{Error, provenance};

use self::cores::cores;
use self::loopback::Loopback;
use self::noise::Interruptions;
use self::runs::RunCosts;
use self::threads::Wires;

/// A share of core time that others took from which on figures are doubtful.
const LOST_MOST: f64 = 0.05;
/// A spread from which on a figure is doubtful, as a share of its median.
const SPREAD_MOST: f64 = 0.5;

/// The machine at hand, measured.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// Its machine file.
    pub sheet: Sheet,
    /// What a reader of the figures has to know.
    pub notes: Vec<String>,
}

/// Measures this machine; `quick` takes a few seconds, and is less precise. `progress` hears how
/// many parts of how many are done, and what comes next.
///
/// # Errors
/// If a run fails.
///
/// ```no_run
/// let calibration = warpline::calibrate(true, &mut |_, _, _| {})?;
/// println!("{}", calibration.sheet.text());
/// # Ok::<(), warpline::Error>(())
/// ```
pub fn calibrate(
    quick: bool,
    progress: &mut dyn FnMut(u64, u64, &str),
) -> Result<Calibration, Error> {
    let times = if quick { 7 } else { 31 };
    let started = Instant::now();
    let parts = 3 + runs::parts(quick);
    progress(0, parts, "interruptions");
    let noise = Interruptions::measured(quick);
    progress(1, parts, "messages between threads");
    let wires = Wires::measured(times, quick);
    progress(2, parts, "messages by TCP");
    let loopback = Loopback::measured(times, quick);
    let costs = RunCosts::measured(quick, &wires, &mut |done, what| {
        progress(3 + done, parts, what);
    })?;
    let measured = Figures { noise, wires, loopback, costs };
    let about = provenance::of(started, 0);
    Ok(Calibration { sheet: measured.sheet(&about), notes: measured.notes() })
}

/// All figures.
struct Figures {
    noise: Interruptions,
    wires: Wires,
    loopback: Option<Loopback>,
    costs: RunCosts,
}

impl Figures {
    fn sheet(&self, about: &warpline_record::Provenance) -> Sheet {
        let processor = about.processor.as_deref().unwrap_or("a processor");
        let debug = if cfg!(debug_assertions) { ", unoptimised" } else { "" };
        let mut sheet = Sheet::new(&format!(
            "this machine, {processor}, on {} with Warpline {}{debug}",
            about.date, about.version
        ));
        sheet.table("node");
        sheet.count("cores", cores(), "measured: cores that this process may use");
        let uniform = "assumed: all cores are equally far from each other";
        sheet.count("domains", 1, uniform);
        sheet.time("domain_latency", 0.0, uniform);
        self.write_near(&mut sheet);
        self.write_far(&mut sheet);
        self.write_costs(&mut sheet);
        self.noise.write(&mut sheet);
        sheet
    }

    fn write_near(&self, sheet: &mut Sheet) {
        let Wires { one_way, read, message, bytes_per_second, .. } = &self.wires;
        sheet.table("near");
        let latency = (one_way.median() - read.median()).max(0.0);
        let origin = one_way.origin(
            "from writing a bound to having read it elsewhere, the fastest of many, less the read",
        );
        sheet.time("latency", latency, &origin);
        sheet.time(
            "overhead",
            message.median(),
            &message.origin("a message through a ring, the fastest piece of many"),
        );
        let origin =
            bytes_per_second.origin("long messages through a ring, the fastest piece of many");
        sheet.bandwidth("bandwidth", bytes_per_second.median(), &origin);
    }

    fn write_far(&self, sheet: &mut Sheet) {
        sheet.table("far");
        match &self.loopback {
            Some(loopback) => loopback.write(sheet),
            None => Loopback::write_assumed(sheet),
        }
        sheet.table("network");
        sheet.word("topology", "flat");
        sheet.time("hop", 0.0, "assumed: part of the latency");
    }

    fn write_costs(&self, sheet: &mut Sheet) {
        let Wires { read, write, .. } = &self.wires;
        sheet.table("costs");
        self.costs.write(sheet);
        sheet.time(
            "remote_write",
            write.median(),
            &write.origin("storing a bound that another core reads, the fastest piece of many"),
        );
        sheet.time(
            "register_read",
            read.median(),
            &read.origin("a word that another core wrote, the fastest piece of many"),
        );
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let lost = self.noise.lost();
        if lost > LOST_MOST {
            notes.push(format!(
                "others took {:.0} % of the cores' time while they were watched; calibrate again \
                 when the machine is idle",
                100.0 * lost
            ));
        }
        let Wires { one_way, read, message, bytes_per_second, write } = &self.wires;
        let wires = [
            ("near.latency", one_way),
            ("costs.register_read", read),
            ("near.overhead", message),
            ("near.bandwidth", bytes_per_second),
            ("costs.remote_write", write),
        ];
        let all = wires.into_iter().chain(self.costs.samples());
        let wide: Vec<&str> =
            all.filter(|(_, of)| of.spread() > SPREAD_MOST).map(|(name, _)| name).collect();
        if !wide.is_empty() {
            notes.push(format!("these figures varied a lot: {}", wide.join(", ")));
        }
        if cfg!(debug_assertions) {
            notes.push("this program is not optimised, so costs are too high".to_owned());
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_measured_and_described() {
        let mut heard = Vec::new();
        let mut hear = |done, all, _: &str| heard.push((done, all));
        let Calibration { sheet, .. } = calibrate(true, &mut hear).unwrap();
        let machine = sheet.machine("this").unwrap();
        assert_eq!(machine.cores as usize, cores());
        assert!(machine.costs.event > warpline_machine::Time::ZERO, "{}", sheet.text());
        assert!(heard.iter().all(|(done, all)| done < all), "{heard:?}");
        assert!(heard.is_sorted(), "{heard:?}");
    }
}
