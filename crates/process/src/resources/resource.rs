use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use warpline_model::{Mean, TimeMean};

use super::resource_table::{Claim, Grant, HolderKey, ResourceFigures, ResourceTable};
use crate::keys::WaitKey;
use crate::processes::process::Process;
use crate::running::things::{AtEnd, ThingKey};
use crate::running::{if_running, with};
use crate::sim::Sim;

/// A resource of an LP, such as a till or a crew: it has a number of units, which processes hold
/// for a while.
///
/// Those who wait are served by priority, then in the order of their requests. A
/// [`Held`] unit goes back when it is dropped: at the end of its scope, or when its process is
/// cancelled.
///
/// ```
/// use std::sync::Arc;
/// use warpline_process::{Coroutines, Resource, prelude::*};
///
/// struct Shop;
///
/// impl ProcessModel for Shop {
///     type Message = ();
///     fn lps(&self) -> u32 { 1 }
///     async fn run(self: Arc<Self>, sim: Sim<()>) {
///         let till = Resource::new(sim, "till", 1);
///         loop {
///             sim.sleep(sim.exponential(5.0)).await;
///             sim.spawn(async move {
///                 let _till = till.request().await;
///                 sim.sleep(sim.exponential(4.0)).await;
///             });
///         }
///     }
/// }
/// # let _ = Coroutines::new(Shop);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    key: ThingKey,
}

impl Resource {
    /// Makes a resource of this LP with `capacity` units. Make it once, as it stays until the run
    /// ends. The capacity may be 0 until a shift [begins](Self::set_capacity).
    pub fn new<T: Send + 'static>(
        _: Sim<T>,
        name: impl Into<Cow<'static, str>>,
        capacity: u32,
    ) -> Self {
        with(|running| {
            let table = ResourceTable::new(name.into(), capacity, running.now);
            Resource { key: running.things.add(running.id, table) }
        })
    }

    /// Observes the time from each request to its grant as `wait`.
    pub fn observe_wait(self, wait: Mean) -> Self {
        with(|running| {
            let (table, _) = running.thing::<ResourceTable>(self.key);
            table.wait_statistic = Some(wait);
        });
        self
    }

    /// Observes how many requests wait, over time.
    pub fn observe_waiting(self, waiting: TimeMean) -> Self {
        with(|running| {
            let (table, around) = running.thing::<ResourceTable>(self.key);
            table.waiting.observe_as(waiting, around.now, around.lp);
        });
        self
    }

    /// Observes how many units are held, over time.
    pub fn observe_use(self, in_use: TimeMean) -> Self {
        with(|running| {
            let (table, around) = running.thing::<ResourceTable>(self.key);
            table.used.observe_as(in_use, around.now, around.lp);
        });
        self
    }

    /// Asks for a unit. Await the request to get it.
    #[track_caller]
    pub fn request(self) -> Request {
        self.ask(Claim { priority: 0, amount: 1, preempts: false }, Location::caller())
    }

    /// Asks for a unit with a priority: the least is served first. That of
    /// [`request`](Self::request) is 0.
    #[track_caller]
    pub fn request_with_priority(self, priority: i32) -> Request {
        self.ask(Claim { priority, amount: 1, preempts: false }, Location::caller())
    }

    /// Asks for a unit with a priority. If none is free, one is taken away from the holder with the
    /// greatest priority number, if that is greater than `priority`; of several, from the one who
    /// got it last. That process is interrupted: see [`Sim::interruptible`].
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn other_job(sim: Sim<()>, repairer: Resource) {
    ///     let held = repairer.request_with_priority(2).await;
    ///     if let Err(why) = sim.interruptible(sim.sleep(30.0)).await {
    ///         assert!(why.is_preemption() && held.is_preempted());
    ///         let done = why.held_since().map(|since| sim.now() - since);
    ///         sim.tell(format!("was at it for {done:?}"));
    ///     }
    /// }
    ///
    /// async fn repair(sim: Sim<()>, repairer: Resource) {
    ///     let repairer = repairer.request_preempting(1).await;
    ///     sim.spawn(async move {
    ///         repairer.take_over(); // this process holds it from now on
    ///         sim.sleep(10.0).await;
    ///     });
    /// }
    /// ```
    #[track_caller]
    pub fn request_preempting(self, priority: i32) -> Request {
        self.ask(Claim { priority, amount: 1, preempts: true }, Location::caller())
    }

    /// Asks for several units, all at once. If there are fewer in all, it waits until there are more.
    ///
    /// # Panics
    /// If `amount` is 0.
    #[track_caller]
    pub fn request_many(self, amount: u32, priority: i32) -> Request {
        assert!(amount > 0, "a request is for at least one unit");
        self.ask(Claim { priority, amount, preempts: false }, Location::caller())
    }

    #[inline]
    fn ask(self, claim: Claim, at: &'static Location<'static>) -> Request {
        with(|running| {
            running.step();
            let process = running.tables.processes.key(running.tables.current);
            let (table, mut around) = running.thing::<ResourceTable>(self.key);
            match table.ask(claim, process, self.key, at, &mut around) {
                Grant::Now(holder) => Request { resource: self, wait: WaitKey::NONE, holder },
                Grant::Later(wait) => Request { resource: self, wait, holder: HolderKey::NONE },
            }
        })
    }

    /// A unit, if one is free and nobody waits.
    #[track_caller]
    pub fn try_request(self) -> Option<Held> {
        let at = Location::caller();
        let is_free = with(|running| {
            let (table, around) = running.thing::<ResourceTable>(self.key);
            table.is_free(around.tables)
        });
        if !is_free {
            return None;
        }
        let claim = Claim { priority: 0, amount: 1, preempts: false };
        let request = self.ask(claim, at);
        let holder = request.holder;
        std::mem::forget(request);
        Some(Held { resource: self, holder })
    }

    /// How many units there are.
    pub fn capacity(self) -> u32 {
        with(|running| running.thing::<ResourceTable>(self.key).0.capacity)
    }

    /// How many units are held.
    pub fn in_use(self) -> u32 {
        with(|running| running.thing::<ResourceTable>(self.key).0.in_use)
    }

    /// How many requests wait.
    pub fn waiting(self) -> usize {
        with(|running| running.thing::<ResourceTable>(self.key).0.waiting())
    }

    /// Who holds units, in no particular order.
    pub fn holders(self) -> Vec<Process> {
        with(|running| running.thing::<ResourceTable>(self.key).0.holders())
    }

    /// Changes the number of units. Whoever holds one keeps it: if there are fewer units than are
    /// held, the next that go back are gone.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// const WAIT: Mean = Mean::slot(0);
    /// const BUSY: TimeMean = TimeMean::slot(1);
    ///
    /// async fn shifts(sim: Sim<()>) {
    ///     let doctors = Resource::new(sim, "doctors", 2).observe_wait(WAIT).observe_use(BUSY);
    ///     for (hours, more) in [(8.0, 1), (16.0, 0)] {
    ///         sim.sleep(hours).await;
    ///         doctors.set_capacity(2 + more);
    ///     }
    ///     if let Some(_doctor) = doctors.try_request() {
    ///         assert!(doctors.in_use() <= doctors.capacity() && doctors.waiting() == 0);
    ///     }
    ///     sim.tell(format!("{} were seen", doctors.figures().granted));
    /// }
    /// ```
    pub fn set_capacity(self, capacity: u32) {
        with(|running| {
            let (table, mut around) = running.thing::<ResourceTable>(self.key);
            table.capacity = capacity;
            table.serve(&mut around);
        });
    }

    /// What the resource has seen so far.
    pub fn figures(self) -> ResourceFigures {
        with(|running| {
            let now = running.now;
            running.thing::<ResourceTable>(self.key).0.figures(now)
        })
    }
}

impl AtEnd<'_> {
    /// What a resource has seen.
    pub fn figures(&self, resource: Resource) -> ResourceFigures {
        self.look_at::<ResourceTable>(resource.key).figures(self.now())
    }

    /// How many units of a resource are held.
    pub fn in_use(&self, resource: Resource) -> u32 {
        self.look_at::<ResourceTable>(resource.key).in_use
    }

    /// How many requests still wait for a resource.
    pub fn waiting(&self, resource: Resource) -> usize {
        self.look_at::<ResourceTable>(resource.key).waiting()
    }
}

/// A request for a resource. It waits in the queue from the moment it is made; dropping it
/// withdraws it.
#[must_use = "a request that is dropped is withdrawn: await it"]
#[derive(Debug)]
pub struct Request {
    resource: Resource,
    wait: WaitKey,
    holder: HolderKey,
}

impl Future for Request {
    type Output = Held;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Held> {
        if !self.wait.is_none() {
            let Some(holder) = with(|running| running.tables.poll_wait(self.wait)) else {
                return Poll::Pending;
            };
            self.wait = WaitKey::NONE;
            self.holder = HolderKey::from_bits(holder);
        }
        let holder = std::mem::replace(&mut self.holder, HolderKey::NONE);
        Poll::Ready(Held { resource: self.resource, holder })
    }
}

impl Drop for Request {
    #[inline]
    fn drop(&mut self) {
        if !self.wait.is_none() {
            withdraw(self.resource, self.wait);
        } else if !self.holder.is_none() {
            give_back(self.resource, self.holder);
        }
    }
}

/// Withdraws a request. One that was granted just now gives back what it got.
#[cold]
fn withdraw(resource: Resource, key: WaitKey) {
    if_running(|running| {
        let wait = running.tables.end_wait(key);
        let (table, mut around) = running.thing::<ResourceTable>(resource.key);
        match wait {
            Some(wait) if wait.is_over => {
                table.give_back(HolderKey::from_bits(wait.outcome), &mut around);
            }
            Some(wait) => {
                let process = around.tables.processes.key(wait.process);
                table.withdraw(process, &mut around);
            }
            None => {}
        }
    });
}

#[inline]
fn give_back(resource: Resource, holder: HolderKey) {
    if_running(|running| {
        let (table, mut around) = running.thing::<ResourceTable>(resource.key);
        table.give_back(holder, &mut around);
    });
}

/// Units of a resource that a process holds. They go back when this is dropped.
#[must_use = "what is held goes back when it is dropped: keep it in a variable, such as `_till`"]
#[derive(Debug)]
pub struct Held {
    resource: Resource,
    holder: HolderKey,
}

impl Held {
    /// Whether the units were taken away by a preempting request.
    pub fn is_preempted(&self) -> bool {
        with(|running| !running.thing::<ResourceTable>(self.resource.key).0.holds(self.holder))
    }

    /// The units belong to this process from now on: it is the one that is interrupted if they are
    /// taken away. Until then that is the process that asked for them, even if `Held` was moved into
    /// another.
    pub fn take_over(&self) {
        with(|running| {
            let process = running.tables.processes.key(running.tables.current);
            running.thing::<ResourceTable>(self.resource.key).0.set_process(self.holder, process);
        });
    }

    /// Gives the units back now, as `drop` does.
    pub fn release(self) {}
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        give_back(self.resource, self.holder);
    }
}
