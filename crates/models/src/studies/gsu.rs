//! The Global Synchronization Unit and messages without copies.

use warpline::HAS_BOOST;
use warpline::command::{Measured, Study, StudyCase, StudyFigure, Way};

use super::figures::{figure, gains};

/// Message sizes in bytes.
const SIZES: [u32; 6] = [500, 1000, 3000, 7000, 20_000, 50_000];
/// The limit of the event lists of `simplesim`. The source has 5000 and counts messages on their
/// way, which corresponds to 1500 here. With a fifteenth of that, messages of 50 000 bytes take 200
/// MB, and a run of seconds does not spend most of its time on touching memory for the first time.
const LIMIT: u32 = 100;

/// The places of the variants in [`variants`].
const ZERO_COPY: usize = 0;
const RINGS: usize = 1;
const MPI: usize = 2;
const BOOST: usize = 3;

/// How a study differs from its source, with a remark on Boost.Interprocess.
macro_rules! differs {
    ($text:literal) => {
        if HAS_BOOST {
            concat!(
                $text,
                "; with Boost.Interprocess, messages are copied into blocks of its \
                            segment and out of them, where the source wrote them there"
            )
        } else {
            concat!(
                $text,
                "; Boost.Interprocess is left out, as this program was built without \
                            the feature `boost`"
            )
        }
    };
}

/// Fig. 7 of the report.
pub(super) const MESSAGE_SIZE: Study = Study {
    name: "gsu/message-size",
    about: "SimpleSim with messages of 500 to 50 000 bytes between 8 processes: without copies, \
            copied by MPI or rings, and by Boost.Interprocess",
    source: "Riley, final technical report, Georgia Institute of Technology, Fig. 7",
    claim: "the run time is nearly the same for all sizes without copies, and grows about linearly \
            with the size where MPI copies messages; from about 3 000 bytes on, zero copy is \
            faster; it is almost 10 times as fast as Boost.Interprocess",
    differs: differs!(
        "runs end at 5 000 s, not 25 000 s, with lists of a fifteenth of the length; copies \
         through rings and by MPI go in batches, asynchronously, and GVT is found by messages with \
         them, as registers take shared memory"
    ),
    model: "simplesim",
    conditions: |_| {
        let arguments = |size| {
            [
                "--lps=8".to_owned(),
                format!("--limit={LIMIT}"),
                format!("--message-size={size}"),
                "--sync=conservative".into(),
            ]
        };
        SIZES
            .iter()
            .map(|size| StudyCase::new(format!("{size} bytes"), arguments(size)).pes(8))
            .collect()
    },
    variants: |_| variants(),
    figures: size_figures,
    ends: [5000.0, 60.0],
    seconds: [5.0, 1.0],
    in_pairs: false,
};

/// Fig. 8 of the report.
pub(super) const LPS: Study = Study {
    name: "gsu/lps",
    about: "SimpleSim with messages of 7 000 bytes between 2, 4 and 8 processes of an LP each: \
            without copies, copied by MPI or rings, and by Boost.Interprocess",
    source: "Riley, final technical report, Georgia Institute of Technology, Fig. 8",
    claim: "with more LPs, run time grows alike without copies and where MPI copies messages, and \
            zero copy stays ahead; Boost.Interprocess, with one lock for all, grows much faster, \
            and zero copy is almost 6 times as fast at its best",
    differs: differs!(
        "runs end at 10 000 s, not 25 000 s, with lists of a fifteenth of the length; where there \
         are fewer cores than LPs, processes take turns"
    ),
    model: "simplesim",
    conditions: |_| {
        let arguments = |lps| {
            [
                format!("--lps={lps}"),
                format!("--limit={LIMIT}"),
                "--message-size=7000".into(),
                "--sync=conservative".into(),
            ]
        };
        [2, 4, 8].map(|lps| StudyCase::new(format!("{lps} LPs"), arguments(lps)).pes(lps)).into()
    },
    variants: |_| variants(),
    figures: |measured| {
        let of = |lps: &str| {
            figure(
                &format!("zero copy against MPI, {lps}"),
                "ahead, as a curve shows",
                gains(measured, lps, ZERO_COPY, MPI),
            )
        };
        let boost = figure(
            "zero copy against Boost.Interprocess",
            "almost 6 times at its best",
            gains(measured, "LPs", ZERO_COPY, BOOST),
        );
        ["2 LPs", "4 LPs", "8 LPs"].map(of).into_iter().chain([boost]).collect()
    },
    ends: [10_000.0, 60.0],
    seconds: [3.0, 1.0],
    in_pairs: false,
};

/// Fig. 9 of the report.
pub(super) const NETWORK: Study = Study {
    name: "gsu/network",
    about: "UDP traffic between 2, 4 and 8 stars whose hubs form a clique, a process for each: \
            without copies, and copied by MPI or through rings",
    source: "Riley, final technical report, Georgia Institute of Technology, Fig. 9",
    claim: "zero copy is faster than MPI although messages have fewer than 1 100 bytes, as MPI's \
            have to be serialised; Boost.Interprocess gets worse the more LPs there are",
    differs: differs!(
        "runs end at 200 s, not 5 000 s; a packet here is a small value and no hierarchy of \
         objects, so that there is little to serialise, and it reaches another process by value in \
         any case"
    ),
    model: "network",
    conditions: |_| {
        let arguments =
            |stars| [format!("--topology=star-clique:{stars}"), "--sync=conservative".to_owned()];
        [2, 4, 8]
            .map(|stars| StudyCase::new(format!("{stars} stars"), arguments(stars)).pes(stars))
            .into()
    },
    variants: |_| variants(),
    figures: |measured| {
        let of = |stars: &str| {
            figure(
                &format!("zero copy against MPI, {stars}"),
                "ahead, as a curve shows",
                gains(measured, stars, ZERO_COPY, MPI),
            )
        };
        ["2 stars", "4 stars", "8 stars"].map(of).into()
    },
    ends: [200.0, 1.0],
    seconds: [3.0, 1.0],
    in_pairs: false,
};

fn variants() -> Vec<StudyCase> {
    let own = [
        StudyCase::new("zero copy", ["--preset=gsu-zero-copy"]).by(Way::Processes),
        StudyCase::new("copies, rings", ["--zero-copy=no"]).by(Way::Processes),
        StudyCase::new("copies, MPI", [] as [&str; 0]).by(Way::MpiCopies),
    ];
    let boost = HAS_BOOST
        .then(|| StudyCase::new("Boost.Interprocess", ["--carrier=boost"]).by(Way::Processes));
    own.into_iter().chain(boost).collect()
}

fn size_figures(measured: &Measured) -> Vec<StudyFigure> {
    let last = measured.conditions.len() - 1;
    let growth = |variant: usize| {
        let of = |condition: usize| *measured.seconds.get(condition)?.get(variant)?;
        Some(format!("{:.1} times", of(last)? / of(0)?))
    };
    vec![
        figure(
            "zero copy is faster than MPI",
            "from about 3 000 bytes on",
            ahead_from(measured, ZERO_COPY, MPI),
        ),
        figure(
            "zero copy is faster than copies through rings",
            "not measured",
            ahead_from(measured, ZERO_COPY, RINGS),
        ),
        figure(
            "run time at 50 000 bytes against 500, zero copy",
            "nearly the same",
            growth(ZERO_COPY),
        ),
        figure("run time at 50 000 bytes against 500, MPI", "grows about linearly", growth(MPI)),
        figure(
            "zero copy against copies by MPI",
            "ahead from about 3 000 bytes on",
            gains(measured, "bytes", ZERO_COPY, MPI),
        ),
        figure(
            "zero copy against Boost.Interprocess",
            "almost 10 times",
            gains(measured, "bytes", ZERO_COPY, BOOST),
        ),
    ]
}

/// The condition from which on one variant is faster than another, in words.
pub(super) fn ahead_from(measured: &Measured, variant: usize, other: usize) -> Option<String> {
    let gains: Vec<f64> = (0..measured.conditions.len())
        .map(|condition| measured.gain(condition, variant, other))
        .collect::<Option<_>>()?;
    Some(match gains.iter().rposition(|gain| *gain <= 1.0) {
        None => "at all sizes measured".to_owned(),
        Some(behind) => match measured.conditions.get(behind + 1) {
            Some(condition) => format!("from {condition} on"),
            None => "not at the largest size".to_owned(),
        },
    })
}
