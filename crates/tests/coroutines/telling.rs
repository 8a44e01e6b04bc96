//! What followed LPs tell of their processes, and which processes are named when nothing is left.

use warpline::LpChoice;
use warpline::prelude::*;
use warpline::process::prelude::*;
use warpline::record::Told;

/// Ann and Ben pay at one till; Cem has no patience, and Dan is ill.
struct Shop;

async fn customer(sim: Sim<()>, till: Resource, pays: f64) {
    let _till = till.request().await;
    sim.tell("pays");
    sim.sleep(pays).await;
}

impl ProcessModel for Shop {
    type Message = ();

    fn lps(&self) -> u32 {
        2
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let till = Resource::new(sim, "till", 1);
        sim.spawn_named("Ann", customer(sim, till, 4.0));
        sim.sleep(1.0).await;
        sim.spawn_named("Ben", customer(sim, till, 0.5));
        sim.spawn_named("Cem", async move {
            drop(sim.timeout(2.0, till.request()).await);
        });
        let dan = sim.spawn_named("Dan", async move {
            let dreams = sim.interruptible(sim.sleep(100.0)).await;
            assert_eq!(dreams.unwrap_err().reason(), "the alarm rings");
        });
        sim.sleep(1.0).await;
        sim.interrupt(dan, "the alarm rings");
        let closing = Signal::new(sim, "closing");
        closing.trigger(());
        assert!(closing.try_trigger(()).is_err(), "it happens once, and is told once");
    }
}

fn lines(told: &[Told]) -> Vec<String> {
    told.iter().map(|told| format!("{} {told}", told.time)).collect()
}

#[test]
fn a_followed_lp_tells_the_story_of_its_processes() {
    let run = Simulation::new(Coroutines::new(Shop)).follow(LpChoice::ids([1])).end(50.0);
    let told = run.run().unwrap().record.told;
    assert!(told.iter().all(|told| told.lp == 1));
    assert_eq!(
        lines(&told),
        [
            "0 Ann starts",
            "0 run sleeps until 1",
            "0 Ann takes till",
            "0 Ann pays",
            "0 Ann sleeps until 4",
            "1 Ben starts",
            "1 Cem starts",
            "1 Dan starts",
            "1 run sleeps until 2",
            "1 Ben queues for till",
            "1 Cem queues for till",
            "1 Cem sleeps until 3",
            "1 Dan sleeps until 101",
            "2 Dan is interrupted by run: the alarm rings",
            "2 run triggers the signal closing",
            "2 run ends",
            "2 Dan ends",
            "3 Cem leaves the queue for till",
            "3 Cem ends",
            "4 Ann gives till back",
            "4 Ben takes till",
            "4 Ann ends",
            "4 Ben pays",
            "4 Ben sleeps until 4.5",
            "4.5 Ben gives till back",
            "4.5 Ben ends",
        ]
    );
}

#[test]
fn it_tells_no_more_than_it_may() {
    let run = Simulation::new(Coroutines::new(Shop)).follow(LpChoice::all()).follow_limit(3);
    assert_eq!(run.run().unwrap().record.told.len(), 2 * 3);
}

/// Two who each hold what the other wants, and one who waits for mail.
struct Philosophers;

impl ProcessModel for Philosophers {
    type Message = u8;

    fn lps(&self) -> u32 {
        1
    }

    async fn run(self: Arc<Self>, sim: Sim<u8>) {
        let forks = [Resource::new(sim, "left fork", 1), Resource::new(sim, "right fork", 1)];
        for (name, [first, second]) in [("Kant", forks), ("Hume", [forks[1], forks[0]])] {
            sim.spawn_named(name, async move {
                let _first = first.request().await;
                sim.sleep(1.0).await;
                let _second = second.request().await;
                sim.sleep(1.0).await;
            });
        }
        sim.receive().await;
    }
}

#[test]
fn who_waits_for_ever_is_named_with_what_and_where() {
    let stuck = Simulation::new(Coroutines::new(Philosophers)).run().unwrap().record.stuck.unwrap();
    assert_eq!((stuck.waits, stuck.lines.len()), (3, 3));
    let said = |words: &[&str]| {
        let has = |line: &&String| words.iter().all(|word| line.contains(word));
        assert!(stuck.lines.iter().any(|line| has(&line)), "{words:?} in {stuck:?}");
    };
    said(&["`Kant` waits for the resource `right fork`", "since 1", "telling.rs:"]);
    said(&["`Hume` waits for the resource `left fork`", "since 1"]);
    said(&["`run` waits for a message since 0"]);
}
