//! How often the system takes cores away, and for how long: each core looks at the clock without
//! a pause, and notes when it missed some time.

use std::thread;
use std::time::{Duration, Instant};

use warpline_machine::Sheet;
use warpline_transport::pin;

use super::cores::cores;

/// Shorter gaps between two looks are taken for the looks themselves.
const GAP_LEAST: Duration = Duration::from_micros(2);

/// Interruptions of all cores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Interruptions {
    /// How long all cores were watched, in seconds, added up.
    watched: f64,
    count: u64,
    /// How long they lasted in all, in seconds.
    lasted: f64,
}

impl Interruptions {
    pub(super) fn measured(quick: bool) -> Self {
        let time = Duration::from_millis(if quick { 200 } else { 1500 });
        thread::scope(|scope| {
            let watches: Vec<_> = (0..cores())
                .map(|core| {
                    scope.spawn(move || {
                        pin(core, cores());
                        watch(time)
                    })
                })
                .collect();
            let mut all = Interruptions::default();
            for one in watches.into_iter().filter_map(|watch| watch.join().ok()) {
                all.watched += one.watched;
                all.count += one.count;
                all.lasted += one.lasted;
            }
            all
        })
    }

    /// The share of time that was lost.
    pub(super) fn lost(&self) -> f64 {
        if self.watched > 0.0 { self.lasted / self.watched } else { 0.0 }
    }

    pub(super) fn write(&self, sheet: &mut Sheet) {
        if self.count == 0 {
            return;
        }
        let lasts = self.lasted / self.count as f64;
        // A machine has its cores for more than half of the time.
        let every = (self.watched / self.count as f64).max(lasts * 2.001);
        let origin = format!(
            "measured: mean of {} interruptions in {:.1} s of all cores",
            self.count, self.watched
        );
        sheet.table("noise");
        sheet.time("every", every, &origin);
        sheet.time("lasts", lasts, &origin);
    }
}

fn watch(time: Duration) -> Interruptions {
    let started = Instant::now();
    let mut before = started;
    let mut found = Interruptions::default();
    while before - started < time {
        let now = Instant::now();
        let gap = now - before;
        if gap >= GAP_LEAST {
            found.count += 1;
            found.lasted += gap.as_secs_f64();
        }
        before = now;
    }
    found.watched = (before - started).as_secs_f64();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interruptions_take_less_than_half_of_the_time() {
        let busy = Interruptions { watched: 1.0, count: 10, lasted: 0.9 };
        let mut sheet = Sheet::new("busy");
        busy.write(&mut sheet);
        let text = sheet.text();
        assert!(
            text.contains("every = { ns = 180100000, ") && text.contains("ns = 90000000, "),
            "{text}"
        );
        assert_eq!(busy.lost(), 0.9);
        let mut sheet = Sheet::new("quiet");
        let quiet = sheet.clone();
        Interruptions::default().write(&mut sheet);
        assert_eq!(sheet, quiet);
    }
}
