//! Command lines as they are typed.

use super::*;
use crate::test_models::{one, two};

fn parse(line: &str) -> Result<Action, String> {
    let line: Vec<OsString> = line.split(' ').map(OsString::from).collect();
    let action =
        if line[0] == "queue" { super::parse(&one(), &line) } else { super::parse(&two(), &line) };
    action.map_err(|failure| failure.message)
}

fn request(line: &str) -> Vec<String> {
    let (Action::Run(request)
    | Action::Verify(request)
    | Action::Explain(request)
    | Action::Compare(request)) = parse(line).unwrap()
    else {
        panic!("{line}")
    };
    let all = request.settings.iter().chain(&request.parameters);
    all.map(|given| format!("{}={}", given.name, given.text)).collect()
}

#[test]
fn the_command_is_sound() {
    command(&two()).debug_assert();
    command(&one()).debug_assert();
}

#[test]
fn settings_and_parameters_come_in_any_order() {
    let expected = ["end=5", "seed=7", "arrival-rate=-0.5"];
    for line in [
        "warpline run mm1 --end 5 --seed 7 --arrival-rate -0.5",
        "warpline run mm1 --arrival_rate=-0.5 --seed=7 --end=5",
        "warpline run --end 5 mm1 --arrival-rate -0.5 --seed 7",
    ] {
        assert_eq!(request(line), expected, "{line}");
    }
}

#[test]
fn the_only_model_need_not_be_named() {
    let expected = ["end=5", "seed=7", "arrival-rate=-0.5"];
    for line in [
        "queue run --end 5 --arrival-rate -0.5 --seed 7",
        "queue run --end 5 mm1 --arrival_rate=-0.5 --seed=7",
    ] {
        assert_eq!(request(line), expected, "{line}");
    }
    assert_eq!(parse("queue models show"), parse("queue models show mm1"));
    assert!(matches!(
        parse("queue compare --runs 2 --json"),
        Ok(Action::Compare(Request { json: true, .. }))
    ));
    assert!(
        matches!(parse("queue verify"), Ok(Action::Verify(Request { model, .. })) if model == "mm1")
    );
    assert!(
        parse("queue run phold")
            .unwrap_err()
            .starts_with("there is neither a model nor a scenario file `phold`; `mm1`, the only")
    );
    assert!(
        parse("queue run nowhere.toml")
            .unwrap_err()
            .starts_with("cannot read the scenario nowhere.toml")
    );
    assert!(parse("queue run --arival-rate 1").unwrap_err().contains("--arrival-rate"));
    assert!(
        parse("queue compare --trace out").unwrap_err().contains("give it to `queue run`, once")
    );
    let Ok(Action::Say(help)) = parse("queue run --help") else { panic!("no help") };
    for words in [
        "--arrival-rate <VALUE>",
        "[SCENARIO.toml]",
        "--threads <N>",
        "queue run --end 50 --report out",
    ] {
        assert!(help.contains(words), "{words}: {help}");
    }
    let Ok(Action::Say(help)) = parse("queue --help") else { panic!("no help") };
    assert!(
        help.contains("mm1: a queue")
            && help.contains("  queue run --arrival-rate 0.8 --end 500 --seed 2"),
        "{help}"
    );
}

#[test]
fn a_scenario_of_the_only_model_gives_way_to_what_is_typed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.toml");
    std::fs::write(&file, "end = 7\nseed = 2\n[parameters]\narrival_rate = 0.25").unwrap();
    let line = format!("queue run --seed 3 {} --service-rate 2", file.display());
    assert_eq!(request(&line), ["end=7", "seed=3", "arrival-rate=0.25", "service-rate=2"]);
}

#[test]
fn a_comparison_takes_the_settings_of_a_run() {
    let line = "warpline compare --runs 5 mm1 --end 5 --threads 2 --arrival_rate 0.5 --sync \
                optimistic --report out";
    assert_eq!(
        request(line),
        ["runs=5", "end=5", "sync=optimistic", "threads=2", "report=out", "arrival-rate=0.5"]
    );
    assert!(matches!(
        parse("warpline compare mm1 --json --quiet"),
        Ok(Action::Compare(Request { json: true, quiet: true, .. }))
    ));
    assert!(
        parse("warpline compare mm1 --trace out")
            .unwrap_err()
            .starts_with("a comparison has no --trace: give it to `warpline run mm1`")
    );
    assert!(parse("warpline run mm1 --runs 5").unwrap_err().contains("--runs"));
}

#[test]
fn only_a_program_of_many_models_writes_projects() {
    let parse = |program, line: &str| {
        super::parse(program, &line.split(' ').map(OsString::from).collect::<Vec<_>>())
    };
    let installed = Program { new: true, ..two() };
    let action = Action::New { name: "corner-shop".into(), json: true };
    assert_eq!(parse(&installed, "warpline new corner-shop --json"), Ok(action));
    assert!(parse(&installed, "warpline new").unwrap_err().message.contains("<NAME>"));
    assert!(
        parse(&two(), "warpline new corner-shop")
            .unwrap_err()
            .message
            .contains("unrecognized subcommand 'new'")
    );
    command(&installed).debug_assert();
}

#[test]
fn an_explanation_takes_end_seed_and_cost() {
    let line = "warpline explain --seed 3 mm1 --end 5 --event-cost measured --arrival_rate 0.5";
    assert_eq!(request(line), ["end=5", "seed=3", "event-cost=measured", "arrival-rate=0.5"]);
    assert!(matches!(
        parse("queue explain --quiet"),
        Ok(Action::Explain(Request { quiet: true, json: false, .. }))
    ));
    assert!(parse("warpline explain mm1 --threads 2").unwrap_err().contains("--threads"));
    assert!(parse("warpline run mm1 --event-cost counted").unwrap_err().contains("--event-cost"));
    let Ok(Action::Say(help)) = parse("warpline explain --help") else { panic!("no help") };
    assert!(
        help.contains("Examples:\n  warpline explain phold\n")
            && help.contains("--event-cost <WORD>"),
        "{help}"
    );
    assert!(
        parse("warpline explain mm1 --event-cost guessed")
            .unwrap_err()
            .contains("counted, measured")
    );
}

#[test]
fn an_option_is_no_value() {
    assert_eq!(
        parse("warpline run mm1 --end --json").unwrap_err(),
        "`--end` needs a value, but `--json` follows it"
    );
}

#[test]
fn missing_and_unknown_arguments_are_named() {
    let wrong = |line: &str| parse(line).unwrap_err();
    assert!(wrong("warpline").contains("warpline run mm1"));
    assert!(wrong("warpline run").contains("mm1 "));
    assert!(wrong("warpline run phild").contains("did you mean `phold`?"));
    assert!(wrong("warpline run mm1 --arival-rate 1").contains("--arrival-rate"));
    assert!(wrong("warpline run mm1 --undo magic").contains("copy, reverse, journal"));
    assert!(
        wrong("warpline run nowhere.toml").starts_with("cannot read the scenario nowhere.toml")
    );
}
