use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use warpline_model::TimeMean;

use super::level::LevelOverTime;
use crate::keys::WaitKey;
use crate::queues::wait_queue::WaitQueue;
use crate::running::things::{AtEnd, Thing, ThingKey};
use crate::running::waits::What;
use crate::running::{Surroundings, if_running, with};
use crate::sim::Sim;

/// A container of an LP: a tank, a stock, a budget. It has a level between 0 and its capacity.
///
/// Who wants more than there is waits until there is enough; who brings more than fits waits until
/// there is room. Both are served in the order in which they came, so a large request is not
/// overtaken by small ones.
///
/// ```
/// # use warpline_process::prelude::*;
/// async fn refuel(sim: Sim<()>, pump: Container, litres: f64) {
///     pump.get(litres).await; // waits for the lorry if need be
///     sim.sleep(litres / 2.0).await;
/// }
///
/// async fn station(sim: Sim<()>) {
///     let tank = Container::new(sim, "tank", 200.0, 120.0);
///     sim.spawn(refuel(sim, tank, 40.0));
///     sim.wait_until(move || tank.level() < 100.0).await;
///     tank.put(tank.capacity() - tank.level()).await;
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container {
    key: ThingKey,
}

/// A container as its LP keeps it.
///
/// Invariant: neither the first who takes nor the first who brings could be served.
struct ContainerTable {
    name: Cow<'static, str>,
    capacity: f64,
    level: LevelOverTime,
    takers: WaitQueue<f64>,
    bringers: WaitQueue<f64>,
}

impl Thing for ContainerTable {
    fn describe(&self) -> String {
        format!("the container `{}` ({} of {})", self.name, self.level.get(), self.capacity)
    }
}

impl ContainerTable {
    fn serve(&mut self, around: &mut Surroundings<'_>) {
        loop {
            let level = self.level.get();
            if let Some(first) = self.takers.first(around.tables)
                && first.data <= level
            {
                self.level.set(level - first.data, around.now, around.lp);
                around.tables.finish_wait(first.wait, 0);
                self.takers.pop();
            } else if let Some(first) = self.bringers.first(around.tables)
                && level + first.data <= self.capacity
            {
                self.level.set(level + first.data, around.now, around.lp);
                around.tables.finish_wait(first.wait, 0);
                self.bringers.pop();
            } else {
                return;
            }
        }
    }

    fn queue(&mut self, is_taken: bool) -> &mut WaitQueue<f64> {
        if is_taken { &mut self.takers } else { &mut self.bringers }
    }
}

impl Container {
    /// Makes a container of this LP, which holds up to `capacity` (it may be infinite) and `level`
    /// now. Make it once, as it stays until the run ends.
    ///
    /// # Panics
    /// If the capacity is not positive, or the level does not lie in `0..=capacity`.
    pub fn new<T: Send + 'static>(
        _: Sim<T>,
        name: impl Into<Cow<'static, str>>,
        capacity: f64,
        level: f64,
    ) -> Self {
        let name = name.into();
        assert!(capacity > 0.0, "the capacity {capacity} of container `{name}` is not positive");
        assert!(
            (0.0..=capacity).contains(&level),
            "the level {level} of container `{name}` does not lie in [0, {capacity}]"
        );
        with(|running| {
            let table = ContainerTable {
                name,
                capacity,
                level: LevelOverTime::new(level, running.now, None),
                takers: WaitQueue::default(),
                bringers: WaitQueue::default(),
            };
            Container { key: running.things.add(running.id, table) }
        })
    }

    /// Observes the level over time.
    pub fn observe_level(self, level: TimeMean) -> Self {
        with(|running| {
            let (table, around) = running.thing::<ContainerTable>(self.key);
            table.level.observe_as(level, around.now, around.lp);
        });
        self
    }

    /// The level.
    pub fn level(self) -> f64 {
        with(|running| running.thing::<ContainerTable>(self.key).0.level.get())
    }

    /// The capacity.
    pub fn capacity(self) -> f64 {
        with(|running| running.thing::<ContainerTable>(self.key).0.capacity)
    }

    /// How many processes wait to get something.
    pub fn waiting_to_get(self) -> usize {
        with(|running| running.thing::<ContainerTable>(self.key).0.takers.len())
    }

    /// How many processes wait to put something.
    pub fn waiting_to_put(self) -> usize {
        with(|running| running.thing::<ContainerTable>(self.key).0.bringers.len())
    }

    /// Takes `amount` if there is so much and nobody waits for any. Returns whether it did.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn tap(sim: Sim<()>) {
    ///     let barrel = Container::new(sim, "barrel", 50.0, 0.4);
    ///     assert!(!barrel.try_get(0.5) && barrel.try_get(0.25) && barrel.try_put(10.0));
    ///     assert_eq!((barrel.waiting_to_get(), barrel.waiting_to_put()), (0, 0));
    /// }
    /// ```
    ///
    /// # Panics
    /// Those of [`get`](Self::get).
    #[track_caller]
    pub fn try_get(self, amount: f64) -> bool {
        self.try_transfer(amount, true)
    }

    /// Brings `amount` if there is room for it and nobody waits for any. Returns whether it did.
    ///
    /// # Panics
    /// Those of [`put`](Self::put).
    #[track_caller]
    pub fn try_put(self, amount: f64) -> bool {
        self.try_transfer(amount, false)
    }

    #[track_caller]
    fn try_transfer(self, amount: f64, is_taken: bool) -> bool {
        let mut transfer = self.transfer(amount, is_taken, Location::caller());
        // What is not done now is withdrawn when it is dropped.
        let is_done = with(|running| running.tables.poll_wait(transfer.wait)).is_some();
        if is_done {
            transfer.wait = WaitKey::NONE;
        }
        is_done
    }

    /// Takes `amount`, as soon as there is so much and nobody comes before.
    ///
    /// # Panics
    /// If the amount is negative or not a number, or more than the capacity.
    #[track_caller]
    pub fn get(self, amount: f64) -> Transfer {
        self.transfer(amount, true, Location::caller())
    }

    /// Brings `amount`, as soon as there is room for it and nobody comes before.
    ///
    /// # Panics
    /// If the amount is negative or not a number, or more than the capacity.
    #[track_caller]
    pub fn put(self, amount: f64) -> Transfer {
        self.transfer(amount, false, Location::caller())
    }

    #[track_caller]
    fn transfer(self, amount: f64, is_taken: bool, at: &'static Location<'static>) -> Transfer {
        with(|running| {
            running.step();
            let (table, mut around) = running.thing::<ContainerTable>(self.key);
            assert!(
                (0.0..=table.capacity).contains(&amount),
                "{amount} cannot be put into or got from container `{}`, whose capacity is {}",
                table.name,
                table.capacity
            );
            let what = What::Thing(self.key.place);
            let wait = around.tables.begin_wait(what, around.now, at);
            table.queue(is_taken).push(0, wait, amount);
            table.serve(&mut around);
            Transfer { container: self, wait, is_taken, amount }
        })
    }
}

impl AtEnd<'_> {
    /// The level of a container.
    pub fn level(&self, container: Container) -> f64 {
        self.look_at::<ContainerTable>(container.key).level.get()
    }
}

/// What is to be taken from a container or brought to it. It waits in the queue from the moment it
/// is made; dropping it withdraws it.
#[must_use = "a transfer that is dropped is withdrawn: await it"]
#[derive(Debug)]
pub struct Transfer {
    container: Container,
    wait: WaitKey,
    amount: f64,
    is_taken: bool,
}

impl Future for Transfer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if with(|running| running.tables.poll_wait(self.wait)).is_none() {
            return Poll::Pending;
        }
        self.wait = WaitKey::NONE;
        Poll::Ready(())
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if self.wait.is_none() {
            return;
        }
        if_running(|running| {
            let Some(wait) = running.tables.end_wait(self.wait) else { return };
            let (table, mut around) = running.thing::<ContainerTable>(self.container.key);
            if !wait.is_over {
                table.queue(self.is_taken).withdraw(around.tables);
            } else if self.is_taken {
                // It was served at this instant, and nobody has seen it: it goes back.
                let level = table.level.get() + self.amount;
                table.level.set(level, around.now, around.lp);
            }
            table.serve(&mut around);
        });
    }
}
