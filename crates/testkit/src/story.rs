//! Models of a few lines, for tests to which the types of a model do not matter. The engines for them
//! are compiled here, once, and not in each test program.

use std::fmt;
use std::sync::Arc;

use warpline::Synchronisation;
use warpline::prelude::*;

/// A model that is told by functions. Its states and events are numbers.
///
/// ```
/// use warpline::Simulation;
/// use warpline_testkit::Story;
///
/// // A ball that goes round four players, who count their throws.
/// let ring = Story::new(4)
///     .init(|lp| {
///         if lp.id().0 == 0 {
///             lp.send(0, 1.0, 0);
///         }
///         0
///     })
///     .handle(|throws, _, lp| {
///         *throws += 1;
///         lp.send((lp.id().0 + 1) % 4, 1.0, 0);
///     });
/// assert_eq!(Simulation::new(ring).end(10.0).run()?.states, [3, 2, 2, 2]);
/// # Ok::<(), warpline::Error>(())
/// ```
#[derive(Clone)]
pub struct Story {
    lps: u32,
    lookahead: f64,
    links: Option<OfLp<Vec<Link>>>,
    is_conservative: Option<OfLp<bool>>,
    declare: DeclareFn,
    init: InitFn,
    handle: HandleFn,
    reverse: ReverseFn,
    commit: CommitFn,
    finish: FinishFn,
}

// What a story is told by; its copies share it.
type OfLp<T> = Arc<dyn Fn(LpId) -> T + Send + Sync>;
type DeclareFn = Arc<dyn Fn(&mut Declarations) + Send + Sync>;
type InitFn = Arc<dyn Fn(&mut Init<'_, Story>) -> u64 + Send + Sync>;
type HandleFn = Arc<dyn Fn(&mut u64, u64, &mut Context<Story>) + Send + Sync>;
type ReverseFn = Arc<dyn Fn(&mut u64, u64, &mut Reverse<'_, Story>) + Send + Sync>;
type CommitFn = Arc<dyn Fn(u64, &mut Commit<'_, Story>) + Send + Sync>;
type FinishFn = Arc<dyn Fn(u64, &mut Finish<'_, Story>) + Send + Sync>;

impl Story {
    /// LPs with states of zero, which do nothing yet.
    pub fn new(lps: u32) -> Self {
        Story {
            lps,
            lookahead: 0.0,
            links: None,
            is_conservative: None,
            declare: Arc::new(|_| {}),
            init: Arc::new(|_| 0),
            handle: Arc::new(|_, _, _| {}),
            reverse: Arc::new(|_, _, _| panic!("this story has no reverse code")),
            commit: Arc::new(|_, _| {}),
            finish: Arc::new(|_, _| {}),
        }
    }

    /// The least delay between LPs. Default: 0.
    pub fn lookahead(self, lookahead: f64) -> Self {
        Story { lookahead, ..self }
    }

    /// The links of each LP. Default: it may send to any LP.
    pub fn links(self, links: impl Fn(LpId) -> Vec<Link> + Send + Sync + 'static) -> Self {
        Story { links: Some(Arc::new(links)), ..self }
    }

    /// Whether an LP is conservative. Default: none is.
    pub fn is_conservative(self, is: impl Fn(LpId) -> bool + Send + Sync + 'static) -> Self {
        Story { is_conservative: Some(Arc::new(is)), ..self }
    }

    /// What it observes and records. Default: nothing.
    pub fn declare(self, declare: impl Fn(&mut Declarations) + Send + Sync + 'static) -> Self {
        Story { declare: Arc::new(declare), ..self }
    }

    /// How an LP begins.
    pub fn init(self, init: impl Fn(&mut Init<Self>) -> u64 + Send + Sync + 'static) -> Self {
        Story { init: Arc::new(init), ..self }
    }

    /// What an LP does with an event.
    pub fn handle(
        self,
        handle: impl Fn(&mut u64, u64, &mut Context<Self>) + Send + Sync + 'static,
    ) -> Self {
        Story { handle: Arc::new(handle), ..self }
    }

    /// How an event is undone by reverse code. Default: it panics.
    pub fn reverse(
        self,
        reverse: impl Fn(&mut u64, u64, &mut Reverse<Self>) + Send + Sync + 'static,
    ) -> Self {
        Story { reverse: Arc::new(reverse), ..self }
    }

    /// What follows when an event can no longer be undone. Default: nothing.
    pub fn commit(self, commit: impl Fn(u64, &mut Commit<Self>) + Send + Sync + 'static) -> Self {
        Story { commit: Arc::new(commit), ..self }
    }

    /// How an LP ends. Default: it does nothing.
    pub fn finish(self, finish: impl Fn(u64, &mut Finish<Self>) + Send + Sync + 'static) -> Self {
        Story { finish: Arc::new(finish), ..self }
    }
}

impl fmt::Debug for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a story of {} LPs", self.lps)
    }
}

#[model]
impl Model for Story {
    type State = u64;
    type Event = u64;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        self.links.as_ref().map(|links| links(lp))
    }

    fn is_conservative(&self, lp: LpId) -> bool {
        self.is_conservative.as_ref().is_some_and(|is| is(lp))
    }

    fn declare(&self, declare: &mut Declarations) {
        (self.declare)(declare);
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        (self.init)(lp)
    }

    fn handle(&self, state: &mut u64, event: &u64, lp: &mut Context<Self>) {
        (self.handle)(state, *event, lp);
    }

    fn reverse(&self, state: &mut u64, event: &u64, lp: &mut Reverse<Self>) {
        (self.reverse)(state, *event, lp);
    }

    fn commit(&self, event: &u64, lp: &mut Commit<Self>) {
        (self.commit)(*event, lp);
    }

    fn finish(&self, state: &u64, lp: &mut Finish<Self>) {
        (self.finish)(*state, lp);
    }
}

impl Story {
    /// A sequential run to this time, whose answer all others must have.
    ///
    /// # Panics
    ///
    /// Panics if the run fails.
    pub fn sequential(self, end: f64) -> Run<Story> {
        let simulation = Simulation::new(self).end(end).sync(Synchronisation::Sequential);
        simulation.run().expect("it runs")
    }
}
