//! A counter for tickets, whose queue people leave when their film is sold out: SimPy's "movie
//! renege".

use warpline::process::prelude::*;

/// The theatre, and its parameters.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct Movie {
    /// Number of films; all are equally popular.
    #[parameter(default = 3, range = 1..=10_000)]
    pub films: u32,
    /// Number of tickets for each film.
    #[parameter(default = 50, range = 0..=1_000_000)]
    pub tickets: u32,
    /// Mean time between people who come; the times are exponential.
    #[parameter(unit = "min", default = 0.5, range = 1e-9..=1e9)]
    pub gap: f64,
    /// Time that buying tickets takes. Who does not get any needs half of it to go.
    #[parameter(unit = "min", default = 1.0, range = 0.0..=1e9)]
    pub talk: f64,
    /// Most tickets that somebody wants; all numbers from 1 on are equally likely.
    #[parameter(default = 6, range = 1..=1000)]
    pub most_tickets: u32,
    /// A film with fewer tickets left is sold out.
    #[parameter(default = 2, range = 1..=1000)]
    pub least_left: u32,
}

const SOLD: Counter = Counter::slot(0);
const RENEGED: Counter = Counter::slot(1);
const REFUSED: Counter = Counter::slot(2);
const SOLD_OUT: Mean = Mean::slot(3);
const WAITING: TimeMean = TimeMean::slot(4);

/// A film: the tickets that are left, and a gate that opens when it is sold out.
#[derive(Clone, Copy)]
struct Film {
    left: Shared<u32>,
    sold_out: Gate,
}

impl Movie {
    async fn moviegoer(self: Arc<Self>, sim: Sim<()>, counter: Resource, film: Film) {
        let wanted = 1 + sim.below(self.most_tickets);
        let Either::First(_turn) = any_of(counter.request(), film.sold_out.wait()).await else {
            sim.count(RENEGED, 1);
            return;
        };
        let Some(left) = film.left.get().checked_sub(wanted) else {
            sim.count(REFUSED, 1);
            sim.sleep(self.talk / 2.0).await;
            return;
        };
        film.left.set(left);
        sim.count(SOLD, u64::from(wanted));
        if left < self.least_left {
            film.sold_out.open();
            sim.observe(SOLD_OUT, sim.now());
        }
        sim.sleep(self.talk).await;
    }
}

#[model]
impl ProcessModel for Movie {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SOLD, "sold", "tickets", "tickets that were sold").series();
        declare.counter(
            RENEGED,
            "reneged",
            "people",
            "people who left when their film was sold out",
        );
        declare.counter(REFUSED, "refused", "people", "people for whom too few tickets were left");
        declare.mean(SOLD_OUT, "sold_out", "min", "when a film was sold out");
        declare.time_mean(WAITING, "waiting", "people", "people in the queue").series();
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let counter = Resource::new(sim, "counter", 1).observe_waiting(WAITING);
        let film = |number: u32| Film {
            left: Shared::new(sim, self.tickets),
            sold_out: Gate::new(sim, format!("film {number} is sold out")),
        };
        let films: Vec<Film> = (0..self.films).map(film).collect();
        loop {
            sim.sleep(sim.exponential(self.gap)).await;
            let film = films[sim.below(self.films) as usize];
            if !film.sold_out.is_open() {
                sim.spawn(Arc::clone(&self).moviegoer(sim, counter, film));
            }
        }
    }
}

impl Configure for Movie {
    type Parameters = Self;

    const NAME: &'static str = "movie";
    const ABOUT: &'static str =
        "a queue for tickets, which people leave when their film is sold out";
    const TIME_UNIT: &'static str = "min";
    const DEFAULT_END: f64 = 120.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        Ok(parameters.clone())
    }
}
