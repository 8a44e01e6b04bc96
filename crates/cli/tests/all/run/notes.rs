//! What was typed and has no effect.

use std::fs;

use crate::support::{warpline, warpline_in};
use serde_json::Value;
use tempfile::tempdir;

/// Parameters without effect are pointed out, but only if they were given.
#[test]
fn parameters_without_effect_are_pointed_out() {
    let no_effect = |name: &str, why: &str| format!("note: model `{name}`: {why}\n");
    let one_cluster = |name: &str| {
        no_effect(
            "phold",
            &format!("`{name}` has no effect: there is one cluster; set `clusters` to 2 or more"),
        )
    };
    for (line, expected) in [
        ("phold --lps 64 --remote 0.5", one_cluster("remote")),
        ("phold --lps 64 --reach 1 --remote 0.1", one_cluster("remote") + &one_cluster("reach")),
        ("phold --lps 64 --clusters 4 --remote 0.5 --reach 1", String::new()),
        (
            "phold --lps 64 --clusters 4 --remote 0 --reach 1",
            no_effect(
                "phold",
                "`reach` has no effect: no message leaves its cluster; set `remote` to more than 0",
            ),
        ),
        ("phold --lps 64 --payload 65", String::new()),
        (
            "network --off 3",
            no_effect(
                "network",
                "`off` has no effect: sources are not on-off; set `sources` to `onoff`",
            ),
        ),
        ("network --on 3 --sources onoff", String::new()),
        (
            "network --udp-size 100",
            no_effect(
                "network",
                "`udp-size` has no effect: sources are not UDP; set `sources` to `udp`",
            ),
        ),
        ("network --topology star-clique:3 --udp-size 100 --on 3", String::new()),
        ("mm1 --discipline lifo", String::new()),
    ] {
        let run = warpline(&format!("run {line} --end 0.01 --json"));
        assert_eq!((run.code, &run.stderr), (0, &expected), "{line}");
        let notes: Vec<_> =
            expected.lines().map(|line| line.trim_start_matches("note: ")).collect();
        let told = run.json().get("notes").cloned();
        assert_eq!(told, (!notes.is_empty()).then(|| notes.into()), "{line}");
    }
    let note = one_cluster("remote");
    for (verb, json) in [("verify", ""), ("compare", "--runs 1 --quiet --with optimistic")] {
        let told = warpline(&format!("{verb} phold --lps 64 --end 1 --remote 0.5 {json} --json"));
        let json = told.json();
        // On a busy machine, `compare` adds that others used the cores.
        let first = json["notes"][0].as_str().unwrap();
        assert_eq!(
            (told.code, &told.stderr, first),
            (0, &note, note.trim_start_matches("note: ").trim_end()),
            "{verb}"
        );
    }
    let place = tempdir().unwrap();
    fs::write(
        place.path().join("a.toml"),
        "model = 'phold'\nend = 0.1\n[parameters]\nlps = 64\n\nremote = 0.5",
    )
    .unwrap();
    let told = warpline_in(place.path(), &["run", "a.toml"]).stderr;
    assert!(told.starts_with("note: a.toml:6: model `phold`: `remote` has no effect"), "{told}");
}

/// Settings without effect are pointed out, except for those of presets.
#[test]
fn settings_without_effect_are_pointed_out() {
    let interval =
        "note: `copy-interval` has no effect: states are copied with `undo` set to `copy` alone\n";
    for (line, expected) in [
        (
            "run phold --lps 8 --end 1 --sync optimistic --threads 2 --undo reverse \
             --copy-interval 4",
            interval,
        ),
        ("run phold --lps 8 --end 1 --sync optimistic --threads 2 --copy-interval 4", ""),
        (
            "run phold --lps 8 --end 1 --sync optimistic --threads 1 --mailbox cas",
            "note: `mailbox` has no effect: there is one PE, which sends itself no messages\n",
        ),
        (
            "run phold --lps 2 --end 1 --sync optimistic --threads 4",
            "note: 2 of 4 threads have a PE, as a PE has at least one LP and the model has 2\n",
        ),
        ("run phold --preset ross-mt --lps 64 --end 1 --threads 1", ""),
        (
            "compare phold --lps 8 --end 1 --with optimistic --threads 2 --runs 1 --quiet --undo \
             reverse --copy-interval 4",
            interval,
        ),
    ] {
        let run = warpline(&format!("{line} --json"));
        assert_eq!((run.code, run.stderr.as_str()), (0, expected), "{line}");
        let notes: Vec<_> =
            expected.lines().map(|line| line.trim_start_matches("note: ")).collect();
        let json = run.json();
        let mut told: Vec<&str> = json
            .get("notes")
            .and_then(Value::as_array)
            .map_or(Vec::new(), |notes| notes.iter().filter_map(Value::as_str).collect());
        if line.starts_with("compare") {
            // On a busy machine, it adds that others used the cores.
            told.truncate(1);
        }
        assert_eq!(told, notes, "{line}");
    }
}
