use std::any::type_name;
use std::marker::PhantomData;

use crate::running::things::{AtEnd, Thing, ThingKey};
use crate::running::with;
use crate::sim::Sim;

/// A value that the processes of an LP share.
///
/// ```
/// # use warpline_process::prelude::*;
/// async fn stock(sim: Sim<()>) {
///     let sold = Shared::new(sim, 0);
///     sim.spawn(async move {
///         sim.wait_until(move || sold.get() >= 50).await;
///         sim.tell("orders more");
///     });
///     loop {
///         sim.sleep(sim.exponential(1.0)).await;
///         sold.with(|sold| *sold += 1);
///     }
/// }
/// ```
pub struct Shared<T> {
    key: ThingKey,
    value: PhantomData<fn() -> T>,
}

/// The value; none while a process looks at it.
struct SharedValue<T>(Option<T>);

impl<T: Send + 'static> Thing for SharedValue<T> {
    fn describe(&self) -> String {
        format!("a shared value of type `{}`", type_name::<T>())
    }
}

impl<T: Send + 'static> Shared<T> {
    /// Makes a value that the processes of this LP share. Make it once, as it stays until the run
    /// ends.
    pub fn new<M>(_: Sim<M>, value: T) -> Self {
        let key = with(|running| running.things.add(running.id, SharedValue(Some(value))));
        Shared { key, value: PhantomData }
    }

    /// Looks at the value and changes it.
    ///
    /// # Panics
    /// If `body` looks at the same value once more.
    #[track_caller]
    pub fn with<R>(self, body: impl FnOnce(&mut T) -> R) -> R {
        let taken = with(|running| running.thing::<SharedValue<T>>(self.key).0.0.take());
        let Some(mut value) = taken else {
            panic!("a shared value was used within `Shared::with` of the same value")
        };
        let result = body(&mut value);
        with(|running| running.thing::<SharedValue<T>>(self.key).0.0 = Some(value));
        result
    }

    /// The value.
    #[track_caller]
    pub fn get(self) -> T
    where
        T: Clone,
    {
        self.with(|value| value.clone())
    }

    /// Replaces the value and returns the old one.
    #[track_caller]
    pub fn set(self, value: T) -> T {
        self.with(|old| std::mem::replace(old, value))
    }
}

impl AtEnd<'_> {
    /// A value that processes share; `None` if a panic got in the way of a process that changed it.
    pub fn shared<T: Send + 'static>(&self, shared: Shared<T>) -> Option<&T> {
        self.look_at::<SharedValue<T>>(shared.key).0.as_ref()
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}
