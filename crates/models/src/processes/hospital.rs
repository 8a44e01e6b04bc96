//! An emergency room: a nurse tells how urgent each patient is, doctors treat the most urgent
//! first, and there are fewer of them at night.

use warpline::process::prelude::*;

/// The hospital, and its parameters.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct Hospital {
    /// Mean time between patients; the times are exponential.
    #[parameter(unit = "min", default = 10.0, range = 1e-6..=1e9)]
    pub gap: f64,
    /// Number of nurses.
    #[parameter(default = 1, range = 1..=1_000_000)]
    pub nurses: u32,
    /// Time that a nurse takes for a patient.
    #[parameter(unit = "min", default = 4.0, range = 0.0..=1e9)]
    pub triage: f64,
    /// Mean time that a doctor takes for a patient; the times are exponential.
    #[parameter(unit = "min", default = 25.0, range = 1e-6..=1e9)]
    pub treatment: f64,
    /// Share of patients whose life is in danger.
    #[parameter(default = 0.1, range = 0.0..=1.0)]
    pub emergencies: f64,
    /// Share of patients who are seriously ill.
    #[parameter(default = 0.3, range = 0.0..=1.0)]
    pub serious: f64,
    /// Number of doctors by day, in every other shift, beginning with the first.
    #[parameter(default = 4, range = 0..=1_000_000)]
    pub day_doctors: u32,
    /// Number of doctors at night.
    #[parameter(default = 2, range = 0..=1_000_000)]
    pub night_doctors: u32,
    /// Length of a shift. A doctor whose shift ends finishes with a patient first.
    #[parameter(unit = "min", default = 720.0, range = 1e-3..=1e9)]
    pub shift: f64,
}

const TREATED: Counter = Counter::slot(0);
/// By urgency: emergencies, serious, others.
const WAIT: Mean = Mean::slot(1);
const STAY: Mean = Mean::slot(2);
const WAITING: TimeMean = TimeMean::slot(3);
const BUSY: TimeMean = TimeMean::slot(4);

impl Hospital {
    async fn patient(self: Arc<Self>, sim: Sim<()>, nurses: Resource, doctors: Resource) {
        let came = sim.now();
        let luck = sim.uniform(0.0, 1.0);
        let urgency = [self.emergencies, self.emergencies + self.serious]
            .iter()
            .filter(|&&bound| luck >= bound)
            .count() as u32;
        {
            let _nurse = nurses.request().await;
            sim.sleep(self.triage).await;
        }
        let seen = sim.now();
        let _doctor = doctors.request_with_priority(urgency as i32).await;
        sim.observe(WAIT.at(urgency), sim.now() - seen);
        sim.sleep(sim.exponential(self.treatment)).await;
        sim.observe(STAY, sim.now() - came);
        sim.count(TREATED, 1);
    }

    async fn shifts(self: Arc<Self>, sim: Sim<()>, doctors: Resource) {
        for number in [self.night_doctors, self.day_doctors].into_iter().cycle() {
            sim.sleep(self.shift).await;
            doctors.set_capacity(number);
        }
    }
}

#[model]
impl ProcessModel for Hospital {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(TREATED, "treated", "patients", "patients who were treated");
        declare
            .mean(WAIT, "wait", "min", "time from triage to a doctor: emergencies, serious, others")
            .items(3);
        declare.mean(STAY, "stay", "min", "time in hospital").series();
        declare
            .time_mean(WAITING, "waiting", "patients", "patients who wait for a doctor")
            .series();
        declare.time_mean(BUSY, "busy", "doctors", "doctors who treat somebody").series();
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let nurses = Resource::new(sim, "nurses", self.nurses);
        let doctors = Resource::new(sim, "doctors", self.day_doctors)
            .observe_waiting(WAITING)
            .observe_use(BUSY);
        sim.spawn_named("shifts", Arc::clone(&self).shifts(sim, doctors));
        loop {
            sim.sleep(sim.exponential(self.gap)).await;
            sim.spawn(Arc::clone(&self).patient(sim, nurses, doctors));
        }
    }
}

impl Configure for Hospital {
    type Parameters = Self;

    const NAME: &'static str = "hospital";
    const ABOUT: &'static str = "an emergency room with triage, and fewer doctors at night";
    const TIME_UNIT: &'static str = "min";
    const DEFAULT_END: f64 = 10_080.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        if parameters.emergencies + parameters.serious > 1.0 {
            return Err(format!(
                "`emergencies` ({}) and `serious` ({}) are shares of all patients: together they \
                 must be at most 1",
                parameters.emergencies, parameters.serious
            ));
        }
        Ok(parameters.clone())
    }
}
