//! Thousands of schedules of Time Warp have the same answer.

use std::fs;
use std::path::Path;

use warpline::{Error, Records};
use warpline_testkit::random_model::{Inline, Mistake, PlannedFault};
use warpline_testkit::torture::{Case, Summary};
use warpline_testkit::{RandomModel, Recipe, Settings, cases, matrix, time_limit};

/// Checks consecutive seeds, so that a failure can be reproduced by its number.
fn torture(seeds: std::ops::Range<u64>, clusters: usize) -> Summary {
    let mut all = Summary::default();
    for seed in seeds {
        let case = Case::from_seed(seed, clusters);
        let one = case
            .check()
            .unwrap_or_else(|why| panic!("Case::from_seed({seed}, {clusters}).check(): {why}"));
        all.schedules += one.schedules;
        all.committed += one.committed;
        all.mistakes += one.mistakes;
    }
    all
}

const SEEDS: u32 = 200;

/// Half of the seeds; the other half can run on another core.
#[test]
fn thousands_of_schedules_have_one_answer() {
    let seeds = u64::from(cases(SEEDS));
    let all = torture(0..seeds, 3);
    assert!(
        all.schedules >= 3 * seeds && all.committed > 30 * seeds && all.mistakes > seeds / 10,
        "{all:?}"
    );
}

/// Like the test above, with other seeds.
#[test]
fn thousands_of_other_schedules_have_one_answer() {
    let seeds = u64::from(cases(SEEDS));
    let all = torture(1 << 32..(1 << 32) + seeds, 3);
    assert!(
        all.schedules >= 3 * seeds && all.committed > 30 * seeds && all.mistakes > seeds / 10,
        "{all:?}"
    );
}

/// All files of a directory, by name.
fn files(directory: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(directory)
        .expect("the directory is there")
        .map(|entry| entry.expect("it can be listed").path());
    let name =
        |path: &Path| path.file_name().expect("files have names").to_string_lossy().into_owned();
    let mut all: Vec<_> =
        entries.map(|path| (name(&path), fs::read_to_string(&path).expect("it is text"))).collect();
    all.sort();
    all
}

/// The files that a run wrote, and how it ended.
fn written(
    recipe: &Recipe,
    settings: &Settings,
    configuration: matrix::Configuration,
) -> (Vec<(String, String)>, String) {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let simulation =
        matrix::simulation(RandomModel::<1, Inline>::new(recipe), settings, configuration);
    let _limit = time_limit((configuration, *settings, recipe.clone()));
    let ended = match simulation.records(Records::Write(directory.path().to_owned())).run() {
        Ok(run) => {
            format!("{} {} {:?}", run.record.digest, run.record.committed_events, run.record.tables)
        }
        Err(Error::Fault(failure)) => failure.to_string(),
        Err(other) => panic!("this error cannot come from the model: {other}"),
    };
    (files(directory.path()), ended)
}

/// Rows are written in the order of events; before a mistake, exactly those that the sequential
/// engine writes.
#[test]
fn files_of_rows_are_equal_to_the_byte() {
    let mut lines = 0;
    let mut failed = 0;
    // Every other case makes a mistake, each kind in turn.
    for seed in 0..u64::from(cases(40)) {
        let plain = Recipe::from_seed(1000 + seed);
        let lps = plain.lps.min(30);
        let mistake = Mistake::ALL[(seed / 2) as usize % Mistake::ALL.len()];
        let fault = seed.is_multiple_of(2).then_some(PlannedFault {
            mistake,
            lp: (seed % u64::from(lps)) as u32,
            event: 2 + seed % 3,
        });
        let recipe =
            Recipe { lps, energy: plain.energy.clamp(9, 20), recording: true, fault, ..plain };
        let settings = Settings { zero_delay_hops: 200, ..Settings::new(seed, 1e6) };
        let expected = written(&recipe, &settings, matrix::SEQUENTIAL[1]);
        lines += expected.0.iter().map(|(_, text)| text.lines().count()).sum::<usize>();
        failed += usize::from(expected.1.starts_with("model"));
        for configuration in matrix::configurations(seed, 2).into_iter().skip(2) {
            let found = written(&recipe, &settings, configuration);
            assert_eq!(found, expected, "seed {seed}, {configuration:?}, {settings:?}, {recipe:?}");
        }
    }
    assert!(failed > 5 && lines > 1000, "{failed} mistakes, {lines} lines");
}
