//! `replay` against plain loops over the same files, and against what theory says of random arrivals.

use std::fs;
use std::path::PathBuf;

use crate::estimates::near;
use warpline::Synchronisation;
use warpline::prelude::*;
use warpline_models::replay::{ArrivalsAs, Replay, ReplayParameters, ServicesAs};

/// A file that is gone at the end of the test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpline-{}-{name}", std::process::id()));
        fs::write(&path, text).unwrap();
        File(path)
    }

    fn name(&self) -> String {
        self.0.to_str().unwrap().to_owned()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Gaps in s and services in ms, with ties: of arrivals with each other and with departures.
fn measured() -> Vec<(f64, f64)> {
    let mut random = Random::new(5, LpId(0), 0);
    let tenths = |random: &mut Random, mean: f64| random.exponential(mean).round() / 10.0;
    (0..3000).map(|_| (tenths(&mut random, 10.0), 1000.0 * tenths(&mut random, 9.0))).collect()
}

fn file_of(name: &str, measured: &[(f64, f64)]) -> File {
    let rows = measured.iter().map(|(gap, service)| format!("{gap};{service}\n").replace('.', ","));
    File::new(name, &format!("gap (s);service time [ms]\n{}", rows.collect::<String>()))
}

fn replayed(file: &File, servers: u32) -> ReplayParameters {
    ReplayParameters {
        arrivals: file.name(),
        arrival_column: "gap".to_owned(),
        arrivals_as: ArrivalsAs::Gaps,
        services: file.name(),
        service_column: "service time".to_owned(),
        services_as: ServicesAs::InOrder,
        servers,
        ..ReplayParameters::default()
    }
}

/// Numbers of customers and their waiting times, in the order in which services began.
fn waits(parameters: &ReplayParameters, threads: u32) -> Vec<(usize, f64)> {
    let simulation = Simulation::<Replay>::configured(parameters).unwrap();
    let simulation = simulation.end(1e6).records(Records::Keep);
    let run = match threads {
        1 => simulation.run().unwrap(),
        _ => simulation.threads(threads).sync(Synchronisation::Optimistic).run().unwrap(),
    };
    let number = |cell: &Cell| cell.to_string().parse::<f64>().unwrap();
    let rows = run.tables[0].rows.iter();
    rows.map(|(_, _, cells)| (number(&cells[0]) as usize, number(&cells[2]))).collect()
}

fn agree(found: &[(usize, f64)], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (place, ((number, wait), expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(place, *number);
        assert!((wait - expected).abs() < 1e-8, "customer {number} waits {wait}, not {expected}");
    }
}

#[test]
fn waits_of_one_server_follow_lindley() {
    let measured = measured();
    let file = file_of("lindley.csv", &measured);
    let mut expected = vec![0.0f64];
    for pair in measured.windows(2) {
        let wait = expected[expected.len() - 1] + pair[0].1 / 1000.0 - pair[1].0;
        expected.push(wait.max(0.0));
    }
    assert!(expected.iter().filter(|wait| **wait > 0.0).count() > 1000);
    agree(&waits(&replayed(&file, 1), 1), &expected);
    agree(&waits(&replayed(&file, 1), 2), &expected);
}

#[test]
fn waits_of_several_servers_follow_kiefer_and_wolfowitz() {
    let measured = measured();
    let file = file_of("kiefer.csv", &measured);
    let (mut now, mut free, mut expected) = (0.0f64, [0.0f64; 2], Vec::new());
    for (gap, service) in measured.iter().map(|(gap, service)| (0.5 * gap, service / 1000.0)) {
        now += gap;
        free.sort_by(f64::total_cmp);
        expected.push((free[0] - now).max(0.0));
        free[0] = free[0].max(now) + service;
    }
    assert!(expected.iter().filter(|wait| **wait > 0.0).count() > 1000);
    let times = measured.iter().scan(0.0, |now, (gap, _)| {
        *now += 0.5 * gap;
        Some(format!("{now}\n"))
    });
    let times = File::new("kiefer-times.csv", &times.collect::<String>());
    let parameters = ReplayParameters {
        arrivals: times.name(),
        arrival_column: String::new(),
        arrivals_as: ArrivalsAs::Times,
        ..replayed(&file, 2)
    };
    agree(&waits(&parameters, 1), &expected);
}

/// Two rows again and again: each second customer waits for a second.
#[test]
fn repeated_arrivals_go_on_for_ever() {
    let file = File::new("repeated.csv", "1,2\n3,2\n");
    let parameters = ReplayParameters {
        arrival_column: "1".to_owned(),
        service_column: "2".to_owned(),
        repeat: true,
        ..replayed(&file, 1)
    };
    let run = Simulation::<Replay>::configured(&parameters).unwrap().end(4001.0).run().unwrap();
    let results = run.record.results;
    // They come at 1, 4, 5, 8, 9, …, and those at 5, 9, … wait until 6, 10, ….
    assert_eq!(results["mean_wait"]["count"], 2000);
    let mean = results["mean_wait"]["mean"].as_f64().unwrap();
    assert!((mean - 999.0 / 2000.0).abs() < 1e-9, "{mean}");
}

/// With servers for all, the number inside is that of M(t)/G/∞: over whole days, calls times their
/// length. By every way to draw lengths, of which the mean is known.
#[test]
fn random_arrivals_bring_the_load_that_they_should() {
    let lengths: Vec<f64> = (1..100).map(|i| 2.0 * f64::from(i)).collect();
    let rows: String = lengths.iter().map(|length| format!("{length}\n")).collect();
    let file = File::new("lengths.csv", &format!("length [s]\n{rows}"));
    let calls = 530.0; // in a day of the file
    let days = 400.0;
    for (services, services_as, mean) in [
        (String::new(), ServicesAs::Discrete, 240.0),
        (file.name(), ServicesAs::Discrete, 100.0),
        (file.name(), ServicesAs::Interpolated, 100.0),
    ] {
        let parameters = ReplayParameters {
            services,
            services_as,
            repeat: true,
            servers: 1000,
            ..ReplayParameters::default()
        };
        let simulation = Simulation::<Replay>::configured(&parameters).unwrap();
        let results = simulation.end(days * 86_400.0).seed(4).run().unwrap().record.results;
        near(&results, "customers", calls * mean / 86_400.0);
        let served = results["served"].as_f64().unwrap();
        let deviation = (calls * days).sqrt();
        assert!((served - calls * days).abs() < 3.3 * deviation, "{served} calls");
        assert_eq!(results["mean_wait"]["mean"], 0.0);
    }
}

/// Rates that never change make an M/M/1 queue.
#[test]
fn constant_rates_and_a_fit_make_a_queue_with_known_waits() {
    let mut random = Random::new(2, LpId(0), 0);
    let times: String = (0..20_000).map(|_| format!("{}\n", random.exponential(0.8))).collect();
    let services = File::new("fit.csv", &times);
    let rates = File::new("rate.csv", "rate [1/s]\n1\n");
    let parameters = ReplayParameters {
        arrivals: rates.name(),
        repeat: true,
        services: services.name(),
        services_as: ServicesAs::Fitted,
        servers: 1,
        ..ReplayParameters::default()
    };
    let notes = Replay::notes(&parameters);
    let [(_, arrivals), _, (_, services)] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(arrivals.contains("1 number"), "{arrivals}");
    assert!(services.contains("exponential (mean 0.") || services.contains("shape"), "{services}");
    // The mean of the file, whatever fits best; it differs from 0.8 by a few thousandths.
    let mean = times.lines().map(|time| time.parse::<f64>().unwrap()).sum::<f64>() / 20_000.0;
    let simulation = Simulation::<Replay>::configured(&parameters).unwrap();
    let run = simulation.end(1e6).warmup(2e4).seed(6).run().unwrap();
    let wait = run.record.results["mean_wait"]["mean"].as_f64().unwrap();
    let theory = mean * mean / (1.0 - mean);
    assert!((wait / theory - 1.0).abs() < 0.1, "{wait}, in theory {theory}");
}

#[test]
fn mistakes_in_files_are_named() {
    let refusal = |parameters: &ReplayParameters| Replay::configure(parameters).err().unwrap();
    let times = ReplayParameters { arrivals_as: ArrivalsAs::Times, ..Default::default() };
    assert!(refusal(&times).contains("name one by `arrivals`"));
    let file = File::new("wrong.csv", "time [s],size [kB]\n1,2\n0.5,3\n");
    let named = |column: &str| ReplayParameters {
        arrivals: file.name(),
        arrival_column: column.to_owned(),
        ..times.clone()
    };
    let why = refusal(&named("time"));
    let expected = format!("`arrivals`: `{}`, line 3, column `time [s]`: found 0.5", file.name());
    assert!(why.starts_with(&expected), "{why}");
    assert!(refusal(&named("tim")).contains("no column `tim`; it has 2 columns (line 1)"));
    let services = ReplayParameters {
        services: file.name(),
        service_column: "size".to_owned(),
        ..ReplayParameters::default()
    };
    let why = refusal(&services);
    assert!(why.starts_with("`services`: ") && why.contains("has the unit `kB`"), "{why}");
}

#[test]
fn undo_passes_verification() {
    let file = file_of("undo.csv", &measured());
    for parameters in [replayed(&file, 1), ReplayParameters { servers: 3, ..Default::default() }] {
        let simulation = || Simulation::<Replay>::configured(&parameters).unwrap();
        let run = simulation().run().unwrap();
        assert_eq!(simulation().verify().unwrap().digest, run.record.digest);
    }
}
