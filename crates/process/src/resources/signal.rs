use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use warpline_base::LpId;

use crate::keys::WaitKey;
use crate::running::waits::What;
use crate::running::{if_running, with};
use crate::sim::Sim;

/// Something that happens once in an LP and has a value: an order is ready, a test has failed. Who
/// waits for it gets a clone of the value, whether it waits before or afterwards.
///
/// A signal that may fail has a value of type `Result`. What happens again and again is a
/// [`Gate`](crate::Gate).
///
/// It may be cloned into any process of the LP, and is gone with its last clone. Make as many as
/// you like.
///
/// ```
/// # use warpline_process::prelude::*;
/// async fn order(sim: Sim<()>) {
///     let ready = Signal::new(sim, "order");
///     let cook = ready.clone();
///     sim.spawn(async move {
///         sim.sleep(12.0).await;
///         cook.trigger(Ok("fish"));
///     });
///     let meal: Result<&str, String> = ready.wait().await;
///     assert_eq!(meal, Ok("fish"));
/// }
/// ```
pub struct Signal<T> {
    lp: LpId,
    name: &'static str,
    state: Arc<Mutex<State<T>>>,
}

/// Invariant: nobody waits once there is a value.
struct State<T> {
    value: Option<T>,
    waiting: Vec<WaitKey>,
}

impl<T: Clone> Signal<T> {
    /// Makes a signal of this LP, which has not been triggered.
    pub fn new<M>(sim: Sim<M>, name: &'static str) -> Self {
        let state = State { value: None, waiting: Vec::new() };
        Signal { lp: sim.id(), name, state: Arc::new(Mutex::new(state)) }
    }

    /// It has happened: all who wait go on at this instant, in the order in which they began.
    ///
    /// # Panics
    /// If it has happened before, or if it is a signal of another LP.
    #[track_caller]
    pub fn trigger(&self, value: T) {
        assert!(self.try_trigger(value).is_ok(), "the signal `{}` was triggered twice", self.name);
    }

    /// It has happened, unless it has happened before.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn race(sim: Sim<()>) {
    ///     let won = Signal::new(sim, "race");
    ///     for horse in 1..=2 {
    ///         let won = won.clone();
    ///         sim.spawn(async move {
    ///             sim.sleep(f64::from(horse)).await;
    ///             if let Err(horse) = won.try_trigger(horse) {
    ///                 assert_eq!((horse, won.is_triggered(), won.value()), (2, true, Some(1)));
    ///             }
    ///         });
    ///     }
    ///     assert_eq!(won.wait().await, 1);
    /// }
    /// ```
    ///
    /// # Errors
    /// The value, if it has happened before.
    ///
    /// # Panics
    /// If it is a signal of another LP.
    #[track_caller]
    pub fn try_trigger(&self, value: T) -> Result<(), T> {
        with(|running| {
            self.check(running.id);
            let mut state = self.state();
            if state.value.is_some() {
                return Err(value);
            }
            running.tell(|| format!("triggers the signal {}", self.name));
            state.value = Some(value);
            for wait in std::mem::take(&mut state.waiting) {
                running.tables.finish_wait(wait, 0);
            }
            Ok(())
        })
    }

    /// Waits until it has happened, and returns a clone of the value: at once if it has.
    ///
    /// # Panics
    /// If it is a signal of another LP.
    #[track_caller]
    pub fn wait(&self) -> SignalWait<T> {
        let at = Location::caller();
        let wait = with(|running| {
            self.check(running.id);
            running.step();
            let mut state = self.state();
            if state.value.is_some() {
                return WaitKey::NONE;
            }
            let wait = running.tables.begin_wait(What::Signal(self.name), running.now, at);
            state.waiting.push(wait);
            wait
        });
        SignalWait { signal: self.clone(), wait }
    }

    /// Whether it has happened.
    pub fn is_triggered(&self) -> bool {
        self.state().value.is_some()
    }

    /// The value, if it has happened.
    pub fn value(&self) -> Option<T> {
        self.state().value.clone()
    }

    #[track_caller]
    fn check(&self, lp: LpId) {
        assert!(
            lp == self.lp,
            "{lp} used the signal `{}` of {}: only the processes of one LP share signals; LPs tell each other by \
             Sim::send",
            self.name,
            self.lp
        );
    }
}

impl<T> Signal<T> {
    /// The processes of an LP run one after the other, so nobody ever waits for this lock.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Signal<T> {
    fn clone(&self) -> Self {
        Signal { lp: self.lp, name: self.name, state: Arc::clone(&self.state) }
    }
}

impl<T> fmt::Debug for Signal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_triggered = self.state().value.is_some();
        f.debug_tuple("Signal").field(&self.name).field(&is_triggered).finish()
    }
}

/// A wait for a signal: see [`Signal::wait`].
#[must_use = "a wait that is dropped is withdrawn: await it"]
#[derive(Debug)]
pub struct SignalWait<T> {
    signal: Signal<T>,
    wait: WaitKey,
}

impl<T: Clone> Future for SignalWait<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        if !self.wait.is_none() {
            if with(|running| running.tables.poll_wait(self.wait)).is_none() {
                return Poll::Pending;
            }
            self.wait = WaitKey::NONE;
        }
        self.signal.value().map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T> Drop for SignalWait<T> {
    fn drop(&mut self) {
        if self.wait.is_none() {
            return;
        }
        if_running(|running| {
            running.tables.end_wait(self.wait);
            self.signal.state().waiting.retain(|&wait| wait != self.wait);
        });
    }
}
