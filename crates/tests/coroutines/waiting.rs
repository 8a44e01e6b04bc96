//! What processes wait for, and what becomes of it.

use warpline::process::prelude::*;

use crate::story::told;

#[test]
fn what_is_ready_at_one_time_goes_on_in_the_order_in_which_it_became_ready() {
    let story = told(|sim, log| async move {
        for number in 0..3 {
            let log = log.clone();
            sim.spawn(async move {
                log.note(sim, format!("begins {number}"));
                sim.sleep(2.0).await;
                log.note(sim, format!("ends {number}"));
            });
        }
        log.note(sim, "started");
    })
    .unwrap();
    let lines = ["0 started", "0 begins 0", "0 begins 1", "0 begins 2"];
    assert_eq!(story.lines[..4], lines);
    assert_eq!(story.lines[4..], ["2 ends 0", "2 ends 1", "2 ends 2"]);
    assert_eq!((story.lp.processes(), story.lp.waits()), (0, 0));
}

#[test]
fn a_timeout_withdraws_what_was_waited_for() {
    let story = told(|sim, log| async move {
        let till = Resource::new(sim, "till", 1);
        let held = till.request().await;
        assert!(sim.timeout(3.0, till.request()).await.is_none());
        log.note(sim, till.waiting());
        drop(held);
        assert_eq!((till.in_use(), till.waiting()), (0, 0));
        assert!(sim.timeout(3.0, till.request()).await.is_some());
        log.note(sim, till.in_use());
        assert!(sim.timeout(3.0, sim.receive()).await.is_none());
        sim.send(0, 1.0, 7);
        log.note(sim, format!("{:?}", sim.timeout(3.0, sim.receive()).await));
        let figures = till.figures();
        assert_eq!((figures.granted, figures.withdrawn), (2, 1));
    })
    .unwrap();
    assert_eq!(story.lines, ["3 0", "3 0", "7 Some(7)"]);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn a_time_out_that_was_withdrawn_is_no_event() {
    let story = told(|sim, log| async move {
        for _ in 0..40 {
            assert!(sim.timeout(20.0, sim.sleep(1.0)).await.is_some());
        }
        log.note(sim, "done");
    })
    .unwrap();
    assert_eq!(story.lines, ["40 done"]);
    assert_eq!((story.events, story.lp.waits()), (40, 0), "the ends of the sleeps alone");
}

#[test]
fn an_lp_that_has_withdrawn_a_sleep_withdraws_the_wake_ups_of_later_ones() {
    let story = told(|sim, log| async move {
        for _ in 0..40 {
            let sleeper = sim.spawn(async move { sim.sleep(20.0).await });
            sim.sleep(1.0).await;
            sim.cancel(sleeper);
        }
        // Sleeps that are not withdrawn end as ever.
        sim.spawn_after(5.0, async move { log.note(sim, "late") });
    })
    .unwrap();
    assert_eq!(story.lines, ["45 late"]);
    // 40 ends of sleeps, one of a delay, and the wake-up that nobody could cancel yet.
    assert_eq!((story.events, story.lp.waits()), (42, 0));
}

#[test]
fn of_two_sleeps_with_one_end_the_second_is_withdrawn_before_its_turn() {
    let story = told(|sim, log| async move {
        for round in 0..3 {
            let first = any_of(sim.sleep(2.0), sim.sleep(2.0)).await;
            assert_eq!(first, Either::First(()));
            log.note(sim, round);
        }
    })
    .unwrap();
    assert_eq!(story.lines, ["2 0", "4 1", "6 2"]);
    // The first time, the wake-up of the second could not be cancelled yet.
    assert_eq!((story.events, story.lp.waits()), (4, 0));
}

#[test]
fn messages_go_to_who_waited_first_and_wants_them() {
    let story = told(|sim, log| async move {
        for (name, least) in [("a", 5), ("b", 0), ("c", 5)] {
            let log = log.clone();
            sim.spawn(async move {
                let got = sim.receive_matching(move |&number| number >= least).await;
                log.note(sim, format!("{name} {got}"));
            });
        }
        for (delay, number) in [(1.0, 3), (2.0, 9), (3.0, 4), (4.0, 6)] {
            sim.send(0, delay, number);
        }
        sim.sleep(10.0).await;
        log.note(sim, sim.unread());
        log.note(sim, sim.receive().await);
    })
    .unwrap();
    assert_eq!(story.lines, ["1 b 3", "2 a 9", "4 c 6", "10 1", "10 4"]);
}

#[test]
fn a_message_that_came_to_who_no_longer_wants_it_is_kept() {
    let story = told(|sim, log| async move {
        sim.send(0, 1.0, 5);
        sim.send(0, 1.0, 6);
        sim.sleep(2.0).await;
        let got = sim.receive();
        assert_eq!(sim.unread(), 1, "the first is given to who asks");
        drop(got);
        log.note(sim, sim.receive().await);
        log.note(sim, sim.receive().await);
    })
    .unwrap();
    assert_eq!(story.lines, ["2 5", "2 6"]);
    assert_eq!(story.lp.waits(), 0);
}

/// It is cancelled at the instant at which it gets the item, before it goes on.
#[test]
fn an_item_that_came_to_a_process_which_is_cancelled_is_kept() {
    let story = told(|sim, log| async move {
        let store = Store::new(sim, "store");
        let tank = Container::new(sim, "tank", 10.0, 0.0);
        let till = Resource::new(sim, "till", 1);
        let held = till.request().await;
        let doomed = [
            sim.spawn(async move { assert_eq!(store.get().await, 0) }),
            sim.spawn(async move { tank.get(4.0).await }),
            sim.spawn(async move { drop(till.request().await) }),
        ];
        sim.sleep(1.0).await;
        store.put(5).await;
        tank.put(4.0).await;
        drop(held);
        assert_eq!((store.len(), tank.level(), till.in_use()), (0, 0.0, 1));
        doomed.into_iter().for_each(|process| assert!(sim.cancel(process)));
        log.note(sim, format!("{} {} {}", store.len(), tank.level(), till.in_use()));
    })
    .unwrap();
    assert_eq!(story.lines, ["1 1 4 0"]);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn any_and_all_of_several() {
    let story = told(|sim, log| async move {
        log.note(sim, format!("{:?}", any_of(sim.sleep(2.0), sim.sleep(1.0)).await));
        log.note(sim, format!("{:?}", all_of(sim.sleep(2.0), sim.sleep(1.0)).await));
        let (place, ()) = any_in([3.0, 1.0, 2.0].map(|delay| sim.sleep(delay))).await;
        log.note(sim, place);
        log.note(sim, all_in([3.0, 1.0, 2.0].map(|delay| sim.sleep(delay))).await.len());
    })
    .unwrap();
    assert_eq!(story.lines, ["1 Second(())", "3 ((), ())", "4 1", "7 3"]);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn a_cancelled_process_gives_back_what_it_holds_and_tells_who_joins() {
    let story = told(|sim, log| async move {
        let till = Resource::new(sim, "till", 1);
        let holder = sim.spawn(async move {
            let _till = till.request().await;
            sim.sleep(50.0).await;
        });
        let waiter = sim.spawn_named("waiter", async move {
            let _till = till.request().await;
            sim.sleep(1.0).await;
        });
        {
            let log = log.clone();
            sim.spawn(async move { log.note(sim, format!("{:?}", sim.join(holder).await)) });
        }
        sim.sleep(5.0).await;
        assert!(sim.cancel(holder) && !sim.cancel(holder));
        log.note(sim, format!("{:?} {:?}", sim.ended(holder), sim.ended(waiter)));
        log.note(sim, format!("{:?}", sim.join(waiter).await.is_ok()));
        assert_eq!(till.in_use(), 0);
        sim.cancel(sim.this_process());
        log.note(sim, "goes on until it waits");
        sim.sleep(1.0).await;
        log.note(sim, "never");
    })
    .unwrap();
    let lines =
        ["5 Some(Cancelled) None", "5 Err(Cancelled)", "6 true", "6 goes on until it waits"];
    assert_eq!(story.lines, lines);
    assert_eq!((story.lp.processes(), story.lp.waits()), (0, 0));
}

#[test]
fn interrupts_end_what_is_interruptible() {
    let story = told(|sim, log| async move {
        let worker = {
            let log = log.clone();
            sim.spawn(async move {
                for _ in 0..2 {
                    let done = sim.interruptible(sim.sleep(10.0)).await;
                    let why = done.map_err(|why| why.reason().to_owned());
                    log.note(sim, format!("{why:?}"));
                }
                sim.sleep(5.0).await;
                log.note(sim, sim.interruptible(sim.sleep(5.0)).await.is_err());
            })
        };
        sim.sleep(4.0).await;
        assert!(sim.interrupt(worker, "fire"));
        sim.sleep(12.0).await;
        sim.interrupt(worker, "kept until it can be interrupted");
        sim.join(worker).await.unwrap();
        assert!(!sim.interrupt(worker, "too late"));
    })
    .unwrap();
    assert_eq!(story.lines, ["4 Err(\"fire\")", "14 Ok(())", "19 true"]);
}

#[test]
fn a_preempted_holder_loses_what_it_holds() {
    let story = told(|sim, log| async move {
        let machine = Resource::new(sim, "machine", 1);
        {
            let log = log.clone();
            sim.spawn(async move {
                let mut left = 10.0;
                while left > 0.0 {
                    let held = machine.request_with_priority(5).await;
                    let began = sim.now();
                    match sim.interruptible(sim.sleep(left)).await {
                        Ok(()) => left = 0.0,
                        Err(why) => {
                            left -= sim.now() - began;
                            assert!(why.is_preemption() && held.is_preempted());
                            log.note(sim, format!("{why}, {left} left"));
                        }
                    }
                }
                log.note(sim, "part done");
            });
        }
        sim.sleep(4.0).await;
        let held = machine.request_preempting(1).await;
        sim.sleep(3.0).await;
        drop(held);
        assert_eq!(machine.figures().preempted, 1);
        // Not from an equal.
        let held = machine.request_with_priority(1);
        drop(held);
        sim.sleep(50.0).await;
        log.note(sim, machine.in_use());
    })
    .unwrap();
    let lines = ["4 the resource `machine` was taken away, 6 left", "13 part done", "57 0"];
    assert_eq!(story.lines, lines);
}

#[test]
fn requests_are_served_by_priority_and_whole() {
    let story = told(|sim, log| async move {
        let crew = Resource::new(sim, "crew", 3);
        let first = crew.request_many(3, 0).await;
        for (name, amount, priority) in [("two", 2, 1), ("urgent", 1, -1), ("one", 1, 1)] {
            let log = log.clone();
            sim.spawn(async move {
                let _crew = crew.request_many(amount, priority).await;
                log.note(sim, name);
                sim.sleep(2.0).await;
            });
        }
        sim.sleep(1.0).await;
        crew.set_capacity(2);
        drop(first);
        sim.sleep(1.0).await;
        log.note(sim, format!("{} of {}", crew.in_use(), crew.capacity()));
        crew.set_capacity(4);
    })
    .unwrap();
    assert_eq!(story.lines, ["1 urgent", "2 1 of 2", "2 two", "2 one"]);
}

#[test]
fn containers_serve_in_order_and_wait_for_room() {
    let story = told(|sim, log| async move {
        let tank = Container::new(sim, "tank", 100.0, 10.0);
        for (name, amount) in [("lorry", 60.0), ("car", 5.0)] {
            let log = log.clone();
            sim.spawn(async move {
                tank.get(amount).await;
                log.note(sim, name);
            });
        }
        sim.sleep(1.0).await;
        log.note(sim, tank.level());
        tank.put(70.0).await;
        log.note(sim, tank.level());
        sim.sleep(1.0).await;
        log.note(sim, tank.level());
        assert!(sim.timeout(1.0, tank.put(90.0)).await.is_none());
        let brings = tank.put(90.0);
        tank.get(15.0).await;
        brings.await;
        log.note(sim, tank.level());
    })
    .unwrap();
    assert_eq!(story.lines, ["1 10", "1 15", "1 lorry", "1 car", "2 15", "3 90"]);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn stores_are_filtered_ordered_and_limited() {
    let story = told(|sim, log| async move {
        let store = Store::limited(sim, "shelf", 2);
        for number in [1, 2] {
            store.put(number).await;
        }
        assert!(sim.timeout(1.0, store.put(3)).await.is_none());
        log.note(sim, store.get_matching(|&number| number == 2).await);
        log.note(sim, store.get().await);
        assert!(store.is_empty());
        let urgent = Store::ordered(sim, "urgent", 9, |a: &u32, b: &u32| a.cmp(b));
        for number in [5, 3, 4] {
            urgent.put(number).await;
        }
        for _ in 0..3 {
            log.note(sim, urgent.get().await);
        }
    })
    .unwrap();
    assert_eq!(story.lines, ["1 2", "1 1", "1 3", "1 4", "1 5"]);
}

#[test]
fn gates_open_close_and_signal() {
    let story = told(|sim, log| async move {
        let gate = Gate::new(sim, "lock");
        for number in 0..3 {
            let log = log.clone();
            sim.spawn(async move {
                gate.wait().await;
                log.note(sim, number);
                gate.wait().await;
                log.note(sim, number + 10);
            });
        }
        sim.sleep(1.0).await;
        assert!(gate.admit() && gate.waiting() == 2);
        sim.sleep(1.0).await;
        gate.broadcast();
        sim.sleep(1.0).await;
        log.note(sim, gate.waiting());
        gate.open();
        sim.sleep(1.0).await;
        gate.close();
        assert!(!gate.is_open() && sim.timeout(1.0, gate.wait()).await.is_none());
    })
    .unwrap();
    let lines = ["1 0", "2 1", "2 2", "2 10", "3 2", "3 11", "3 12"];
    assert_eq!(story.lines, lines);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn conditions_are_looked_at_when_something_has_changed() {
    let story = told(|sim, log| async move {
        let stock = Shared::new(sim, 0);
        for least in [3, 2] {
            let log = log.clone();
            sim.spawn(async move {
                sim.wait_until(|| stock.get() >= least).await;
                log.note(sim, format!("at least {least}"));
                stock.with(|stock| *stock += 10);
            });
        }
        for _ in 0..2 {
            sim.sleep(1.0).await;
            stock.with(|stock| *stock += 1);
        }
    })
    .unwrap();
    assert_eq!(story.lines, ["2 at least 2", "2 at least 3"]);
    assert_eq!(story.lp.waits(), 0);
}
