use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::keys::WaitKey;
use crate::queues::shelf::{Filter, Order, Shelf};
use crate::queues::wait_queue::WaitQueue;
use crate::running::tables::Tables;
use crate::running::things::{AtEnd, Thing, ThingKey};
use crate::running::waits::What;
use crate::running::{Running, if_running, with};
use crate::sim::Sim;

/// A store of an LP: items that processes put and get.
///
/// Who gets is served in the order of asking, each with the first item that it wants. A store may
/// be [limited](Self::limited), and may [order](Self::ordered) its items.
///
/// ```
/// # use warpline_process::prelude::*;
/// async fn depot(sim: Sim<()>) {
///     let parts = Store::limited(sim, "parts", 100);
///     sim.spawn(async move {
///         loop {
///             sim.sleep(sim.exponential(2.0)).await;
///             parts.put(sim.below(3)).await; // a part of some kind, as soon as there is room
///         }
///     });
///     let part = sim.timeout(10.0, parts.get_matching(|&kind| kind == 2)).await;
///     sim.tell(if part.is_some() { "got a part" } else { "went without" });
/// }
/// ```
pub struct Store<T> {
    key: ThingKey,
    items: PhantomData<fn() -> T>,
}

impl<T> Clone for Store<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Store<T> {}

impl<T> fmt::Debug for Store<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("key", &self.key).finish()
    }
}

/// A store as its LP keeps it.
///
/// Invariant: nobody waits to put while there is room.
struct StoreTable<T> {
    name: Cow<'static, str>,
    capacity: usize,
    shelf: Shelf<T>,
    putters: WaitQueue<Option<T>>,
}

impl<T: Send + 'static> Thing for StoreTable<T> {
    fn describe(&self) -> String {
        format!("the store `{}` ({} items)", self.name, self.shelf.len())
    }
}

impl<T> StoreTable<T> {
    /// Puts what waits to be put, while there is room.
    fn serve(&mut self, tables: &mut Tables) {
        while self.shelf.len() < self.capacity
            && let Some(first) = self.putters.first(tables)
        {
            let item = first.data.take();
            let wait = first.wait;
            self.putters.pop();
            if let Some(item) = item {
                self.shelf.put(item, tables);
            }
            tables.finish_wait(wait, 0);
        }
    }
}

impl<T: Send + 'static> Store<T> {
    /// Makes a store of this LP without a limit. Make it once, as it stays until the run ends.
    pub fn new<M>(sim: Sim<M>, name: impl Into<Cow<'static, str>>) -> Self {
        Store::limited(sim, name, usize::MAX)
    }

    /// Makes a store of this LP for up to `capacity` items.
    ///
    /// # Panics
    /// If the capacity is 0.
    pub fn limited<M>(_: Sim<M>, name: impl Into<Cow<'static, str>>, capacity: usize) -> Self {
        Store::made(name.into(), capacity, Shelf::default())
    }

    /// Makes a store of this LP whose least item is got first; of equal items, the one that was put
    /// first.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn waiting_room(sim: Sim<()>) {
    ///     let patients = Store::ordered(sim, "waiting room", usize::MAX, |a: &(u8, &str), b| a.0.cmp(&b.0));
    ///     patients.put((3, "a cold")).await;
    ///     patients.put((1, "a broken leg")).await;
    ///     assert_eq!(patients.get().await, (1, "a broken leg"));
    /// }
    /// ```
    ///
    /// # Panics
    /// If the capacity is 0.
    pub fn ordered<M>(
        _: Sim<M>,
        name: impl Into<Cow<'static, str>>,
        capacity: usize,
        order: Order<T>,
    ) -> Self {
        Store::made(name.into(), capacity, Shelf::ordered(order))
    }

    fn made(name: Cow<'static, str>, capacity: usize, shelf: Shelf<T>) -> Self {
        assert!(capacity > 0, "the store `{name}` has no room for any item");
        let key = with(|running| {
            let table = StoreTable { name, capacity, shelf, putters: WaitQueue::default() };
            running.things.add(running.id, table)
        });
        Store { key, items: PhantomData }
    }

    /// How many items lie there.
    pub fn len(self) -> usize {
        with(|running| running.thing::<StoreTable<T>>(self.key).0.shelf.len())
    }

    /// Whether no item lies there.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// How many items have room.
    pub fn capacity(self) -> usize {
        with(|running| running.thing::<StoreTable<T>>(self.key).0.capacity)
    }

    /// How many processes wait for room.
    pub fn waiting_to_put(self) -> usize {
        with(|running| running.thing::<StoreTable<T>>(self.key).0.putters.len())
    }

    /// How many processes wait for an item.
    pub fn waiting(self) -> usize {
        with(|running| running.thing::<StoreTable<T>>(self.key).0.shelf.takers())
    }

    /// Puts an item if there is room for it now.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn shelf(sim: Sim<()>) {
    ///     let shelf = Store::limited(sim, "shelf", 1);
    ///     assert_eq!((shelf.try_put("bread"), shelf.try_put("milk")), (Ok(()), Err("milk")));
    ///     assert_eq!((shelf.try_get(), shelf.try_get(), shelf.is_empty()), (Some("bread"), None, true));
    /// }
    /// ```
    ///
    /// # Errors
    /// The item, if there is no room.
    pub fn try_put(self, item: T) -> Result<(), T> {
        with(|running| {
            let (table, around) = running.thing::<StoreTable<T>>(self.key);
            if table.shelf.len() >= table.capacity {
                return Err(item);
            }
            table.shelf.put(item, around.tables);
            Ok(())
        })
    }

    /// The first item, if there is one now.
    pub fn try_get(self) -> Option<T> {
        with(|running| {
            let (table, around) = running.thing::<StoreTable<T>>(self.key);
            let item = table.shelf.take_now()?;
            table.serve(around.tables);
            Some(item)
        })
    }

    /// Puts an item, as soon as there is room for it and nobody comes before.
    #[track_caller]
    pub fn put(self, item: T) -> Put<T> {
        let at = Location::caller();
        let withdraw = Store::withdraw_put;
        with(|running| {
            running.step();
            let (table, around) = running.thing::<StoreTable<T>>(self.key);
            if table.shelf.len() < table.capacity {
                table.shelf.put(item, around.tables);
                return Put { store: self, wait: WaitKey::NONE, withdraw };
            }
            let what = What::Thing(self.key.place);
            let wait = around.tables.begin_wait(what, around.now, at);
            table.putters.push(0, wait, Some(item));
            Put { store: self, wait, withdraw }
        })
    }

    /// Gets the first item.
    #[track_caller]
    pub fn get(self) -> Get<T> {
        self.take(None, Location::caller())
    }

    /// Gets the first item that `wants` wants. Who waits for such an item keeps nobody else from
    /// getting another. `wants` must be a pure function of the item, and may not call the
    /// simulation.
    #[track_caller]
    pub fn get_matching(self, wants: impl Fn(&T) -> bool + Send + 'static) -> Get<T> {
        self.take(Some(Box::new(wants)), Location::caller())
    }

    fn take(self, filter: Option<Filter<T>>, at: &'static Location<'static>) -> Get<T> {
        with(|running| {
            running.step();
            let (table, around) = running.thing::<StoreTable<T>>(self.key);
            let what = What::Thing(self.key.place);
            let wait = around.tables.begin_wait(what, around.now, at);
            if table.shelf.take(wait, filter, around.tables) {
                table.serve(around.tables);
            }
            Get { store: self, wait, given: Store::given, withdraw: Store::withdraw_get }
        })
    }

    /// The item that a process waited for, if it has come.
    fn given(self, wait: WaitKey) -> Option<T> {
        with(|running| {
            running.tables.poll_wait(wait)?;
            running.thing::<StoreTable<T>>(self.key).0.shelf.given(wait)
        })
    }

    fn withdraw_get(self, wait: WaitKey) {
        if_running(|running| self.withdraw(running, wait, false));
    }

    fn withdraw_put(self, wait: WaitKey) {
        if_running(|running| self.withdraw(running, wait, true));
    }

    fn withdraw(self, running: &mut Running<'_>, key: WaitKey, is_put: bool) {
        let Some(wait) = running.tables.end_wait(key) else { return };
        let (table, around) = running.thing::<StoreTable<T>>(self.key);
        match (is_put, wait.is_over) {
            (true, false) => table.putters.withdraw(around.tables),
            // The item is there, and somebody may have got it already.
            (true, true) => {}
            (false, was_over) => table.shelf.withdraw(key, was_over, around.tables),
        }
        table.serve(around.tables);
    }
}

impl AtEnd<'_> {
    /// The items that lie in a store, in the order in which they would be got.
    pub fn items<T: Send + 'static>(&self, store: Store<T>) -> impl Iterator<Item = &T> {
        self.look_at::<StoreTable<T>>(store.key).shelf.items()
    }
}

/// An item that is to be put into a store: see [`Store::put`].
#[must_use = "an item may have to wait for room: await it"]
pub struct Put<T> {
    store: Store<T>,
    wait: WaitKey,
    withdraw: fn(Store<T>, WaitKey),
}

impl<T> fmt::Debug for Put<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Put").field("wait", &self.wait).finish()
    }
}

impl<T> Future for Put<T> {
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

impl<T> Drop for Put<T> {
    fn drop(&mut self) {
        if !self.wait.is_none() {
            (self.withdraw)(self.store, self.wait);
        }
    }
}

/// An item that is to be got from a store: see [`Store::get`].
///
/// What needs to know that items borrow nothing is behind function pointers, so that the future may
/// be part of any other without saying so.
#[must_use = "a wait that is dropped is withdrawn: await it"]
pub struct Get<T> {
    store: Store<T>,
    wait: WaitKey,
    given: fn(Store<T>, WaitKey) -> Option<T>,
    withdraw: fn(Store<T>, WaitKey),
}

impl<T> fmt::Debug for Get<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Get").field("wait", &self.wait).finish()
    }
}

impl<T> Future for Get<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let Some(item) = (self.given)(self.store, self.wait) else { return Poll::Pending };
        self.wait = WaitKey::NONE;
        Poll::Ready(item)
    }
}

impl<T> Drop for Get<T> {
    fn drop(&mut self) {
        if !self.wait.is_none() {
            (self.withdraw)(self.store, self.wait);
        }
    }
}
