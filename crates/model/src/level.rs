use warpline_derive::Journaled;

use crate::{Context, Init, Model, Observe, Reverse, TimeMean};

/// A quantity that keeps its value between events, such as the length of a queue, and whose mean
/// over time is observed. It is part of the LP's state.
///
/// Change it by [`set`](Self::set) in `handle`. If the model has reverse code, undo that by
/// [`unset`](Self::unset) in `reverse`; a [journal](macro@crate::model) undoes it by itself. A
/// level counts from time 0, even if it never changes, and the engine adds the time from its last
/// change to the end of the run.
///
/// ```
/// use warpline_model::prelude::*;
/// # use warpline_model::{engine::*, statistics::{Row, RowSink}};
/// const LENGTH: TimeMean = TimeMean::slot(0);
/// struct Door;
/// impl Model for Door {
///     type State = Level;
///     type Event = bool; // somebody comes (true) or goes
///     fn lps(&self) -> u32 { 1 }
///     fn declare(&self, declare: &mut Declarations) {
///         declare.time_mean(LENGTH, "length", "people", "people inside");
///     }
///     fn init(&self, lp: &mut Init<Self>) -> Level { lp.send(0, 1.0, true); Level::default() }
///     fn handle(&self, inside: &mut Level, comes: &bool, lp: &mut Context<Self>) {
///         inside.set(inside.get() + if *comes { 1.0 } else { -1.0 }, LENGTH, lp);
///     }
///     fn reverse(&self, inside: &mut Level, _: &bool, lp: &mut Reverse<Self>) { inside.unset(lp); }
/// }
/// # struct NoRows;
/// # impl RowSink for NoRows { fn row(&mut self, _: Row<'_>) {} }
/// # let mut declare = Declarations::default();
/// # Door.declare(&mut declare);
/// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
/// # let mut executor = Executor::new(&Door, 1, 9, true);
/// # let mut inside = executor.init(&Door, LpId(0));
/// # executor.begin(LpId(0), 1, 1.0f64.try_into().unwrap(), 0);
/// # Door.handle(&mut inside, &true, executor.lp());
/// # assert_eq!(inside.get(), 1.0);
/// # let mut undone = inside;
/// # executor.reverse(&Door, &mut undone, &true);
/// # assert_eq!(undone, Level::default());
/// # statistics.apply(executor.observations_mut(), 1.0, LpId(0), &mut NoRows).unwrap();
/// # statistics.close_levels(10.0);
/// // In a run to time 10, one came at 1 and stayed:
/// assert_eq!(statistics.time_mean(LENGTH).mean, Some(0.9));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Journaled)]
#[journal(whole)]
pub struct Level {
    value: f64,
    since: f64,
}

impl Level {
    /// A level that is `value` from time 0 on. For 0, [`Level::default`] is enough.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*, statistics::{Row, RowSink}};
    /// # const OPEN: TimeMean = TimeMean::slot(0);
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = Level; type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn declare(&self, declare: &mut Declarations) { declare.time_mean(OPEN, "open", "tills", "tills that are open"); }
    /// #     fn handle(&self, _: &mut Level, _: &(), _: &mut Context<Self>) {}
    /// fn init(&self, lp: &mut Init<Self>) -> Level {
    ///     Level::new(3.0, OPEN, lp)
    /// }
    /// # }
    /// # struct NoRows;
    /// # impl RowSink for NoRows { fn row(&mut self, _: Row<'_>) {} }
    /// # let mut declare = Declarations::default();
    /// # Shop.declare(&mut declare);
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # let mut lp = Executor::new(&Shop, 1, 9, true);
    /// # for id in (0..4).map(LpId) {
    /// #     assert_eq!(lp.init(&Shop, id).get(), 3.0);
    /// #     statistics.apply(lp.observations_mut(), 0.0, id, &mut NoRows).unwrap();
    /// #     lp.observations_mut().clear();
    /// # }
    /// # statistics.close_levels(10.0);
    /// // After a run of four LPs in which nothing changed:
    /// assert_eq!(statistics.time_mean(OPEN).mean, Some(12.0));
    /// ```
    pub fn new<M: Model>(value: f64, statistic: TimeMean, lp: &mut Init<M>) -> Self {
        lp.observations().open(statistic, value);
        Level { value, since: 0.0 }
    }

    /// The current value.
    #[inline]
    pub fn get(&self) -> f64 {
        self.value
    }

    /// Changes the value now, and adds the time at the old value to `statistic`, as in the
    /// [example](Self). The value must be finite.
    #[inline]
    pub fn set<M: Model>(&mut self, value: f64, statistic: TimeMean, lp: &mut Context<M>) {
        lp.save(self.since);
        lp.save(self.value);
        lp.observations().change(statistic, self.since, self.value, value);
        *lp.change(self) = Level { value, since: lp.now() };
    }

    /// Undoes the latest [`set`](Self::set), in reverse code, as in the [example](Self). It
    /// restores two values, which count among those of [`Context::save`].
    #[inline]
    pub fn unset<M: Model>(&mut self, lp: &mut Reverse<M>) {
        self.value = lp.restore();
        self.since = lp.restore();
    }
}
