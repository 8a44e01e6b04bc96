//! Presets: settings and parameters under one name.

use serde_json::Value;

use crate::support::warpline;

const RUN: &str = "run phold --end 0.5 --seed 3 --json";

/// A preset stands for its values. Typed values override it, whether they come before or after it.
#[test]
fn a_preset_stands_for_what_it_sets() {
    let typed =
        warpline(&format!("{RUN} --lps 800 --clusters 8 --population 100 --reach 1")).json();
    let preset = warpline(&format!("{RUN} --preset rcphold-100-100")).json();
    assert_eq!(
        (&preset["digest"], &preset["parameters"]),
        (&typed["digest"], &typed["parameters"])
    );
    for line in [
        "--lps 160 --preset rcphold-10-1000 --population 5",
        "--preset=rcphold-10-1000 --lps=160 --population=5",
    ] {
        let parameters = warpline(&format!("{RUN} {line}")).json()["parameters"].clone();
        let of = |name: &str| parameters[name].to_string().replace('"', "");
        assert_eq!(
            ["lps", "clusters", "population", "reach"].map(of),
            ["160", "8", "5", "1"],
            "{line}"
        );
    }
}

/// Presets of engines are settings that do not change the answer. The last one of a name counts.
#[test]
fn engines_have_presets() {
    let plain = warpline(&format!("{RUN} --preset rcphold-100-100")).json();
    let engine = |presets: &str| {
        let json =
            warpline(&format!("{RUN} --threads 2 --preset rcphold-100-100,{presets}")).json();
        assert_eq!(json["digest"], plain["digest"], "{presets}");
        ["gvt", "barrier"].map(|name| json["engine"][name].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(engine("usik-2s"), ["synchronous", "tree"]);
    assert_eq!(engine("usik-2a"), ["asynchronous", ""]);
    assert_eq!(engine("usik-1a"), ["one-sided", ""]);
    assert_eq!(engine("gsu"), ["gsu", ""]);
    assert_eq!(engine("gsu,usik-2a"), ["asynchronous", ""]);
    for preset in ["gsu", "gsu-zero-copy", "ross-cmt"] {
        let sequential = warpline(&format!("{RUN} --sync sequential --preset {preset}")).json();
        assert_eq!(sequential["engine"]["sync"], "sequential", "{preset}");
    }
}

/// Engines of several processes, with their messages in shared memory or copied.
#[test]
#[cfg(target_os = "linux")]
fn engines_of_several_processes_have_presets() {
    let plain = warpline(RUN).json();
    for (line, words) in [
        ("--preset gsu-zero-copy", ["conservative", "gsu", "true", "2", "1"]),
        (
            "--preset ross-mpi --barrier tree --processes 3",
            ["optimistic", "synchronous", "false", "3", "1"],
        ),
        (
            "--preset ross-cmt --processes 2 --threads 2",
            ["optimistic", "synchronous", "false", "2", "2"],
        ),
        (
            "--preset ross-mc-cmt --processes 2 --threads 2",
            ["optimistic", "synchronous", "false", "2", "2"],
        ),
    ] {
        let json = warpline(&format!("{RUN} {line}")).json();
        assert_eq!(json["digest"], plain["digest"], "{line}");
        let of = |name: &str| json["engine"][name].to_string().replace('"', "");
        assert_eq!(["sync", "gvt", "zero_copy", "processes", "threads"].map(of), words, "{line}");
    }
}

#[test]
fn presets_are_shown_and_misspelt_ones_get_a_suggestion() {
    warpline("run phold --preset rcphold-10-100")
        .is_wrong_use(&["no preset `rcphold-10-100` for `phold`; did you mean `rcphold-10-1000`?"]);
    warpline("run mm1 --preset rcphold-10-1000").is_wrong_use(&[
        "no preset `rcphold-10-1000` for `mm1`",
        "usik-2s, usik-2a, usik-1a, gsu, gsu-zero-copy, ross-mt-baseline, ross-mt, gtw-receiver, \
         gtw-sender, gtw-partitioned, ross-mpi, ross-cmt, ross-mc-cmt",
    ]);
    let shown = warpline("models show phold --json").json();
    let names: Vec<&Value> =
        shown["presets"].as_array().unwrap().iter().map(|preset| &preset["name"]).collect();
    assert_eq!(names, ["rcphold-10-1000", "rcphold-100-100"]);
    assert_eq!(shown["presets"][0]["values"]["population"], "1000");
    let help = warpline("run phold --help").stdout;
    assert!(
        help.contains("--preset <NAME,...>")
            && help.contains("usik-1a")
            && help.contains("ross-mc-cmt"),
        "{help}"
    );
}
