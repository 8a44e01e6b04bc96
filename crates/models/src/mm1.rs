//! A queue with one server, Poisson arrivals and exponential service: the first model to read.
//!
//! LP 0 is the source, LP 1 the server. With arrival rate λ, service rate μ and ρ = λ/μ < 1, theory
//! gives ρ/(1-ρ) customers in the system on average, each of whom stays 1/(μ-λ).

use std::collections::VecDeque;

use warpline::prelude::*;

/// The parameters of `mm1`.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct Mm1Parameters {
    /// Mean number of customers that arrive per unit of time.
    #[parameter(default = 0.8, range = 1e-9..=1e9)]
    pub arrival_rate: f64,
    /// Mean number of customers that the server can serve per unit of time.
    #[parameter(default = 1.0, range = 1e-9..=1e9)]
    pub service_rate: f64,
    /// The order of service.
    #[parameter(default = Discipline::Fifo)]
    pub discipline: Discipline,
}

/// Who is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum Discipline {
    /// First come, first served.
    Fifo,
    /// Last come, first served.
    Lifo,
}

/// The model: what all LPs share.
#[derive(Debug)]
pub struct Mm1 {
    parameters: Mm1Parameters,
}

/// The state of an LP.
#[derive(Clone, Debug)]
pub enum State {
    /// The source sends customers.
    Source,
    /// The server serves them.
    Server {
        /// When each waiting customer arrived.
        waiting: VecDeque<f64>,
        /// When the customer in service arrived.
        in_service: Option<f64>,
        /// Customers in the system, over time.
        inside: Level,
    },
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable)]
pub enum Event {
    /// The source sends the next customer.
    Next,
    /// A customer reaches the server.
    Arrive,
    /// The server has finished with a customer.
    Depart,
}

const SOURCE: u32 = 0;
const SERVER: u32 = 1;

const STAY: Histogram = Histogram::slot(0);
const MEAN_STAY: Mean = Mean::slot(1);
const INSIDE: TimeMean = TimeMean::slot(2);

impl Mm1 {
    fn send_customer(&self, lp: &mut impl Acting<Self>) {
        let gap = lp.random().exponential(1.0 / self.parameters.arrival_rate);
        lp.send(SERVER, gap, Event::Arrive);
        lp.send(SOURCE, gap, Event::Next);
    }

    fn serve(&self, arrived: f64, in_service: &mut Option<f64>, lp: &mut Context<Self>) {
        *in_service = Some(arrived);
        let service = lp.random().exponential(1.0 / self.parameters.service_rate);
        lp.send(SERVER, service, Event::Depart);
    }
}

#[model]
impl Model for Mm1 {
    type State = State;
    type Event = Event;

    fn lps(&self) -> u32 {
        2
    }

    /// Customers come at any time, but only from the source.
    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        Some(if lp.0 == SOURCE { vec![Link { to: LpId(SERVER), lookahead: 0.0 }] } else { vec![] })
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.histogram(STAY, "stay", "", "time from arrival to departure");
        declare.mean(MEAN_STAY, "mean_stay", "", "mean time from arrival to departure").series();
        declare.time_mean(INSIDE, "customers", "", "customers waiting or in service").series();
        declare.headlines(&["mean_stay", "stay.p99", "customers"]);
    }

    fn init(&self, lp: &mut Init<Self>) -> State {
        if lp.id().0 != SOURCE {
            return State::Server {
                waiting: VecDeque::new(),
                in_service: None,
                inside: Level::default(),
            };
        }
        self.send_customer(lp);
        State::Source
    }

    fn handle(&self, state: &mut State, event: &Event, lp: &mut Context<Self>) {
        match (state, event) {
            (State::Source, _) => self.send_customer(lp),
            (State::Server { waiting, in_service, inside }, Event::Arrive) => {
                inside.set(inside.get() + 1.0, INSIDE, lp);
                if in_service.is_none() {
                    self.serve(lp.now(), in_service, lp);
                } else {
                    waiting.push_back(lp.now());
                }
            }
            (State::Server { waiting, in_service, inside }, _) => {
                inside.set(inside.get() - 1.0, INSIDE, lp);
                let arrived = in_service.take().unwrap_or_default();
                lp.sample(STAY, lp.now() - arrived);
                lp.observe(MEAN_STAY, lp.now() - arrived);
                let next = match self.parameters.discipline {
                    Discipline::Fifo => waiting.pop_front(),
                    Discipline::Lifo => waiting.pop_back(),
                };
                if let Some(next) = next {
                    self.serve(next, in_service, lp);
                }
            }
        }
    }
}

impl Configure for Mm1 {
    type Parameters = Mm1Parameters;

    const NAME: &'static str = "mm1";
    const ABOUT: &'static str = "a queue with one server, Poisson arrivals and exponential service";
    const TIME_UNIT: &'static str = "";
    const DEFAULT_END: f64 = 100_000.0;

    fn configure(parameters: &Mm1Parameters) -> Result<Self, String> {
        Ok(Mm1 { parameters: parameters.clone() })
    }
}
