//! Waits for any, all or some of several things.

use warpline::process::prelude::*;

use crate::story::told;

#[test]
fn all_of_several_kinds_have_their_values() {
    let story = told(|sim, log| async move {
        let ready = Signal::new(sim, "ready");
        let worker = sim.spawn(async move {
            sim.sleep(2.0).await;
            "done"
        });
        ready.trigger(7);
        sim.send(0, 3.0, 9);
        let all = all_of(sim.join(worker), all_of(ready.wait(), sim.receive())).await;
        log.note(sim, format!("{all:?}"));
    })
    .unwrap();
    assert_eq!(story.lines, ["3 (Ok(\"done\"), (7, 9))"]);
}

#[test]
fn conditions_nest() {
    let story = told(|sim, log| async move {
        let sleep = |delay| async move {
            sim.sleep(delay).await;
            delay
        };
        // (1 and 3) or 2
        let first = any_of(all_of(sleep(1.0), sleep(3.0)), sleep(2.0)).await;
        log.note(sim, format!("{first:?}"));
        // (1 or 3) and 2
        let both = all_of(any_of(sleep(1.0), sleep(3.0)), sleep(2.0)).await;
        log.note(sim, format!("{both:?}"));
        // three, of which one is a limit
        let three = any_of(sleep(4.0), any_of(sleep(3.0), sim.sleep(1.5))).await;
        log.note(sim, format!("{three:?}"));
        sim.sleep(10.0).await;
    })
    .unwrap();
    let lines = ["2 Second(2.0)", "4 (First(1.0), 2.0)", "5.5 Second(Second(()))"];
    assert_eq!(story.lines, lines);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn some_of_a_list_have_values_by_their_places() {
    let story = told(|sim, log| async move {
        let sleep = |delay| {
            sim.spawn(async move {
                sim.sleep(delay).await;
                delay
            })
        };
        let workers = [3.0, 1.0, 2.0, 2.0].map(sleep);
        let two = some_in(2, workers.map(|worker| sim.join(worker))).await;
        let values: Vec<_> = two.into_iter().map(Option::transpose).collect();
        // Both that end at time 2 are over when the list is looked at.
        log.note(sim, format!("{values:?}"));
        let all = all_in(workers.map(|worker| sim.join(worker))).await;
        log.note(sim, format!("{all:?}"));
        assert!(all_in(Vec::<warpline::process::Join<()>>::new()).await.is_empty());
        assert_eq!(some_in(0, [sim.sleep(9.0)]).await, [None]);
    })
    .unwrap();
    let lines = [
        "2 [Ok(None), Ok(Some(1.0)), Ok(Some(2.0)), Ok(None)]",
        "3 [Ok(3.0), Ok(1.0), Ok(2.0), Ok(2.0)]",
    ];
    assert_eq!(story.lines, lines);
    assert_eq!((story.lp.waits(), story.lp.processes()), (0, 0));
}

#[test]
fn what_is_over_already_counts() {
    let story = told(|sim, log| async move {
        let done = sim.spawn(async { 1 });
        sim.sleep(1.0).await;
        log.note(sim, format!("{:?}", any_of(sim.sleep(1.0), sim.join(done)).await));
        log.note(sim, format!("{:?}", all_of(sim.join(done), sim.join(done)).await));
        let signal = Signal::new(sim, "signal");
        signal.trigger(2);
        log.note(sim, format!("{:?}", any_in([signal.wait(), signal.wait()]).await));
    })
    .unwrap();
    assert_eq!(story.lines, ["1 Second(Ok(1))", "1 (Ok(1), Ok(1))", "1 (0, 2)"]);
}

/// Of two that come at one instant the first counts, and nothing of the other is lost.
#[test]
fn what_was_not_taken_goes_back() {
    let story = told(|sim, log| async move {
        let store = Store::new(sim, "store");
        let till = Resource::new(sim, "till", 1);
        let tank = Container::new(sim, "tank", 10.0, 0.0);
        sim.spawn_after(2.0, async move {
            store.put(5).await;
            tank.put(5.0).await;
        });
        let got = any_of(store.get(), any_of(tank.get(5.0), till.request())).await;
        assert!(matches!(got, Either::Second(Either::Second(_))));
        log.note(sim, format!("{} {}", till.in_use(), store.waiting()));
        drop(got);
        let got = any_of(store.get(), tank.get(5.0)).await;
        log.note(sim, format!("{got:?} {} {}", store.len(), tank.level()));
        sim.sleep(1.0).await;
        log.note(sim, format!("{} {}", till.in_use(), tank.level()));
    })
    .unwrap();
    assert_eq!(story.lines, ["0 1 0", "2 First(5) 0 5", "3 0 5"]);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn what_is_put_and_got_at_once_is_part_of_conditions() {
    let story = told(|sim, log| async move {
        let store = Store::limited(sim, "store", 1);
        sim.spawn(async move {
            let both = all_of(store.put("fish"), store.put("meat")).await;
            all_in([store.put("bread")]).await;
            both
        });
        sim.sleep(1.0).await;
        let both = all_of(store.get(), store.get_matching(|item| item.starts_with('m'))).await;
        log.note(sim, format!("{both:?}"));
        let [some] = some_in(1, [store.get()]).await.try_into().unwrap();
        log.note(sim, some.unwrap());
    })
    .unwrap();
    assert_eq!(story.lines, ["1 (\"fish\", \"meat\")", "1 bread"]);
}

#[test]
fn a_condition_is_shared_by_those_who_wait_for_its_process() {
    let story = told(|sim, log| async move {
        let both = sim.spawn(async move {
            all_of(sim.sleep(1.0), sim.sleep(2.0)).await;
            sim.now()
        });
        for _ in 0..2 {
            let log = log.clone();
            sim.spawn(async move { log.note(sim, sim.join(both).await.unwrap()) });
        }
    })
    .unwrap();
    assert_eq!(story.lines, ["2 2", "2 2"]);
}
