//! `warpline models`, `warpline verify`, and the help texts.

use crate::support::{RUNS, RUNS_OF_PROCESSES, warpline, warpline_in};

const MODELS: &[&str] = &[
    "mm1",
    "simplesim",
    "phold",
    "hypercube",
    "bank",
    "car-wash",
    "machine-shop",
    "gas-station",
    "movie",
    "event-latency",
    "hospital",
    "job-shop",
    "harbour",
    "tandem",
    "fleet",
    "mupi-barrier",
    "mupi-ping",
    "stencil",
    "replay",
    "pcs",
    "network",
];

#[test]
fn models_are_listed_and_shown() {
    let list = warpline("models");
    assert_eq!(list.code, 0);
    let json = warpline("models --json").json();
    let entries = json["models"].as_array().unwrap();
    for model in MODELS {
        assert!(list.stdout.lines().any(|line| line.starts_with(model)), "{}", list.stdout);
        let shown = warpline(&format!("models show {model}")).stdout;
        let object = warpline(&format!("models show {model} --json")).json();
        assert!(entries.iter().any(|entry| entry.as_object() == Some(&object)));
        let keys = [
            "about",
            "default_end",
            "examples",
            "journaled",
            "name",
            "parameters",
            "presets",
            "reversible",
            "time_unit",
        ];
        assert_eq!(object.keys().collect::<Vec<_>>(), keys);
        for parameter in object["parameters"].as_array().unwrap() {
            let parameter = parameter.as_object().unwrap();
            assert_eq!(
                parameter.keys().collect::<Vec<_>>(),
                ["default", "meaning", "name", "range", "unit"]
            );
            for text in parameter.values() {
                assert!(shown.contains(text.as_str().unwrap()), "{text}: {shown}");
            }
        }
    }
    warpline("models show networc").is_wrong_use(&["did you mean `network`?"]);
    warpline("models show").is_wrong_use(&["MODEL"]);
}

#[test]
fn the_examples_of_every_model_are_understood() {
    for model in MODELS {
        let object = warpline(&format!("models show {model} --json")).json();
        for example in object["examples"].as_array().unwrap() {
            let line = example.as_str().unwrap().strip_prefix("warpline ").unwrap();
            let help = warpline(&format!("{line} --help"));
            assert_eq!(help.code, 0, "{line}: {}", help.stderr);
        }
    }
}

/// A name with a mistake in it would only be missing in the report.
#[test]
fn reports_lead_with_all_headlines_of_the_models() {
    let place = tempfile::tempdir().unwrap();
    for line in RUNS.iter().chain(RUNS_OF_PROCESSES) {
        let words: Vec<&str> =
            "run --report out --json".split(' ').chain(line.split(' ')).collect();
        let run = warpline_in(place.path(), &words).json();
        let headlines = run["headlines"].as_array().unwrap();
        let page = std::fs::read_to_string(place.path().join("out/report.html")).unwrap();
        let lead = page.split("<dl class=\"tiles\">").nth(1).unwrap();
        let lead = lead.split("</dl>").next().unwrap();
        let tiles = lead.matches("<div class=\"tile").count();
        assert!(tiles > 0 && tiles == headlines.len(), "{line}: {headlines:?}\n{lead}");
    }
}

#[test]
fn help_tells_units_defaults_and_ranges() {
    let help = warpline("run network --help-all");
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    let flat = help.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Rate of every link of which the file says no capacity, in each direction. (default 100 Mbit/s; in [0.000001, 100000000])",
        "(default auto; one of auto, uni, deg, file)",
        "Model parameters: --topology",
        "Length of links of which the file says neither a length, nor a delay, nor where both ends are. (default 100 km;",
        "Run settings: --end <TIME>",
        "Engine settings: --pending",
        "Parallel runs: --sync",
        "[default: auto; sequential with one thread; optimistic, or mixed if the model has \
         conservative LPs, with more, or if a setting is given that only such runs have a use for] \
         [possible values: auto, sequential, conservative, optimistic, mixed]",
        "--window <TIME> How far beyond GVT events may be executed, in model time [default: chosen \
         by the engine",
        "Examples: warpline run network",
        "[possible values: ladder, heap]",
    ] {
        assert!(flat.contains(words), "{words}: {}", help.stdout);
    }
}

#[test]
fn shells_can_complete_commands_models_and_options() {
    for shell in ["bash", "zsh", "fish"] {
        let text = warpline(&format!("completions {shell}"));
        assert_eq!((text.code, text.stderr.as_str()), (0, ""), "{shell}");
        for word in ["torture", "phold", "gvt-interval", "arrival-rate"] {
            assert!(text.stdout.contains(word), "{shell}: {word}");
        }
    }
    warpline("completions tcsh").is_wrong_use(&["tcsh", "bash"]);
    warpline("completions").is_wrong_use(&["SHELL"]);
}

/// What most people need, and the names of the rest.
#[test]
fn the_short_help_fits_on_few_screens_and_names_what_it_leaves_out() {
    for line in ["run", "run phold", "torture", "verify", "explain", "compare"] {
        let help = warpline(&format!("{line} --help")).stdout;
        assert_eq!(help, warpline(&format!("{line} -h")).stdout, "{line}");
        let all = warpline(&format!("{line} --help-all")).stdout;
        assert!(help.lines().count() <= 110, "{line}: {} lines", help.lines().count());
        assert!(2 * help.lines().count() < all.lines().count(), "{line}: {help}");
        // Every option of the long help is in the short one, if only by its name.
        let options = all.lines().filter_map(|line| line.strip_prefix("      --"));
        let mut names = options.filter_map(|line| line.split([' ', ',']).next());
        assert!(names.clone().count() > 5, "{line}: {all}");
        let missing = names.find(|name| !help.contains(&format!("--{name}")));
        assert_eq!(missing, None, "{line}");
    }
}

#[test]
fn every_command_has_help_with_examples() {
    for line in [
        "--help",
        "models --help",
        "run --help",
        "verify --help",
        "report --help",
        "verify phold --help",
        "compare --help",
        "new --help",
        "completions --help",
        "help run",
    ] {
        let help = warpline(line);
        assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{line}");
        assert!(help.stdout.contains("Example"), "{line}");
    }
    assert_eq!(warpline("--version").stdout, concat!("warpline ", env!("CARGO_PKG_VERSION"), "\n"));
    warpline("").is_wrong_use(&["Usage: warpline"]);
    warpline("runn mm1").is_wrong_use(&["'run'"]);
}

#[test]
fn verification_tries_every_way_of_undoing() {
    let text = warpline("verify simplesim --limit 50 --end 50");
    assert_eq!(text.code, 0, "{}", text.stderr);
    let digest = warpline("run simplesim --limit 50 --end 50 --json").digest();
    for way in ["--undo copy ", "--undo reverse ", "--undo journal "] {
        let line = text.stdout.lines().find(|line| line.contains(way)).unwrap();
        assert!(line.contains(" events") && line.contains(&digest), "{line}");
    }
    assert!(
        text.stdout
            .contains("a second process came to the same history, final states and statistics"),
        "{}",
        text.stdout
    );
    let one =
        warpline("verify simplesim --limit 50 --end 50 --seed 3 --undo reverse --json").json();
    let methods = one["methods"].as_array().unwrap();
    assert_eq!((methods.len(), &methods[0]["undo"]), (1, &"reverse".into()));
    assert_eq!(
        methods[0]["digest"],
        warpline("run simplesim --limit 50 --end 50 --seed 3 --json").digest().as_str()
    );
}

#[test]
fn verification_tries_enough_events() {
    let method = |line: &str| {
        warpline(&format!("verify {line} --undo copy --json")).json()["methods"][0].clone()
    };
    // By default it ends after a time in which a busy machine may not get far.
    let events =
        |line: &str| method(&format!("{line} --time-limit 1000"))["events"].as_u64().unwrap();
    assert!((10_000..10_010).contains(&events("mm1 --arrival-rate 1e-9")));
    // To the end of the run, if that is further.
    let run = warpline("run phold --lps 16 --json").json();
    assert_eq!(run["committed_events"].as_u64().unwrap(), events("phold --lps 16"));
    // A run that takes for ever is not executed to its end.
    let endless = method("phold --lookahead 0 --mean 1e-9 --time-limit 0.1");
    assert!(
        endless["short_of_time"] == true && endless["end_time"].as_f64() < Some(100.0),
        "{endless}"
    );
}

#[test]
fn verification_can_be_used_wrongly() {
    warpline("verify").is_wrong_use(&["warpline verify MODEL", "phold"]);
    warpline("verify fold").is_wrong_use(&["phold"]);
    warpline("verify mm1 --end nan").is_wrong_use(&["NaN"]);
    warpline("verify mm1 --undo magic").is_wrong_use(&["copy, reverse, journal"]);
    warpline("verify mm1 --time-limit 0").is_wrong_use(&["`time-limit` cannot be `0`"]);
    warpline("verify mm1 --arrival-rate 0").is_wrong_use(&["arrival-rate"]);
    let json = warpline("verify mm1 --end 0 --json");
    assert_eq!((json.code, &json.json()["exit_code"]), (2, &2.into()));
}
