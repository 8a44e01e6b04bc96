use std::fmt::Debug;

use warpline_base::LpId;
use warpline_memory::Payload;
use warpline_record::{Stuck, View};

use crate::{
    Abilities, Commit, Context, Declarations, Finish, HasEvent, Init, Link, Outcome, Results,
    Reverse,
};

/// A simulation model: the parameters and topology that all LPs share, and what an LP does with an
/// event.
///
/// The model itself never changes during a run. What changes lives in one [`State`](Self::State)
/// per LP.
///
/// ```
/// use warpline_model::prelude::*;
///
/// /// A ball that goes round a ring of players.
/// struct Ring { players: u32 }
///
/// impl Model for Ring {
///     type State = u32; // throws so far
///     type Event = &'static str; // what is thrown
///
///     fn lps(&self) -> u32 { self.players }
///
///     fn init(&self, lp: &mut Init<Self>) -> u32 {
///         if lp.id() == LpId(0) { lp.send(0, 0.5, "ball"); }
///         0
///     }
///
///     fn handle(&self, throws: &mut u32, thing: &&'static str, lp: &mut Context<Self>) {
///         *throws += 1;
///         lp.send((lp.id().0 + 1) % lp.lps(), 1.0, thing);
///     }
/// }
/// ```
///
/// # What speculation guards against, and what it cannot
/// A parallel run may execute an event too early, on a state that no correct order of events leads
/// to: a queue may have a negative length, or an answer may come before its question. The engine
/// undoes such an event, with all that it did within the simulation: a panic,
/// [`fail`](Context::fail), an invalid send, a counter that overflows. The rest is up to the model:
/// - *A loop that never ends* on such a state holds up the run. The engine notices and names the
///   event, but cannot stop it. Make loops end on any state, with [`fail`](Context::fail) where the
///   state makes no sense.
/// - *Memory* that the model's own code allocates is allocated at once; if there is none, the
///   program ends. Check a length before allocating by it. What an event saves, observes and sends
///   is in the engine's memory: too much of it is an ordinary fault.
/// - *Recursion* whose depth depends on the state may overflow the stack, which ends the program.
///   The size of the stack is a setting.
/// - *The outside world* cannot be undone. Write files and print only by
///   [`when_settled`](crate::Observe::when_settled). On Linux, `verify` finds handlers that write
///   to files, pipes or terminals. Nothing finds writes through sockets or other programs.
/// - *What is not part of the simulation* must not influence it: the order of a `HashMap` or
///   `HashSet`, which differs between runs, addresses, the clock, random numbers other than the
///   LP's, or anything that LPs or runs share, such as a static or a `Mutex`. `verify` and
///   `compare` find it if it shows in events, statistics, or the `Debug` text of states. So let
///   `Debug` show the whole state.
///
/// Sequential and conservative runs execute no event too early, and neither do [conservative
/// LPs](Self::is_conservative) in any run. By default, a run may be optimistic for a while if that
/// is faster.
///
/// # Sharing
/// A model owns its parts or shares them by `Arc`, because the run has its own threads.
///
/// All threads share the model, so interior mutability does not compile:
/// ```compile_fail,E0277
/// # use warpline_model::prelude::*;
/// struct Counting { calls: std::cell::Cell<u64> }
/// impl Model for Counting { // error: `Cell<u64>` cannot be shared between threads safely
/// #     type State = (); type Event = ();
/// #     fn lps(&self) -> u32 { 1 }
/// #     fn init(&self, _: &mut Init<Self>) {}
/// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
/// }
/// ```
pub trait Model: Sized + Send + Sync + 'static {
    /// The state of one LP. A model with several kinds of LP makes it an enum.
    ///
    /// The engine clones it to undo events, unless a journal or [reverse](Self::reverse) code
    /// undoes them. A state that cannot be cloned is refused:
    /// ```compile_fail,E0277
    /// # use warpline_model::prelude::*;
    /// # struct Shop;
    /// #[derive(Debug)] // and not Clone
    /// struct Till { takings: f64 }
    /// impl Model for Shop {
    ///     type State = Till; // error: the trait `Clone` is not implemented for `Till`
    /// #     type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> Till { Till { takings: 0.0 } }
    /// #     fn handle(&self, _: &mut Till, _: &(), _: &mut Context<Self>) {}
    /// }
    /// ```
    ///
    /// States move between threads, so they must not share anything by `Rc`. `Arc` is fine for what
    /// never changes:
    /// ```compile_fail,E0277
    /// # use warpline_model::prelude::*;
    /// # struct Shop;
    /// impl Model for Shop {
    ///     type State = std::rc::Rc<f64>; // error: `Rc<f64>` cannot be sent between threads safely
    /// #     type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> std::rc::Rc<f64> { 0.0.into() }
    /// #     fn handle(&self, _: &mut std::rc::Rc<f64>, _: &(), _: &mut Context<Self>) {}
    /// }
    /// ```
    ///
    /// # Panics in `clone` and `drop`
    /// If `clone` panics when a state must be copied before an event, or when a state must be
    /// reconstructed from a copy, an optimistic run fails with a
    /// [`Fault::Panic`](crate::Fault::Panic) that says so. Copies of states that exist only in
    /// speculation do not count. Sequential and conservative runs copy nothing, so they do not
    /// fail.
    ///
    /// Panics in `drop` are ignored. The caller drops the final states.
    type State: Clone + Debug + Send;

    /// What LPs send each other. With up to 16 bytes, a pending event fits in one cache line. Put
    /// any number of bytes into a [`Payload`], which is passed on without a copy, and share other
    /// large values by `Arc`. [`forward`](Context::forward) passes on an event unchanged.
    ///
    /// # Panics in `drop`
    /// An engine drops a payload once its event has been executed. If that panics, the run fails
    /// with a [`Fault::Panic`](crate::Fault::Panic) of this event, as if [`handle`](Self::handle)
    /// had panicked, but the payload can no longer be shown. Optimistic runs that do not copy the
    /// state before every event keep payloads longer: the error is the same, but more events may
    /// have committed by then. Panics are ignored if the event never happens, because it is
    /// cancelled, lies after the end or comes after a failure.
    type Event: Debug + Send;

    /// The bytes that an event carries, if any. Default: `None`.
    ///
    /// Engines ask this a few events ahead, to fetch the first bytes into the cache. It affects
    /// only speed, and must not panic.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// #[derive(Debug)]
    /// struct Frame { to: u32, bytes: Payload }
    /// # struct Switch;
    /// # impl Model for Switch {
    /// #     type State = (); type Event = Frame;
    /// #     fn lps(&self) -> u32 { 2 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &Frame, _: &mut Context<Self>) {}
    /// fn payload(frame: &Frame) -> Option<&Payload> { Some(&frame.bytes) }
    /// # }
    /// assert_eq!(Switch::payload(&Frame { to: 1, bytes: Payload::zeroed(1500) }).map(|bytes| bytes.len()), Some(1500));
    /// ```
    fn payload(event: &Self::Event) -> Option<&Payload> {
        let _ = event;
        None
    }

    /// What a run may do with the model besides executing its events: run in several processes,
    /// compare events, undo them by a journal or by reverse code. Default: none of these.
    ///
    /// Mark the implementation with [`#[model]`](macro@crate::model), which finds it out; the list
    /// is there.
    const ABILITIES: Abilities<Self::State, Self::Event> = Abilities::NONE;

    /// The number of LPs, at least 1; their ids are `0..lps`. It must not change during a run.
    fn lps(&self) -> u32;

    /// The least delay of any event sent to *another* LP, in model time. Default: 0.
    ///
    /// Events that an LP sends to itself may have any delay. The larger the lookahead, the more can
    /// be executed in parallel without speculation; conservative runs depend on it. If LPs differ,
    /// declare [`lookahead_of`](Self::lookahead_of) or [`links`](Self::links). The most specific
    /// declaration counts: that of a link, then that of an LP, then this one.
    ///
    /// The lookahead must be finite and not negative, or the run does not start. A send below it is
    /// a [`Fault::Lookahead`](crate::Fault::Lookahead), in every engine.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// struct Fibre { metres: f64 }
    /// # impl Model for Fibre {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 2 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// // Nothing reaches the other end sooner than light does.
    /// fn lookahead(&self) -> f64 { self.metres / 2e8 }
    /// # }
    /// assert_eq!(Fibre { metres: 1e6 }.lookahead(), 0.005);
    /// ```
    fn lookahead(&self) -> f64 {
        0.0
    }

    /// The least delay of any event that `lp` sends to another LP, in model time; `None`, the
    /// default, stands for the model's [`lookahead`](Self::lookahead).
    ///
    /// It is called once per LP before a run, but not for LPs that have [`links`](Self::links). The
    /// lookahead must be finite and not negative.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// struct Workshop { minutes: Vec<f64> }
    /// # impl Model for Workshop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { self.minutes.len() as u32 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// // A machine passes nothing on before it is done with it.
    /// fn lookahead_of(&self, lp: LpId) -> Option<f64> { Some(self.minutes[lp.index()]) }
    /// # }
    /// assert_eq!(Workshop { minutes: vec![2.5, 0.1] }.lookahead_of(LpId(1)), Some(0.1));
    /// ```
    fn lookahead_of(&self, lp: LpId) -> Option<f64> {
        let _ = lp;
        None
    }

    /// The LPs that `lp` may send to, each with the least delay of events sent there; `None`, the
    /// default, if `lp` may send to any LP.
    ///
    /// It is called once per LP before a run. Parallel engines do not wait for LPs that have no
    /// link to theirs, so links help them more than any other declaration. An empty list means that
    /// `lp` sends only to itself. A send to an LP that is not listed is a
    /// [`Fault::NoLink`](crate::Fault::NoLink), and one below the link's lookahead a
    /// [`Fault::Lookahead`](crate::Fault::Lookahead), in every engine. A link to an LP that does
    /// not exist, or with a lookahead that is negative or not finite, is refused before the run. If
    /// an LP is listed twice, the smaller lookahead counts. `lp` itself need not be listed: it can
    /// send to itself with any delay.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// struct Ring { players: u32, flight: f64 }
    /// # impl Model for Ring {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { self.players }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn links(&self, lp: LpId) -> Option<Vec<Link>> {
    ///     Some(vec![Link { to: LpId((lp.0 + 1) % self.players), lookahead: self.flight }])
    /// }
    /// # }
    /// let ring = Ring { players: 4, flight: 0.5 };
    /// assert_eq!(ring.links(LpId(3)), Some(vec![Link { to: LpId(0), lookahead: 0.5 }]));
    /// ```
    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        let _ = lp;
        None
    }

    /// The work of `lp` relative to other LPs, such as its expected number of events per unit of
    /// time. Default: 1.
    ///
    /// Parallel engines give each PE a block of LPs with consecutive numbers, of about equal
    /// weight. So a rough estimate makes them faster; the answer does not depend on it. Give close
    /// numbers to LPs that send each other many events, and see [`group`](Self::group). A weight
    /// must be finite and not negative, or a parallel run does not start.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// struct Servers { rates: Vec<f64> }
    /// # impl Model for Servers {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { self.rates.len() as u32 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn weight(&self, lp: LpId) -> f64 { self.rates[lp.index()] }
    /// # }
    /// assert_eq!(Servers { rates: vec![2.5, 0.1] }.weight(LpId(1)), 0.1);
    /// ```
    fn weight(&self, lp: LpId) -> f64 {
        let _ = lp;
        1.0
    }

    /// The group of `lp`: LPs that should be on one PE, because they send each other many events,
    /// or events with little delay. `None`, the default, if it does not matter.
    ///
    /// Parallel engines divide no group if groups and LPs outside groups together are at least as
    /// many as PEs: with as many groups of equal weight as PEs, each PE has one. With more PEs,
    /// `warpline explain` names the divided groups. The answer does not depend on groups. Work is
    /// distributed in whole groups, so a few large groups make PEs uneven. The LPs of a group must
    /// have consecutive numbers, or a parallel run does not start.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// struct Factory { machines_per_hall: u32, halls: u32 }
    /// # impl Model for Factory {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { self.machines_per_hall * self.halls }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// // Most parts go from machine to machine, and a few by lorry to another hall.
    /// fn group(&self, lp: LpId) -> Option<u32> { Some(lp.0 / self.machines_per_hall) }
    /// # }
    /// assert_eq!(Factory { machines_per_hall: 40, halls: 3 }.group(LpId(41)), Some(1));
    /// ```
    fn group(&self, lp: LpId) -> Option<u32> {
        let _ = lp;
        None
    }

    /// The kind of `lp`, such as `"server"`: the name of all LPs of that kind in records, reports
    /// and settings. Default: empty.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// struct Shop { tills: u32 }
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { self.tills + 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn kind(&self, lp: LpId) -> &str { if lp.0 < self.tills { "till" } else { "display" } }
    /// # }
    /// assert_eq!(Shop { tills: 9 }.kind(LpId(9)), "display");
    /// ```
    fn kind(&self, lp: LpId) -> &str {
        let _ = lp;
        ""
    }

    /// Whether `lp` is conservative: in every engine, it executes only events that are certain to
    /// happen, each once, in order, on the state of a sequential run. Default: `false`.
    ///
    /// In an optimistic run the other LPs go ahead meanwhile; such a run is called mixed. Return
    /// `true` for LPs that cannot be speculated on, such as LPs with a loop that would not end on a
    /// wrong state, or with states too large to copy. With little lookahead they wait long: without
    /// any, each of their events takes a computation of GVT. The setting `conservative-lps`
    /// overrides this method.
    ///
    /// For effects on the outside world use [`when_settled`](crate::Observe::when_settled): even
    /// before an event that is certain, another LP may still fail.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// struct Shop { tills: u32 }
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { self.tills + 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn is_conservative(&self, lp: LpId) -> bool { lp.0 == self.tills } // the display
    /// # }
    /// assert!(Shop { tills: 9 }.is_conservative(LpId(9)));
    /// ```
    fn is_conservative(&self, lp: LpId) -> bool {
        let _ = lp;
        false
    }

    /// Whether events of equal time, step and priority are ordered by a seeded hash, which favours
    /// no LP, instead of by the sender's id. Default: `false`.
    ///
    /// Return `true` if many events have the same time and it matters who comes first, as with bids
    /// in an auction by rounds: ordered by sender, LP 0 would win every tie. Events of one sender
    /// for the same time, step and priority stay in the order of sending.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// struct Auction;
    /// # impl Model for Auction {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 2 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn unbiased_ties(&self) -> bool { true }
    /// # }
    /// assert!(Auction.unbiased_ties());
    /// ```
    fn unbiased_ties(&self) -> bool {
        false
    }

    /// Declares the statistics and tables that the model writes. Default: none.
    ///
    /// Called once, before the run. Slots are numbered 0, 1, 2, … over all kinds of statistics, and
    /// tables by themselves; gaps and repeated slots or names are errors before anything is
    /// simulated.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// const SERVED: Counter = Counter::slot(0);
    /// const WAIT: Mean = Mean::slot(1);
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn declare(&self, declare: &mut Declarations) {
    ///     declare.counter(SERVED, "served", "customers", "customers who were served");
    ///     declare.mean(WAIT, "wait", "min", "time from arrival to service");
    /// }
    /// # }
    /// # let mut declare = Declarations::default();
    /// # Shop.declare(&mut declare);
    /// # assert!(declare.checked().is_ok());
    /// ```
    fn declare(&self, declare: &mut Declarations) {
        let _ = declare;
    }

    /// Makes the state of one LP at time 0 and sends its first events. It must do the same whenever
    /// it is called.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = u32; type Event = &'static str;
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn handle(&self, _: &mut u32, _: &&'static str, _: &mut Context<Self>) {}
    /// fn init(&self, lp: &mut Init<Self>) -> u32 {
    ///     let first = lp.random().exponential(5.0);
    ///     lp.send(lp.id(), first, "a customer arrives");
    ///     0 // nobody waits yet
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # assert_eq!(executor.init(&Shop, LpId(0)), 0);
    /// # assert_eq!(executor.outbox_mut()[0].event, "a customer arrives");
    /// ```
    fn init(&self, lp: &mut Init<Self>) -> Self::State;

    /// Executes one event: changes the state, sends events, observes.
    ///
    /// An engine may execute an event more than once, and may execute one that turns out not to
    /// happen. So all effects must go through `state` and `lp`.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # #[derive(Debug, PartialEq)]
    /// enum Customer { Comes, Goes }
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = u32; type Event = Customer;
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { 0 }
    /// fn handle(&self, inside: &mut u32, event: &Customer, lp: &mut Context<Self>) {
    ///     match event {
    ///         Customer::Comes => { *inside += 1; lp.send(lp.id(), 3.0, Customer::Goes) }
    ///         Customer::Goes => *inside -= 1,
    ///     }
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut inside = 0;
    /// # executor.begin(LpId(0), 1, 2.0f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut inside, &Customer::Comes, executor.lp());
    /// # assert_eq!((inside, executor.outbox_mut()[0].time.get()), (1, 5.0));
    /// # Shop.handle(&mut inside, &Customer::Goes, executor.lp());
    /// # assert_eq!(inside, 0);
    /// ```
    ///
    /// The model itself cannot be changed:
    /// ```compile_fail,E0594
    /// # use warpline_model::prelude::*;
    /// # struct Shop { served: u64 }
    /// # impl Model for Shop {
    /// #     type State = u64; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u64 { 0 }
    /// fn handle(&self, served: &mut u64, _: &(), _: &mut Context<Self>) {
    ///     self.served += 1; // error: `self` is a `&` reference; it belongs in the state: `*served += 1`
    /// }
    /// # }
    /// ```
    fn handle(&self, state: &mut Self::State, event: &Self::Event, lp: &mut Context<Self>);

    /// Undoes [`handle`](Self::handle) on the state that it left behind. Random draws repeat those
    /// of the event, and [`Reverse::restore`] returns what [`Context::save`] kept, last first. The
    /// engine undoes sends, statistics and rows.
    ///
    /// It is never called for an event whose `handle` failed or panicked; the engine undoes those
    /// itself.
    ///
    /// [`#[model]`](macro@crate::model) detects it, and `warpline verify` tests it event by event.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Bank;
    /// # #[model]
    /// # impl Model for Bank {
    /// #     type State = f64; type Event = f64;
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> f64 { 0.0 }
    /// fn handle(&self, balance: &mut f64, paid: &f64, lp: &mut Context<Self>) {
    ///     lp.save(*balance); // subtracting could lose the last bit
    ///     *balance += paid;
    /// }
    /// fn reverse(&self, balance: &mut f64, _: &f64, lp: &mut Reverse<Self>) {
    ///     *balance = lp.restore();
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Bank, 1, 9, true);
    /// # let mut balance = 0.1;
    /// # executor.begin(LpId(0), 1, 2.0f64.try_into().unwrap(), 0);
    /// # Bank.handle(&mut balance, &0.2, executor.lp());
    /// # assert_ne!(balance, 0.1);
    /// # executor.reverse(&Bank, &mut balance, &0.2);
    /// # assert!(balance == 0.1 && Bank::ABILITIES.has_reverse());
    /// ```
    fn reverse(&self, state: &mut Self::State, event: &Self::Event, lp: &mut Reverse<Self>) {
        let _ = (state, event, lp);
    }

    /// Called once for every event when it can no longer be undone, in the order of the LP's
    /// events. Use it for statistics and rows that depend only on the event. Events sent by `init`
    /// are included.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// const PAID: Mean = Mean::slot(0);
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = f64;
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &f64, _: &mut Context<Self>) {}
    /// fn commit(&self, paid: &f64, lp: &mut Commit<Self>) {
    ///     lp.observe(PAID, *paid);
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # executor.commit(&Shop, &7.5);
    /// # assert_eq!(executor.observations_mut().list, [warpline_model::statistics::Observation::Mean(PAID, 7.5)]);
    /// ```
    fn commit(&self, event: &Self::Event, lp: &mut Commit<Self>) {
        let _ = (event, lp);
    }

    /// Called for each LP after the last event, at the end time.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// const LEFT: Counter = Counter::slot(0);
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = Vec<f64>; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> Vec<f64> { vec![] }
    /// #     fn handle(&self, _: &mut Vec<f64>, _: &(), _: &mut Context<Self>) {}
    /// fn finish(&self, queue: &Vec<f64>, lp: &mut Finish<Self>) {
    ///     lp.count(LEFT, queue.len() as u64); // who still waits when the shop shuts
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # executor.finish(&Shop, LpId(0), &vec![1.0, 4.5], 10.0f64.try_into().unwrap());
    /// # assert_eq!(executor.observations_mut().list, [warpline_model::statistics::Observation::Counter(LEFT, 2)]);
    /// ```
    fn finish(&self, state: &Self::State, lp: &mut Finish<Self>) {
        let _ = (state, lp);
    }

    /// Who still waits in the state of LP `lp` although no event is left that could end it, with
    /// at most `most` of them in words. Asked at the end of the run. Default: nobody.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, record::Stuck};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = Vec<f64>; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> Vec<f64> { vec![] }
    /// #     fn handle(&self, _: &mut Vec<f64>, _: &(), _: &mut Context<Self>) {}
    /// fn stuck(&self, _: LpId, queue: &Vec<f64>, most: usize) -> Stuck {
    ///     let line = |since: &f64| format!("a customer waits for the till since {since}");
    ///     Stuck { waits: queue.len() as u64, lines: queue.iter().take(most).map(line).collect() }
    /// }
    /// # }
    /// let stuck = Shop.stuck(LpId(0), &vec![1.5, 4.0], 1);
    /// assert_eq!(stuck.lines, ["a customer waits for the till since 1.5"]);
    /// ```
    fn stuck(&self, lp: LpId, state: &Self::State, most: usize) -> Stuck {
        let _ = (lp, state, most);
        Stuck::default()
    }

    /// The model's outputs as JSON. Default: every declared statistic. [`Results`] shows how to add
    /// long lists.
    ///
    /// ```
    /// # use warpline_model::{serde_json, prelude::*};
    /// use serde_json::json;
    /// const SERVED: Counter = Counter::slot(0);
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn results(&self, outcome: &Outcome) -> Results<Self> {
    ///     let observed = outcome.end - outcome.warmup;
    ///     json!({ "served per hour": outcome.statistics.counter(SERVED) as f64 / observed }).into()
    /// }
    /// # }
    /// # let mut declare = Declarations::default();
    /// # declare.counter(SERVED, "served", "customers", "");
    /// # let statistics = Statistics::new(declare.checked().unwrap(), 2.0, 10.0);
    /// # let outcome = Outcome { statistics: &statistics, end: 10.0, warmup: 2.0 };
    /// # assert_eq!(Shop.results(&outcome).to_value(&Shop, &outcome), json!({ "served per hour": 0.0 }));
    /// ```
    fn results(&self, outcome: &Outcome) -> Results<Self> {
        Results::of(outcome.statistics)
    }

    /// What the model adds to the report. Default: a picture of every declared histogram with a
    /// single item.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// use warpline_model::record::{TableView, View};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn views(&self, outcome: &Outcome) -> Vec<View> {
    ///     let columns = vec![("open".to_owned(), "h".to_owned())];
    ///     let table = TableView { title: "Hours".into(), columns, rows: vec![vec![outcome.end.into()]] };
    ///     let mut views = outcome.statistics.histogram_views();
    ///     views.push(View::Table(table));
    ///     views
    /// }
    /// # }
    /// # let statistics = Statistics::new(Declarations::default(), 0.0, 10.0);
    /// # assert_eq!(Shop.views(&Outcome { statistics: &statistics, end: 10.0, warmup: 0.0 }).len(), 1);
    /// ```
    fn views(&self, outcome: &Outcome) -> Vec<View> {
        outcome.statistics.histogram_views()
    }
}

impl<M: Model> HasEvent for M {
    type Event = M::Event;
}
