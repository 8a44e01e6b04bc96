//! Whether the defaults are good: a sweep over settings of parallel runs.

use warpline::command::{Measured, Study, StudyCase, StudyFigure};

use super::figures::{figure, gains_over};

/// Which settings are tried, each alone, beside the defaults.
const SETTINGS: [&str; 18] = [
    "batch=32",
    "batch=512",
    "pool=receiver",
    "pool=sender",
    "pool-order=fifo",
    "fossil-collection=on-the-fly",
    "mailbox=shared",
    "mailbox=cas",
    "messages=value",
    "messages=shared",
    "kps=16",
    "gvt=synchronous",
    "gvt=one-sided",
    "gvt-interval=512",
    "go-ahead=always",
    "undo=reverse",
    "undo=journal",
    "cancellation=dynamic",
];

/// The defaults of optimistic runs against other values of each setting, in pairs.
pub(super) const DEFAULTS: Study = Study {
    name: "defaults",
    about: "optimistic runs of PHOLD in four sizes, and of the models network, pcs and hypercube: \
            the defaults, and each setting changed alone",
    source: "no paper; the sizes of PHOLD are those in which engines are usually compared",
    claim: "the defaults are at most 5 % slower than the best value of any setting, whatever the \
            model",
    differs: "settings are changed one at a time, so that a pair of them might do better together",
    model: "phold",
    conditions: |_| {
        let phold =
            |name: &str, arguments: &[&str]| StudyCase::new(name, arguments.iter().copied());
        vec![
            phold("W1: 8192 LPs", &["--end=1200"]),
            phold("W2: 1 million LPs", &["--lps=1000000", "--end=8"]),
            phold("W3: 16 events per LP", &["--lps=1024", "--population=16", "--end=600"]),
            phold("W4: 10 % remote", &["--clusters=2", "--end=1500"]),
            StudyCase::new("network", ["--end=40"]).of("network"),
            StudyCase::new("pcs", ["--end=1000"]).of("pcs"),
            StudyCase::new("hypercube", ["--end=60000"]).of("hypercube"),
        ]
    },
    variants: |_| {
        let optimistic = "--sync=optimistic".to_owned();
        let other =
            |setting: &str| StudyCase::new(setting, [optimistic.clone(), format!("--{setting}")]);
        std::iter::once(StudyCase::new("defaults", [optimistic.clone()]))
            .chain(SETTINGS.map(other))
            .collect()
    },
    figures: best,
    ends: [1.0, 1.0],
    seconds: [1.0, 1.0],
    in_pairs: true,
};

fn best(measured: &Measured) -> Vec<StudyFigure> {
    let others: Vec<usize> = (0..=SETTINGS.len()).collect();
    vec![figure(
        "the defaults against the best of all",
        "at least 0.95 times",
        gains_over(measured, 0, &others, f64::min),
    )]
}
