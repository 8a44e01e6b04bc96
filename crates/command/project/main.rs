//! Customers pass through a row of stations, each with one server and a queue: a tandem queue.
//!
//! LP 0 is the door, through which customers come and go; LPs 1, 2, … are the stations. With
//! arrival rate λ and service rate μ of every station, theory says that a customer spends 1/(μ-λ)
//! at each station on average (J. R. Jackson, "Networks of waiting lines", Operations Research
//! 5(4), 1957).

use std::process::ExitCode;

use warpline::prelude::*;

/// The model and its parameters, which are options of the command line and names in scenario files.
#[derive(Clone, Parameters)]
struct __Model__ {
    /// Number of stations.
    #[parameter(default = 8, range = 1..=1_000_000)]
    stations: u32,
    /// Mean number of customers that arrive in a minute.
    #[parameter(unit = "1/min", default = 0.5, range = 1e-6..=1e6)]
    arrival_rate: f64,
    /// Mean number of customers that a station can serve in a minute.
    #[parameter(unit = "1/min", default = 1.0, range = 1e-6..=1e6)]
    service_rate: f64,
    /// Time to walk from the door to a station, from one station to the next, and back to the door.
    #[parameter(unit = "min", default = 0.5, range = 0.0..=1e6)]
    walk: f64,
}

/// What happens, each at the LP that it happens to.
#[derive(Clone, Copy, Debug, Portable)]
enum Event {
    /// A customer comes in through the door.
    Enter,
    /// A customer who came in at this time reaches a station.
    Arrive { entered: f64 },
    /// A customer who came in at this time goes out through the door.
    Leave { entered: f64 },
}

const DOOR: u32 = 0;

const SERVED: Counter = Counter::slot(0);
const STAY: Mean = Mean::slot(1);
const WAIT: Histogram = Histogram::slot(2);

#[model]
impl Model for __Model__ {
    /// When the station will have served all who are there; the door does not need it.
    type State = f64;
    type Event = Event;

    fn lps(&self) -> u32 {
        self.stations + 1
    }

    /// From the door to the first station, and from each station to the next or to the door, nobody
    /// is faster than a walk. Parallel runs profit from knowing that.
    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        let next = if lp.0 == self.stations { DOOR } else { lp.0 + 1 };
        Some(vec![Link { to: LpId(next), lookahead: self.walk }])
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SERVED, "served", "customers", "customers who passed through all stations");
        declare.mean(STAY, "stay", "min", "mean time from entering to leaving");
        declare.histogram(WAIT, "wait", "min", "time that a customer waits at a station");
    }

    fn init(&self, lp: &mut Init<Self>) -> f64 {
        if lp.id() == LpId(DOOR) {
            lp.send(DOOR, 0.0, Event::Enter);
        }
        0.0
    }

    fn handle(&self, free_at: &mut f64, event: &Event, lp: &mut Context<Self>) {
        let now = lp.now();
        match *event {
            Event::Enter => {
                lp.send(1, self.walk, Event::Arrive { entered: now });
                let gap = lp.random().exponential(1.0 / self.arrival_rate);
                lp.send(DOOR, gap, Event::Enter);
            }
            Event::Arrive { entered } => {
                let begin = free_at.max(now);
                lp.sample(WAIT, begin - now);
                *free_at = begin + lp.random().exponential(1.0 / self.service_rate);
                let delay = *free_at - now + self.walk;
                match lp.id().0 {
                    last if last == self.stations => lp.send(DOOR, delay, Event::Leave { entered }),
                    station => lp.send(station + 1, delay, Event::Arrive { entered }),
                }
            }
            Event::Leave { entered } => {
                lp.count(SERVED, 1);
                lp.observe(STAY, now - entered);
            }
        }
    }
}

impl Configure for __Model__ {
    type Parameters = Self;

    const NAME: &'static str = "__name__";
    const ABOUT: &'static str = "customers pass through a row of stations";
    const TIME_UNIT: &'static str = "min";
    const DEFAULT_END: f64 = 100_000.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        let __Model__ { arrival_rate, service_rate, .. } = *parameters;
        if arrival_rate >= service_rate {
            return Err(format!(
                "{arrival_rate} customers arrive in a minute and {service_rate} can be served, so \
                 queues grow without limit; choose `arrival-rate` below `service-rate`"
            ));
        }
        Ok(parameters.clone())
    }
}

/// Memory that the system does not give ends a run with an error, and not the program.
#[global_allocator]
static ALLOCATOR: warpline::Allocator = warpline::Allocator;

fn main() -> ExitCode {
    warpline::command::<__Model__>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline::Synchronisation;

    /// A run with the default parameters.
    fn simulation() -> Simulation<'static, __Model__> {
        Simulation::configured(&__Model__::default()).expect("the defaults are a model")
    }

    /// Every event is executed, undone, compared, and executed again: the model keeps its promises.
    #[test]
    fn every_event_can_be_undone() {
        simulation().end(200.0).verify().unwrap_or_else(|why| panic!("{why}"));
    }

    #[test]
    fn all_engines_give_one_answer() -> Result<(), Error> {
        let alone = simulation().end(1000.0).state_digest(true).run()?;
        for sync in [Synchronisation::Optimistic, Synchronisation::Conservative] {
            let together = simulation().end(1000.0).sync(sync).threads(2).state_digest(true).run()?;
            assert_eq!(together.record.digest, alone.record.digest, "{sync:?}");
            assert_eq!(together.record.state_digest, alone.record.state_digest, "{sync:?}");
            assert_eq!(together.record.results, alone.record.results, "{sync:?}");
        }
        Ok(())
    }

    /// The mean stay lies within its confidence interval of what theory says. Change the seed, and
    /// one run in twenty lies outside.
    #[test]
    fn customers_stay_as_long_as_theory_says() -> Result<(), Error> {
        let model = __Model__::default();
        let run = simulation().warmup(1000.0).run()?;
        let stay = run.statistics.mean(STAY);
        let mean = stay.mean.expect("customers left");
        let half = stay.ci95.expect("there were many");
        let stations = f64::from(model.stations);
        let theory = stations / (model.service_rate - model.arrival_rate) + (stations + 1.0) * model.walk;
        assert!((mean - theory).abs() < half, "{mean} ± {half} min, but theory says {theory}");
        assert!(half < 0.01 * theory, "± {half} min says little about {mean}");
        Ok(())
    }
}
