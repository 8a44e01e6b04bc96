//! `phold` against renewal theory, and its clusters against their probabilities.

use warpline::base::VirtualTime;
use warpline::engine::Executor;
use warpline::prelude::*;
use warpline::record::View;
use warpline::{Pending, Run};
use warpline_models::phold::{Phold, PholdParameters, Rest};
use warpline_testkit::time_limit;

fn run(parameters: &PholdParameters, end: f64) -> Run<Phold> {
    run_with(parameters, end)
}

fn run_with<R: Rest>(parameters: &PholdParameters, end: f64) -> Run<Phold<R>> {
    let _limit = time_limit(("phold", end));
    Simulation::configured(parameters).unwrap().end(end).seed(11).run().unwrap()
}

/// Each message hops with independent delays of mean m = lookahead + mean and variance mean²: by
/// time t it has hopped t/m + (σ²/m² - 1)/2 times on average, with variance σ² t/m³ (Cox, "Renewal
/// theory", 1962).
#[test]
fn hops_follow_renewal_theory() {
    for (mean, lookahead, population) in [(1.0, 0.1, 1), (0.5, 0.5, 4), (2.0, 0.0, 2)] {
        let parameters = PholdParameters {
            lps: 2_000,
            population,
            mean,
            lookahead,
            ..PholdParameters::default()
        };
        let end = 100.0;
        let messages = f64::from(2_000 * population);
        let hop = mean + lookahead;
        let expected = messages * (end / hop + (mean * mean / (hop * hop) - 1.0) / 2.0);
        let deviation = (messages * mean * mean * end / hop.powi(3)).sqrt();
        let hops = run(&parameters, end).record.committed_events as f64;
        assert!(
            (hops - expected).abs() < 4.0 * deviation,
            "{hops} hops, {expected} ± {deviation} expected"
        );
    }
}

fn remote_messages(run: &Run<Phold>) -> f64 {
    run.record.results["remote_messages"].as_f64().unwrap()
}

#[test]
fn clusters_are_left_with_their_probability() {
    for (clusters, remote_share, reach) in
        [(2, 0.1, 0), (8, 0.5, 1), (10, 0.9, 4), (4, 0.0, 0), (4, 1.0, 0)]
    {
        let parameters = PholdParameters {
            lps: 400,
            clusters,
            remote: remote_share,
            reach,
            ..PholdParameters::default()
        };
        let run = run(&parameters, 500.0);
        let sent = run.record.committed_events as f64;
        let deviation = (sent * remote_share * (1.0 - remote_share)).sqrt();
        assert!(
            (remote_messages(&run) - sent * remote_share).abs() <= 4.0 * deviation,
            "{} of {sent} left",
            remote_messages(&run)
        );
    }
}

/// Messages go to all clusters within reach, on either side of the ring, and to no other.
#[test]
fn reach_bounds_the_distance() {
    const CLUSTERS: i64 = 10;
    for reach in [1, 3, 4] {
        let parameters = PholdParameters {
            lps: 100,
            clusters: 10,
            remote: 1.0,
            reach,
            ..PholdParameters::default()
        };
        let model = <Phold>::configure(&parameters).unwrap();
        let mut executor = Executor::new(&model, 1, 10, false);
        let mut state = executor.init(&model, LpId(0));
        let message = executor.outbox_mut().pop().unwrap().event;
        let mut seen = std::collections::BTreeSet::new();
        for event in 1..2_000 {
            let from = LpId(event as u32 % 100);
            executor.begin(from, event, VirtualTime::ZERO, 0);
            model.handle(&mut state, &message, executor.lp());
            let to = executor.outbox_mut().pop().unwrap().to;
            let distance = (i64::from(to.0 / 10) - i64::from(from.0 / 10)).rem_euclid(CLUSTERS);
            seen.insert(if distance > CLUSTERS / 2 { distance - CLUSTERS } else { distance });
        }
        let reach = i64::from(reach);
        assert_eq!(seen, (-reach..=reach).filter(|&distance| distance != 0).collect());
    }
}

#[test]
fn history_depends_on_neither_payload_size_nor_queue_nor_work() {
    let parameters = PholdParameters { lps: 500, ..PholdParameters::default() };
    let digest = run(&parameters, 50.0).record.digest;
    assert_eq!(
        run_with::<Payload>(&PholdParameters { payload: 500, ..parameters.clone() }, 50.0)
            .record
            .digest,
        digest
    );
    assert_eq!(run(&PholdParameters { epg: 10, ..parameters.clone() }, 50.0).record.digest, digest);
    let heap = Simulation::<Phold>::configured(&parameters)
        .unwrap()
        .end(50.0)
        .seed(11)
        .pending(Pending::Heap)
        .run()
        .unwrap();
    assert_eq!(heap.record.digest, digest);
}

/// 600 messages in five clusters, with a mean delay of 0.75.
fn workload(plots: bool) -> Run<Phold> {
    let parameters = PholdParameters {
        lps: 300,
        population: 2,
        clusters: 5,
        remote: 0.3,
        mean: 0.5,
        lookahead: 0.25,
        plots,
        ..PholdParameters::default()
    };
    run(&parameters, 400.0)
}

#[test]
fn plots_do_not_change_the_run() {
    let plain = workload(false);
    let shown = workload(true);
    assert_eq!((&plain.record.digest, &plain.states), (&shown.record.digest, &shown.states));
    assert_eq!((plain.record.series.len(), plain.record.views.len()), (0, 0));
}

#[test]
fn series_show_the_workload() {
    let shown = workload(true);
    let record = &shown.record;
    let committed = record.committed_events;
    // By renewal theory, the first slice has fewer events than the others, in which there are 600
    // messages with 1 / 0.75 hops each.
    let events = &record.series["events"];
    assert_eq!((events.counts.iter().sum::<u64>(), events.width()), (committed, 4.0));
    let expected = 600.0 * 4.0 / 0.75;
    assert!(
        events
            .slices()
            .skip(1)
            .all(|(_, _, count)| count.is_some_and(|count| (count / expected - 1.0).abs() < 0.1)),
        "{events:?}"
    );
    let remote = &record.series["remote_share"];
    assert!(
        remote.slices().all(|(_, _, share)| share.is_some_and(|share| (share - 0.3).abs() < 0.05)),
        "{remote:?}"
    );
    assert!(
        (record.results["remote_share"]["mean"].as_f64().unwrap() * committed as f64
            - remote_messages(&shown))
        .abs()
            < 1e-6
    );
    assert!(
        record.series["delay"]
            .slices()
            .all(|(_, _, delay)| delay.is_some_and(|delay| (delay - 0.75).abs() < 0.05))
    );
}

#[test]
fn views_show_the_distributions() {
    let shown = workload(true);
    let record = &shown.record;
    let committed = record.committed_events;
    let [View::Histogram(delay), View::Lines(both), View::Histogram(lps)] = &record.views[..]
    else {
        panic!("{:?}", record.views)
    };
    assert_eq!(
        (delay.title.as_str(), delay.bars.iter().map(|bar| bar.count).sum::<u64>()),
        ("delay", committed)
    );
    // Kolmogorov and Smirnov: among so many delays, the distribution functions are hardly ever more
    // than 2 / √n apart.
    let [(_, sent), (_, declared)] = &both.lines[..] else { panic!("{both:?}") };
    let apart = sent
        .iter()
        .zip(&declared[1..])
        .map(|((_, one), (_, other))| (one - other).abs())
        .fold(0.0, f64::max);
    assert!(apart < 2.0 / (committed as f64).sqrt() && declared.len() > 20, "{apart}");
    assert_eq!((declared[0].1, sent.last().unwrap().1), (0.0, 1.0));
    assert_eq!(
        (lps.bars.iter().map(|bar| bar.count).sum::<u64>(), lps.marks[0].1),
        (300, committed as f64 / 300.0)
    );
    let counts = record.results["events"].as_array().unwrap();
    assert_eq!(
        (counts.len(), counts.iter().filter_map(|count| count.as_u64()).sum::<u64>()),
        (300, committed)
    );
}

#[test]
fn plots_of_one_cluster_have_no_share_that_leaves_it() {
    let shown = run(&PholdParameters { lps: 20, plots: true, ..PholdParameters::default() }, 20.0);
    assert_eq!(shown.record.series.keys().collect::<Vec<_>>(), ["delay", "events"]);
    let quiet = run(
        &PholdParameters { lps: 1, plots: true, mean: 100.0, ..PholdParameters::default() },
        1e-6,
    );
    assert_eq!(
        (quiet.record.committed_events, quiet.record.views.len()),
        (0, 3),
        "plots of a run without events"
    );
}

#[test]
fn both_ways_of_undo_pass_verification() {
    for (clusters, reach) in [(1, 0), (4, 0), (5, 2)] {
        let parameters = PholdParameters {
            lps: 60,
            population: 3,
            clusters,
            reach,
            lookahead: 0.0,
            payload: 64,
            ..PholdParameters::default()
        };
        let simulation =
            || Simulation::<Phold<Payload>>::configured(&parameters).unwrap().end(20.0);
        let run = simulation().run().unwrap();
        for undo in [Undo::Copy, Undo::Reverse, Undo::Journal] {
            assert_eq!(simulation().undo(undo).verify().unwrap().digest, run.record.digest);
        }
    }
}

/// A payload has as many bytes as were asked for, keeps all but its number from hop to hop, and is
/// not copied.
#[test]
fn payloads_are_passed_on_as_they_are() {
    for payload in [0, 8, 9, 100, 65_536] {
        let model = <Phold<Payload>>::configure(&PholdParameters {
            lps: 300,
            payload,
            ..PholdParameters::default()
        })
        .unwrap();
        let mut executor = Executor::new(&model, 1, 10, false);
        let mut state = executor.init(&model, LpId(250));
        let received = executor.outbox_mut().pop().unwrap().event;
        assert_eq!(received.rest.len(), payload.saturating_sub(8) as usize);
        assert!(received.rest.iter().enumerate().all(|(index, &byte)| byte == (250 + index) as u8));
        executor.begin(LpId(250), 1, VirtualTime::ZERO, 0);
        model.handle(&mut state, &received, executor.lp());
        let sent = executor.outbox_mut().pop().unwrap();
        assert_eq!(sent.event.value, received.value ^ u64::from(sent.to.0));
        assert_eq!(
            (sent.event.rest.as_ptr(), sent.event.rest.len()),
            (received.rest.as_ptr(), received.rest.len())
        );
    }
}

/// The rest of the one message has 92 bytes and begins with 0.
#[test]
fn payloads_arrive() {
    let parameters = PholdParameters { lps: 1, payload: 100, ..PholdParameters::default() };
    let number = run(&PholdParameters { payload: 8, ..parameters.clone() }, 100.0);
    let all = run_with::<Payload>(&parameters, 100.0);
    assert_eq!(
        all.states[0].payloads - number.states[0].payloads,
        92 * all.record.committed_events
    );
    assert_eq!(all.record.results["payload_sum"].as_u64(), Some(all.states[0].payloads));
}

#[test]
fn parameters_that_do_not_go_together_are_explained() {
    let refused = |parameters: PholdParameters| {
        Simulation::<Phold>::configured(&parameters).err().unwrap().to_string()
    };
    let basic = PholdParameters { lps: 100, ..PholdParameters::default() };
    assert!(
        refused(PholdParameters { clusters: 7, ..basic.clone() }).contains("do not divide 100 LPs")
    );
    assert!(
        refused(PholdParameters { clusters: 4, reach: 2, ..basic.clone() })
            .contains("choose `reach` below 2")
    );
    assert!(
        refused(PholdParameters { payload: 100, ..basic.clone() })
            .contains("a payload of 100 bytes needs Phold<Payload>")
    );
    assert!(refused(PholdParameters { lookahead: f64::NAN, ..basic }).contains("lookahead"));
}
