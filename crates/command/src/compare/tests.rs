//! Which engines a comparison has, and how each is started.

use super::*;
use crate::process::ways::tests::{launcher, typed};
use crate::sample;
use crate::settings::GivenSetting;

const OPTIMISTIC: Contender = Contender::of(Synchronisation::Optimistic);

fn given(name: &str, text: &str) -> GivenSetting {
    GivenSetting { name: name.into(), text: text.into(), place: Some("a.toml:2".into()) }
}

fn request(settings: &[GivenSetting]) -> Request {
    let parameters = vec![given("arrival-rate", "-0.5")];
    Request {
        model: "mm1".into(),
        settings: settings.to_vec(),
        parameters,
        json: false,
        quiet: true,
    }
}

fn record(engine: Synchronisation, rate: f64) -> RunRecord {
    if engine == Synchronisation::Sequential {
        sample::sequential(rate)
    } else {
        sample::optimistic(rate)
    }
}

/// The command line of a run, if there is a launcher.
fn line(settings: &[(&str, &str)], sync: Synchronisation, placement: Option<Placement>) -> String {
    let request =
        request(&settings.iter().map(|(name, text)| given(name, text)).collect::<Vec<_>>());
    typed(
        &command(Path::new("warpline"), &request, &Contender { sync, placement }, &launcher())
            .unwrap(),
    )
}

#[test]
fn a_child_gets_all_but_what_concerns_the_comparison() {
    let settings = [
        ("runs", "5"),
        ("sync", "optimistic"),
        ("end", "7"),
        ("with", "optimistic"),
        ("threads", "2"),
    ];
    let settings = settings
        .into_iter()
        .chain([("conservative", "windows"), ("report", "out")])
        .collect::<Vec<_>>();
    let of = |sync| line(&settings, sync, None);
    let ends = "--arrival-rate=-0.5 --sync";
    assert_eq!(
        of(Synchronisation::Sequential),
        format!("warpline run mm1 --end=7 {ends} sequential --state-digest=yes --json --quiet")
    );
    assert_eq!(
        of(Synchronisation::Optimistic),
        format!(
            "warpline run mm1 --end=7 --threads=2 {ends} optimistic --state-digest=yes --json \
             --quiet"
        )
    );
    let expected = format!(
        "warpline run mm1 --end=7 --threads=2 --conservative=windows {ends} conservative \
         --state-digest=yes --json --quiet"
    );
    assert_eq!(of(Synchronisation::Conservative), expected);
}

/// A way replaces the given numbers of threads and processes, and the sequential engine gets
/// neither.
#[test]
fn every_way_has_a_command_line_of_its_own() {
    let settings = [("processes", "2"), ("threads", "3"), ("zero-copy", "yes"), ("end", "7")];
    let of = |way| {
        line(
            &settings,
            Synchronisation::Optimistic,
            Some(Placement { way, processes: 2, threads: 3 }),
        )
    };
    let start = "run mm1";
    let end = "--arrival-rate=-0.5 --processes=2 --threads=3";
    let rest = "--sync optimistic --state-digest=yes --json --quiet";
    assert_eq!(
        of(Way::Processes),
        format!("warpline {start} --zero-copy=yes --end=7 {end} {rest}")
    );
    let launched = format!("mpirun --oversubscribe --bind-to none -np 2 warpline {start}");
    assert_eq!(of(Way::Mpi), format!("{launched} --zero-copy=yes --end=7 {end} {rest}"));
    assert_eq!(of(Way::MpiCopies), format!("{launched} --end=7 {end} --zero-copy=no {rest}"));
    let sequential = line(&settings, Synchronisation::Sequential, None);
    assert_eq!(
        sequential,
        "warpline run mm1 --end=7 --arrival-rate=-0.5 --sync sequential --state-digest=yes --json \
         --quiet"
    );
    let contender = Contender {
        placement: Some(Placement { way: Way::Mpi, processes: 2, threads: 1 }),
        ..OPTIMISTIC
    };
    let refused =
        command(Path::new("warpline"), &request(&[]), &contender, &Err("no launcher".into()))
            .map(|_| ());
    assert_eq!(refused, Err(Failure::failed("no launcher")));
}

/// All ways have the same number of PEs.
#[test]
fn engines_are_placed_as_asked() {
    let placed = |settings: &[(&str, &str)], ways: &[Way]| {
        let all = placements(&Settings::typed(settings).simulation, ways);
        all.into_iter()
            .map(|placement| placement.map_or_else(String::new, |placement| placement.name()))
            .collect::<Vec<_>>()
    };
    assert_eq!(placed(&[("threads", "3")], &[]), [""]);
    assert_eq!(
        placed(&[("threads", "3")], &Way::ALL),
        ["", "3 processes", "3 ranks by MPI", "3 ranks by MPI, copies"]
    );
    assert_eq!(
        placed(&[("threads", "1")], &[Way::Mpi]),
        ["2 ranks by MPI"],
        "one process is no group"
    );
    let both = [("threads", "3"), ("processes", "2")];
    assert_eq!(placed(&both, &[]), ["2 processes with 3 threads each"]);
    assert_eq!(
        placed(&both, &[Way::Threads, Way::Mpi]),
        ["6 threads", "2 ranks by MPI with 3 threads each"]
    );
}

#[test]
fn engines_take_turns() {
    // Two others, as if there were a third engine.
    let others = [OPTIMISTIC; 2];
    let mut turns = Vec::new();
    let engines = in_turn(&others, 2, |turn, engine| {
        turns.push(format!("{turn} {}", engine.name()));
        Ok(record(engine.sync, turn as f64))
    });
    assert_eq!(
        turns,
        [
            "0 sequential",
            "1 optimistic",
            "2 optimistic",
            "3 sequential",
            "4 optimistic",
            "5 optimistic"
        ]
    );
    let rates =
        |engine: &EngineRuns| engine.runs.iter().map(|run| run.event_rate).collect::<Vec<_>>();
    assert_eq!(
        engines.unwrap().iter().map(rates).collect::<Vec<_>>(),
        [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    );
}

#[test]
fn an_engine_that_fails_is_left_out_and_the_others_go_on() {
    let others = [OPTIMISTIC; 2];
    let mut turns = Vec::new();
    let engines = in_turn(&others, 3, |turn, engine| {
        turns.push(turn);
        if turn == 4 { Err(Failure::failed("oh no")) } else { Ok(record(engine.sync, turn as f64)) }
    });
    let engines = engines.unwrap();
    assert_eq!(turns, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(engines.iter().map(|engine| engine.runs.len()).collect::<Vec<_>>(), [3, 1, 3]);
    assert_eq!(
        engines.iter().map(|engine| engine.failure.as_deref()).collect::<Vec<_>>(),
        [None, Some("oh no"), None]
    );
    assert_eq!(engines[2].runs[2].event_rate, 7.0);
}

#[test]
fn a_failure_of_the_sequential_engine_ends_it() {
    let fails = |failure: Failure| {
        let outcome = in_turn(&[OPTIMISTIC], 2, |turn, engine| {
            if turn == 2 { Err(failure.clone()) } else { Ok(record(engine.sync, 1.0)) }
        });
        outcome.err().unwrap()
    };
    let failure = fails(Failure::failed("oh no"));
    assert_eq!(
        (failure.message.as_str(), failure.code),
        ("oh no\n  in run 3, which was sequential", Failure::FAILED)
    );
    assert_eq!(fails(Failure::wrong_use("no such file")), Failure::wrong_use("no such file"));
}

#[test]
fn the_sequential_engine_is_not_compared_with_itself() {
    let engines = |given: &[GivenSetting]| {
        others(&request(given), &Settings::read(given).unwrap(), suiting(true, false))
    };
    assert_eq!(engines(&[]), Ok(vec![Contender::of(Synchronisation::Conservative), OPTIMISTIC]));
    let of = |lookahead, conservative| {
        others(&request(&[]), &Settings::read(&[]).unwrap(), suiting(lookahead, conservative))
    };
    assert_eq!(of(false, false), Ok(vec![OPTIMISTIC]), "without lookahead");
    assert_eq!(
        of(false, true),
        Ok(vec![Contender::of(Synchronisation::Mixed)]),
        "with LPs that must not go ahead"
    );
    assert_eq!(
        engines(&[given("sync", "optimistic"), given("threads", "1")]),
        Ok(vec![OPTIMISTIC])
    );
    assert_eq!(engines(&[given("with", "sequential,optimistic")]), Ok(vec![OPTIMISTIC]));
    assert_eq!(
        engines(&[given("with", "optimistic"), given("sync", "sequential")]),
        Ok(vec![OPTIMISTIC])
    );
    let ways = engines(&[
        given("with", "threads,processes"),
        given("threads", "2"),
        given("sync", "optimistic"),
    ])
    .unwrap();
    assert_eq!(
        ways.iter().map(Contender::name).collect::<Vec<_>>(),
        ["optimistic", "optimistic, 2 processes"]
    );
    for name in ["sync", "with"] {
        let failure = engines(&[given(name, "sequential")]).unwrap_err();
        assert_eq!(failure.code, Failure::USAGE_ERROR);
        assert!(
            failure
                .message
                .starts_with(&format!("a.toml:2: there is nothing to compare: `{name}` is")),
            "{}",
            failure.message
        );
    }
}
