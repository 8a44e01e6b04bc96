//! What the paper holds fixed, as axes: the size of the model, noise of the machine, and how GVT is
//! begun and reduced.

use warpline::command::{Measured, Study, StudyCase, StudyFigure};

use super::measures::{best_gain, best_gains_by_cores};
use super::modelled::{DIFFERS, STRUCTURES, Structure, arguments, mode, modes, rcphold};
use crate::studies::figures::{figure, gains, matching};

const SOURCE: &str = "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, §2 to §4.3";

/// The model of so many cores, on which there are more and more.
const CLUSTERS: u32 = 8064;
const STRONG_CORES: [u32; 4] = [252, 1008, 4032, CLUSTERS];

/// The same model on more and more cores.
pub(in super::super) const STRONG_SCALING: Study = Study {
    name: "usik/strong-scaling",
    about: "RCPHOLD with 80 640 LPs on 252 to 8 064 modelled cores, at a lookahead of 0.5",
    source: SOURCE,
    claim: "the paper has the same number of LPs on every core, and says nothing of a fixed model \
            on more and more of them; the less there is to do between two computations of GVT, the \
            more asynchronous GVT gains",
    differs: DIFFERS,
    model: "phold",
    conditions: |_| STRONG_CORES.map(strong).into(),
    variants: |_| modes(),
    figures: strong_figures,
    ends: [4.0, 0.7],
    seconds: [6.0, 1.5],
    in_pairs: false,
};

/// The model of all clusters on so many cores.
fn strong(cores: u32) -> StudyCase {
    let [structure, _] = STRUCTURES;
    let options = arguments(CLUSTERS, structure, "conservative", "0.5", "cray-xt5");
    let case = StudyCase::new(format!("{cores} cores"), options).pes(cores);
    case.at("cores", "80 640 LPs", cores.into())
}

fn strong_figures(measured: &Measured) -> Vec<StudyFigure> {
    let few = STRONG_CORES[0];
    let speed_up = |variant: usize| {
        let rate = |condition: usize| *measured.rates.get(condition)?.get(variant)?;
        let base = rate(matching(measured, &[&format!("{few} cores")]).next()?)?;
        let of = |condition: usize| {
            let (cores, _) = measured.conditions[condition].split_once(' ')?;
            Some(format!("{:.0} on {cores}", f64::from(few) * rate(condition)? / base))
        };
        let all: Vec<String> = matching(measured, &[]).filter_map(of).collect();
        (!all.is_empty()).then(|| all.join(", "))
    };
    vec![
        figure("self-relative speed-up from 252 cores on, 2S", "not in the paper", speed_up(0)),
        figure("the same, 1A", "not in the paper", speed_up(2)),
        figure(
            "F: asynchronous over synchronous",
            "more, the less there is to do for a core",
            best_gains_by_cores(measured, &[]),
        ),
    ]
}

/// Machines without noise and with it: their names in conditions, and as settings.
const MACHINES: [(&str, &str); 3] = [
    ("quiet", "cray-xt5"),
    ("interrupted", "cray-xt5-interrupted"),
    ("stragglers", "cray-xt5-stragglers"),
];

const NOISY_CORES: u32 = 1008;

/// The machine with interruptions and with stragglers.
pub(in super::super) const NOISE: Study = Study {
    name: "usik/noise",
    about: "RCPHOLD on 1 008 modelled cores that the system interrupts, and of which one in a \
            hundred is slow, at a lookahead of 0.5",
    source: SOURCE,
    claim: "the paper measures no noise; it calls machine conditions in its Fig. 16 nearly \
            perfect, with which asynchronous GVT gains most",
    differs: DIFFERS,
    model: "phold",
    conditions: |_| {
        let [structure, _] = STRUCTURES;
        let of = |sync: &'static str| {
            MACHINES.map(|(noise, machine)| noisy(structure, sync, noise, machine))
        };
        ["conservative", "optimistic"].into_iter().flat_map(of).collect()
    },
    variants: |_| modes(),
    figures: noise_figures,
    ends: [6.0, 3.6],
    seconds: [2.0, 1.0],
    in_pairs: false,
};

/// RCPHOLD on such a machine.
fn noisy(structure: Structure, sync: &str, noise: &str, machine: &str) -> StudyCase {
    let arguments = arguments(NOISY_CORES, structure, sync, "0.5", machine);
    StudyCase::new(format!("{sync}, {noise}"), arguments).pes(NOISY_CORES)
}

fn noise_figures(measured: &Measured) -> Vec<StudyFigure> {
    let slower = |sync: &str, noise: &str, variant: usize| {
        let rate = |noise: &str| {
            let condition = matching(measured, &[&format!("{sync}, {noise}")]).next()?;
            *measured.rates.get(condition)?.get(variant)?
        };
        Some(format!("{:.2} times", rate(noise)? / rate("quiet")?))
    };
    let mut all = Vec::new();
    for sync in ["conservative", "optimistic"] {
        for (noise, _) in &MACHINES[1..] {
            for (mode, variant) in [("2S", 0), ("1A", 2)] {
                let what = format!("ε over that without noise, {sync}, {noise}, {mode}");
                all.push(figure(&what, "not in the paper", slower(sync, noise, variant)));
            }
        }
        let gain = |noise: &str| {
            best_gain(measured, matching(measured, &[&format!("{sync}, {noise}")]).next()?)
        };
        let here = gain("quiet").zip(gain("stragglers"));
        all.push(figure(
            &format!("F: asynchronous over synchronous, {sync}"),
            "most where machine conditions are nearly perfect",
            here.map(|(quiet, slow)| {
                format!("{quiet:.2} without noise, {slow:.2} with stragglers")
            }),
        ));
    }
    all
}

/// How GVT is begun and reduced.
pub(in super::super) const GVT: Study = Study {
    name: "usik/gvt",
    about: "RCPHOLD on 1 008 to 16 128 modelled cores at a lookahead of 0.1: GVT on demand and at \
            once, without a hierarchy, and without the jump start",
    source: SOURCE,
    claim: "Algorithm 1 begins a GVT when a core has no safe event left, §3 as soon as the last \
            one is over; only one core of each node takes part in the reduction between nodes \
            (§2.6); cores are called by those that begin, as they may not need GVT themselves for \
            long (§2.7). The paper gives no figures for any of these",
    differs: DIFFERS,
    model: "phold",
    conditions: |_| {
        let [structure, _] = STRUCTURES;
        let case = |cores, sync| rcphold(cores, structure, sync, "0.1");
        vec![
            case(1008, "conservative"),
            case(4032, "conservative"),
            case(16_128, "conservative").only_in_full(),
            case(1008, "optimistic"),
            case(4032, "optimistic"),
        ]
    },
    variants: |_| {
        let of = |(name, preset)| {
            let with = |what: &str, more: &[&str]| mode(&format!("{name}{what}"), preset, more);
            [
                with("", &[]),
                with(", at once", &["--gvt-start=at-once"]),
                with(", no hierarchy", &["--gvt-groups=no"]),
                with(", no jump start", &["--jump-start=no"]),
            ]
        };
        [("1A", "usik-1a"), ("2A", "usik-2a")].into_iter().flat_map(of).collect()
    },
    figures: gvt_figures,
    ends: [1.2, 0.6],
    seconds: [3.0, 0.7],
    in_pairs: false,
};

fn gvt_figures(measured: &Measured) -> Vec<StudyFigure> {
    let of = |(first, mode): (usize, &str)| {
        let beside = |place: usize, what: &str| {
            let here = gains(measured, "", first + place, first);
            figure(&format!("F: {what}, over {mode} as it is"), "not in the paper", here)
        };
        [
            beside(1, "at once"),
            beside(2, "without a hierarchy"),
            beside(3, "without the jump start"),
        ]
    };
    [(0, "1A"), (4, "2A")].into_iter().flat_map(of).collect()
}
