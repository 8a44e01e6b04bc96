//! A model under one configuration, ready to run.

use warpline::base::LpId;
use warpline::base::random::Random;
use warpline::{
    BufferPool, Cancellation, Conservative, GvtAlgorithm, GvtIntervalControl, GvtStart, LpChoice,
    Model, Simulation, Synchronisation, Undo,
};

use super::configuration::{BufferUse, Configuration, Copies, Parallel};
use crate::reference::Settings;

/// `model` under one configuration, ready to run.
pub fn simulation<M: Model>(
    model: M,
    settings: &Settings,
    configuration: Configuration,
) -> Simulation<'static, M> {
    let Settings { seed, end, warmup, zero_delay_hops } = *settings;
    let lps = model.lps();
    let simulation =
        Simulation::new(model).seed(seed).end(end).warmup(warmup).zero_delay_hops(zero_delay_hops);
    let simulation = match &configuration.parallel {
        None => simulation.sync(Synchronisation::Sequential),
        Some(parallel) => in_parallel(simulation, lps, settings, parallel),
    };
    let simulation = simulation.pending(configuration.pending);
    match configuration.changes {
        None => simulation,
        Some(changes) => simulation.change_engines(changes),
    }
}

fn in_parallel<M: Model>(
    simulation: Simulation<'static, M>,
    lps: u32,
    settings: &Settings,
    parallel: &Parallel,
) -> Simulation<'static, M> {
    let mut simulation = simulation.threads(parallel.pes).processes(parallel.processes);
    if let Some(copies) = parallel.copies {
        simulation = with_copies(simulation, copies);
    }
    let is_conservative = is_conservative(&simulation, parallel);
    simulation = with_synchronisation(simulation, lps, parallel, is_conservative)
        .messages(parallel.messages)
        .use_lookahead(parallel.lookahead || is_conservative)
        .batch(parallel.batch);
    simulation = with_gvt(simulation, parallel);
    simulation = if is_conservative {
        simulation.conservative(if parallel.windows {
            Conservative::Windows
        } else {
            Conservative::FreeRunning
        })
    } else {
        with_undo(simulation, settings.end, parallel)
    };
    simulation = with_buffers(simulation, parallel.buffers, is_conservative);
    if parallel.least_room {
        simulation = simulation.least_room();
    }
    if parallel.cluster.is_none() && parallel.processes == 1 {
        simulation = simulation.mailbox(parallel.mailbox);
    }
    match parallel.cluster {
        Some(cluster) => simulation.virtual_cluster(cluster),
        // In every other run by threads, PEs move between them all the time.
        None if settings.seed.is_multiple_of(2) => simulation.migrate_at_random(settings.seed),
        None => simulation,
    }
}

fn with_copies<M: Model>(
    simulation: Simulation<'static, M>,
    copies: Copies,
) -> Simulation<'static, M> {
    let Copies { communication, threads, ring, batch, delay } = copies;
    simulation
        .zero_copy(false)
        .communication(communication)
        .communication_threads(threads)
        .communication_ring(ring)
        .communication_batch(batch)
        .communication_delay(delay)
}

/// Whether a run of `simulation`, whose PEs are set, is conservative.
pub fn is_conservative<M: Model>(simulation: &Simulation<'_, M>, parallel: &Parallel) -> bool {
    parallel.conservative && simulation.least_delay().is_ok_and(|delay| delay > 0.0)
}

fn with_synchronisation<M: Model>(
    simulation: Simulation<'static, M>,
    lps: u32,
    parallel: &Parallel,
    is_conservative: bool,
) -> Simulation<'static, M> {
    if is_conservative {
        return simulation.sync(Synchronisation::Conservative);
    }
    let Some((seed, share)) = parallel.waiting else {
        return simulation.sync(Synchronisation::Optimistic);
    };
    let waiting = (0..lps).filter(|lp| Random::new(seed, LpId(*lp), 0).bernoulli(share));
    let choice = LpChoice::ids(waiting);
    simulation.conservative_lps(choice).sync(Synchronisation::Mixed)
}

fn with_gvt<M: Model>(
    simulation: Simulation<'static, M>,
    parallel: &Parallel,
) -> Simulation<'static, M> {
    let mut simulation = simulation.gvt(parallel.gvt).gvt_interval(parallel.gvt_interval);
    if parallel.adapts_interval {
        simulation = simulation.gvt_interval_control(GvtIntervalControl::Adaptive);
    }
    if parallel.gvt == GvtAlgorithm::Synchronous {
        simulation = simulation.barrier(parallel.barrier);
    }
    let in_windows = parallel.conservative && parallel.windows;
    if !in_windows {
        // Processes take turns on few cores, and each computation takes a turn of all of them.
        let start = if parallel.processes > 1 { GvtStart::OnDemand } else { parallel.gvt_start };
        simulation = simulation.horizon(parallel.horizon).gvt_start(start);
    }
    simulation
}

/// Sets how events are undone, as far as the model allows.
fn with_undo<M: Model>(
    simulation: Simulation<'static, M>,
    end: f64,
    parallel: &Parallel,
) -> Simulation<'static, M> {
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
    let simulation = simulation
        .cancellation(cancellation)
        .undo(undo)
        .kps(parallel.kps)
        .copy_interval(parallel.copy_interval)
        .go_ahead(parallel.go_ahead);
    match parallel.window {
        None => simulation,
        Some(share) => simulation.window(share * end),
    }
}

fn with_buffers<M: Model>(
    simulation: Simulation<'static, M>,
    buffers: BufferUse,
    is_conservative: bool,
) -> Simulation<'static, M> {
    let mut simulation = simulation.pool(buffers.pool).pool_order(buffers.order);
    if !is_conservative {
        simulation = simulation.fossil_collection(buffers.collection);
        if buffers.pool == BufferPool::Partitioned {
            simulation = simulation.sub_pool(buffers.sub_pool);
        }
    }
    simulation
}
