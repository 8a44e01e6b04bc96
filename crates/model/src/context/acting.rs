use warpline_base::LpId;
use warpline_base::random::Random;

use super::phases::Init;
use super::timer::Timer;
use super::{Context, HasEvent};
use crate::journal::changing::Changing;
use crate::statistics::Observe;

/// What both [`Model::init`](crate::Model::init) and [`Model::handle`](crate::Model::handle) may
/// do: draw, send, set timers and observe. Code that both call takes `lp: &mut impl Acting<Self>`.
///
/// ```
/// # use warpline_model::{engine::*, prelude::*};
/// # struct Clock;
/// # impl Clock {
/// fn wait(&self, lp: &mut impl Acting<Self>) {
///     let rest = lp.random().exponential(1.0);
///     lp.send(lp.id(), rest, ());
/// }
/// # }
/// # impl Model for Clock {
/// #     type State = u32; type Event = ();
/// #     fn lps(&self) -> u32 { 1 }
/// fn init(&self, lp: &mut Init<Self>) -> u32 {
///     self.wait(lp);
///     0
/// }
/// fn handle(&self, ticks: &mut u32, _: &(), lp: &mut Context<Self>) {
///     *ticks += 1;
///     self.wait(lp);
/// }
/// # }
/// # let mut executor = Executor::new(&Clock, 1, 9, false);
/// # let mut ticks = 0;
/// # executor.init(&Clock, LpId(0));
/// # executor.begin(LpId(0), 1, 2.5f64.try_into().unwrap(), 0);
/// # Clock.handle(&mut ticks, &(), executor.lp());
/// # assert_eq!((ticks, executor.outbox_mut().len()), (1, 2));
/// ```
pub trait Acting<M: HasEvent>: Observe + Changing {
    /// The time; see [`Context::now`].
    fn now(&self) -> f64;

    /// The current LP; see [`Context::id`].
    fn id(&self) -> LpId;

    /// The number of LPs of the model; see [`Context::lps`].
    fn lps(&self) -> u32;

    /// The LP's random numbers; see [`Context::random`].
    fn random(&mut self) -> &mut Random;

    /// Another stream of the LP; see [`Context::stream`].
    fn stream(&mut self, number: u8) -> &mut Random;

    /// Sends an event; see [`Context::send`].
    fn send(&mut self, to: impl Into<LpId>, delay: f64, event: M::Event);

    /// Sends an event that happens at this time; see [`Context::send_at`].
    fn send_at(&mut self, to: impl Into<LpId>, time: f64, event: M::Event);

    /// Sends an event with a priority; see [`Context::send_with_priority`].
    fn send_with_priority(
        &mut self,
        to: impl Into<LpId>,
        delay: f64,
        priority: i8,
        event: M::Event,
    );

    /// Sets a timer; see [`Context::send_later`].
    fn send_later(&mut self, delay: f64, event: M::Event) -> Timer;

    /// Cancels a timer; see [`Context::cancel`].
    fn cancel(&mut self, timer: Timer) -> bool;

    /// Cancels a timer and sets it anew; see [`Context::reschedule`].
    fn reschedule(&mut self, timer: Timer, delay: f64) -> Option<Timer>
    where
        M::Event: Clone;

    /// Whether a timer is pending; see [`Context::is_pending`].
    fn is_pending(&self, timer: Timer) -> bool;

    /// Ends the run with an error that names this LP; see [`Context::fail`].
    fn fail(&mut self, why: impl Into<String>);
}

macro_rules! acting {
    ($type:ty) => {
        impl<M: HasEvent> Acting<M> for $type {
            #[inline(always)]
            fn now(&self) -> f64 {
                <$type>::now(self)
            }

            #[inline(always)]
            fn id(&self) -> LpId {
                <$type>::id(self)
            }

            #[inline(always)]
            fn lps(&self) -> u32 {
                <$type>::lps(self)
            }

            #[inline(always)]
            fn random(&mut self) -> &mut Random {
                <$type>::random(self)
            }

            #[inline(always)]
            fn stream(&mut self, number: u8) -> &mut Random {
                <$type>::stream(self, number)
            }

            #[inline(always)]
            fn send(&mut self, to: impl Into<LpId>, delay: f64, event: M::Event) {
                <$type>::send(self, to, delay, event);
            }

            fn send_at(&mut self, to: impl Into<LpId>, time: f64, event: M::Event) {
                <$type>::send_at(self, to, time, event);
            }

            #[inline(always)]
            fn send_with_priority(
                &mut self,
                to: impl Into<LpId>,
                delay: f64,
                priority: i8,
                event: M::Event,
            ) {
                <$type>::send_with_priority(self, to, delay, priority, event);
            }

            fn send_later(&mut self, delay: f64, event: M::Event) -> Timer {
                <$type>::send_later(self, delay, event)
            }

            fn cancel(&mut self, timer: Timer) -> bool {
                <$type>::cancel(self, timer)
            }

            fn reschedule(&mut self, timer: Timer, delay: f64) -> Option<Timer>
            where
                M::Event: Clone,
            {
                <$type>::reschedule(self, timer, delay)
            }

            fn is_pending(&self, timer: Timer) -> bool {
                <$type>::is_pending(self, timer)
            }

            #[cold]
            fn fail(&mut self, why: impl Into<String>) {
                <$type>::fail(self, why);
            }
        }
    };
}

acting!(Context<M>);
acting!(Init<'_, M>);
