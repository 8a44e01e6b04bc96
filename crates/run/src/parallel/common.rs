//! What the PEs of a segment have in common, and how they are made.

use std::ops::Range;
use std::sync::Arc;

use warpline_kernel::gvt::AnyGvt;
use warpline_kernel::pending::Ladder;
use warpline_kernel::{Event, Pe, PeInputs, Task, TraceLimits, Tuning, Undoing, Window};
use warpline_memory::{Buffers, Region, buffers_of, list_for, prefer_huge_pages};
use warpline_model::engine::{Beat, Executor, Limits};
use warpline_model::{Model, Statistics};
use warpline_transport::AnyPort;

use super::all_pes::AllPes;
use crate::machine::budget::RunBudget;
use crate::plan::ParallelPlan;
use crate::state::run_state::Share;

/// With more PEs than about this many, some of them tell for all where time goes. To measure it takes
/// longer than the first steps of a PE, and many PEs make few.
const MEASURED_MOST: u32 = 64;

/// A PE of a model.
pub(crate) type PeOf<'m, M> = Pe<'m, (M, Ladder, AnyPort<<M as Model>::Event>)>;

/// What each PE begins with.
pub(crate) struct Start<M: Model> {
    pub(crate) statistics: Vec<Statistics>,
    /// LPs and events of the previous engine; empty if LPs have yet to be initialised.
    pub(crate) shares: Vec<Share<M>>,
}

/// What PEs have in common.
pub(crate) struct Common<'m, M: Model> {
    pub(crate) plan: &'m ParallelPlan,
    pub(crate) task: Task<'m, M>,
    pub(crate) limits: &'m Limits,
    /// The limits of the trace, if there is to be one.
    pub(crate) trace: Option<TraceLimits>,
    pub(crate) budget: RunBudget,
    /// The PEs of this process, by number.
    pub(crate) local: Range<usize>,
}

impl<'m, M: Model> Common<'m, M> {
    /// The PEs of all processes, which share what lies in this region.
    pub(crate) fn all_pes(&self, region: &Region) -> AllPes {
        AllPes { region: region.clone(), pes: self.plan.pes, first: self.local.start as u32 }
    }

    /// The PEs of this process, with its ports.
    pub(crate) fn pes(
        &self,
        region: &Region,
        start: Start<M>,
        gvts: Vec<AnyGvt>,
        ports: impl IntoIterator<Item = AnyPort<M::Event>>,
    ) -> Vec<PeOf<'m, M>> {
        let Common { plan, task, limits, local, .. } = self;
        let saving = plan.tuning.undoing == Undoing::Reverse;
        // PEs that send each other nothing may go on without limit.
        let least = task.delays.least().min(f64::MAX);
        let mut shares = start.shares.into_iter();
        // Whoever watches looks at each beat several times a second, and there may be very many PEs
        // on a machine. Those that take turns share one.
        let parts = plan.machine_parts();
        let beats: Vec<(u32, Arc<Beat>)> =
            parts.into_iter().map(|part| (part.end, Arc::default())).collect();
        let measured_every = plan.pes.div_ceil(MEASURED_MOST);
        let crowded = plan.machine.is_some();
        let make = |(port, ((buffers, gvt), statistics)): (
            AnyPort<_>,
            ((Buffers<_>, AnyGvt), Statistics),
        )| {
            let window = Window::new(plan.window, task.end, least, plan.pes);
            let mut executor = Executor::with_limits((*limits).clone(), plan.seed, saving);
            let me = buffers.me();
            if let Some((_, beat)) = beats.iter().find(|(end, _)| me < *end) {
                executor.share_beat(beat);
            }
            let pending = plan.pending.empty();
            let inputs = PeInputs { buffers, port, pending, gvt, window, executor, statistics };
            let measures = me.is_multiple_of(measured_every);
            let mut pe = Pe::new(task, Tuning { measures, crowded, ..plan.tuning }, inputs);
            self.trace.into_iter().for_each(|limits| pe.trace(limits));
            pe.draw_on(self.budget.account());
            if let Some(Share { lps, pending }) = shares.next() {
                pe.take_over(lps, pending);
            }
            pe
        };
        let portable = M::ABILITIES.wire().and_then(|wire| wire.proof()).map(Event::is_portable);
        let mine = local.start as u32..local.end as u32;
        let buffers = buffers_of(region, portable, (plan.pes, mine), plan.pools);
        let statistics = start.statistics.into_iter().skip(local.start);
        let of_process = buffers.into_iter().zip(gvts).zip(statistics);
        let mut pes = list_for(local.len(), "PEs");
        prefer_huge_pages(&mut pes);
        pes.extend(ports.into_iter().zip(of_process).take(local.len()).map(make));
        pes
    }
}
