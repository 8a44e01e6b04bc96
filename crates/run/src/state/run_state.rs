//! The state of a run between two engines.
//!
//! Between engines, LPs are shared out again, by how many events they have had and what an event
//! cost their PE. So an engine whose PEs were uneven gets another trial before it is judged.

use std::time::Instant;

use serde_json::{Map, Value};
use warpline_base::VirtualTime;
use warpline_kernel::{Event, Lp, Partition, RoleCounts};
use warpline_memory::{DropEach, MakeRoom, Pool, list_for};
use warpline_model::{Model, Statistics};
use warpline_record::ParallelRecord;

use crate::machine::core_time::CoreTime;
use crate::outcome::rows::Rows;
use crate::{Error, TraceSummary};

/// What takes memory when a run goes on with another engine, for messages.
const HANDED_OVER: &str = "LPs and events that are handed over to another engine";

/// A run between two engines, or before the first: whatever the engine has been, and whichever
/// comes next.
pub(crate) struct RunState<M: Model> {
    /// Everything before this time has committed, and nothing from then on has been executed.
    pub(crate) from: VirtualTime,
    /// The id of the first LP: 0, unless other processes have those before it.
    pub(crate) first_lp: u32,
    /// All LPs, in blocks of consecutive ids; none as long as they have yet to be initialised.
    pub(crate) lps: Vec<DropEach<Lp<M::State>>>,
    /// The pending events, in no order.
    pub(crate) pending: Vec<Pool<Event<M::Event>>>,
    /// How many events have committed.
    pub(crate) committed: u64,
    /// What they have observed.
    pub(crate) statistics: Statistics,
    /// Where their rows went.
    pub(crate) rows: Rows,
    /// By LP: what its events cost, compared with those of others; empty if that is not known.
    pub(crate) costs: Vec<f32>,
}

impl<M: Model> RunState<M> {
    /// A run of which nothing has been simulated.
    pub(crate) fn new(statistics: Statistics, rows: Rows) -> Self {
        RunState {
            from: VirtualTime::ZERO,
            first_lp: 0,
            lps: Vec::new(),
            pending: Vec::new(),
            committed: 0,
            statistics,
            rows,
            costs: Vec::new(),
        }
    }

    /// Whether LPs have yet to be initialised.
    pub(crate) fn is_new(&self) -> bool {
        self.lps.is_empty()
    }

    /// By LP: its work so far, from the number of its events and what they cost.
    pub(crate) fn weights(&self) -> Vec<f64> {
        let events =
            self.lps.iter().flat_map(|block| block.iter()).map(|lp| 1.0 + lp.events as f64);
        let costs = self.costs.iter().copied().map(f64::from).chain(std::iter::repeat(1.0));
        let mut weights = list_for(self.lps.iter().map(|block| block.len()).sum(), HANDED_OVER);
        weights.extend(events.zip(costs).map(|(events, cost)| events * cost));
        weights
    }

    /// Takes out all LPs in one list.
    pub(crate) fn take_lps(&mut self) -> DropEach<Lp<M::State>> {
        let mut blocks = std::mem::take(&mut self.lps);
        if blocks.len() == 1 {
            return blocks.pop().unwrap_or_default();
        }
        let mut all =
            DropEach::from(list_for(blocks.iter().map(|block| block.len()).sum(), HANDED_OVER));
        blocks.into_iter().for_each(|block| all.extend(block));
        all
    }

    /// Takes out the pending events.
    pub(crate) fn take_pending(&mut self) -> impl Iterator<Item = Event<M::Event>> + use<M> {
        std::mem::take(&mut self.pending).into_iter().flatten()
    }

    /// Takes out LPs and pending events, a share for each PE.
    pub(crate) fn take_shares(&mut self, partition: &Partition) -> Vec<Share<M>> {
        let mut lps = std::mem::take(&mut self.lps).into_iter().flatten();
        let block = |pe| {
            let count = partition.lps(pe).len();
            let mut block = list_for(count, HANDED_OVER);
            block.extend(lps.by_ref().take(count));
            Share { lps: DropEach::from(block), pending: DropEach::default() }
        };
        let mut shares: Vec<Share<M>> = (0..partition.pes()).map(block).collect();
        for event in self.take_pending() {
            let pending = &mut shares[partition.pe(event.receiver) as usize].pending;
            pending.make_room(1, HANDED_OVER);
            pending.push(event);
        }
        shares
    }
}

/// What a PE gets of a run.
pub(crate) struct Share<M: Model> {
    pub(crate) lps: DropEach<Lp<M::State>>,
    pub(crate) pending: DropEach<Event<M::Event>>,
}

/// How a segment of a run ended: the part of it that one engine executed.
pub(crate) struct SegmentEnd<M: Model> {
    pub(crate) state: RunState<M>,
    pub(crate) summary: SegmentSummary,
}

/// What is known of a segment that has ended, beside the state of the run.
pub(crate) struct SegmentSummary {
    /// Where it ended, if before the end of the run.
    pub(crate) cut_short: Option<VirtualTime>,
    /// Whether another engine is to go on from there.
    pub(crate) goes_on: bool,
    /// When all LPs had been initialised, if this segment initialised them.
    pub(crate) looped: Option<Instant>,
    /// When it had executed its last event.
    pub(crate) ended: Instant,
    /// How long its threads had something to do, and were on a core then, if that is known.
    pub(crate) work: Option<CoreTime>,
    /// How many events are left, due at the end or later.
    pub(crate) left: usize,
    /// What only parallel segments have.
    pub(crate) parallel: Option<ParallelSegment>,
}

/// What only a parallel segment of a run leaves.
pub(crate) struct ParallelSegment {
    pub(crate) record: ParallelRecord,
    /// The engine's settings, for the record.
    pub(crate) engine: Map<String, Value>,
    /// Its trace, if there was to be one.
    pub(crate) traced: Option<Result<TraceSummary, Error>>,
    /// What the LPs of each role did, by PE.
    pub(crate) by_role: Vec<Vec<RoleCounts>>,
    /// How often a PE was given to another thread.
    pub(crate) moved: u64,
}
