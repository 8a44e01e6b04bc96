use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::keys::WaitKey;
use crate::queues::wait_queue::WaitQueue;
use crate::running::things::{Thing, ThingKey};
use crate::running::waits::What;
use crate::running::{Running, if_running, with};
use crate::sim::Sim;

/// A gate of an LP, open or closed: who comes while it is closed waits until it opens.
///
/// A gate that stays closed is a signal: [`broadcast`](Self::broadcast) lets all pass who wait at
/// that moment, and [`admit`](Self::admit) the first of them. What happens once, and has a value, is a
/// [`Signal`](crate::Signal).
///
/// ```
/// # use warpline_process::prelude::*;
/// async fn lock(sim: Sim<()>) {
///     let tide = Gate::new(sim, "high water");
///     sim.spawn(async move {
///         tide.wait().await;
///         sim.tell("sails");
///     });
///     sim.sleep(6.2).await;
///     tide.open();
///     sim.sleep(1.5).await;
///     tide.close();
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    key: ThingKey,
}

struct GateTable {
    name: Cow<'static, str>,
    is_open: bool,
    queue: WaitQueue<()>,
}

impl Thing for GateTable {
    fn describe(&self) -> String {
        format!("the gate `{}`", self.name)
    }
}

impl Gate {
    /// Makes a closed gate of this LP. Make it once, as it stays until the run ends.
    pub fn new<T>(_: Sim<T>, name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        with(|running| {
            let table = GateTable { name, is_open: false, queue: WaitQueue::default() };
            Gate { key: running.things.add(running.id, table) }
        })
    }

    /// Whether it is open.
    pub fn is_open(self) -> bool {
        with(|running| running.thing::<GateTable>(self.key).0.is_open)
    }

    /// How many wait in front of it.
    pub fn waiting(self) -> usize {
        with(|running| running.thing::<GateTable>(self.key).0.queue.len())
    }

    /// Passes: at once if the gate is open, otherwise when it opens.
    #[track_caller]
    pub fn wait(self) -> Passage {
        let at = Location::caller();
        with(|running| {
            running.step();
            let (table, around) = running.thing::<GateTable>(self.key);
            if table.is_open {
                return Passage { gate: self, wait: WaitKey::NONE };
            }
            let what = What::Thing(self.key.place);
            let wait = around.tables.begin_wait(what, around.now, at);
            table.queue.push(0, wait, ());
            Passage { gate: self, wait }
        })
    }

    /// Opens the gate: all who wait pass, and all who come until it is closed.
    pub fn open(self) {
        with(|running| {
            running.thing::<GateTable>(self.key).0.is_open = true;
            self.let_pass(running);
        });
    }

    /// Closes the gate. Who has passed in this event goes on.
    pub fn close(self) {
        with(|running| running.thing::<GateTable>(self.key).0.is_open = false);
    }

    /// Lets all pass who wait now.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// /// Lets the first pass, and after a while all others who have come.
    /// async fn usher(sim: Sim<()>, door: Gate) {
    ///     if door.admit() {
    ///         sim.sleep(1.0).await;
    ///     }
    ///     door.broadcast();
    ///     assert!(door.waiting() == 0 && !door.is_open());
    /// }
    /// ```
    pub fn broadcast(self) {
        with(|running| self.let_pass(running));
    }

    /// Lets the first pass who waits now. Returns whether anybody did.
    pub fn admit(self) -> bool {
        with(|running| {
            let (table, around) = running.thing::<GateTable>(self.key);
            let Some(first) = table.queue.first(around.tables) else { return false };
            around.tables.finish_wait(first.wait, 0);
            table.queue.pop();
            true
        })
    }

    fn let_pass(self, running: &mut Running<'_>) {
        let (table, around) = running.thing::<GateTable>(self.key);
        for entry in table.queue.drain() {
            around.tables.finish_wait(entry.wait, 0);
        }
    }
}

/// A wait in front of a gate: see [`Gate::wait`].
#[must_use = "a wait that is dropped is withdrawn: await it"]
#[derive(Debug)]
pub struct Passage {
    gate: Gate,
    wait: WaitKey,
}

impl Future for Passage {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if !self.wait.is_none() {
            if with(|running| running.tables.poll_wait(self.wait)).is_none() {
                return Poll::Pending;
            }
            self.wait = WaitKey::NONE;
        }
        Poll::Ready(())
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        if self.wait.is_none() {
            return;
        }
        if_running(|running| {
            let wait = running.tables.end_wait(self.wait);
            if wait.is_some_and(|wait| !wait.is_over) {
                let (table, around) = running.thing::<GateTable>(self.gate.key);
                table.queue.withdraw(around.tables);
            }
        });
    }
}
