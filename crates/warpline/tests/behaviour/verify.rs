//! Verification finds undoing that does not restore the state, and says where: model, event, LP,
//! time, and field.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::assert_words;
use proptest::prelude::*;
use proptest::test_runner::Config;
use warpline::prelude::*;
use warpline::{Mismatch, Place, VerifyError, VerifyLimits};
use warpline_testkit::random_model::Inline;
use warpline_testkit::{RandomModel, Recipe, cases, time_limit};

/// What is wrong with a [`Shop`]'s reverse code.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bug {
    None,
    ForgetsAField,
    RestoresInTheWrongOrder,
    ForgetsAPush,
    PopsTheWrongEnd,
    IsWrongAt(u64),
    RestoresTooLittle,
    RestoresTooMuch,
    DrawsFromAnotherStream,
    Panics,
}

/// Three LPs; the n-th event of LP k is at time n + k / 4.
#[derive(Debug)]
struct Shop {
    bug: Bug,
}

#[derive(Clone, Debug, Default)]
struct Till {
    served: u64,
    queue: VecDeque<u64>,
    total: f64,
    last: f64,
    luck: u64,
}

#[derive(Debug)]
struct Customer {
    number: u64,
}

#[model]
impl Model for Shop {
    type State = Till;
    type Event = Customer;
    fn lps(&self) -> u32 {
        3
    }

    fn init(&self, lp: &mut Init<Self>) -> Till {
        lp.send(lp.id(), 1.0 + f64::from(lp.id().0) / 4.0, Customer { number: 0 });
        Till { total: 0.5, last: -1.0, queue: [100, 200, 300].into(), ..Till::default() }
    }

    fn handle(&self, till: &mut Till, customer: &Customer, lp: &mut Context<Self>) {
        lp.save(till.total);
        lp.save(till.last);
        till.served += 1;
        till.queue.push_back(customer.number);
        till.total = till.total * 1.5 + 1.0;
        till.last = lp.now();
        till.luck = till.luck.wrapping_add(lp.stream(1).next_u64());
        lp.send(lp.id(), 1.0, Customer { number: customer.number + 1 });
    }

    fn reverse(&self, till: &mut Till, _: &Customer, lp: &mut Reverse<Self>) {
        let bug = self.bug;
        assert!(bug != Bug::Panics, "reverse code lost its way");
        let stream = if bug == Bug::DrawsFromAnotherStream { 2 } else { 1 };
        till.luck = till.luck.wrapping_sub(lp.stream(stream).next_u64());
        if bug == Bug::RestoresInTheWrongOrder {
            till.total = lp.restore();
            till.last = lp.restore();
        } else {
            till.last = lp.restore();
            till.total =
                if bug == Bug::RestoresTooLittle { (till.total - 1.0) / 1.5 } else { lp.restore() };
        }
        if bug == Bug::RestoresTooMuch {
            lp.restore::<u64>();
        }
        match bug {
            Bug::ForgetsAPush => {}
            Bug::PopsTheWrongEnd => drop(till.queue.pop_front()),
            _ => drop(till.queue.pop_back()),
        }
        let forgets =
            bug == Bug::ForgetsAField || lp.id().0 == 1 && bug == Bug::IsWrongAt(till.served);
        if !forgets {
            till.served -= 1;
        }
    }
}

fn mismatch<M: Model>(simulation: Simulation<M>) -> (Mismatch, String) {
    let _limit = time_limit("verification");
    match simulation.verify() {
        Err(error @ VerifyError::Mismatch(_)) => {
            let text = error.to_string();
            let VerifyError::Mismatch(mismatch) = error else { unreachable!("it was just seen") };
            (*mismatch, text)
        }
        other => panic!("expected a mismatch: {other:?}"),
    }
}

/// Finds the bug at the very first event.
fn assert_found_at_once(bug: Bug, field: &str) -> Mismatch {
    let (mismatch, text) = mismatch(Simulation::new(Shop { bug }).undo(Undo::Reverse));
    assert_eq!(
        mismatch.place,
        Place::Event {
            lp: LpId(0),
            time: 1.0,
            number: Some(1),
            payload: "Customer { number: 0 }".into()
        },
        "{bug:?}"
    );
    assert_eq!(
        (mismatch.events, mismatch.undo, mismatch.model.as_str()),
        (0, Undo::Reverse, "Shop"),
        "{bug:?}"
    );
    assert!(mismatch.field.contains(field), "{bug:?}: `{field}` should be in `{}`", mismatch.field);
    assert_words(
        &text,
        &[
            "`Shop`",
            "reverse",
            "Customer { number: 0 }",
            "LP 0",
            "time 1",
            "after undoing it",
            field,
        ],
    );
    mismatch
}

#[test]
fn right_reverse_code_passes() {
    let simulation = || Simulation::new(Shop { bug: Bug::None }).end(30.0);
    let run = simulation().state_digest(true).run().expect("it runs").record;
    for undo in [Undo::Reverse, Undo::Copy] {
        let verified = simulation().undo(undo).verify().expect("nothing is wrong");
        let expected = (run.committed_events, run.committed_events, run.end_time, &run.digest);
        assert_eq!(
            (verified.events, verified.tried, verified.virtual_time, &verified.digest),
            expected
        );
        assert_eq!(Some(&verified.state_digest), run.state_digest.as_ref());
        let [kind] = &verified.kinds[..] else { panic!("{:?}", verified.kinds) };
        assert_eq!((kind.event.as_str(), kind.tried), ("Customer", run.committed_events));
        assert!(
            verified.is_whole
                && !verified.is_short_of_time
                && !verified.order_varies
                && verified.idle.is_empty()
        );
    }
}

/// Copies are right whatever the reverse code does.
#[test]
fn copies_do_not_need_reverse_code() {
    for bug in [Bug::ForgetsAField, Bug::Panics, Bug::RestoresTooMuch] {
        assert!(Simulation::new(Shop { bug }).end(20.0).undo(Undo::Copy).verify().is_ok());
    }
}

#[test]
fn wrong_reverse_code_is_found_at_its_first_event() {
    let found = assert_found_at_once(Bug::ForgetsAField, "state.served");
    assert_eq!((found.expected.as_str(), found.found.as_str()), ("0", "1"));
    assert_found_at_once(Bug::RestoresInTheWrongOrder, "state.total");
    assert_found_at_once(Bug::ForgetsAPush, "state.queue");
    assert_found_at_once(Bug::PopsTheWrongEnd, "state.queue");
    assert_found_at_once(Bug::DrawsFromAnotherStream, "state.luck");
}

/// The state is right, but not all saved values are restored, or more than were saved.
#[test]
fn unequal_saves_and_restores_are_found() {
    let found = assert_found_at_once(Bug::RestoresTooLittle, "saved");
    assert_words(&found.to_string(), &["1 more"]);
    let found = assert_found_at_once(Bug::RestoresTooMuch, "saved");
    assert_words(&found.to_string(), &["restored more values"]);
}

#[test]
fn reverse_code_that_is_rarely_wrong_is_found() {
    let (mismatch, text) =
        mismatch(Simulation::new(Shop { bug: Bug::IsWrongAt(57) }).undo(Undo::Reverse));
    assert_eq!(
        mismatch.place,
        Place::Event {
            lp: LpId(1),
            time: 57.25,
            number: Some(57),
            payload: "Customer { number: 56 }".into()
        }
    );
    // LP 0 is one event ahead of the other two.
    assert_eq!(mismatch.events, 57 + 56 + 56);
    assert_eq!(
        (mismatch.field.as_str(), mismatch.expected.as_str(), mismatch.found.as_str()),
        ("state.served", "56", "57")
    );
    assert_words(
        &text,
        &["LP 1", "57.25", "Customer { number: 56 }", "state.served", "169 events"],
    );
}

#[test]
fn reverse_code_that_panics_is_found() {
    let error = Simulation::new(Shop { bug: Bug::Panics })
        .undo(Undo::Reverse)
        .verify()
        .expect_err("it panics");
    assert_words(
        &error.to_string(),
        &["`Shop`", "LP 0", "Customer { number: 0 }", "reverse code lost its way"],
    );
}

/// State that undoing does not reach.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hidden {
    /// Shared between a state and its copy.
    InState,
    /// In the model, and the state depends on it.
    ReachesState,
    ReachesDelay,
    ReachesReceiver,
    ReachesPayload,
    ReachesPriority,
    ReachesNumberOfSends,
    ReachesDraws,
    ReachesObservations,
    ReachesRows,
}

#[derive(Debug)]
struct Secretive {
    hidden: Hidden,
    secret: AtomicU64,
}

const SECRETS: Counter = Counter::slot(0);
const ROWS: Table = Table(0);

#[derive(Clone, Debug)]
struct Open {
    seen: u64,
    shared: Arc<AtomicU64>,
}

#[model]
impl Model for Secretive {
    type State = Open;
    type Event = u64;
    fn lps(&self) -> u32 {
        1000
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SECRETS, "secrets", "", "");
        declare.table(ROWS, "rows", &[("secret", "")]);
    }

    fn init(&self, lp: &mut Init<Self>) -> Open {
        if lp.id().0 == 7 {
            lp.send(7, 2.5, 1000);
        }
        Open { seen: 0, shared: Arc::default() }
    }

    fn handle(&self, state: &mut Open, _: &u64, lp: &mut Context<Self>) {
        let secret = self.secret.fetch_add(1, Ordering::Relaxed);
        let when = |hidden| if self.hidden == hidden { secret } else { 0 };
        if self.hidden == Hidden::InState {
            state.shared.fetch_add(1, Ordering::Relaxed);
        }
        state.seen += 1 + when(Hidden::ReachesState);
        let to = 7 + when(Hidden::ReachesReceiver) as u32;
        let delay = 1.0 + when(Hidden::ReachesDelay) as f64;
        for _ in 0..=when(Hidden::ReachesNumberOfSends) {
            lp.send_with_priority(
                to,
                delay,
                when(Hidden::ReachesPriority) as i8,
                when(Hidden::ReachesPayload),
            );
        }
        for _ in 0..when(Hidden::ReachesDraws) {
            lp.stream(3).uniform();
        }
        lp.count(SECRETS, when(Hidden::ReachesObservations));
        lp.record(ROWS, &[when(Hidden::ReachesRows).into()]);
    }

    fn reverse(&self, state: &mut Open, _: &u64, _: &mut Reverse<Self>) {
        state.seen -= 1;
    }
}

#[test]
fn what_copies_cannot_undo_is_found() {
    for undo in [Undo::Copy, Undo::Reverse] {
        let model = Secretive { hidden: Hidden::InState, secret: AtomicU64::new(0) };
        let (mismatch, text) = mismatch(Simulation::new(model).undo(undo));
        assert_eq!((mismatch.when, mismatch.field.as_str()), ("after undoing it", "state.shared"));
        assert_eq!(
            (mismatch.expected.as_str(), mismatch.found.as_str(), mismatch.events),
            ("0", "1", 0)
        );
        assert_words(
            &text,
            &["`Secretive`", undo.name(), "LP 7", "time 2.5", "event 1 of", "(1000)"],
        );
    }
}

#[test]
fn what_depends_on_hidden_state_is_found() {
    let cases = [
        (Hidden::ReachesState, "state.seen"),
        (Hidden::ReachesDelay, "sends[0].time"),
        (Hidden::ReachesReceiver, "sends[0].to"),
        (Hidden::ReachesPayload, "sends[0].event"),
        (Hidden::ReachesPriority, "sends[0].priority"),
        (Hidden::ReachesNumberOfSends, "sends"),
        (Hidden::ReachesDraws, "random_positions"),
        (Hidden::ReachesObservations, "observations"),
        (Hidden::ReachesRows, "observations.cells"),
    ];
    for (hidden, field) in cases {
        let model = Secretive { hidden, secret: AtomicU64::new(0) };
        let (mismatch, text) = mismatch(Simulation::new(model).undo(Undo::Copy));
        assert_eq!(mismatch.when, "executed a second time", "{hidden:?}");
        assert!(
            mismatch.field.starts_with(field),
            "{hidden:?}: `{field}` and not `{}`",
            mismatch.field
        );
        assert_eq!(
            mismatch.place,
            Place::Event { lp: LpId(7), time: 2.5, number: Some(1), payload: "1000".into() },
            "{hidden:?}"
        );
        assert_words(&text, &["`Secretive`", "LP 7", "time 2.5", "a second time", field]);
    }
}

/// What decides when the next event happens, or what else the model does.
#[derive(Clone, Copy, PartialEq)]
enum Whim {
    FirstOfAHashMap,
    SharedByRuns,
    Writes,
}

struct Moody {
    whim: Whim,
    calls: AtomicU64,
    file: std::path::PathBuf,
}

impl Model for Moody {
    type State = HashMap<u64, u64>;
    type Event = ();

    fn lps(&self) -> u32 {
        1
    }

    fn init(&self, lp: &mut Init<Self>) -> HashMap<u64, u64> {
        if self.whim == Whim::SharedByRuns {
            self.calls.fetch_add(1, Ordering::Relaxed);
        }
        lp.send(0, 1.0, ());
        HashMap::new()
    }

    fn handle(&self, seen: &mut HashMap<u64, u64>, (): &(), lp: &mut Context<Self>) {
        seen.insert(seen.len() as u64, 0);
        match self.whim {
            Whim::FirstOfAHashMap => {
                lp.send(0, 1.0 + seen.keys().next().copied().unwrap_or_default() as f64, ())
            }
            Whim::SharedByRuns => lp.send(0, self.calls.load(Ordering::Relaxed) as f64, ()),
            Whim::Writes => {
                std::fs::write(&self.file, "an event").expect("there is room for a file");
                lp.send(0, 1.0, ());
            }
        }
    }
}

fn moody(whim: Whim, directory: &std::path::Path) -> Simulation<'static, Moody> {
    Simulation::new(Moody { whim, calls: AtomicU64::new(0), file: directory.join("file") })
}

#[test]
fn what_differs_between_two_equal_runs_is_found() {
    for whim in [Whim::FirstOfAHashMap, Whim::SharedByRuns] {
        let error = moody(whim, std::path::Path::new("")).verify().expect_err("two runs differ");
        let VerifyError::Unequal(unequal) = &error else { panic!("{error}") };
        assert_eq!((unequal.what[0], unequal.second), ("history", "in another thread"));
        assert_words(&error.to_string(), &["`Moody`", "two equal runs differ", "HashMap", "Mutex"]);
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "only Linux tells what a thread writes")]
fn handlers_that_write_are_found() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let (found, text) = mismatch(moody(Whim::Writes, directory.path()));
    assert_eq!(
        (found.place, found.found.as_str()),
        (
            Place::Event { lp: LpId(0), time: 1.0, number: Some(1), payload: "()".into() },
            "16 bytes in 2 writes"
        )
    );
    assert_words(&text, &["output to files, pipes or terminals", "when_settled"]);
}

/// With little time, verification tries a sample of the whole run.
#[test]
fn a_sample_is_drawn_from_the_whole_run() {
    let limits = VerifyLimits { each: Some(20), ..VerifyLimits::default() };
    let simulation = |bug| Simulation::new(Shop { bug }).end(3000.0).undo(Undo::Reverse);
    let verified = simulation(Bug::None).verify_within(limits).expect("nothing is wrong");
    assert!(
        verified.is_whole && verified.events > 8990 && (60..300).contains(&verified.tried),
        "{verified:?}"
    );
    let most = VerifyLimits { most: Some(100), ..VerifyLimits::default() };
    let verified = simulation(Bug::None).verify_within(most).expect("nothing is wrong");
    assert!(
        !verified.is_whole && (100..104).contains(&verified.events) && verified.virtual_time < 40.0,
        "{verified:?}"
    );
    let run = simulation(Bug::None).end(verified.virtual_time).run().expect("it runs").record;
    assert_eq!(verified.digest, run.digest);
}

/// LPs on a line that may send to the right, and follow instructions.
#[derive(Debug)]
struct Line {
    reach: u32,
    init_reach: u32,
}

impl Model for Line {
    type State = ();
    type Event = char;

    fn lps(&self) -> u32 {
        5
    }

    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        Some((lp.0 + 1..5).take(1).map(|to| Link { to: LpId(to), lookahead: 1.0 }).collect())
    }

    fn init(&self, lp: &mut Init<Self>) {
        if lp.id().0 == 1 {
            lp.send(1, 1.0, 'a');
            lp.send(1 + self.init_reach, 9.0, 'z');
        }
    }

    fn handle(&self, (): &mut (), letter: &char, lp: &mut Context<Self>) {
        if *letter == 'a' {
            lp.send(lp.id(), 1.0, 'b');
        } else if *letter == 'b' {
            lp.send(lp.id().0 + 1, 1.0, 'c');
            lp.send(lp.id().0 + self.reach, 1.0, 'c');
        }
    }
}

#[test]
fn sends_beyond_the_declared_links_are_found() {
    let right = Simulation::new(Line { reach: 1, init_reach: 1 }).verify();
    assert!(right.is_ok(), "{right:?}");
    let error = Simulation::new(Line { reach: 2, init_reach: 1 })
        .verify()
        .expect_err("there is no link from LP 1 to LP 3");
    assert_words(&error.to_string(), &["`Line`", "LP 1", "time 2", "'b'", "LP 3", "Model::links"]);
    let VerifyError::Run(Error::Fault(failure)) = error else { panic!("{error}") };
    assert_eq!(
        failure.place,
        Place::Event { lp: LpId(1), time: 2.0, number: Some(2), payload: "'b'".into() }
    );
    assert_eq!((failure.fault, failure.committed), (Fault::NoLink { to: LpId(3) }, 1));
}

/// What `init` sends is checked as well.
#[test]
fn first_sends_beyond_the_declared_links_are_found() {
    let error = Simulation::new(Line { reach: 1, init_reach: 3 })
        .verify()
        .expect_err("there is no link from LP 1 to LP 4");
    assert_words(&error.to_string(), &["`Line`", "LP 1", "LP 4", "Model::links"]);
    let VerifyError::Run(Error::Fault(failure)) = error else { panic!("{error}") };
    assert_eq!(
        (failure.place, failure.fault),
        (Place::Init(LpId(1)), Fault::NoLink { to: LpId(4) })
    );
}

/// A model that fails in a run fails in the same way when it is verified.
#[test]
fn mistakes_are_reported_as_in_a_run() {
    #[derive(Debug)]
    struct Faulty;
    impl Model for Faulty {
        type State = u32;
        type Event = ();
        fn lps(&self) -> u32 {
            1
        }
        fn init(&self, lp: &mut Init<Self>) -> u32 {
            lp.send(0, 1.0, ());
            0
        }
        fn handle(&self, seen: &mut u32, (): &(), lp: &mut Context<Self>) {
            *seen += 1;
            lp.send(0, if *seen == 5 { -1.0 } else { 1.0 }, ());
        }
    }
    let run = Simulation::new(Faulty).run().expect_err("the fifth event is wrong");
    let verified = Simulation::new(Faulty).verify().expect_err("the fifth event is wrong");
    assert_eq!(run.to_string(), verified.to_string());
}

/// Trying events out has no effects: files of an earlier run stay as they are.
#[test]
fn trials_write_no_rows() {
    let recipe = Recipe { recording: true, ..Recipe::from_seed(3) };
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let simulation = || {
        Simulation::new(RandomModel::<1, Inline>::new(&recipe))
            .records(Records::Write(directory.path().to_owned()))
    };
    let rows = || std::fs::read_to_string(directory.path().join("visits.csv"));
    simulation().end(3.0).undo(Undo::Reverse).verify().expect("nothing is wrong");
    assert!(rows().is_err(), "no file was made");
    simulation().run().expect("nothing is wrong");
    let written = rows().expect("the run made one");
    simulation().end(3.0).verify().expect("nothing is wrong");
    assert_eq!(rows().expect("it is there"), written);
}

proptest! {
    #![proptest_config(Config { cases: cases(40), failure_persistence: None, max_shrink_iters: 500, ..Config::default() })]

    #[test]
    fn random_models_pass(recipe: Recipe, seed: u64, end in 1.0..40.0) {
        // Comparing costs a hundred times as much as executing.
        let recipe = Recipe { energy: recipe.energy.min(1 + 800 / (recipe.lps * recipe.starters)), ..recipe };
        let simulation = || Simulation::new(RandomModel::<1, Inline>::new(&recipe)).seed(seed).end(end);
        let run = simulation().run().map_err(|error| TestCaseError::fail(error.to_string()))?.record;
        for undo in [Undo::Copy, Undo::Reverse, Undo::Journal] {
            let verified = simulation().undo(undo).verify().map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!((verified.events, &verified.digest), (run.committed_events, &run.digest));
        }
    }
}
