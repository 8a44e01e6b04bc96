//! What tests are made with.

use std::process::Command;
use std::thread;
use std::time::Duration;

use warpline::Undo;
use warpline::prelude::*;
use warpline_testkit::examples::{self, Clock, Ring};
use warpline_testkit::matrix::{Parallel, is_conservative};
use warpline_testkit::random_model::{Declares, Shape, neighbours};
use warpline_testkit::{Hops, RandomModel, Recipe, time_limit};

/// It ends a process that this test starts.
#[test]
fn what_hangs_is_ended_with_a_message() {
    const CHILD: &str = "WARPLINE_TEST_CHILD";
    const VARIABLE: &str = "WARPLINE_TIME_LIMIT";
    if std::env::var_os(CHILD).is_some() {
        drop(time_limit("what is over"));
        let _limit = time_limit(("sleep", 7));
        return thread::sleep(Duration::from_secs(30));
    }
    let mut child = Command::new(std::env::current_exe().expect("this is a program"));
    child.args(["--exact", "testkit::what_hangs_is_ended_with_a_message"]);
    let output = child.env(CHILD, "1").env(VARIABLE, "1").output().expect("it can be run again");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{printed}");
    for words in
        ["what_hangs_is_ended_with_a_message hangs", "within 1 s", VARIABLE, "(\"sleep\", 7)"]
    {
        assert!(printed.contains(words), "no `{words}` in: {printed}");
    }
    assert!(!printed.contains("what is over"), "{printed}");
}

#[test]
fn neighbours_are_as_described() {
    let recipe = |lps, topology| Recipe { lps, topology, ..Recipe::from_seed(1) };
    let of = |lps, topology, lp: usize| {
        neighbours(&recipe(lps, topology))
            .map(|all| all[lp].iter().map(|lp| lp.0).collect::<Vec<_>>())
    };
    assert_eq!(of(9, Shape::Uniform, 4), None);
    assert_eq!(of(9, Shape::Grid, 4), Some(vec![1, 3, 5, 7]));
    assert_eq!(of(8, Shape::Grid, 7), Some(vec![4, 6]));
    assert_eq!(of(5, Shape::Ring { reach: 1 }, 0), Some(vec![1, 4]));
    assert_eq!(of(1, Shape::Ring { reach: 3 }, 0), Some(vec![]));
    assert_eq!(of(4, Shape::Star, 0), Some(vec![1, 2, 3]));
    assert_eq!(of(4, Shape::Star, 2), Some(vec![0]));
    assert!(
        of(50, Shape::Sparse { degree: 3 }, 20).is_some_and(|all| (1..=3).contains(&all.len()))
    );
}

#[test]
fn the_reverse_code_of_hops_is_right() {
    let hops = Hops { lps: 7, messages: 2, lookahead: 0.25 };
    let verified = Simulation::new(hops).end(20.0).undo(Undo::Reverse).verify();
    assert_eq!(verified.expect("nothing is wrong").digest, hops.sequential(20.0).record.digest);
}

#[test]
fn examples_do_what_their_docs_say() {
    let [clock, hops, ring] =
        [Clock, examples::Hops, Ring].map(|example| example.run().unwrap().states);
    assert_eq!((clock, ring), (vec![9], vec![9; 8]));
    let hops: u32 = hops.iter().sum();
    assert!((700..1100).contains(&hops), "about one hop of each message in a unit: {hops}");
}

/// Every kind of lookahead is tried in conservative and in other runs with several PEs, and some
/// models depend on the longer of their links.
#[test]
fn all_kinds_of_lookahead_are_tried() {
    for declares in Declares::ALL {
        let mut conservative = 0;
        let mut windows = 0;
        let mut others = 0;
        let mut partly = 0;
        for seed in 0..1000 {
            let recipe = Recipe::from_seed(seed);
            let parallel = Parallel::cluster(&mut Random::new(seed, LpId(0), 0));
            if recipe.declares == declares && recipe.lps > 1 && parallel.pes > 1 {
                let simulation = |pes| Simulation::new(RandomModel::<0>::new(&recipe)).threads(pes);
                let chosen = is_conservative(&simulation(parallel.pes), &parallel);
                *(if chosen { &mut conservative } else { &mut others }) += 1;
                windows += usize::from(chosen && parallel.windows);
                let least = |pes| simulation(pes).least_delay().expect("it makes sense");
                partly += usize::from(
                    recipe.topology != Shape::Uniform && chosen && least(1) < least(parallel.pes),
                );
            }
        }
        assert!(
            windows >= 4 && conservative - windows >= 4,
            "{declares:?}: {windows} of {conservative} in windows"
        );
        assert!(
            conservative >= 8 && others >= 20,
            "{declares:?}: {conservative} conservative, {others} others"
        );
        assert!((partly >= 3) == (declares == Declares::Links), "{declares:?}: {partly}");
    }
}
