//! µπ: virtual MPI ranks, many on each core. K. Perumalla, A. Park and V. Tipparaju, "Discrete event
//! execution with one-sided and two-sided GVT algorithms on 216,000 processor cores", ACM TOMACS
//! 24(3), 2014, §4.1.3 and §4.5.

use warpline::command::{Measured, Study, StudyCase, StudyFigure, Way};

use super::figures::{figure, matching};

const SOURCE: &str = "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, §4.5, Fig. 13";
const DIFFERS: &str = "the machine is modelled, with 4 µs for an event; it has 1 008 cores at most here, as many ranks as the paper's cores have do not fit, \
                       and the paper says that the gain grows with the cores";

/// The two networks: name, latency in microseconds, bandwidth in Gb/s.
const NETWORKS: [(&str, u32, u32); 2] = [("10 µs", 10, 1), ("1 µs", 1, 10)];
/// Ranks on each core: LPX.
const FEW: u32 = 128;
const MANY: u32 = 1024;

/// Fig. 13a.
pub(super) const BARRIER: Study = Study {
    name: "mupi/barrier",
    about: "a barrier of MPI ranks, 128 and 1 024 on each modelled core, with synchronous, asynchronous and one-sided GVT",
    source: SOURCE,
    claim: "one-sided GVT is 1.67 times as fast as synchronous GVT, on 216 000 cores with 1 024 ranks each; with 128 ranks each, the difference begins \
            above 8 000 cores; all take about the same number of GVT computations",
    differs: DIFFERS,
    model: "mupi-barrier",
    conditions: |_| {
        let barriers = "--barriers=1".to_owned();
        conditions(&|_| vec![barriers.clone()])
    },
    variants: |_| modes(),
    figures: |measured| figures(measured, "1.67 times on 216 000 cores"),
    ends: [1.0, 1.0],
    seconds: [9.0, 1.0],
    in_pairs: false,
};

/// Fig. 13b.
pub(super) const PING: Study = Study {
    name: "mupi/ping",
    about: "a ring of MPI ranks, 128 and 1 024 on each modelled core, with synchronous, asynchronous and one-sided GVT",
    source: SOURCE,
    claim: "one-sided GVT is 2.07 times as fast as synchronous GVT, on 216 000 cores with 1 024 ranks each; with 128 ranks each, the difference begins \
            above 8 000 cores",
    differs: DIFFERS,
    model: "mupi-ping",
    conditions: |_| {
        conditions(&|ranks| {
            let last = if ranks == FEW { 65_536 } else { 1024 };
            vec![format!("--last-size={last}")]
        })
    },
    variants: |_| modes(),
    figures: |measured| figures(measured, "2.07 times on 216 000 cores"),
    ends: [1.0, 1.0],
    seconds: [7.0, 1.0],
    in_pairs: false,
};

/// More and more cores with 128 ranks and with 1 024, on both networks. `more` are the options of so
/// many ranks for a core.
fn conditions(more: &dyn Fn(u32) -> Vec<String>) -> Vec<StudyCase> {
    let mut all = Vec::new();
    for network in NETWORKS {
        all.push(condition(126, FEW, network, more));
        all.push(condition(1008, FEW, network, more).only_in_full());
        all.push(condition(126, MANY, network, more).only_in_full());
        all.push(condition(1008, MANY, network, more).only_in_full());
    }
    all
}

fn condition(
    cores: u32,
    ranks: u32,
    (network, latency, bandwidth): (&str, u32, u32),
    more: &dyn Fn(u32) -> Vec<String>,
) -> StudyCase {
    let mut arguments = vec![
        format!("--ranks={}", ranks * cores),
        format!("--latency={latency}"),
        format!("--bandwidth={bandwidth}"),
        "--machine=cray-xt5".to_owned(),
        "--sync=conservative".to_owned(),
    ];
    arguments.extend(more(ranks));
    let line = format!("LPX {ranks}, {network}");
    let name = format!("{cores} cores, {line}");
    StudyCase::new(name, arguments).pes(cores).at("cores", line, cores.into())
}

/// The paper's three modes, on modelled cores.
fn modes() -> Vec<StudyCase> {
    let mode = |preset: &str| StudyCase::new(preset, vec![format!("--preset={preset}")]);
    ["usik-2s", "usik-2a", "usik-1a"].map(|preset| mode(preset).by(Way::Modelled)).into()
}

fn figures(measured: &Measured, claim: &str) -> Vec<StudyFigure> {
    let gains = |words: String, variant: usize| {
        let of = |condition: usize| {
            let (cores, _) = measured.conditions[condition].split_once(' ')?;
            Some(format!("{:.2} on {cores}", measured.gain(condition, variant, 0)?))
        };
        let all: Vec<String> = matching(measured, &[&words]).filter_map(of).collect();
        (!all.is_empty()).then(|| all.join(", "))
    };
    let mut all = Vec::new();
    for (ranks, source) in [(MANY, claim), (FEW, "about 1 below 8 000 cores")] {
        for (network, ..) in NETWORKS {
            let words = format!("LPX {ranks}, {network}");
            let what = format!("F1: one-sided over synchronous, {words}");
            all.push(figure(&what, source, gains(words.clone(), 2)));
            let what = format!("F2: asynchronous over synchronous, {words}");
            all.push(figure(&what, "less than F1", gains(words, 1)));
        }
    }
    all
}
