//! One answer: every configuration of every engine against the reference.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline::base::LpId;
use warpline::base::random::Random;
use warpline::{
    Barrier, BufferPool, Cancellation, Communication, CommunicationRing, Conservative,
    CopyInterval, Error, Fault, FossilCollection, GoAhead, GvtAlgorithm, GvtIntervalControl,
    LpChoice, Mailbox, Messages, Model, Pending, Place, PoolOrder, Simulation, SubPool,
    Synchronisation, Undo,
};

use crate::random_model::Inline;
use crate::reference::{self, Outcome, Settings, Stop};
use crate::{RandomModel, Recipe, time_limit};

/// One way to run a simulation that must not change its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Configuration {
    /// The pending event set.
    pub pending: Pending,
    /// The settings of a parallel run; `None` for a sequential one.
    pub parallel: Option<Parallel>,
    /// The seed of changes of the engine in the middle of the run; `None` if it keeps the one that
    /// it begins with.
    pub changes: Option<u64>,
}

/// One way to run a simulation in parallel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parallel {
    /// The number of PEs of each process, if there are as many LPs.
    pub pes: u32,
    /// The number of processes.
    pub processes: u32,
    /// How messages are copied between processes; `None` if processes share them.
    pub copies: Option<Copies>,
    /// The seed of the virtual cluster; `None` for threads.
    pub cluster: Option<u64>,
    /// Whether it is conservative, if there is lookahead between the PEs; optimistic otherwise.
    pub conservative: bool,
    /// If it is, whether PEs go in windows; they run freely otherwise.
    pub windows: bool,
    /// How events travel between PEs.
    pub messages: Messages,
    /// How events are undone, if the model has that; by copies otherwise.
    pub undo: Undo,
    /// When what undone events had sent is cancelled, if events can be compared; at once otherwise.
    pub cancellation: Cancellation,
    /// The number of events between copies of a state.
    pub copy_interval: CopyInterval,
    /// Whether lookahead is used.
    pub lookahead: bool,
    /// When it goes ahead of the horizon.
    pub go_ahead: GoAhead,
    /// Events per step.
    pub batch: u32,
    /// KPs per PE.
    pub kps: u32,
    /// How GVT is found.
    pub gvt: GvtAlgorithm,
    /// How PEs meet for it, if they do.
    pub barrier: Barrier,
    /// Events between two computations of GVT.
    pub gvt_interval: u32,
    /// Whether that is only the first interval, which changes during the run.
    pub adapts_interval: bool,
    /// The optimism window, as a share of the end time; `None` if it adapts.
    pub window: Option<f64>,
    /// If it is not conservative, which LPs are: a seed and a share; `None` if no LP is.
    pub waiting: Option<(u64, f64)>,
    /// How buffers are kept.
    pub buffers: BufferUse,
    /// Where messages wait, between threads of one process.
    pub mailbox: Mailbox,
    /// Whether rings between PEs hold as little as they can.
    pub least_room: bool,
}

/// One way to keep the buffers of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferUse {
    /// Whose pools they are in.
    pub pool: BufferPool,
    /// Which one is used next.
    pub order: PoolOrder,
    /// If pools are partitioned, and the run is not conservative: how many there are.
    pub sub_pool: SubPool,
    /// If it is not conservative: when they go back.
    pub collection: FossilCollection,
}

impl Default for BufferUse {
    fn default() -> Self {
        let (pool, order, collection) = Default::default();
        BufferUse { pool, order, sub_pool: SubPool::Unlimited, collection }
    }
}

impl BufferUse {
    /// Draws one.
    pub fn draw(random: &mut Random) -> Self {
        let pools = [
            BufferPool::Partitioned,
            BufferPool::Partitioned,
            BufferPool::Sender,
            BufferPool::Receiver,
        ];
        let sizes = [
            SubPool::Unlimited,
            SubPool::Fixed(1),
            SubPool::Fixed(1),
            SubPool::Fixed(5),
            SubPool::Adaptive(1),
            SubPool::Adaptive(4),
        ];
        BufferUse {
            pool: pools[random.below(4) as usize],
            order: [PoolOrder::Lifo, PoolOrder::Fifo][random.below(2) as usize],
            sub_pool: sizes[random.below(6) as usize],
            collection: [FossilCollection::Batch, FossilCollection::OnTheFly]
                [random.below(2) as usize],
        }
    }

    fn of<M: Model>(
        self,
        simulation: Simulation<'static, M>,
        conservative: bool,
    ) -> Simulation<'static, M> {
        let mut simulation = simulation.pool(self.pool).pool_order(self.order);
        if !conservative {
            simulation = simulation.fossil_collection(self.collection);
            if self.pool == BufferPool::Partitioned {
                simulation = simulation.sub_pool(self.sub_pool);
            }
        }
        simulation
    }
}

/// One way to copy messages between processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copies {
    /// Who does it.
    pub communication: Communication,
    /// How many threads of a process do, if threads do.
    pub threads: u32,
    /// How PEs hand messages over to them.
    pub ring: CommunicationRing,
    /// Most bytes of a batch.
    pub batch: u32,
    /// How long a batch waits for more messages, in microseconds.
    pub delay: f64,
}

impl Copies {
    /// Draws one.
    pub fn draw(random: &mut Random) -> Self {
        let ways = [Communication::Worker, Communication::Distributed, Communication::Dedicated];
        Copies {
            communication: ways[random.below(3) as usize],
            threads: 1 + random.below(2),
            ring: [CommunicationRing::PerSender, CommunicationRing::Cas][random.below(2) as usize],
            batch: [256, 300, 4096, 16_384][random.below(4) as usize],
            delay: [0.0, 10.0, 500.0][random.below(3) as usize],
        }
    }
}

/// Both sequential configurations.
pub const SEQUENTIAL: [Configuration; 2] = [
    Configuration { pending: Pending::Heap, parallel: None, changes: None },
    Configuration { pending: Pending::Ladder, parallel: None, changes: None },
];

/// All ways to find GVT.
pub const ALGORITHMS: [GvtAlgorithm; 4] = [
    GvtAlgorithm::Asynchronous,
    GvtAlgorithm::Synchronous,
    GvtAlgorithm::OneSided,
    GvtAlgorithm::Gsu,
];

impl Parallel {
    /// Draws a virtual cluster. Those with many PEs take long, as most of them idle and some of
    /// them stand still until others ask for GVT; so they are rare, and do not ask for GVT all the
    /// time.
    pub fn cluster(random: &mut Random) -> Self {
        let any = |random: &mut Random, values: &[u32]| {
            values[random.below(values.len() as u32) as usize]
        };
        let pes = any(random, &[1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 8]);
        let pes = if random.below(25) == 0 { any(random, &[16, 64]) } else { pes };
        let gvt_interval = any(random, if pes > 8 { &[100, 512] } else { &[1, 10, 100, 512] });
        let cluster = random.next_u64();
        // From a stream of their own.
        let memory = &mut Random::new(cluster, LpId(0), 0);
        Parallel {
            pes,
            processes: 1,
            copies: None,
            cluster: Some(cluster),
            buffers: BufferUse::draw(memory),
            mailbox: [Mailbox::PerSender, Mailbox::Shared, Mailbox::Cas][memory.below(3) as usize],
            least_room: memory.below(4) == 0,
            conservative: random.bernoulli(0.3),
            messages: [Messages::Auto, Messages::Copy, Messages::Shared, Messages::Value]
                [random.below(4) as usize],
            undo: [Undo::Copy, Undo::Reverse, Undo::Journal][random.below(3) as usize],
            cancellation: [Cancellation::Aggressive, Cancellation::Lazy, Cancellation::Dynamic]
                [random.below(3) as usize],
            copy_interval: match any(random, &[1, 2, 5, 100, 0]) {
                0 => CopyInterval::Auto,
                events => CopyInterval::Every(events),
            },
            lookahead: random.bernoulli(0.5),
            go_ahead: if random.bernoulli(0.7) { GoAhead::Always } else { GoAhead::Auto },
            batch: any(random, &[1, 3, 16, 64]),
            kps: any(random, &[1, 2, 7, 1000]),
            gvt: ALGORITHMS[random.below(ALGORITHMS.len() as u32) as usize],
            barrier: [Barrier::Tree, Barrier::Central, Barrier::Condvar][random.below(3) as usize],
            gvt_interval,
            window: [None, None, Some(0.01), Some(0.2), Some(1.0)][random.below(5) as usize],
            windows: random.bernoulli(0.5),
            adapts_interval: random.bernoulli(0.3),
            waiting: random
                .bernoulli(0.4)
                .then(|| (random.next_u64(), [0.05, 0.3, 0.7, 1.0][random.below(4) as usize])),
        }
    }

    /// The same with threads, of which there are seldom more than cores. Where many take turns,
    /// they take all the longer if there is room for two messages at a time.
    pub fn threads(self) -> Self {
        let pes = if self.pes > 4 { 8 } else { self.pes.min(3) };
        Parallel { pes, cluster: None, least_room: self.least_room && pes < 8, ..self }
    }
}

/// Both sequential configurations, `clusters` virtual clusters, one run by threads, and two that
/// change the engine again and again, in a virtual cluster and by threads; all drawn from `seed`.
pub fn configurations(seed: u64, clusters: usize) -> Vec<Configuration> {
    let mut random = Random::new(seed, LpId(0), 0);
    let mut all = SEQUENTIAL.to_vec();
    for number in 0..=clusters {
        let pending = if random.bernoulli(0.5) { Pending::Heap } else { Pending::Ladder };
        let parallel = Parallel::cluster(&mut random);
        let parallel = if number == clusters { parallel.threads() } else { parallel };
        all.push(Configuration { pending, parallel: Some(parallel), changes: None });
    }
    let changing = |parallel: Parallel, changes: u64| {
        let pending = if changes.is_multiple_of(2) { Pending::Heap } else { Pending::Ladder };
        Configuration { pending, parallel: Some(parallel), changes: Some(changes) }
    };
    let parallel = Parallel { pes: 1 + random.below(5), ..Parallel::cluster(&mut random) };
    all.extend([
        changing(parallel, random.next_u64()),
        changing(parallel.threads(), random.next_u64()),
    ]);
    all
}

/// How many virtual clusters are tried with each model.
const CLUSTERS: usize = 4;

/// `model` under one configuration, ready to run.
pub fn simulation<M: Model>(
    model: M,
    settings: &Settings,
    configuration: Configuration,
) -> Simulation<'static, M> {
    let Settings { seed, end, warmup, zero_delay_hops } = *settings;
    let lps = model.lps();
    let mut simulation =
        Simulation::new(model).seed(seed).end(end).warmup(warmup).zero_delay_hops(zero_delay_hops);
    if let Some(parallel) = configuration.parallel {
        simulation = simulation.threads(parallel.pes).processes(parallel.processes);
        if let Some(Copies { communication, threads, ring, batch, delay }) = parallel.copies {
            simulation = simulation
                .zero_copy(false)
                .communication(communication)
                .communication_threads(threads);
            simulation = simulation
                .communication_ring(ring)
                .communication_batch(batch)
                .communication_delay(delay);
        }
        let conservative = is_conservative(&simulation, &parallel);
        let sync = match (conservative, parallel.waiting) {
            (true, _) => Synchronisation::Conservative,
            (false, None) => Synchronisation::Optimistic,
            (false, Some((seed, share))) => {
                let waiting =
                    (0..lps).filter(|lp| Random::new(seed, LpId(*lp), 0).bernoulli(share));
                simulation = simulation.conservative_lps(LpChoice::ids(waiting));
                Synchronisation::Mixed
            }
        };
        simulation = simulation
            .sync(sync)
            .messages(parallel.messages)
            .use_lookahead(parallel.lookahead || conservative);
        simulation =
            simulation.batch(parallel.batch).gvt(parallel.gvt).gvt_interval(parallel.gvt_interval);
        if parallel.adapts_interval {
            simulation = simulation.gvt_interval_control(GvtIntervalControl::Adaptive);
        }
        if parallel.gvt == GvtAlgorithm::Synchronous {
            simulation = simulation.barrier(parallel.barrier);
        }
        simulation = if conservative {
            simulation.conservative(if parallel.windows {
                Conservative::Windows
            } else {
                Conservative::FreeRunning
            })
        } else {
            let undo = match parallel.undo {
                Undo::Reverse if M::ABILITIES.has_reverse() => Undo::Reverse,
                Undo::Journal if M::ABILITIES.journal().is_some() => Undo::Journal,
                _ => Undo::Copy,
            };
            let cancellation = if M::ABILITIES.comparable().is_some() {
                parallel.cancellation
            } else {
                Cancellation::Aggressive
            };
            let simulation = simulation.cancellation(cancellation);
            let simulation = simulation
                .undo(undo)
                .kps(parallel.kps)
                .copy_interval(parallel.copy_interval)
                .go_ahead(parallel.go_ahead);
            parallel
                .window
                .into_iter()
                .fold(simulation, |simulation, share| simulation.window(share * end))
        };
        simulation = parallel.buffers.of(simulation, conservative);
        if parallel.least_room {
            simulation = simulation.least_room();
        }
        if parallel.cluster.is_none() && parallel.processes == 1 {
            simulation = simulation.mailbox(parallel.mailbox);
        }
        simulation = match parallel.cluster {
            Some(cluster) => simulation.virtual_cluster(cluster),
            // In every other run by threads, PEs move between them all the time.
            None if seed.is_multiple_of(2) => simulation.migrate_at_random(seed),
            None => simulation,
        };
    } else {
        simulation = simulation.sync(Synchronisation::Sequential);
    }
    configuration
        .changes
        .into_iter()
        .fold(simulation.pending(configuration.pending), Simulation::change_engines)
}

/// Whether a run of `simulation`, whose PEs are set, is conservative.
fn is_conservative<M: Model>(simulation: &Simulation<'_, M>, parallel: &Parallel) -> bool {
    parallel.conservative && simulation.least_delay().is_ok_and(|delay| delay > 0.0)
}

/// Runs `model` under one configuration; the inner error is a mistake of the model.
///
/// # Errors
/// Mistakes of the engine: any error that is not the model's.
pub fn run<M: Model>(
    model: M,
    settings: &Settings,
    configuration: Configuration,
) -> Result<Result<Outcome, Stop>, Error> {
    match simulation(model, settings, configuration).run() {
        Ok(run) => Ok(Ok(Outcome {
            digest: run.record.digest,
            committed: run.record.committed_events,
            states: run.states.iter().map(|state| format!("{state:?}")).collect(),
            results: (*run.record.results).clone(),
            series: run.record.series,
            tables: run.tables.into_iter().map(|table| table.rows).collect(),
        })),
        Err(Error::Fault(failure)) => Ok(Err(Stop {
            place: Box::new(failure.place),
            time: failure.time,
            fault: without_place(failure.fault),
            committed: failure.committed,
        })),
        Err(error) => Err(error),
    }
}

/// The fault without the file and line where the model panicked, which the reference simulator does
/// not know.
fn without_place(fault: Fault) -> Fault {
    match fault {
        Fault::Panic(text) => {
            let message = text
                .rsplit_once(" (")
                .filter(|(_, place)| place.contains(".rs:"))
                .map(|(message, _)| message.to_owned());
            Fault::Panic(message.unwrap_or(text))
        }
        fault => fault,
    }
}

/// Runs, and turns a panic into a text, so that it can be reported with its circumstances.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
    })
}

/// Runs the reference and every configuration on models that `make` makes, and compares everything:
/// digest, committed events, final states, results and rows, or the mistake that ended the run.
///
/// # Errors
/// The first difference, with the configuration.
pub fn check<M: Model>(
    make: impl Fn() -> M,
    settings: &Settings,
) -> Result<Result<Outcome, Stop>, String> {
    check_under(make, settings, &configurations(settings.seed, CLUSTERS))
}

/// [`check`] under chosen configurations.
///
/// # Errors
/// The first difference, with the configuration.
pub fn check_under<M: Model>(
    make: impl Fn() -> M,
    settings: &Settings,
    configurations: &[Configuration],
) -> Result<Result<Outcome, Stop>, String> {
    check_all(make, settings, configurations, std::any::type_name::<M>())
}

/// [`check_under`]; `about` describes the model, should a run hang.
fn check_all<M: Model>(
    make: impl Fn() -> M,
    settings: &Settings,
    configurations: &[Configuration],
    about: impl Clone + Debug + Send + 'static,
) -> Result<Result<Outcome, Stop>, String> {
    let expected = reference::run_with(&make(), settings);
    for &configuration in configurations {
        let _limit = time_limit((configuration, *settings, about.clone()));
        let found = caught(|| run(make(), settings, configuration))
            .map_err(|bug| format!("{configuration:?}: {bug}"))?;
        let found = found.map_err(|error| format!("{configuration:?} failed: {error}"))?;
        compare(&expected, &found)
            .map_err(|why| format!("{configuration:?} differs from the reference: {why}"))?;
    }
    Ok(expected)
}

/// [`check`]s the model of a recipe.
///
/// # Errors
/// The first difference, with everything needed to reproduce it.
pub fn check_recipe(recipe: &Recipe, settings: &Settings) -> Result<Result<Outcome, Stop>, String> {
    check_recipe_under(recipe, settings, &configurations(settings.seed, CLUSTERS))
}

/// [`check_under`] with the model of a recipe.
///
/// # Errors
/// The first difference, with everything needed to reproduce it.
pub fn check_recipe_under(
    recipe: &Recipe,
    settings: &Settings,
    configurations: &[Configuration],
) -> Result<Result<Outcome, Stop>, String> {
    // Parcels of some leave their process as plain data, those of others as serde writes them.
    let checked = match recipe.words() {
        0 => check_all(|| RandomModel::<0>::new(recipe), settings, configurations, recipe.clone()),
        1 => check_all(
            || RandomModel::<1, Inline>::new(recipe),
            settings,
            configurations,
            recipe.clone(),
        ),
        _ => check_all(|| RandomModel::<13>::new(recipe), settings, configurations, recipe.clone()),
    };
    checked.map_err(|why| {
        format!("{why}\n  to reproduce: matrix::check_recipe(&recipe, &settings) with\n  settings = {settings:?}\n  recipe = {recipe:?}")
    })
}

/// [`check`], for a test.
///
/// # Panics
/// If any answer differs.
pub fn assert_one_answer<M: Model>(make: impl Fn() -> M, seed: u64, end: f64) {
    if let Err(why) = check(make, &Settings::new(seed, end)) {
        panic!("{why}\n  model {} with seed {seed} to {end}", std::any::type_name::<M>());
    }
}

/// Whether an outcome is as expected. That of the first of several processes has the states of its
/// own LPs only.
///
/// # Errors
/// The first difference.
pub fn compare_first(
    mut expected: Result<Outcome, Stop>,
    found: &Result<Outcome, Stop>,
) -> Result<(), String> {
    if let (Ok(expected), Ok(found)) = (&mut expected, found) {
        expected.states.truncate(found.states.len().max(1));
    }
    compare(&expected, found)
}

pub(crate) fn compare(
    expected: &Result<Outcome, Stop>,
    found: &Result<Outcome, Stop>,
) -> Result<(), String> {
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            compare_lists("the state of LP", &expected.states, &found.states)?;
            for (number, (expected, found)) in expected.tables.iter().zip(&found.tables).enumerate()
            {
                compare_lists(&format!("in table {number}, row"), expected, found)?;
            }
            same("the number of tables", &expected.tables.len(), &found.tables.len())?;
            same("the number of committed events", &expected.committed, &found.committed)?;
            same("the digest", &expected.digest, &found.digest)?;
            same("the results", &expected.results, &found.results)?;
            same("the series", &expected.series, &found.series)
        }
        (Err(expected), Err(found)) => {
            if !same_place(&expected.place, &found.place) {
                same("the place of the mistake", &expected.place, &found.place)?;
            }
            // As text, because a fault may hold a NaN.
            same("the mistake", &format!("{:?}", expected.fault), &format!("{:?}", found.fault))?;
            same("the time of the mistake", &expected.time, &found.time)?;
            same("the number of events before the mistake", &expected.committed, &found.committed)
        }
        (Ok(_), Err(found)) => Err(format!("it stopped although nothing is wrong: {found:?}")),
        (Err(expected), Ok(_)) => Err(format!("it did not stop, in spite of {expected:?}")),
    }
}

/// Whether two places are the same, though the event's text may have been cut in the second.
fn same_place(whole: &Place, cut: &Place) -> bool {
    let (
        Place::Event { lp, time, number, payload },
        Place::Event { lp: cut_lp, time: cut_time, number: cut_number, payload: cut_payload },
    ) = (whole, cut)
    else {
        return whole == cut;
    };
    let begins =
        cut_payload.strip_suffix('…').is_some_and(|beginning| payload.starts_with(beginning));
    (lp, time, number) == (cut_lp, cut_time, cut_number) && (payload == cut_payload || begins)
}

fn same<T: PartialEq + Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("{what} should be {expected:?} and is {found:?}"))
    }
}

fn compare_lists<T: PartialEq + Debug>(
    what: &str,
    expected: &[T],
    found: &[T],
) -> Result<(), String> {
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        same(&format!("{what} {number}"), expected, found)?;
    }
    same(&format!("{what}: how many"), &expected.len(), &found.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_model::{Declares, Shape};

    /// Every kind of lookahead is tried in conservative and in other runs with several PEs, and
    /// some models depend on the longer of their links.
    #[test]
    fn all_kinds_of_lookahead_are_tried() {
        for declares in Declares::ALL {
            let (mut conservative, mut windows, mut others, mut partly) = (0, 0, 0, 0);
            for seed in 0..1000 {
                let recipe = Recipe::from_seed(seed);
                let parallel = Parallel::cluster(&mut Random::new(seed, LpId(0), 0));
                if recipe.declares == declares && recipe.lps > 1 && parallel.pes > 1 {
                    let simulation =
                        |pes| Simulation::new(RandomModel::<0>::new(&recipe)).threads(pes);
                    let chosen = is_conservative(&simulation(parallel.pes), &parallel);
                    *(if chosen { &mut conservative } else { &mut others }) += 1;
                    windows += usize::from(chosen && parallel.windows);
                    let least = |pes| simulation(pes).least_delay().expect("it makes sense");
                    partly += usize::from(
                        recipe.topology != Shape::Uniform
                            && chosen
                            && least(1) < least(parallel.pes),
                    );
                }
            }
            assert!(
                windows >= 4 && conservative - windows >= 4,
                "{declares:?}: {windows} of {conservative} in windows"
            );
            assert!(
                conservative >= 8 && others >= 20,
                "{declares:?}: {conservative} conservative, {others} others"
            );
            assert!((partly >= 3) == (declares == Declares::Links), "{declares:?}: {partly}");
        }
    }
}
