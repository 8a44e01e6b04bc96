//! `simplesim` against renewal theory while lists grow, and against Little's law once they have
//! grown.

use crate::network_support::interval;
use warpline::base::VirtualTime;
use warpline::engine::Executor;
use warpline::prelude::*;
use warpline::{Run, serde_json::Value};
use warpline_models::simplesim::{Event, SimpleSim, SimpleSimParameters, State};
use warpline_testkit::time_limit;

fn parameters(lps: u32, limit: u32) -> SimpleSimParameters {
    SimpleSimParameters { lps, limit, ..SimpleSimParameters::default() }
}

fn run(parameters: &SimpleSimParameters, warmup: f64, end: f64, seed: u64) -> Run<SimpleSim> {
    let _limit = time_limit(("simplesim", warmup, end, seed));
    Simulation::configured(parameters).unwrap().warmup(warmup).end(end).seed(seed).run().unwrap()
}

fn number(results: &Value, name: &str) -> f64 {
    results[name].as_f64().unwrap_or_else(|| panic!("{name} in {results}"))
}

/// How many events follow from the first event of one LP before `end`, itself included, on average,
/// if each leads to two others.
///
/// The first is uniform in 0 to 5 s, and the delay between one and the next in 6 to 10 s. With F
/// the distribution of the first and I the integral of M, the renewal equation of this branching
/// process is M(t) = F(t) + 2 (I(t - 6) - I(t - 10)) / 4.
fn doubling(end: f64) -> f64 {
    const STEPS: usize = 1000;
    let step = 1.0 / STEPS as f64;
    let mut mean: Vec<f64> = vec![0.0];
    let mut integral: Vec<f64> = vec![0.0];
    for t in 1..=(end * STEPS as f64) as usize {
        let before =
            |seconds: usize| t.checked_sub(seconds * STEPS).map_or(0.0, |past| integral[past]);
        mean.push((t as f64 * step / 5.0).min(1.0) + (before(6) - before(10)) / 2.0);
        integral.push(integral[t - 1] + (mean[t - 1] + mean[t]) / 2.0 * step);
    }
    mean[mean.len() - 1]
}

#[test]
fn lists_below_the_limit_grow_as_a_branching_process() {
    // By 12 s, a rectangle of 5 by 4 less a triangle with legs of 3 says how many of the second
    // generation have been executed.
    assert!(
        (doubling(5.0) - 1.0).abs() < 1e-9
            && (doubling(12.0) - (1.0 + 2.0 * (1.0 - 4.5 / 20.0))).abs() < 1e-5
    );
    let lps = 300;
    for end in [23.0, 60.0] {
        let executed = |seed: u64| {
            number(&run(&parameters(lps, 1_000_000), 0.0, end, seed).record.results, "executed")
        };
        let (mean, half) = interval(std::array::from_fn(|seed| executed(seed as u64)));
        let truth = doubling(end) * f64::from(lps);
        assert!(
            (mean - truth).abs() < half && half < 0.03 * truth,
            "until {end}: {mean} ± {half} against {truth}"
        );
    }
}

/// Once no list is shorter than the limit, the number of messages is constant. Each takes 8 s on
/// average to its next event, of which it waits 3 s in a list.
#[test]
fn full_lists_follow_littles_law() {
    const POPULATED: f64 = 1000.0;
    for (lps, limit, lookahead, wait_share) in [(4, 300, 5.0, 3.0 / 8.0), (8, 100, 1.0, 3.0 / 4.0)]
    {
        let parameters =
            SimpleSimParameters { lookahead, message_size: 16, ..parameters(lps, limit) };
        let warmup = POPULATED;
        let end = 4000.0;
        let until = |end: f64| run(&parameters, 0.0, end, 5).record.results;
        let [before, after] = [until(warmup), until(end)];
        let messages = |results: &Value| {
            number(results, "sent") - number(results, "executed") + f64::from(lps)
        };
        // The number still grows a little when a list is short by chance.
        let least = messages(&before);
        let most = messages(&after);
        assert!(
            least > f64::from(lps * limit) && most < 1.06 * least,
            "{least} messages at {warmup} s and {most} at {end} s"
        );
        let run = run(&parameters, warmup, end, 5).record;
        let length = &run.results["list_length"];
        let mean = number(length, "mean");
        let half = number(length, "ci95");
        let per_list = |messages: f64| messages * wait_share / f64::from(lps);
        assert!(
            per_list(least) - 2.0 * half < mean && mean < per_list(most) + 2.0 * half,
            "{mean} ± {half}, {least} to {most} messages"
        );
        let rate = (number(&after, "executed") - number(&before, "executed")) / (end - warmup);
        assert!(
            (rate * 3.0 / f64::from(lps) / mean - 1.0).abs() < 0.005,
            "{rate} events/s of 3 s each in lists of {mean}"
        );
        assert_eq!(
            number(&run.results, "executed"),
            number(&after, "executed") - number(&before, "executed")
        );
    }
}

/// The bound on messages in the model's documentation, for a run as long as the source's. With
/// lists this short, chance decides; with longer ones, how far they have grown.
#[test]
fn messages_stay_within_their_bound_for_25_000_s() {
    for limit in [2, 20, 50] {
        let messages = |end: f64| {
            let results =
                run(&SimpleSimParameters { message_size: 16, ..parameters(4, limit) }, 0.0, end, 3)
                    .record
                    .results;
            (number(&results, "sent") - number(&results, "executed")) / 4.0 + 1.0
        };
        let limit = f64::from(limit);
        let bound = (8.0 / 3.0 * (limit + 18.0 + 6.0 * (limit + 9.0).sqrt())).max(3.5 * limit);
        let [early, late] = [1000.0, 25_000.0].map(messages);
        assert!(
            late <= bound && late > 0.3 * bound,
            "{late} messages per LP with a limit of {limit}, at most {bound}"
        );
        assert!(
            early <= late && late < early + 40.0,
            "{early} messages per LP at 1000 s, {late} at the end, with a limit of {limit}"
        );
    }
}

#[test]
fn lists_hold_what_arrived_and_was_not_executed() {
    let run = run(&parameters(8, 50), 0.0, 300.0, 2);
    let results = &run.record.results;
    let [sent, received, executed] =
        ["sent", "received", "executed"].map(|name| results[name].as_u64().unwrap());
    let waiting: f64 = run.states.iter().map(|state| state.length.get()).sum();
    assert_eq!((received + 8 - executed) as f64, waiting);
    assert_eq!(run.record.committed_events, received + executed);
    assert_eq!(run.states.iter().map(|state| state.made).sum::<u64>(), sent + 8);
    // A message is on its way for 5 s: by Little's law 5/3 as many as wait.
    assert!(
        sent > received && ((sent - received) as f64 / waiting * 0.6 - 1.0).abs() < 0.2,
        "{} and {waiting}",
        sent - received
    );
    let longest = number(&results["list_length"], "max");
    assert!(longest > 50.0 && longest < 150.0, "the longest list has {longest}");
    assert_eq!(run.record.series.keys().collect::<Vec<_>>(), ["executed", "in_lists"]);
}

/// The effect of one event on an LP with a list of this length: its new state, and what it sends.
fn after(model: &SimpleSim, length: f64, event: &Event) -> (State, Vec<(LpId, f64, Event)>) {
    let mut executor = Executor::new(model, 1, 10, false);
    let mut state = State { length: Level::default(), made: 70, checksum: 0 };
    executor.begin(LpId(2), 1, VirtualTime::ZERO, 0);
    state.length.set(length, TimeMean::slot(3), executor.lp());
    model.handle(&mut state, event, executor.lp());
    let sent =
        executor.outbox_mut().drain(..).map(|sent| (sent.to, f64::from(sent.time), sent.event));
    (state, sent.collect())
}

#[test]
fn the_limit_decides_on_a_second_message() {
    let model =
        SimpleSim::configure(&SimpleSimParameters { lookahead: 2.5, ..parameters(3, 10) }).unwrap();
    let event = Event::Execute { bytes: Payload::zeroed(500) };
    for (length, messages) in [(1.0, 2), (10.0, 2), (11.0, 1), (500.0, 1)] {
        let (state, sent) = after(&model, length, &event);
        assert_eq!(
            (state.length.get(), state.made, sent.len()),
            (length - 1.0, 70 + messages, messages as usize)
        );
        for (_, delay, event) in &sent {
            let Event::Arrive { wait, bytes } = event else { panic!("{event:?}") };
            assert!(*delay == 2.5 && (1.0..5.0).contains(wait) && bytes.len() == 500);
            let (state, due) = after(&model, length, event);
            assert_eq!(
                (state.length.get(), state.made, due.len(), due[0].0, due[0].1),
                (length + 1.0, 70, 1, LpId(2), *wait)
            );
            let Event::Execute { bytes: executed } = &due[0].2 else { panic!("{due:?}") };
            assert_eq!(executed.as_ptr(), bytes.as_ptr(), "no copy");
        }
    }
}

/// Messages have the size that was asked for, no two are equal, and the receiver's checksum shows
/// if a mark is wrong.
#[test]
fn bytes_of_messages_differ_and_are_checked() {
    for size in [0, 1, 7, 8, 500, 4096, 5000, 65_536] {
        let model =
            SimpleSim::configure(&SimpleSimParameters { message_size: size, ..parameters(3, 10) })
                .unwrap();
        let sent = |from: f64| after(&model, from, &Event::Execute { bytes: Payload::empty() }).1;
        let bytes: Vec<Payload> = sent(1.0)
            .into_iter()
            .map(|(_, _, event)| SimpleSim::payload(&event).unwrap().clone())
            .collect();
        let checksum = |bytes: &Payload| {
            after(&model, 1.0, &Event::Execute { bytes: bytes.clone() }).0.checksum
        };
        assert!(bytes.iter().all(|bytes| bytes.len() == size as usize));
        // Messages 70 and 71 of LP 2. Too few bytes have no room for the number.
        assert_eq!(bytes[0] == bytes[1], size < 5, "{size}: {bytes:?}");
        assert_eq!(checksum(&bytes[0]) == checksum(&bytes[1]), size < 5);
        let last = (size as usize).saturating_sub(1);
        for wrong in
            [0, 7, last.saturating_sub(7), last].into_iter().filter(|wrong| *wrong < size as usize)
        {
            let mut changed = bytes[0].clone();
            changed.make_mut()[wrong] ^= 1;
            assert_ne!(checksum(&changed), checksum(&bytes[0]), "byte {wrong} of {size}");
        }
        assert_ne!(checksum(&bytes[0]), checksum(&Payload::zeroed(size as usize + 1)));
    }
}

#[test]
fn both_ways_of_undo_pass_verification() {
    for (limit, lookahead, message_size) in [(5, 5.0, 500), (0, 0.0, 0), (100, 0.0, 5000)] {
        let parameters = SimpleSimParameters { lookahead, message_size, ..parameters(4, limit) };
        let simulation = || Simulation::<SimpleSim>::configured(&parameters).unwrap().end(30.0);
        let run = simulation().run().unwrap();
        for undo in [Undo::Copy, Undo::Reverse, Undo::Journal] {
            assert_eq!(simulation().undo(undo).verify().unwrap().digest, run.record.digest);
        }
    }
}

/// The first event of an LP is in its list, even if the run ends before it is executed.
#[test]
fn a_run_without_events_has_lists() {
    let run = run(&parameters(3, 10), 0.0, 1e-9, 1);
    assert_eq!(run.record.committed_events, 0);
    assert_eq!(
        (&run.record.results["list_length"]["mean"], &run.record.results["list_length"]["max"]),
        (&1.0.into(), &1.0.into())
    );
}
