use std::ops::Range;

use warpline_base::{EventKey, Moment, TieBreak, VirtualTime};
use warpline_model::Model;

use crate::partition::DelaysHere;
use crate::{Delays, Horizon, Messages, Partition, Roles, Tuning};

/// What the PEs of a run are to simulate.
#[derive(Debug)]
pub struct Task<'m, M: Model> {
    /// The model.
    pub model: &'m M,
    /// Which PE has which LPs.
    pub partition: Partition,
    /// The order of simultaneous events.
    pub ties: TieBreak,
    /// The end of the run, in model time: events at this time are not executed.
    pub end: VirtualTime,
    /// The least delays between PEs.
    pub delays: Delays,
    /// The roles of LPs. They matter only to the speculative lane.
    pub roles: Roles,
    /// The PEs that share memory with those of this process, these included. Messages to all others
    /// go by value.
    pub near: Range<u32>,
}

/// What a PE knows from the start.
///
/// Invariant: nothing changes, except that the end may come earlier.
pub(super) struct World<'m, M> {
    /// Which PE this is.
    me: u32,
    model: &'m M,
    partition: Partition,
    ties: TieBreak,
    end: VirtualTime,
    tuning: Tuning,
    near: Range<u32>,
    /// The PEs whose bounds this one reads.
    bounding: Range<u32>,
    delay_from_unbound: Option<f64>,
    delays: Delays,
    /// The least delay from any other PE to this one, for windows; between any two without them.
    least_delay_here: f64,
    /// The least delay between any two PEs.
    least_delay: f64,
}

impl<'m, M: Model> World<'m, M> {
    pub(super) fn new(task: &Task<'m, M>, me: u32, tuning: Tuning) -> Self {
        let pes = task.partition.pes();
        let bounding = if tuning.horizon == Horizon::Both { task.near.clone() } else { 0..pes };
        let unbound = (0..pes).filter(|from| !bounding.contains(from));
        let delay_from_unbound = (bounding.len() < pes as usize).then(|| {
            unbound.map(|from| task.delays.between(from, me)).fold(f64::INFINITY, f64::min)
        });
        World {
            me,
            model: task.model,
            partition: task.partition.clone(),
            ties: task.ties,
            end: task.end,
            tuning,
            near: task.near.clone(),
            bounding,
            delay_from_unbound,
            delays: task.delays.clone(),
            least_delay_here: if tuning.windows {
                task.delays.to(me).least(me)
            } else {
                task.delays.least()
            },
            least_delay: task.delays.least(),
        }
    }

    /// Which PE this is.
    #[inline]
    pub(super) fn me(&self) -> u32 {
        self.me
    }

    #[inline(always)]
    pub(super) fn model(&self) -> &'m M {
        self.model
    }

    #[inline]
    pub(super) fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The order of simultaneous events.
    #[inline(always)]
    pub(super) fn ties(&self) -> TieBreak {
        self.ties
    }

    /// The end of the run.
    #[inline(always)]
    pub(super) fn end(&self) -> VirtualTime {
        self.end
    }

    /// Ends the run earlier.
    pub(super) fn end_at(&mut self, end: VirtualTime) {
        self.end = end;
    }

    #[inline(always)]
    pub(super) fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// The least delays of anything that other PEs send to this one.
    #[inline]
    pub(super) fn delays_here(&self) -> DelaysHere<'_> {
        self.delays.to(self.me)
    }

    /// The least delay from any other PE to this one.
    pub(super) fn least_delay_here(&self) -> f64 {
        self.least_delay_here
    }

    /// The least delay between any two PEs.
    pub(super) fn least_delay(&self) -> f64 {
        self.least_delay
    }

    /// The moment of an event, for GVT: `Never` from the end on, which may have come nearer, as
    /// nothing is left to do there.
    #[inline]
    pub(super) fn moment(&self, key: EventKey) -> Moment {
        if key.time < self.end { Moment::Event(key) } else { Moment::Never }
    }

    /// Whether a PE shares memory with this one.
    #[inline]
    pub(super) fn is_near(&self, pe: u32) -> bool {
        self.near.contains(&pe)
    }

    #[inline]
    pub(super) fn pes(&self) -> u32 {
        self.partition.pes()
    }

    /// How far the horizon lies beyond GVT: nothing that has yet to be sent arrives sooner. `None`
    /// without a safe lane, which alone uses a horizon.
    pub(super) fn delay_beyond_gvt(&self) -> Option<f64> {
        let least = if self.pes() == 1 { f64::INFINITY } else { self.least_delay };
        self.tuning.lanes.has_safe().then_some(least)
    }

    /// The PEs whose bounds this one reads.
    #[inline]
    pub(super) fn bounding(&self) -> Range<u32> {
        self.bounding.clone()
    }

    /// The least delay from any PE whose bound this one does not read; `None` if it reads all.
    pub(super) fn delay_from_unbound(&self) -> Option<f64> {
        self.delay_from_unbound
    }

    /// Whether PEs tell each other by bounds how far they may go.
    #[inline]
    pub(super) fn has_bounds(&self) -> bool {
        self.tuning.has_bounds()
    }

    /// Whether the bounds of PEs raise each other. Without lookahead all PEs may wait for each
    /// other at one instant, and only GVT resolves that.
    #[inline]
    pub(super) fn bounds_advance(&self) -> bool {
        self.has_bounds() && self.least_delay > 0.0
    }

    /// Whether GVT alone says how far PEs may go.
    #[inline]
    pub(super) fn follows_gvt_alone(&self) -> bool {
        self.tuning.lanes.has_safe() && self.tuning.horizon == Horizon::Gvt
    }

    /// Whether the horizon needs GVT to rise: bounds do not tell of all PEs.
    #[inline]
    pub(super) fn is_driven_by_gvt(&self) -> bool {
        self.tuning.lanes.has_safe() && self.tuning.horizon != Horizon::Bounds
    }

    /// Whether local events go into a pool, as hardly any others arrive in buffers.
    pub(super) fn pools_events(&self) -> bool {
        let certain_alone = self.is_driven_by_gvt() && !self.tuning.lanes.has_speculative();
        self.pes() == 1
            || self.bounds_advance()
            || certain_alone && self.least_delay > 0.0
            || self.tuning.messages == Messages::Copy
    }

    /// Whether the PE decides by counting where it keeps local events.
    pub(super) fn may_pool_events(&self) -> bool {
        !self.pools_events() && self.tuning.messages == Messages::Value
    }
}
