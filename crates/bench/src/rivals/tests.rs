//! Runs every carrier for a moment.

use std::process::Command;
use std::time::Duration;

use super::plan::Plan;
use super::processes::{run_first, run_other};
use super::rival::{Rival, Use};

#[test]
#[ignore = "the other process of `every_carrier_brings_messages`"]
fn other_process() {
    run_other();
}

fn other() -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own path"));
    command.args(["--exact", "rivals::tests::other_process", "--include-ignored"]);
    command
}

/// Each process counts its messages at the end, and fails if one is missing.
#[test]
fn every_carrier_brings_messages() {
    let carriers = Rival::ALL
        .iter()
        .map(|one| one.0)
        .filter(|rival| rival.is_available() && *rival != Rival::Mpi);
    for rival in carriers {
        let mut executed = 0;
        for (use_, ..) in Use::ALL {
            for (processes, bytes) in [(2, 8), (3, 5000)] {
                let short = Duration::from_millis(20);
                let plan = Plan { rival, bytes, use_, processes, warm_up: short, measured: short };
                executed += run_first(&plan, other).expect("the first process counts").messages;
            }
        }
        // On a busy machine a single run may be over before it has begun.
        assert!(executed > 0, "{rival:?}");
    }
}
