//! `warpline run`.

mod notes;
mod output;
mod settings;

use crate::support::warpline;

const KEYS: [&str; 20] = [
    "about",
    "committed_events",
    "digest",
    "end_time",
    "engine",
    "engines",
    "event_rate",
    "headlines",
    "loop_seconds",
    "model",
    "parameters",
    "peak_rss_bytes",
    "provenance",
    "result_notes",
    "results",
    "seed",
    "series",
    "tables",
    "time_unit",
    "wall_seconds",
];

#[test]
fn json_is_one_object_with_all_keys() {
    let run = warpline("run mm1 --end 100 --seed 7 --arrival-rate 0.5 --json");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let json = run.json();
    // Its share of the cores is known only if the run takes a while.
    assert_eq!(json.keys().filter(|key| *key != "core_share").collect::<Vec<_>>(), KEYS);
    assert_eq!(
        (&json["model"], &json["seed"], &json["end_time"]),
        (&"mm1".into(), &7.into(), &100.0.into())
    );
    assert_eq!(json["parameters"]["arrival-rate"], 0.5);
    assert!(json["committed_events"].as_u64().unwrap() > 50);
    assert_eq!(json["digest"].as_str().unwrap().len(), 16);
}

#[test]
fn people_get_the_main_results() {
    let run = warpline("run network --end 0.01");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for word in [
        "committed events  ",
        "event rate",
        "wall time",
        "memory",
        "digest",
        "max_utilisation",
        "entries (see --json or --report)",
    ] {
        assert!(run.stdout.contains(word), "{word}: {}", run.stdout);
    }
}

/// `mm1` declares statistics, `network` makes results of its own.
#[test]
fn results_come_with_unit_and_meaning() {
    let run = warpline("run mm1 --end 1000");
    let line = run.stdout.lines().find(|line| line.trim().starts_with("customers")).unwrap();
    assert!(
        line.contains(" ± ")
            && line.contains("95 % confidence")
            && line.ends_with(" – customers waiting or in service"),
        "{line}"
    );
    let notes = &warpline("run mm1 --end 1000 --json").json()["result_notes"];
    assert_eq!(notes["stay"]["meaning"], "time from arrival to departure");
    assert!(
        notes["mean_stay.ci95"]["meaning"].as_str().unwrap().contains("95 % confidence interval"),
        "{notes}"
    );

    let run = warpline("run network --end 0.01");
    let line = run.stdout.lines().find(|line| line.starts_with("    utilisation")).unwrap();
    let words = ["smallest ", ", largest ", ", mean ", " – share of time"];
    assert!(words.iter().all(|word| line.contains(word)), "{line}");
    let json = warpline("run network --end 0.01 --json").json();
    for (name, unit) in [
        ("delay", "s"),
        ("links.length_km", "km"),
        ("packets_offered", "packets"),
        ("demands.delay", "s"),
    ] {
        assert_eq!(json["result_notes"][name]["unit"], unit, "{name}");
    }
    let of_network = json["results"].as_object().unwrap().keys();
    assert!(
        of_network.into_iter().all(|name| json["result_notes"].get(name).is_some()),
        "{}",
        json["result_notes"]
    );
}

/// At a load of 0.95, customers of one batch still wait for those of the batch before.
#[test]
fn short_runs_with_much_correlation_say_so() {
    let short = "run mm1 --arrival-rate 0.95 --end 3000";
    let run = warpline(short);
    assert_eq!(
        run.stdout.matches("95 % confidence, probably too narrow: the run is short").count(),
        2,
        "{}",
        run.stdout
    );
    let note =
        |line: &str| warpline(line).json()["results"]["mean_stay"].get("ci95_note").is_some();
    assert!(note(&format!("{short} --json")) && note(&format!("{short} --json --threads 2")));
    assert!(!note("run mm1 --arrival-rate 0.5 --end 100000 --seed 2 --json"));
}

#[test]
fn a_record_says_where_it_comes_from() {
    let of = |line: &str| warpline(line).json()["provenance"].clone();
    let alone = of("run mm1 --end 100 --json");
    assert_eq!((&alone["pes"], &alone["command_line"][2]), (&1.into(), &"mm1".into()));
    assert!(
        alone["date"].as_str().unwrap().ends_with('Z')
            && alone["version"].is_string()
            && alone["cores"].is_number(),
        "{alone}"
    );
    let together = of("run mm1 --end 100 --json --threads 2");
    assert_eq!((&together["pes"], &together["cores"]), (&2.into(), &alone["cores"]));
}

/// With four PEs and destinations drawn from all LPs, three in four messages travel, whatever the
/// timing.
#[test]
fn a_parallel_run_says_what_limits_it() {
    let line = "run phold --lps 64 --end 10000 --threads 4";
    let run = warpline(line);
    assert!(run.stdout.contains("what limits this run, and what to try"), "{}", run.stdout);
    let json = warpline(&format!("{line} --json")).json();
    let limits = json["limits"].as_array().unwrap();
    // Nothing else is said where others used the cores.
    if limits.iter().any(|limit| limit["title"] == "Others used the cores as well") {
        return;
    }
    let travel = limits
        .iter()
        .find(|limit| limit["title"] == "Most messages travel")
        .unwrap_or_else(|| panic!("{limits:?}"));
    let advice = travel["advice"].as_str().unwrap();
    assert!(
        advice.contains("of the committed events came from another PE")
            && advice.contains("numbers side by side"),
        "{travel}"
    );
    assert!(json["estimated_speedup"].as_f64().unwrap() > 0.0, "{}", json["estimated_speedup"]);
    assert!(warpline("run mm1 --end 100 --json").json().get("limits").is_none());
}

#[test]
fn failures_are_objects_too() {
    for (line, word) in [
        ("run netwrok --json", "network"),
        ("run mm1 --json --end 0", "end time"),
        ("run mm1 --json --lod 1", "--lod"),
    ] {
        let failed = warpline(line);
        let json = failed.json();
        assert_eq!((failed.code, &json["exit_code"]), (2, &2.into()), "{line}");
        assert!(
            json["error"].as_str().unwrap().contains(word) && failed.stderr.contains(word),
            "{line}"
        );
    }
}

#[test]
fn quiet_is_silent() {
    let run = warpline("run mm1 --end 100 --json --quiet");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}
