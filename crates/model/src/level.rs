use crate::{Context, Finish, Model, Observe, Reverse, TimeMean};

/// A quantity that keeps its value between events, such as the length of a queue, and whose mean over time is
/// wanted. It lives in the LP's state.
///
/// ```
/// use warpline_model::prelude::*;
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
///     fn finish(&self, inside: &Level, lp: &mut Finish<Self>) { inside.close(LENGTH, lp); }
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    value: f64,
    since: f64,
}

impl Level {
    /// A level that starts at `value` at time 0.
    pub fn new(value: f64) -> Self {
        Level { value, since: 0.0 }
    }

    /// The present value.
    #[inline]
    pub fn get(&self) -> f64 {
        self.value
    }

    /// Changes the value now, and adds the time at the old one to `statistic`.
    #[inline]
    pub fn set<M: Model>(&mut self, value: f64, statistic: TimeMean, lp: &mut Context<M>) {
        lp.save(self.since);
        lp.save(self.value);
        lp.span(statistic, self.since, lp.now(), self.value);
        *self = Level { value, since: lp.now() };
    }

    /// Undoes the latest [`set`](Self::set), in reverse code.
    #[inline]
    pub fn unset<M: Model>(&mut self, lp: &mut Reverse<M>) {
        self.value = lp.restore();
        self.since = lp.restore();
    }

    /// Adds the time at the present value up to the end of the run; call it in [`Model::finish`].
    pub fn close<M: Model>(&self, statistic: TimeMean, lp: &mut Finish<M>) {
        lp.span(statistic, self.since, lp.now(), self.value);
    }
}
