//! Values of processes, signals with a value, and processes that start later.

use warpline::process::prelude::*;

use crate::story::told;

#[test]
fn whoever_joins_a_process_gets_its_value_before_its_end_and_long_after() {
    let story = told(|sim, log| async move {
        let cook = sim.spawn(async move {
            sim.sleep(3.0).await;
            String::from("fish")
        });
        for guest in 0..2 {
            let log = log.clone();
            sim.spawn(async move {
                let meal = sim.join(cook).await.unwrap();
                log.note(sim, format!("{guest} {meal}"));
            });
        }
        sim.sleep(5.0).await;
        // Others have its place by now.
        for _ in 0..4 {
            sim.join(sim.spawn(async move { sim.sleep(1.0).await })).await.unwrap();
        }
        log.note(sim, sim.join(cook).await.unwrap());
        assert_eq!(sim.ended(cook), Some(Ended::Finished));
        assert_eq!(sim.join(cook.without_value()).await, Ok(()));
    })
    .unwrap();
    assert_eq!(story.lines, ["3 0 fish", "3 1 fish", "9 fish"]);
    assert_eq!((story.lp.processes(), story.lp.waits()), (0, 0));
}

#[test]
fn who_joins_a_cancelled_process_is_told_so_also_long_after() {
    let story = told(|sim, log| async move {
        let doomed = sim.spawn(async move {
            sim.sleep(9.0).await;
            7
        });
        let waiter = sim.spawn(async move { sim.join(doomed).await });
        sim.sleep(1.0).await;
        sim.cancel(doomed);
        log.note(sim, format!("{:?}", sim.join(waiter).await));
        sim.join(sim.spawn(async {})).await.unwrap();
        let why = sim.join(doomed).await.unwrap_err();
        log.note(sim, why);
        assert_eq!(sim.ended(doomed), Some(Ended::Cancelled));
    })
    .unwrap();
    let told = "1 the process was cancelled before its end, so it has no value";
    assert_eq!(story.lines, ["1 Ok(Err(Cancelled))", told]);
}

#[test]
fn a_process_that_fails_has_an_error_as_its_value() {
    let story = told(|sim, log| async move {
        let child = sim.spawn(async move {
            sim.sleep(1.0).await;
            Err::<u32, _>("no bread")
        });
        let parent = sim.spawn(async move {
            let bread = sim.join(child).await.unwrap()?;
            Ok::<_, &str>(bread + 1)
        });
        log.note(sim, format!("{:?}", sim.join(parent).await.unwrap()));
    })
    .unwrap();
    assert_eq!(story.lines, ["1 Err(\"no bread\")"]);
}

#[test]
fn a_join_that_is_given_up_leaves_the_process_alone() {
    let story = told(|sim, log| async move {
        let worker = sim.spawn(async move {
            sim.sleep(5.0).await;
            5
        });
        log.note(sim, format!("{:?}", sim.timeout(2.0, sim.join(worker)).await));
        log.note(sim, format!("{:?}", sim.timeout(9.0, sim.join(worker)).await));
    })
    .unwrap();
    assert_eq!(story.lines, ["2 None", "5 Some(Ok(5))"]);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn a_signal_gives_its_value_to_all_who_wait_and_to_all_who_come_later() {
    let story = told(|sim, log| async move {
        let ready = Signal::new(sim, "ready");
        for guest in 0..2 {
            let (log, ready) = (log.clone(), ready.clone());
            sim.spawn(async move { log.note(sim, format!("{guest} {}", ready.wait().await)) });
        }
        sim.sleep(2.0).await;
        assert!(!ready.is_triggered() && ready.value().is_none());
        assert!(sim.timeout(1.0, ready.wait()).await.is_none());
        ready.trigger("fish");
        assert!(ready.is_triggered() && ready.try_trigger("meat") == Err("meat"));
        log.note(sim, "triggered");
        log.note(sim, ready.wait().await);
        sim.sleep(2.0).await;
        log.note(sim, ready.wait().await);
    })
    .unwrap();
    let lines = ["3 triggered", "3 fish", "3 0 fish", "3 1 fish", "5 fish"];
    assert_eq!(story.lines, lines);
    assert_eq!(story.lp.waits(), 0);
}

#[test]
fn a_signal_may_fail() {
    let story = told(|sim, log| async move {
        let payment: Signal<Result<u32, String>> = Signal::new(sim, "payment");
        let bank = payment.clone();
        sim.spawn(async move {
            sim.sleep(4.0).await;
            bank.trigger(Err("no cover".into()));
        });
        log.note(sim, payment.wait().await.unwrap_err());
    })
    .unwrap();
    assert_eq!(story.lines, ["4 no cover"]);
}

#[test]
fn a_process_may_begin_later_and_be_stopped_before() {
    let story = told(|sim, log| async move {
        let begin = |name: &'static str, delay| {
            let log = log.clone();
            sim.spawn_after(delay, async move {
                log.note(sim, name);
                sim.sleep(1.0).await;
                name
            })
        };
        let [late, never, soon] =
            [("late", 5.0), ("never", 3.0), ("soon", 0.0)].map(|(name, delay)| begin(name, delay));
        sim.sleep(2.0).await;
        assert!(sim.cancel(never) && sim.ended(late).is_none());
        log.note(sim, sim.join(late).await.unwrap());
        log.note(sim, sim.join(soon).await.unwrap());
    })
    .unwrap();
    assert_eq!(story.lines, ["0 soon", "5 late", "6 late", "6 soon"]);
}

#[test]
fn processes_nest_and_know_who_they_are() {
    let story = told(|sim, log| async move {
        let parent = sim.spawn_named("parent", async move {
            let child = sim.spawn_named("child", async move { sim.name_of(sim.this_process()) });
            (sim.name_of(child), sim.join(child).await.unwrap(), sim.name_of(child))
        });
        log.note(sim, format!("{:?}", sim.join(parent).await.unwrap()));
    })
    .unwrap();
    assert_eq!(story.lines, ["0 (\"child\", \"child\", \"a process that has ended\")"]);
}
