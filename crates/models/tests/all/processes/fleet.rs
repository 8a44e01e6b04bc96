use super::about;
use crate::estimates::near;
use warpline::prelude::*;
use warpline::process::Mixed;
use warpline::serde_json::Value;
use warpline::{GoAhead, Synchronisation};
use warpline_models::processes::fleet::Fleet;
use warpline_testkit::time_limit;

fn simulation(fleet: &Fleet) -> Simulation<'static, Mixed<Fleet>> {
    Simulation::configured(fleet).unwrap().seed(3)
}

/// The probability of each number of vehicles in the only garage, by the machine repair model.
fn in_garage(fleet: &Fleet) -> Vec<f64> {
    let away = fleet.trip / fleet.breakdown + 2.0 * fleet.way;
    let mut weights = vec![1.0];
    for number in 0..fleet.vehicles {
        let served = f64::from(fleet.bays.min(number + 1)) / fleet.repair;
        let come = f64::from(fleet.vehicles - number) / away;
        weights.push(weights[number as usize] * come / served);
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// The time on the way may have any distribution, as nobody waits there.
#[test]
fn a_garage_with_its_vehicles_is_a_closed_network() {
    for (vehicles, bays) in [(6, 1), (20, 3)] {
        let fleet =
            Fleet { garages: 1, vehicles, bays, breakdown: 0.25, way: 2.0, ..Fleet::default() };
        let chances = in_garage(&fleet);
        let mean = |of: &dyn Fn(u32) -> u32| {
            (0u32..).zip(&chances).map(|(number, p)| f64::from(of(number)) * p).sum::<f64>()
        };
        let busy = mean(&|number| number.min(bays));
        let inside = mean(&|number| number);
        let rate = busy / fleet.repair;
        let end = 50_000.0;
        let run = simulation(&fleet).end(end).warmup(0.02 * end).run().unwrap();
        let found: Value = run.record.results.into();
        near(&found, "busy", busy);
        near(&found, "waiting", inside - busy);
        near(&found, "down", inside / rate + 2.0 * fleet.way);
        about(&found, "repairs", 0.98 * end * rate, 0.03);
        about(&found, "trips", 0.98 * end * rate / fleet.breakdown, 0.03);
    }
}

/// Garages wait until it is certain who comes. Vehicles go ahead meanwhile. Nothing undoes one that
/// has nothing to do with those that are repaired, unless it rolls back together with them.
#[test]
fn vehicles_go_ahead_of_garages_and_the_answer_is_one() {
    let _limit = time_limit("a fleet in all engines");
    let fleet = Fleet { garages: 4, vehicles: 9, breakdown: 0.2, ..Fleet::default() };
    let simulation = || simulation(&fleet).end(300.0);
    let expected = simulation().sync(Synchronisation::Sequential).run().unwrap();
    let parallel = || simulation().sync(Synchronisation::Mixed).go_ahead(GoAhead::Always);
    let mut ways = vec![
        simulation().sync(Synchronisation::Conservative).threads(2),
        simulation().sync(Synchronisation::Optimistic).threads(2),
        simulation().threads(2),
        parallel().threads(3),
        parallel().threads(2).use_lookahead(false),
    ];
    ways.extend((2..6).map(|pes| parallel().threads(pes).virtual_cluster(7).kps(1)));
    let [mut ahead, mut undone] = [0, 0];
    for (number, way) in ways.into_iter().enumerate() {
        let run = way.run().unwrap();
        assert_eq!(run.record.digest, expected.record.digest, "way {number}");
        assert_eq!(run.record.results, expected.record.results, "way {number}");
        assert_eq!(format!("{:?}", run.states), format!("{:?}", expected.states), "way {number}");
        let [garages, vehicles] = &run.record.kinds[..] else { panic!("{:?}", run.record.kinds) };
        assert_eq!((garages.lps, garages.conservative, garages.rolled_back_events), (4, true, 0));
        assert_eq!((vehicles.lps, vehicles.conservative), (36, false));
        ahead += run.record.parallel.as_ref().map_or(0, |parallel| parallel.ahead_events);
        undone += vehicles.rolled_back_events;
    }
    assert!(ahead > 10_000 && undone > 100, "{ahead} went ahead, {undone} were undone");
}

#[test]
fn vehicles_are_verified_and_garages_are_not() {
    let fleet = Fleet { garages: 2, vehicles: 10, breakdown: 0.2, ..Fleet::default() };
    let verified = simulation(&fleet).end(100.0).verify().unwrap();
    let [arrived, ..] = &verified.kinds[..] else { panic!("{verified:?}") };
    assert_eq!((arrived.lp.as_str(), arrived.tried), ("vehicle", arrived.events));
    let garages: Vec<_> = verified.kinds.iter().filter(|kind| kind.lp == "garage").collect();
    assert!(!garages.is_empty() && garages.iter().all(|kind| kind.tried == 0), "{garages:?}");
    assert!(!verified.never_undone && verified.tried > 900, "{verified:?}");
}

#[test]
fn settings_cannot_have_garages_go_ahead() {
    let fleet = Fleet::default();
    let refused = simulation(&fleet).conservative_lps(warpline::LpChoice::none()).threads(2).run();
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("leaves out LP 0") && message.contains("undoes"), "{message}");
    let plan = simulation(&fleet).sync(Synchronisation::Optimistic).threads(2).plan().unwrap();
    let sync = plan.into_iter().find(|setting| setting.name == "sync").unwrap();
    assert_eq!(sync.value, "mixed");
    assert!(sync.why.contains("nothing undoes what processes do"), "{}", sync.why);
}
