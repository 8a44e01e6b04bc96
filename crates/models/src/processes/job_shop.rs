//! A job shop: each job goes over machines in an order of its own, which is read from a file.
//!
//! The file has a line for each job, with a machine and a time for each of its operations, in
//! order: `2,1,0,3` is one unit of time at machine 2, then three at machine 0. Empty lines and lines
//! that begin with `#` do not count.

use std::fs;

use warpline::process::prelude::*;

/// The parameters of `job-shop`.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct JobShopParameters {
    /// File of jobs, as comma-separated values; if empty, the instance ft06 of Fisher and Thompson
    /// (1963), whose shortest makespan is 55.
    pub instance: String,
    /// Which job gets a machine that becomes free.
    #[parameter(default = Rule::Fifo)]
    pub rule: Rule,
    /// How often all jobs are done, one round after the other.
    #[parameter(default = 1, range = 1..=1_000_000_000)]
    pub rounds: u32,
    /// By which share an operation may be shorter or longer than planned.
    #[parameter(default = 0.0, range = 0.0..=1.0)]
    pub variation: f64,
}

/// Which job gets a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum Rule {
    /// The one that came first.
    Fifo,
    /// The one with the shortest operation.
    Shortest,
    /// The one with the most work left.
    MostWork,
}

/// An operation of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Operation {
    machine: usize,
    time: f64,
}

/// The model.
#[derive(Debug)]
pub struct JobShop {
    parameters: JobShopParameters,
    jobs: Vec<Vec<Operation>>,
    machines: usize,
}

const MAKESPAN: Mean = Mean::slot(0);
const FLOW: Mean = Mean::slot(1);
const LOAD: Mean = Mean::slot(2);
const OPERATIONS: Table = Table(0);

impl JobShop {
    /// Does all operations of a job, and adds up the time that they take.
    async fn job(
        self: Arc<Self>,
        sim: Sim<()>,
        job: usize,
        machines: Arc<[Resource]>,
        work: Shared<f64>,
    ) {
        let came = sim.now();
        let mut left: f64 = self.jobs[job].iter().map(|operation| operation.time).sum();
        for &Operation { machine, time } in &self.jobs[job] {
            let priority = match self.parameters.rule {
                Rule::Fifo => 0.0,
                Rule::Shortest => time,
                Rule::MostWork => -left,
            };
            let _machine = machines[machine].request_with_priority(priority as i32).await;
            let begun = sim.now();
            let variation = self.parameters.variation;
            sim.sleep(time * sim.uniform(1.0 - variation, 1.0 + variation)).await;
            left -= time;
            work.with(|work| *work += sim.now() - begun);
            sim.record(OPERATIONS, &[job.into(), machine.into(), begun.into(), sim.now().into()]);
        }
        sim.observe(FLOW, sim.now() - came);
    }
}

#[model]
impl ProcessModel for JobShop {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.mean(MAKESPAN, "makespan", "", "time until all jobs of a round are done");
        declare.mean(FLOW, "flow", "", "time until a job is done, from the beginning of its round");
        declare.mean(LOAD, "load", "", "share of a round in which a machine works");
        let columns = [("job", ""), ("machine", ""), ("begin", ""), ("until", "")];
        declare.table(OPERATIONS, "operations", &columns);
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let machine = |number| Resource::new(sim, format!("machine {number}"), 1);
        let machines: Arc<[Resource]> = (0..self.machines).map(machine).collect();
        let work = Shared::new(sim, 0.0);
        for _ in 0..self.parameters.rounds {
            let begun = sim.now();
            work.set(0.0);
            let start = |job| {
                let process = Arc::clone(&self).job(sim, job, Arc::clone(&machines), work);
                sim.spawn_named(format!("job {job}"), process)
            };
            let jobs: Vec<Process> = (0..self.jobs.len()).map(start).collect();
            for job in jobs {
                let _ = sim.join(job).await; // nobody cancels jobs
            }
            let makespan = sim.now() - begun;
            sim.observe(MAKESPAN, makespan);
            sim.observe(LOAD, work.get() / (makespan * self.machines as f64));
        }
    }
}

impl Configure for JobShop {
    type Parameters = JobShopParameters;

    const NAME: &'static str = "job-shop";
    const ABOUT: &'static str = "jobs that go over machines, each in an order of its own";
    const TIME_UNIT: &'static str = "";
    const DEFAULT_END: f64 = 1_000_000.0;

    fn configure(parameters: &JobShopParameters) -> Result<Self, String> {
        let file = &parameters.instance;
        let jobs = if file.is_empty() {
            read(include_str!("ft06.csv"))
        } else {
            let text = fs::read_to_string(file)
                .map_err(|why| format!("the instance `{file}` cannot be read: {why}"))?;
            read(&text)
        };
        let jobs = jobs.map_err(|why| format!("the instance `{file}`: {why}"))?;
        let last = jobs.iter().flatten().map(|operation| operation.machine).max();
        let machines = last.map_or(0, |last| last + 1);
        Ok(JobShop { parameters: parameters.clone(), jobs, machines })
    }
}

/// No instance of the literature has as many.
const MOST_MACHINES: usize = 100_000;

/// Reads jobs.
fn read(text: &str) -> Result<Vec<Vec<Operation>>, String> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let jobs: Vec<_> = lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| read_job(line).map_err(|why| format!("line {number}: {why}")))
        .collect::<Result<_, _>>()?;
    if jobs.is_empty() {
        return Err("there is no job".to_owned());
    }
    Ok(jobs)
}

fn read_job(line: &str) -> Result<Vec<Operation>, String> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let (pairs, rest) = cells.as_chunks::<2>();
    if let [machine] = rest {
        return Err(format!("machine `{machine}` has no time: expected pairs of machine and time"));
    }
    let operation = |[machine, time]: &[&str; 2]| {
        let number = machine.parse().ok().filter(|number| *number < MOST_MACHINES);
        let duration = time.parse().ok().filter(|time: &f64| (0.0..=1e9).contains(time));
        Ok(Operation {
            machine: number.ok_or_else(|| {
                format!(
                    "`{machine}` is no machine: expected a number from 0 to {}",
                    MOST_MACHINES - 1
                )
            })?,
            time: duration.ok_or_else(|| {
                format!("`{time}` is no time: expected a number from 0 to 1000000000")
            })?,
        })
    };
    pairs.iter().map(operation).collect()
}
