//! What is said of a scaling curve, from figures by hand.

use super::losses::{LOSSES, Loss};
use super::scaling::{Step, explanation};

const NAMES: [&str; LOSSES] = ["GVT's latency", "Uneven load", "Messages", "Undone work", "Noise"];

/// So many PEs, with these shares in percent, each of which has a reason of its own.
fn step(pes: u64, shares: [u32; LOSSES]) -> Step {
    let losses = std::array::from_fn(|place| Loss {
        key: "",
        name: NAMES[place],
        share: f64::from(shares[place]) / 100.0,
        why: format!("reason {place} holds at {pes}"),
        remedy: "",
    });
    let lost: u32 = shares.iter().sum();
    Step { pes, efficiency: f64::from(100 - lost) / 100.0, losses }
}

fn said(steps: &[Step]) -> String {
    explanation(steps).replace(['\u{a0}', '\u{202f}'], " ")
}

#[test]
fn each_limit_is_named_where_it_is_the_greatest() {
    for place in 0..LOSSES {
        let with = |pes, share| {
            let mut shares = [2; LOSSES];
            shares[place] = share;
            step(pes, shares)
        };
        let text = said(&[with(64, 1), with(256, 20), with(1024, 41)]);
        let name = if place == 0 { NAMES[0].to_owned() } else { NAMES[place].to_lowercase() };
        let expected = format!(
            "From 256 PEs on, most is lost to {name}: 41 % of all PEs' time on 1 024 PEs, 1 % on \
             64, as reason {place} holds at 1024."
        );
        assert_eq!(text, expected);
    }
}

#[test]
fn another_limit_that_grows_more_is_named_too() {
    let text = said(&[step(64, [5, 40, 0, 0, 0]), step(4096, [42, 44, 0, 0, 0])]);
    assert_eq!(
        text,
        "On all of 64 to 4 096 PEs, most is lost to uneven load: 44 % of all PEs' time on 4 096 \
         PEs, 40 % on 64, as reason 1 holds at 4096. The loss that grows most is GVT's latency, \
         from 5 % to 42 %, as reason 0 holds at 4096."
    );
    let last = said(&[step(64, [5, 40, 0, 0, 0]), step(4096, [50, 44, 0, 0, 0])]);
    assert!(last.starts_with("On 4 096 PEs, most is lost to GVT's latency: 50 %"), "{last}");
    assert!(!last.contains("grows"), "{last}");
}

#[test]
fn one_step_and_none_are_explained_too() {
    assert_eq!(said(&[]), "");
    assert_eq!(
        said(&[step(8, [0, 0, 30, 10, 0])]),
        "On 8 PEs, most is lost to messages: 30 % of their time, as reason 2 holds at 8."
    );
    assert_eq!(
        said(&[step(2, [0; LOSSES]), step(8, [1; LOSSES])]),
        "Nothing stands in the way: efficiency is 95 % on 8 PEs."
    );
}
