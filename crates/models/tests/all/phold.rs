//! `phold` against renewal theory, and its clusters against their probabilities.

use warpline::base::VirtualTime;
use warpline::prelude::*;
use warpline::{Pending, Run};
use warpline_models::phold::{Phold, PholdParameters};
use warpline_testkit::time_limit;

fn run<const BYTES: usize>(parameters: &PholdParameters, end: f64) -> Run<Phold<BYTES>> {
    let _limit = time_limit(("phold", end));
    Simulation::configured(parameters).unwrap().end(end).seed(11).run().unwrap()
}

/// Each message hops with independent delays of mean m = lookahead + mean and variance mean²: by time t it has hopped
/// t/m + (σ²/m² - 1)/2 times on average, with variance σ² t/m³ (Cox, "Renewal theory", 1962).
#[test]
fn hops_follow_renewal_theory() {
    for (mean, lookahead, population) in [(1.0, 0.1, 1), (0.5, 0.5, 4), (2.0, 0.0, 2)] {
        let parameters = PholdParameters { lps: 2_000, population, mean, lookahead, ..PholdParameters::default() };
        let (end, messages) = (100.0, f64::from(2_000 * population));
        let hop = mean + lookahead;
        let expected = messages * (end / hop + (mean * mean / (hop * hop) - 1.0) / 2.0);
        let deviation = (messages * mean * mean * end / hop.powi(3)).sqrt();
        let hops = run::<8>(&parameters, end).record.committed_events as f64;
        assert!((hops - expected).abs() < 4.0 * deviation, "{hops} hops, {expected} ± {deviation} expected");
    }
}

fn remote(run: &Run<Phold<8>>) -> f64 {
    run.record.results["remote_messages"].as_f64().unwrap()
}

#[test]
fn clusters_are_left_with_their_probability() {
    for (clusters, remote_share, reach) in [(2, 0.1, 0), (8, 0.5, 1), (10, 0.9, 4), (4, 0.0, 0), (4, 1.0, 0)] {
        let parameters = PholdParameters { lps: 400, clusters, remote: remote_share, reach, ..PholdParameters::default() };
        let run = run::<8>(&parameters, 500.0);
        let sent = run.record.committed_events as f64;
        let deviation = (sent * remote_share * (1.0 - remote_share)).sqrt();
        assert!((remote(&run) - sent * remote_share).abs() <= 4.0 * deviation, "{} of {sent} left", remote(&run));
    }
}

/// Messages go to all clusters within reach, on either side of the ring, and to no other.
#[test]
fn reach_bounds_the_distance() {
    const CLUSTERS: i64 = 10;
    for reach in [1, 3, 4] {
        let parameters = PholdParameters { lps: 100, clusters: 10, remote: 1.0, reach, ..PholdParameters::default() };
        let model = Phold::<8>::configure(&parameters).unwrap();
        let mut context = Context::new(&model, 1, 10, false);
        let mut state = context.init(&model, LpId(0));
        let message = context.outbox_mut().pop().unwrap().event;
        let mut seen = std::collections::BTreeSet::new();
        for event in 1..2_000 {
            let from = LpId(event as u32 % 100);
            context.begin(from, event, VirtualTime::ZERO, 0);
            model.handle(&mut state, &message, &mut context);
            let to = context.outbox_mut().pop().unwrap().to;
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
    let digest = run::<8>(&parameters, 50.0).record.digest;
    assert_eq!(run::<512>(&PholdParameters { payload: 500, ..parameters.clone() }, 50.0).record.digest, digest);
    assert_eq!(run::<8>(&PholdParameters { epg: 10, ..parameters.clone() }, 50.0).record.digest, digest);
    let heap = Simulation::<Phold<8>>::configured(&parameters).unwrap().end(50.0).seed(11).pending(Pending::Heap).run().unwrap();
    assert_eq!(heap.record.digest, digest);
}

#[test]
fn both_ways_of_undo_pass_verification() {
    for (clusters, reach) in [(1, 0), (4, 0), (5, 2)] {
        let parameters = PholdParameters { lps: 60, population: 3, clusters, reach, lookahead: 0.0, ..PholdParameters::default() };
        let simulation = || Simulation::<Phold<64>>::configured(&parameters).unwrap().end(20.0);
        let run = simulation().run().unwrap();
        for undo in [Undo::Copy, Undo::Reverse] {
            assert_eq!(simulation().undo(undo).verify().unwrap().digest, run.record.digest);
        }
    }
}

#[test]
fn parameters_that_do_not_go_together_are_explained() {
    let refused = |parameters: PholdParameters| Simulation::<Phold<8>>::configured(&parameters).err().unwrap().to_string();
    let basic = PholdParameters { lps: 100, ..PholdParameters::default() };
    assert!(refused(PholdParameters { clusters: 7, ..basic.clone() }).contains("do not divide 100 LPs"));
    assert!(refused(PholdParameters { clusters: 4, reach: 2, ..basic.clone() }).contains("choose `reach` below 2"));
    assert!(refused(PholdParameters { payload: 100, ..basic.clone() }).contains("Phold<100>"));
    assert!(refused(PholdParameters { lookahead: f64::NAN, ..basic }).contains("lookahead"));
}
