use std::fmt::Debug;

use warpline_base::LpId;
use warpline_memory::Payload;
use warpline_record::View;

use crate::{
    Abilities, Commit, Context, Declarations, Finish, HasEvent, Init, Link, Outcome, Results,
    Reverse,
};

/// A simulation model: parameters and topology shared by all LPs, and what an LP does with an
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
/// A parallel run may execute an event too early, on a state that no right order of events leads
/// to: a queue may be shorter than nothing, or an answer may come before its question. What such an
/// event does within the simulation is undone, and forgotten if it was wrong: a panic,
/// [`fail`](Context::fail), an invalid send, a counter that overflows. The rest is up to the model:
/// - *A loop that never ends* on such a state holds up the run. The engine notices and says which
///   event it is, but it cannot stop it. Let loops end on any state, with [`fail`](Context::fail)
///   where that makes no sense.
/// - *Memory* that the model's own code asks for is asked for at once, and if it is not there the
///   program ends. Check a length before allocating by it. What an event saves and observes, and
///   what it sends while it runs, lies in the engine's memory: too much of it is a fault like
///   others.
/// - *Recursion* whose depth the state decides ends the program where the stack does. Its size is a
///   setting.
/// - *The outside world* does not undo anything. Write files and print by
///   [`when_settled`](crate::Observe::when_settled) alone. `verify` finds handlers that write to
///   files, pipes or terminals where the system tells (Linux); nothing finds what goes through
///   sockets or other programs.
/// - *What is not part of the simulation* must not decide anything: the order of a `HashMap` or
///   `HashSet`, which differs from run to run, addresses, the clock, random numbers other than
///   those of the LP, or what LPs or runs share, such as a static or a `Mutex`. `verify` and
///   `compare` find it if it shows in events, statistics, or the `Debug` text of states. So let
///   `Debug` show the whole state.
///
/// Sequential and conservative runs execute no event too early, and neither do [conservative
/// LPs](Self::is_conservative) in any run. A run for which nothing is asked may be optimistic for a
/// while, if that is faster.
///
/// # Sharing
/// A model owns what it consists of, or shares it by `Arc`, as the run has threads of its own.
///
/// A model is shared by all threads, so interior mutability does not compile:
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
    /// The state of one LP. Models with several kinds of LP make it an enum.
    ///
    /// The engine clones it to undo events, unless they are undone by a journal or by
    /// [reverse](Self::reverse) code. A state that cannot be cloned is refused:
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
    /// States move between threads, so they may not share anything by `Rc`; `Arc` is fine for what
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
    /// An optimistic run fails with a [`Fault::Panic`](crate::Fault::Panic) that says so, at an
    /// event before which the state has to be copied and `clone` panics, or if a state cannot be
    /// worked out from a copy when events are undone. Copies of states that occur only in
    /// speculation do not count. Sequential and conservative runs copy nothing, so nothing fails.
    ///
    /// Panics in `drop` are swallowed. The final states are left to the caller.
    type State: Clone + Debug + Send;

    /// What LPs send each other. A payload of up to 16 bytes keeps a pending event in one cache
    /// line. Put bytes, however many, into a [`Payload`], which is passed on without a copy; share
    /// other large values with an `Arc`. Pass on what an LP leaves as it is by
    /// [`forward`](Context::forward).
    ///
    /// # Panics in `drop`
    /// An engine drops a payload once its event has been executed. If that panics, the run fails
    /// with a [`Fault::Panic`](crate::Fault::Panic) of this event, as if [`handle`](Self::handle)
    /// had panicked; the payload can no longer be shown. Optimistic runs that do not copy the state
    /// before every event keep payloads a little longer: the error is the same, but more events may
    /// have committed by then. Panics of payloads whose events never happen, because they are
    /// cancelled, lie after the end or come after a failure, are swallowed.
    type Event: Debug + Send;

    /// The bytes that an event brings, if it brings any. Default `None`.
    ///
    /// Engines ask a few events ahead, and fetch the first of these bytes into the cache. It
    /// affects only speed, and must not panic.
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
    /// compare events, undo them by a journal or by reverse code. Default: nothing of that.
    ///
    /// [`#[model]`](macro@crate::model) on the implementation finds it out, and has the list.
    const ABILITIES: Abilities<Self::State, Self::Event> = Abilities::NONE;

    /// The number of LPs, at least 1; their ids are `0..lps`. It must not change during a run.
    fn lps(&self) -> u32;

    /// The least delay of any event sent to *another* LP, in model time. Default 0.
    ///
    /// Events that an LP sends to itself may have any delay. The larger the lookahead, the more can
    /// be done in parallel without risk; conservative runs depend on it. Where LPs differ,
    /// [`lookahead_of`](Self::lookahead_of) or [`links`](Self::links) say more, and the most
    /// specific declaration counts: a link's before its LP's, and that before this one.
    ///
    /// Lookahead must be finite and not negative, or the run does not start; a send below it is a
    /// [`Fault::Lookahead`](crate::Fault::Lookahead), with any engine.
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
    /// It is asked once before a run, and must be finite and not negative, as the model's must. LPs
    /// that have [`links`](Self::links) are not asked.
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
    /// It is asked once before a run. Parallel engines do not wait for LPs that have no link to
    /// theirs, so links help them more than any other declaration; an empty list says that `lp`
    /// sends only to itself. A send to an LP that is not named is a
    /// [`Fault::NoLink`](crate::Fault::NoLink), one below the link's lookahead a
    /// [`Fault::Lookahead`](crate::Fault::Lookahead), with any engine. A link to an LP that does
    /// not exist, or whose lookahead is negative or not finite, is refused before the run. If an LP
    /// is named twice, the lesser lookahead counts. `lp` itself need not be named: it can send to
    /// itself with any delay.
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

    /// How much work `lp` is, compared with other LPs, such as the events per unit of time that it
    /// is expected to have. 1 by default.
    ///
    /// Parallel engines give their PEs blocks of LPs with consecutive numbers and about equal sums
    /// of weights, so a rough estimate makes them faster; the answer does not depend on it. Number
    /// LPs so that those that send each other many events are close, and see
    /// [`group`](Self::group). A weight must be finite and not negative, or a parallel run does not
    /// start.
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

    /// The group that `lp` is in: LPs that should be on one PE, as they send each other many
    /// events, or without much delay. `None`, the default, if it does not matter.
    ///
    /// Parallel engines divide no group as long as there are at least as many groups, and LPs
    /// outside of groups, as PEs: groups of equal weight, as many as PEs, are a PE each. With more
    /// PEs, `warpline explain` names the groups that are divided. The answer does not depend on it,
    /// and work is shared out in whole groups, so a few large groups make PEs uneven. The LPs of a
    /// group must have consecutive numbers, or a parallel run does not start.
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

    /// What sort of LP `lp` is, such as `"server"`: what records, reports and settings call all LPs
    /// of that sort. Empty by default.
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

    /// Whether `lp` is conservative: whatever the engine, it executes only events that are certain
    /// to happen, each of them once, in their order, and on the state that a sequential run would
    /// have. Default `false`.
    ///
    /// In an optimistic run all others go ahead meanwhile; the run is called mixed then. Say `true`
    /// for LPs whose code cannot stand speculation, such as a loop that would not end on a wrong
    /// state, or whose states are too large to be copied. With little lookahead they wait long:
    /// without any, each of their events takes a computation of GVT. The setting `conservative-lps`
    /// overrides it.
    ///
    /// For effects on the outside world see [`when_settled`](crate::Observe::when_settled): another
    /// LP may still fail before an event that is certain.
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
    /// no LP, instead of by the sender's id. Default `false`.
    ///
    /// Say `true` where many events fall on the same instant and it matters who comes first, as
    /// with bids in an auction by rounds: by sender, LP 0 would win every tie. What one LP sends
    /// for the same instant is hashed too, and may come in any order: use
    /// [priorities](Context::send_with_priority) or steps of time where it must not.
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

    /// Declares the statistics and tables that the model writes. By default there are none.
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

    /// Makes the state of one LP at time 0 and sends its first events. It must return the same
    /// whenever it is called.
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
    /// An engine may execute an event more than once, or execute one that turns out not to happen,
    /// so all effects must go through `state` and `lp`.
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
    ///     self.served += 1; // error: `self` is a `&` reference; it belongs into the state: `*served += 1`
    /// }
    /// # }
    /// ```
    fn handle(&self, state: &mut Self::State, event: &Self::Event, lp: &mut Context<Self>);

    /// Undoes [`handle`](Self::handle) on the state it left behind. Random draws repeat those of
    /// the event, and [`Reverse::restore`] returns what [`Context::save`] kept, last first. Sends,
    /// statistics and rows are undone by the engine.
    ///
    /// It is never called for an event whose `handle` failed or panicked; the engine undoes those
    /// by itself.
    ///
    /// [`#[model]`](macro@crate::model) sees that it is written, and `warpline verify` tests it event by event.
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

    /// Called once for every event when it can no longer be undone, in the LP's order: the place
    /// for statistics and rows that depend only on the event. Events sent by `init` count too.
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
    /// # assert_eq!(executor.notes_mut().list, [warpline_model::statistics::Note::Mean(PAID, 7.5)]);
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
    /// # assert_eq!(executor.notes_mut().list, [warpline_model::statistics::Note::Counter(LEFT, 2)]);
    /// ```
    fn finish(&self, state: &Self::State, lp: &mut Finish<Self>) {
        let _ = (state, lp);
    }

    /// The model's outputs as JSON: every declared statistic, unless the model says otherwise.
    /// [`Results`] shows how to add long lists.
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

    /// What the model adds to the report: by default, a histogram for each declared one of a single
    /// item.
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
