//! Mistakes of processes are told in a sentence.

use std::future::Future;

use warpline::process::prelude::*;

use crate::story::{Log, Telling, told};

fn mistake<F: Future<Output = ()> + Send + 'static>(
    tell: impl Fn(Sim<u32>, Log) -> F + Send + Sync + 'static,
) -> String {
    let telling = Telling { end: 100.0, seed: 1, hops: 1000 };
    telling.tell(tell).err().expect("the story ends with a mistake").to_string()
}

fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` in: {message}");
    }
}

#[test]
fn a_process_that_waits_for_something_foreign_is_refused() {
    let message = mistake(|sim, _| async move {
        sim.sleep(2.5).await;
        sim.spawn_named("listener", std::future::pending::<()>());
    });
    assert_says(&message, &["`listener` waits for something outside of the simulation", "2.5"]);
}

#[test]
fn a_wait_that_is_not_awaited_does_not_hide_something_foreign() {
    let message = mistake(|sim, _| async move {
        let till = Resource::new(sim, "till", 0);
        let _in_the_queue = till.request();
        sim.sleep(1.0).await;
        std::future::pending::<()>().await;
    });
    assert_says(&message, &["`run` waits for something outside of the simulation"]);
}

/// A future that keeps the waker, as the timers and channels of async runtimes do.
fn foreign() -> impl Future<Output = ()> + Send {
    let mut wakers = Vec::new();
    std::future::poll_fn(move |context| {
        wakers.push(context.waker().clone());
        std::task::Poll::Pending
    })
}

#[test]
fn something_foreign_is_refused_beside_what_is_the_simulations() {
    let parts = ["`run` waits for something outside of the simulation"];
    let message = mistake(|sim, _| async move {
        any_of(sim.sleep(1.0), foreign()).await;
    });
    assert_says(&message, &parts);
    let message = mistake(|sim, _| async move {
        sim.sleep(1.0).await;
        sim.timeout(1.0, foreign()).await;
    });
    assert_says(&message, &parts);
}

#[test]
fn what_would_never_come_is_refused() {
    let message = mistake(|sim, _| async move {
        let _ = sim.join(sim.this_process()).await;
    });
    assert_says(&message, &["run waits for its own end"]);
    let message = mistake(|sim, _| async move {
        sim.interrupt(sim.this_process(), "me");
    });
    assert_says(&message, &["run cannot interrupt itself"]);
    let message = mistake(|sim, _| async move {
        some_in(2, [sim.sleep(1.0)]).await;
    });
    assert_says(&message, &["2 of 1 futures"]);
    let message = mistake(|sim, _| async move {
        let signal = Signal::new(sim, "ready");
        signal.trigger(());
        signal.trigger(());
    });
    assert_says(&message, &["the signal `ready` was triggered twice"]);
}

#[test]
fn amounts_and_capacities_are_checked() {
    let container = |capacity, level| {
        mistake(move |sim, _| async move {
            Container::new(sim, "tank", capacity, level);
        })
    };
    assert_says(&container(0.0, 0.0), &["capacity 0 of container `tank` is not positive"]);
    assert_says(&container(f64::NAN, 0.0), &["capacity NaN"]);
    assert_says(&container(5.0, 6.0), &["level 6 of container `tank`", "[0, 5]"]);
    for amount in [-1.0, f64::NAN, 5.5] {
        let message = mistake(move |sim, _| async move {
            Container::new(sim, "tank", 5.0, 0.0).get(amount).await;
        });
        assert_says(&message, &[&format!("{amount} cannot be"), "`tank`, whose capacity is 5"]);
    }
    let message = mistake(|sim, _| async move {
        Store::<u32>::limited(sim, "shelf", 0);
    });
    assert_says(&message, &["`shelf` has no room"]);
    let message = mistake(|sim, _| async move {
        drop(Resource::new(sim, "till", 1).request_many(0, 0));
    });
    assert_says(&message, &["at least one unit"]);
}

#[test]
fn a_waker_that_is_used_from_outside_says_so() {
    let message = mistake(|_, _| {
        std::future::poll_fn(|context| {
            context.waker().wake_by_ref();
            std::task::Poll::Pending
        })
    });
    assert_says(&message, &["woken by something outside of the simulation"]);
}

#[test]
fn a_loop_that_never_waits_is_a_fault() {
    for kind in 0..3 {
        let message = mistake(move |sim, _| async move {
            sim.sleep(1.0).await;
            sim.spawn_named("busy", async move {
                let gate = Gate::new(sim, "open");
                gate.open();
                match kind {
                    0 => loop {
                        gate.wait().await;
                    },
                    1 => loop {
                        let next = sim.spawn(async {});
                        sim.join(next).await.unwrap();
                    },
                    _ => loop {
                        sim.sleep(0.0).await;
                    },
                }
            });
        });
        let parts: &[&str] = if kind < 2 {
            &["is in a loop that never lets time advance"]
        } else {
            &["zero-delay loop"]
        };
        assert_says(&message, parts);
    }
}

#[test]
fn delays_are_checked() {
    assert_says(&mistake(|sim, _| async move { sim.sleep(-1.0).await }), &["delay -1"]);
    let message = mistake(|sim, _| async move { sim.sleep(f64::NAN).await });
    assert_says(&message, &["delay NaN"]);
    let message = mistake(|sim, _| async move {
        sim.spawn_after(-2.0, async {});
    });
    assert_says(&message, &["delay -2"]);
    assert_says(&mistake(|sim, _| async move { sim.send(7, 1.0, 3) }), &["LP 7"]);
}

#[test]
fn a_panic_and_a_failure_name_the_time() {
    let message = mistake(|sim, _| async move {
        sim.sleep(3.5).await;
        panic!("no such customer")
    });
    assert_says(&message, &["`run`: no such customer", "3.5", "LP 0"]);
    let message = mistake(|sim, _| async move {
        sim.spawn_named("Ann", async { panic!("{} is not {}", 1, 2) });
    });
    assert_says(&message, &["`Ann`: 1 is not 2"]);
    let message = mistake(|sim, _| async move { sim.fail("sold out") });
    assert_says(&message, &["sold out"]);
}

#[test]
fn the_simulation_is_refused_within_its_own_borrow() {
    let message = mistake(|sim, _| async move {
        sim.send(0, 1.0, 3);
        sim.receive_matching(move |_| sim.now() > 0.0).await;
    });
    assert_says(&message, &["works only in a process"]);
    let message = mistake(|sim, _| async move {
        let shared = Shared::new(sim, 1);
        shared.with(|_| shared.get());
    });
    assert_says(&message, &["within `Shared::with` of the same value"]);
}

#[test]
fn who_waits_in_vain_is_named_with_what_and_where() {
    let story = told(|sim, _| async move {
        let till = Resource::new(sim, "till", 1);
        let held = till.request().await;
        sim.sleep(12.5).await;
        let waiter = sim.spawn_named("customer 7", async move {
            let _till = till.request().await;
        });
        sim.spawn(async move {
            sim.join(waiter).await.unwrap();
        });
        sim.spawn(async move { Signal::<()>::new(sim, "start").wait().await });
        Gate::new(sim, "end").wait().await;
        drop(held);
    })
    .unwrap();
    let (count, lines) = story.lp.stuck(2);
    assert_eq!((count, lines.len()), (4, 2));
    let (_, lines) = story.lp.stuck(10);
    let all = lines.join("\n");
    assert_says(
        &all,
        &[
            "`customer 7` waits for the resource `till` (1 of 1 in use) since 12.5, at ",
            "mistakes.rs:",
            "waits for the end of `customer 7` since 12.5",
            "`run` waits for the gate `end`",
            "waits for the signal `start`",
        ],
    );
}
