//! Vehicles that break down on the road, and garages that repair them.
//!
//! Garages are processes. Vehicles handle events, so they may go ahead of the garages and of each
//! other, and be undone. In theory, vehicles and one garage are a closed network of a queue with
//! several servers and of times in which nobody waits (the machine repair model).

use warpline::process::prelude::*;

/// The fleet and its garages, and their parameters.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct Fleet {
    /// Number of garages.
    #[parameter(default = 10, range = 1..=10_000)]
    pub garages: u32,
    /// Number of vehicles per garage; they use all garages.
    #[parameter(default = 50, range = 1..=100_000)]
    pub vehicles: u32,
    /// Vehicles that a garage can repair at a time.
    #[parameter(default = 2, range = 1..=100_000)]
    pub bays: u32,
    /// Mean time of a trip; the times are exponential.
    #[parameter(unit = "h", default = 1.0, range = 1e-9..=1e9)]
    pub trip: f64,
    /// Probability that a trip ends with a breakdown.
    #[parameter(default = 0.01, range = 0.0..=1.0)]
    pub breakdown: f64,
    /// Time to a garage and back to the road: the lookahead.
    #[parameter(unit = "h", default = 0.5, range = 0.0..=1e9)]
    pub way: f64,
    /// Mean time of a repair; the times are exponential.
    #[parameter(unit = "h", default = 3.0, range = 1e-9..=1e9)]
    pub repair: f64,
}

const TRIPS: Counter = Counter::slot(0);
const REPAIRS: Counter = Counter::slot(1);
const DOWN: Mean = Mean::slot(2);
const WAITING: TimeMean = TimeMean::slot(3);
const BUSY: TimeMean = TimeMean::slot(4);

/// What LPs send each other.
#[derive(Clone, Copy, Debug, PartialEq, Portable)]
pub enum Message {
    /// A vehicle is at the end of its trip.
    Arrived,
    /// This vehicle comes to a garage.
    Broken(LpId),
    /// A vehicle is on the road again.
    Repaired,
}

impl Fleet {
    fn drive(&self, lp: &mut impl Acting<Mixed<Self>>) {
        let trip = lp.random().exponential(self.trip);
        lp.send(lp.id(), trip, Message::Arrived.into());
    }
}

/// Garages.
#[model]
impl ProcessModel for Fleet {
    type Message = Message;

    fn lps(&self) -> u32 {
        self.garages * (1 + self.vehicles)
    }

    fn lookahead(&self) -> f64 {
        self.way
    }

    fn kind(&self, lp: LpId) -> &str {
        if self.is_process(lp) { "garage" } else { "vehicle" }
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(TRIPS, "trips", "", "trips of all vehicles").series();
        declare.counter(REPAIRS, "repairs", "", "repairs in all garages");
        declare.mean(DOWN, "down", "h", "time from a breakdown to being on the road again");
        declare.time_mean(WAITING, "waiting", "vehicles", "vehicles that wait for a bay").series();
        declare.time_mean(BUSY, "busy", "bays", "bays in use").series();
    }

    async fn run(self: Arc<Self>, sim: Sim<Message>) {
        let bays = Resource::new(sim, "bays", self.bays).observe_waiting(WAITING).observe_use(BUSY);
        loop {
            let Message::Broken(vehicle) = sim.receive().await else { continue };
            let this = Arc::clone(&self);
            sim.spawn(async move {
                let _bay = bays.request().await;
                sim.sleep(sim.exponential(this.repair)).await;
                sim.count(REPAIRS, 1);
                sim.send(vehicle, this.way, Message::Repaired);
            });
        }
    }
}

/// Vehicles.
impl MixedModel for Fleet {
    type State = f64; // when it broke down last

    fn is_process(&self, lp: LpId) -> bool {
        lp.0.is_multiple_of(1 + self.vehicles)
    }

    fn init(&self, lp: &mut Init<Mixed<Self>>) -> f64 {
        self.drive(lp);
        0.0
    }

    fn handle(&self, broken: &mut f64, message: &Message, lp: &mut Context<Mixed<Self>>) {
        match message {
            Message::Arrived => {
                lp.count(TRIPS, 1);
                if lp.random().bernoulli(self.breakdown) {
                    *broken = lp.now();
                    let garage = lp.random().below(self.garages) * (1 + self.vehicles);
                    lp.send(garage, self.way, Message::Broken(lp.id()).into());
                } else {
                    self.drive(lp);
                }
            }
            Message::Repaired => {
                lp.observe(DOWN, lp.now() - *broken);
                self.drive(lp);
            }
            Message::Broken(_) => lp.fail("a vehicle was brought to a vehicle"),
        }
    }
}

impl Configure for Fleet {
    type Parameters = Self;

    const NAME: &'static str = "fleet";
    const ABOUT: &'static str = "vehicles that break down, as events, and garages, as processes";
    const TIME_UNIT: &'static str = "h";
    const DEFAULT_END: f64 = 1_000.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        let Fleet { garages, vehicles, .. } = *parameters;
        if garages.checked_mul(1 + vehicles).is_none() {
            return Err(format!(
                "{garages} garages with {vehicles} vehicles each are too many LPs: at most \
                 4 294 967 295 in all"
            ));
        }
        Ok(parameters.clone())
    }
}
