use crate::{Context, Finish, Journaled, Model, Observe, Reverse, TimeMean};

/// A quantity that keeps its value between events, such as the length of a queue, and whose mean over time is wanted. It lives in the LP's
/// state.
///
/// Change it by [`set`](Self::set) in `handle`, and undo that by [`unset`](Self::unset) in `reverse` if the model has reverse code; a
/// [journal](Model::journal) undoes it by itself. The engine adds the time from its last change to the end of the run. Only a level that may never change has to be [closed](Self::close) in
/// `finish`, as the engine does not know of it.
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
/// # let mut lp = Context::new(&Door, 1, 9, true);
/// # let mut inside = lp.init(&Door, LpId(0));
/// # lp.begin(LpId(0), 1, 1.0f64.try_into().unwrap(), 0);
/// # Door.handle(&mut inside, &true, &mut lp);
/// # assert_eq!(inside.get(), 1.0);
/// # let mut undone = inside;
/// # lp.reverse(&Door, &mut undone, &true);
/// # assert_eq!(undone, Level::default());
/// # statistics.apply(lp.notes_mut(), 1.0, LpId(0), &mut NoRows).unwrap();
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
    /// A level that starts at `value` at time 0. The default is 0.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// let servers = Level::new(3.0); // in `init`
    /// assert_eq!(servers.get(), 3.0);
    /// ```
    pub fn new(value: f64) -> Self {
        Level { value, since: 0.0 }
    }

    /// The current value.
    #[inline]
    pub fn get(&self) -> f64 {
        self.value
    }

    /// Changes the value now, and adds the time at the old one to `statistic`, as in the [example](Self).
    #[inline]
    pub fn set<M: Model>(&mut self, value: f64, statistic: TimeMean, lp: &mut Context<M>) {
        lp.save(self.since);
        lp.save(self.value);
        lp.notes().change(statistic, self.since, self.value, value);
        *lp.change(self) = Level { value, since: lp.now() };
    }

    /// Undoes the latest [`set`](Self::set), in reverse code, as in the [example](Self). It restores two saved values, which take their
    /// place among those of [`Context::save`].
    #[inline]
    pub fn unset<M: Model>(&mut self, lp: &mut Reverse<M>) {
        self.value = lp.restore();
        self.since = lp.restore();
    }

    /// Adds the time at the current value up to the end of the run; to be called in [`Model::finish`], if at all. The engine closes every
    /// level that has changed and was not closed.
    pub fn close<M: Model>(&self, statistic: TimeMean, lp: &mut Finish<M>) {
        lp.notes().close(statistic, self.since, self.value);
    }
}
