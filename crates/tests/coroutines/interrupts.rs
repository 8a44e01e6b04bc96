//! Interrupts, and resources that are taken away.

use warpline::process::prelude::*;

use crate::story::told;

#[test]
fn each_of_several_interrupts_of_an_instant_is_seen() {
    let story = told(|sim, log| async move {
        let fox = {
            let log = log.clone();
            sim.spawn(async move {
                loop {
                    if let Err(why) = sim.interruptible(sim.sleep(10.0)).await {
                        log.note(sim, format!("{} {}", why.reason(), why.is_preemption()));
                    }
                }
            })
        };
        for farmer in ["Boggis", "Bunce", "Bean"] {
            sim.spawn(async move {
                sim.interrupt(fox, farmer);
            });
        }
        sim.sleep(20.0).await;
        sim.cancel(fox);
    })
    .unwrap();
    assert_eq!(story.lines, ["0 Boggis false", "0 Bunce false", "0 Bean false"]);
}

#[test]
fn a_process_is_interrupted_before_it_begins_and_not_after_its_end() {
    let story = told(|sim, log| async move {
        let log_of_child = log.clone();
        let child = sim.spawn(async move {
            log_of_child.note(sim, "begins");
            let why = sim.interruptible(sim.sleep(10.0)).await.unwrap_err();
            log_of_child.note(sim, why);
        });
        let this = sim.this_process();
        assert!(sim.interrupt(child, "early"));
        sim.join(child).await.unwrap();
        assert!(!sim.interrupt(child, "late"));
        let late = sim.spawn_after(5.0, async move {
            sim.interruptible(sim.sleep(1.0)).await.unwrap_err().interrupter()
        });
        sim.sleep(1.0).await;
        sim.interrupt(late, "before it begins");
        assert_eq!(sim.join(late).await, Ok(this));
        log.note(sim, "over");
    })
    .unwrap();
    assert_eq!(story.lines, ["0 begins", "0 interrupted: early", "5 over"]);
}

#[test]
fn an_interrupt_withdraws_what_was_waited_for() {
    let story = told(|sim, log| async move {
        let till = Resource::new(sim, "till", 1);
        let store: Store<u32> = Store::new(sim, "store");
        let held = till.request().await;
        let queues = {
            let log = log.clone();
            sim.spawn(async move {
                let why = sim.interruptible(till.request()).await.unwrap_err();
                log.note(sim, format!("{} {}", why.reason(), till.waiting()));
                let both = any_of(store.get(), sim.sleep(9.0));
                let why = sim.interruptible(both).await.unwrap_err();
                log.note(sim, format!("{} {}", why.reason(), store.waiting()));
            })
        };
        for reason in ["closed", "fire"] {
            sim.sleep(1.0).await;
            sim.interrupt(queues, reason);
        }
        sim.sleep(1.0).await;
        store.put(3).await;
        drop(held);
        log.note(sim, format!("{} {}", store.len(), till.in_use()));
    })
    .unwrap();
    assert_eq!(story.lines, ["1 closed 0", "2 fire 0", "3 1 0"]);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn a_process_that_was_interrupted_may_wait_for_the_same_again() {
    let story = told(|sim, log| async move {
        let child = sim.spawn(async move {
            sim.sleep(4.0).await;
            "child"
        });
        let parent = {
            let log = log.clone();
            sim.spawn(async move {
                let mut join = sim.join(child);
                let why = sim.interruptible(&mut join).await.unwrap_err();
                log.note(sim, why);
                log.note(sim, join.await.unwrap());
            })
        };
        sim.sleep(1.0).await;
        sim.interrupt(parent, "hurry");
    })
    .unwrap();
    assert_eq!(story.lines, ["1 interrupted: hurry", "4 child"]);
}

#[test]
fn of_an_interrupt_and_a_value_at_one_time_the_first_counts() {
    let lines = |naps: u32| {
        let story = told(move |sim, log| async move {
            let sleeper = sim.spawn(async move {
                for _ in 0..2 {
                    log.note(sim, sim.interruptible(sim.sleep(2.0)).await.is_ok());
                }
            });
            for _ in 0..naps {
                sim.sleep(2.0 / f64::from(naps)).await;
            }
            sim.interrupt(sleeper, "now");
        });
        story.unwrap().lines
    };
    // Who began to sleep first wakes first.
    assert_eq!(lines(1), ["2 false", "4 true"]);
    assert_eq!(lines(2), ["2 true", "2 false"]);
}

#[test]
fn a_preemption_says_by_whom_and_since_when() {
    let story = told(|sim, log| async move {
        let machine = Resource::new(sim, "machine", 1);
        sim.spawn_named("slow", async move {
            sim.sleep(1.0).await;
            let held = machine.request_with_priority(3).await;
            let why = sim.interruptible(sim.sleep(9.0)).await.unwrap_err();
            assert!(why.is_preemption() && held.is_preempted());
            let by = sim.name_of(why.interrupter());
            log.note(sim, format!("{why} by {by}, held since {:?}", why.held_since()));
        });
        sim.sleep(4.0).await;
        let urgent = sim.spawn_named("urgent", async move {
            let _machine = machine.request_preempting(1).await;
            assert_eq!(machine.holders(), [sim.this_process()]);
            sim.sleep(1.0).await;
        });
        sim.join(urgent).await.unwrap();
        assert_eq!((machine.in_use(), machine.figures().preempted), (0, 1));
    })
    .unwrap();
    let line = "4 the resource `machine` was taken away by urgent, held since Some(1.0)";
    assert_eq!(story.lines, [line]);
}

/// A request that does not preempt waits, however important it is, and those behind it too.
#[test]
fn only_requests_that_preempt_do_so_and_in_turn() {
    let story = told(|sim, log| async move {
        let machine = Resource::new(sim, "machine", 1);
        let work = |name: &'static str, delay, priority, preempts| {
            let log = log.clone();
            sim.spawn_after(delay, async move {
                let request = if preempts {
                    machine.request_preempting(priority)
                } else {
                    machine.request_with_priority(priority)
                };
                let _held = request.await;
                log.note(sim, format!("{name} begins"));
                if sim.interruptible(sim.sleep(5.0)).await.is_err() {
                    log.note(sim, format!("{name} is interrupted"));
                }
            })
        };
        work("a", 0.0, 2, false);
        work("b", 1.0, 1, false);
        work("c", 2.0, 1, true);
        work("d", 3.0, 0, true);
    })
    .unwrap();
    let lines = ["0 a begins", "3 d begins", "3 a is interrupted", "8 b begins", "13 c begins"];
    assert_eq!(story.lines, lines);
}

#[test]
fn who_takes_over_is_the_one_who_is_interrupted() {
    let story = told(|sim, log| async move {
        let machine = Resource::new(sim, "machine", 1);
        let held = machine.request_with_priority(5).await;
        let log_of_heir = log.clone();
        let heir = sim.spawn(async move {
            held.take_over();
            let why = sim.interruptible(sim.sleep(9.0)).await.unwrap_err();
            log_of_heir.note(sim, why);
        });
        sim.sleep(1.0).await;
        assert_eq!(machine.holders(), [heir]);
        drop(machine.request_preempting(0).await);
        log.note(sim, sim.interruptible(sim.sleep(1.0)).await.is_ok());
    })
    .unwrap();
    assert_eq!(story.lines, ["1 the resource `machine` was taken away", "2 true"]);
}
