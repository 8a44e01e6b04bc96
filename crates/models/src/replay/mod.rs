//! A queue with several servers whose customers, or their services, are those of a file: when each
//! came and how long each took, or what was measured as a distribution, or rates by the hour.
//!
//! LP 0 is the source, LP 1 the station. Each customer is served by the first server that is free,
//! in the order of arrival. With one server and a file of both, waiting times follow D. Lindley,
//! "The theory of queues with a single server", 1952: each is the one before, plus its service,
//! less the gap, and at least 0.

mod inputs;
mod parameters;

use std::collections::VecDeque;

use warpline::prelude::*;
use warpline_series::Fit;

use inputs::{Arrivals, Services};
pub use parameters::{ArrivalsAs, ReplayParameters, ServicesAs};

/// The model: what all LPs share.
#[derive(Debug)]
pub struct Replay {
    arrivals: Arrivals,
    services: Services,
    servers: u32,
}

/// The state of an LP.
#[derive(Clone, Debug)]
pub enum State {
    /// The source: how many customers it has sent.
    Source(u64),
    /// The station.
    Station {
        /// Customers who wait, in the order of arrival.
        waiting: VecDeque<Customer>,
        /// Servers who serve, over time.
        busy: Level,
        /// Customers waiting or in service, over time.
        inside: Level,
    },
}

/// A customer.
#[derive(Clone, Copy, Debug, PartialEq, Portable)]
pub struct Customer {
    /// Its number, from 0.
    pub number: u64,
    /// When it came, in s.
    pub arrived: f64,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Portable)]
pub enum Event {
    /// The source sends the next customer.
    Next,
    /// The customer with this number reaches the station.
    Arrive(u64),
    /// A server has finished with a customer.
    Depart(Customer),
}

const SOURCE: u32 = 0;
const STATION: u32 = 1;

const SERVED: Counter = Counter::slot(0);
const WAIT: Histogram = Histogram::slot(1);
const MEAN_WAIT: Mean = Mean::slot(2);
const INSIDE: TimeMean = TimeMean::slot(3);
const BUSY: TimeMean = TimeMean::slot(4);
const CUSTOMERS: Table = Table(0);

impl Replay {
    fn send_customer(&self, number: u64, lp: &mut impl Acting<Self>) {
        let now = lp.now();
        if let Some(time) = self.arrivals.time(number, now, lp.random()) {
            lp.send_at(STATION, time, Event::Arrive(number));
            lp.send_at(SOURCE, time, Event::Next);
        }
    }

    fn serve(&self, customer: Customer, lp: &mut Context<Self>) {
        let wait = lp.now() - customer.arrived;
        let service = self.services.time(customer.number, lp.random());
        lp.sample(WAIT, wait);
        lp.observe(MEAN_WAIT, wait);
        let row = [customer.number.into(), customer.arrived.into(), wait.into(), service.into()];
        lp.record(CUSTOMERS, &row);
        lp.send(STATION, service, Event::Depart(customer));
    }
}

#[model(compare)]
impl Model for Replay {
    type State = State;
    type Event = Event;

    fn lps(&self) -> u32 {
        2
    }

    /// Customers come at any time, but only from the source.
    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        Some(if lp.0 == SOURCE { vec![Link { to: LpId(STATION), lookahead: 0.0 }] } else { vec![] })
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SERVED, "served", "customers", "customers who have left");
        declare.histogram(WAIT, "wait", "s", "time from arrival to service");
        declare.mean(MEAN_WAIT, "mean_wait", "s", "mean time from arrival to service").series();
        declare.time_mean(INSIDE, "customers", "", "customers waiting or in service").series();
        declare.time_mean(BUSY, "busy", "servers", "servers who serve").series();
        let columns = [("number", ""), ("arrived", "s"), ("wait", "s"), ("service", "s")];
        declare.table(CUSTOMERS, "customers", &columns);
        declare.headlines(&["mean_wait", "wait.p99", "customers", "busy"]);
    }

    fn init(&self, lp: &mut Init<Self>) -> State {
        if lp.id().0 != SOURCE {
            let (busy, inside) = (Level::default(), Level::default());
            return State::Station { waiting: VecDeque::new(), busy, inside };
        }
        self.send_customer(0, lp);
        State::Source(1)
    }

    fn handle(&self, state: &mut State, event: &Event, lp: &mut Context<Self>) {
        match (state, event) {
            (State::Source(sent), _) => {
                self.send_customer(*sent, lp);
                *sent += 1;
            }
            (State::Station { waiting, busy, inside }, Event::Arrive(number)) => {
                inside.set(inside.get() + 1.0, INSIDE, lp);
                let customer = Customer { number: *number, arrived: lp.now() };
                if busy.get() < f64::from(self.servers) {
                    busy.set(busy.get() + 1.0, BUSY, lp);
                    self.serve(customer, lp);
                } else {
                    waiting.push_back(customer);
                }
            }
            (State::Station { waiting, busy, inside }, _) => {
                inside.set(inside.get() - 1.0, INSIDE, lp);
                lp.count(SERVED, 1);
                match waiting.pop_front() {
                    Some(next) => self.serve(next, lp),
                    None => busy.set(busy.get() - 1.0, BUSY, lp),
                }
            }
        }
    }
}

impl Configure for Replay {
    type Parameters = ReplayParameters;

    const NAME: &'static str = "replay";
    const ABOUT: &'static str = "a queue whose arrivals and services were measured: CSV files";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 86_400.0;

    fn configure(parameters: &ReplayParameters) -> Result<Self, String> {
        if parameters.arrivals.is_empty() && parameters.arrivals_as != ArrivalsAs::Rates {
            return Err("`arrivals-as` says what the file of arrivals has, but there is none: \
                        name one by `arrivals`"
                .into());
        }
        let arrivals = Arrivals::read(parameters).map_err(|why| format!("`arrivals`: {why}"))?;
        let services = Services::read(parameters).map_err(|why| format!("`services`: {why}"))?;
        Ok(Replay { arrivals, services, servers: parameters.servers })
    }

    /// What was read, and what fits.
    fn notes(parameters: &ReplayParameters) -> Vec<(&'static str, String)> {
        let mut notes = Vec::new();
        // Mistakes are told when the model is made.
        if let Ok(column) = inputs::arrivals(parameters) {
            notes.push(("arrivals", format!("column `{}` has {column}", column.column())));
        }
        if let Ok(Some(column)) = inputs::services(parameters) {
            notes.push(("services", format!("column `{}` has {column}", column.column())));
            if parameters.services_as == ServicesAs::Fitted
                && let Ok(best) = Fit::best(&column)
            {
                notes.push(("services-as", format!("takes what fits best: {best}")));
            }
        }
        if parameters.services.is_empty() && parameters.services_as != ServicesAs::Discrete {
            let words = "has no effect: there is no file of service times; name one by `services`";
            notes.push(("services-as", words.to_owned()));
        }
        notes
    }
}
