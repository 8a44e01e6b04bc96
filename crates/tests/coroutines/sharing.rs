//! Resources, containers and stores: who is served, in which order, and who keeps whom waiting.

use warpline::process::prelude::*;

use crate::story::told;

#[test]
fn a_resource_serves_in_order_and_knows_who_holds_it() {
    let story = told(|sim, log| async move {
        let till = Resource::new(sim, "till", 2);
        for number in 0..4 {
            let log = log.clone();
            sim.spawn(async move {
                let held = till.request().await;
                log.note(sim, number);
                sim.sleep(1.0 + f64::from(number % 2)).await;
                held.release();
                sim.sleep(1.0).await;
            });
        }
        sim.sleep(0.5).await;
        log.note(sim, format!("{} of {}", till.in_use(), till.capacity()));
        log.note(sim, format!("{} {}", till.waiting(), till.holders().len()));
        assert!(till.try_request().is_none());
    })
    .unwrap();
    assert_eq!(story.lines, ["0 0", "0 1", "0.5 2 of 2", "0.5 2 2", "1 2", "2 3"]);
}

#[test]
fn equal_priorities_are_served_in_the_order_of_asking_and_a_withdrawn_request_is_passed_over() {
    let story = told(|sim, log| async move {
        let till = Resource::new(sim, "till", 1);
        let held = till.request().await;
        for (name, priority) in [("a", 2), ("b", 1), ("c", 2), ("d", 1), ("e", -3)] {
            let log = log.clone();
            sim.spawn(async move {
                let patience = if name == "d" { 1.0 } else { 50.0 };
                if sim.timeout(patience, till.request_with_priority(priority)).await.is_some() {
                    log.note(sim, name);
                }
            });
        }
        sim.sleep(2.0).await;
        log.note(sim, till.waiting());
        drop(held);
    })
    .unwrap();
    assert_eq!(story.lines, ["2 4", "2 e", "2 b", "2 a", "2 c"]);
}

#[test]
fn what_is_held_goes_back_at_the_end_of_the_scope_whatever_ends_it() {
    let story = told(|sim, log| async move {
        let till = Resource::new(sim, "till", 1);
        let hold = async move || {
            let _till = till.request().await;
            sim.interruptible(sim.sleep(5.0)).await?;
            Ok::<(), Interrupted>(())
        };
        let holder = sim.spawn(async move { hold().await.is_err() });
        sim.sleep(1.0).await;
        sim.interrupt(holder, "leave");
        assert_eq!(sim.join(holder).await, Ok(true));
        log.note(sim, till.in_use());
    })
    .unwrap();
    assert_eq!(story.lines, ["1 0"]);
}

#[test]
fn the_first_who_waits_at_a_container_keeps_those_behind_waiting() {
    let story = told(|sim, log| async move {
        let tank = Container::new(sim, "tank", 10.0, 2.0);
        let get = |name: &'static str, amount| {
            let log = log.clone();
            sim.spawn(async move {
                tank.get(amount).await;
                log.note(sim, name);
            })
        };
        let large = get("large", 5.0);
        get("small", 1.0);
        sim.sleep(1.0).await;
        assert_eq!((tank.waiting_to_get(), tank.level(), tank.capacity()), (2, 2.0, 10.0));
        assert!(!tank.try_get(1.0) && tank.waiting_to_get() == 2, "others come before");
        sim.cancel(large);
        sim.sleep(1.0).await;
        assert!(tank.try_get(1.0) && tank.try_put(10.0) && !tank.try_put(0.5));
        let full = tank.put(4.0);
        let behind = tank.put(1.0);
        assert_eq!(tank.waiting_to_put(), 2);
        tank.get(2.0).await;
        assert_eq!((tank.level(), tank.waiting_to_put()), (8.0, 2));
        drop(full);
        behind.await;
        log.note(sim, tank.level());
    })
    .unwrap();
    assert_eq!(story.lines, ["1 small", "2 9"]);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn who_wants_what_is_not_there_keeps_nobody_from_getting_another() {
    let story = told(|sim, log| async move {
        let store = Store::new(sim, "store");
        for (name, wanted) in [("a", 3), ("b", 1), ("c", 3)] {
            let log = log.clone();
            sim.spawn(async move {
                let got = store.get_matching(move |&(kind, _)| kind == wanted).await;
                log.note(sim, format!("{name} {got:?}"));
            });
        }
        sim.sleep(1.0).await;
        assert_eq!(store.waiting(), 3);
        for item in [(2, 'x'), (1, 'x'), (3, 'x'), (3, 'y')] {
            store.put(item).await;
            sim.sleep(1.0).await;
        }
        log.note(sim, format!("{:?} {:?}", store.try_get(), store.try_get()));
    })
    .unwrap();
    let lines = ["2 b (1, 'x')", "3 a (3, 'x')", "4 c (3, 'y')", "5 Some((2, 'x')) None"];
    assert_eq!(story.lines, lines);
}

#[test]
fn what_is_shared_is_looked_at_when_the_run_has_ended() {
    let story = told(|sim, log| async move {
        let till = Resource::new(sim, "till", 1);
        let store = Store::new(sim, "store");
        let tank = Container::new(sim, "tank", 9.0, 4.0);
        let name = Shared::new(sim, String::from("shop"));
        sim.at_end(move |end| {
            let figures = end.figures(till);
            log.measure(end.now());
            log.measure(figures.mean_in_use);
            log.measure(f64::from(end.in_use(till)) + end.waiting(till) as f64);
            log.measure(end.items(store).sum::<f64>() + end.level(tank));
            log.measure(end.shared(name).unwrap().len() as f64);
        });
        sim.sleep(50.0).await;
        store.put(2.0).await;
        store.put(3.0).await;
        let held = till.request().await;
        till.request().await.release();
        drop(held);
    })
    .unwrap();
    assert_eq!(story.values, [100.0, 0.5, 2.0, 9.0, 4.0]);
}

#[test]
fn a_full_store_lets_in_by_turns_and_forgets_who_gave_up() {
    let story = told(|sim, log| async move {
        let store = Store::limited(sim, "store", 1);
        assert_eq!((store.try_put(0), store.try_put(9), store.capacity()), (Ok(()), Err(9), 1));
        for number in 1..4 {
            let log = log.clone();
            sim.spawn(async move {
                if sim.timeout(f64::from(number) * 2.0, store.put(number)).await.is_some() {
                    log.note(sim, format!("{number} is in"));
                }
            });
        }
        sim.sleep(3.0).await;
        assert_eq!((store.waiting_to_put(), store.len()), (2, 1));
        for _ in 0..3 {
            log.note(sim, store.get().await);
        }
        assert!(store.is_empty());
    })
    .unwrap();
    assert_eq!(story.lines, ["3 0", "3 2", "3 3", "3 2 is in", "3 3 is in"]);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn an_ordered_store_keeps_its_order_among_equals_and_when_an_item_comes_back() {
    let story = told(|sim, log| async move {
        let order = |a: &(u32, char), b: &(u32, char)| a.0.cmp(&b.0);
        let store = Store::ordered(sim, "store", 9, order);
        for item in [(5, 'a'), (1, 'b'), (5, 'c'), (1, 'd')] {
            store.put(item).await;
        }
        let got = store.get();
        store.put((0, 'e')).await;
        drop(got); // (1, 'b')
        let mut items = Vec::new();
        while let Some((number, letter)) = store.try_get() {
            items.push(format!("{number}{letter}"));
        }
        log.note(sim, items.join(" "));
    })
    .unwrap();
    assert_eq!(story.lines, ["0 0e 1b 1d 5a 5c"]);
}
