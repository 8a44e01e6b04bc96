//! The Global Synchronization Unit and mailboxes as hardware, on modelled machines.

use warpline::command::{Measured, Study, StudyCase, StudyFigure, Way};

use super::figures::{figure, gains, gains_over};

/// The report's numbers of cores, and one far beyond.
const CORES: [u32; 6] = [2, 4, 8, 16, 32, 1024];
/// How the names of conditions with more cores than the report had begin.
const BEYOND: &str = "1024 cores";

/// The places of the variants of [`HARDWARE`].
const REDUCTIONS: [usize; 3] = [0, 1, 2];
const IN_MEMORY: usize = 3;
const REGISTERS: usize = 4;
const MAILBOXES: usize = 5;

const SOURCE: &str = "Riley, final technical report, Georgia Institute of Technology";

/// What the report says of hardware, where it has no figures.
pub(super) const HARDWARE: Study = Study {
    name: "gsu/hardware",
    about: "PHOLD on 2 to 32 and 1024 modelled cores, with GVT by reductions, from registers in \
              memory and in hardware, and with mailboxes in hardware",
    source: SOURCE,
    claim: "with registers in hardware, LBTS is found in a few clock ticks, so that its overhead \
              is near zero whatever the number of cores, and applications are significantly \
              faster, on 8 cores in earlier work and up to 32 in this; with mailboxes and \
              allocation in hardware, messages cost next to nothing, but messages without copies \
              in software are almost as fast",
    differs: "the report gives no figures for hardware; those of the machine \
              `multicore-gsu-mailboxes` are assumed, as its file says; PHOLD has 10 LPs a core, \
              each with one message on its way, and the report names no application; runs end at \
              100, and with 1024 cores at 10; time that GVT takes is not all that counts: with \
              registers, PEs go on in small steps, and a message on its way holds LBTS at its own \
              time, without the lookahead, until it has been received, so that PEs may wait longer \
              than where they reduce",
    model: "phold",
    conditions: |_| {
        let conditions = CORES.into_iter().flat_map(|cores| {
            ["0.1", "1"].map(|lookahead| {
                let end = if cores > 32 { 10 } else { 100 };
                let arguments = [
                    format!("--lps={}", 10 * cores),
                    "--population=1".to_owned(),
                    format!("--lookahead={lookahead}"),
                    format!("--end={end}"),
                    "--sync=conservative".to_owned(),
                ];
                StudyCase::new(format!("{cores} cores, {lookahead}"), arguments).pes(cores)
            })
        });
        conditions.collect()
    },
    variants: |_| {
        vec![
            on("2S", "usik-2s", "multicore"),
            on("2A", "usik-2a", "multicore"),
            on("1A", "usik-1a", "multicore"),
            on("registers in memory", "gsu", "multicore"),
            on("registers in hardware", "gsu", "multicore-gsu"),
            on("with mailboxes", "gsu", "multicore-gsu-mailboxes"),
        ]
    },
    figures: hardware_figures,
    ends: [100.0, 2.0],
    seconds: [1.0, 0.1],
    in_pairs: false,
};

/// Fig. 7 and 8 of the report, with hardware beside them.
pub(super) const SIMPLESIM: Study = Study {
    name: "gsu/simplesim",
    about: "SimpleSim on modelled cores, with messages of 500 to 50 000 bytes, and on 2 to 32 \
              cores: copied by MPI, without copies in software, and in hardware",
    source: "Riley, final technical report, Georgia Institute of Technology, Fig. 7 and 8",
    claim: "the run time is nearly the same for all sizes without copies, and grows about \
              linearly with the size where MPI copies messages; from about 3 000 bytes on, zero \
              copy is faster; with more LPs it stays ahead; in software it is almost as good as in \
              hardware",
    differs: "the cores are modelled, and most figures of `multicore` and `multicore-copies` are \
              assumed: what a message costs without copies is chosen so that it is ahead from 3 \
              000 bytes on, so that this is no finding; runs end at 1 000 s, not 25 000 s, with \
              lists of a fifteenth of the length; Boost.Interprocess is left out, as locks that \
              many wait for are not modelled; 16 and 32 LPs are added",
    model: "simplesim",
    conditions: |_| {
        let case = |name: String, lps: u32, size: u32| {
            let arguments = [
                format!("--lps={lps}"),
                "--limit=100".to_owned(),
                format!("--message-size={size}"),
                "--sync=conservative".to_owned(),
            ];
            StudyCase::new(name, arguments).pes(lps)
        };
        let sizes = [500, 1000, 3000, 7000, 20_000, 50_000];
        let by_size = sizes.map(|size| case(format!("{size} bytes"), 8, size));
        let by_lps = [2, 4, 8, 16, 32].map(|lps| case(format!("{lps} LPs"), lps, 7000));
        by_size.into_iter().chain(by_lps).collect()
    },
    variants: |_| {
        vec![
            on("zero copy", "gsu", "multicore"),
            on("copies, MPI", "gsu", "multicore-copies"),
            on("zero copy, registers", "gsu", "multicore-gsu"),
            on("zero copy, mailboxes", "gsu", "multicore-gsu-mailboxes"),
        ]
    },
    figures: simplesim_figures,
    ends: [1000.0, 60.0],
    seconds: [2.0, 0.3],
    in_pairs: false,
};

/// A variant with a preset of settings, on a modelled machine.
fn on(name: &str, preset: &str, machine: &str) -> StudyCase {
    let arguments = [format!("--preset={preset}"), format!("--machine={machine}")];
    StudyCase::new(name, arguments).by(Way::Modelled)
}

/// The conditions that the report had, or those beyond.
fn part(measured: &Measured, beyond: bool) -> Measured {
    let of = |values: &Vec<Vec<Option<f64>>>| {
        let pairs = values.iter().zip(&measured.conditions);
        let wanted = pairs.filter(|(_, name)| name.starts_with(BEYOND) == beyond);
        wanted.map(|(values, _)| values.clone()).collect()
    };
    let names = measured.conditions.iter().filter(|name| name.starts_with(BEYOND) == beyond);
    Measured {
        conditions: names.cloned().collect(),
        rates: of(&measured.rates),
        gains: of(&measured.gains),
        seconds: of(&measured.seconds),
        gvt_shares: of(&measured.gvt_shares),
        ..Measured::default()
    }
}

/// The share of time that finding GVT took, over all conditions, in words.
fn gvt_shares(measured: &Measured, variant: usize) -> Option<String> {
    let shares: Option<Vec<f64>> =
        measured.gvt_shares.iter().map(|variants| *variants.get(variant)?).collect();
    let shares = shares?;
    let least = shares.iter().copied().reduce(f64::min)? * 100.0;
    let most = shares.iter().copied().reduce(f64::max)? * 100.0;
    Some(format!("{least:.1} to {most:.1} %"))
}

fn hardware_figures(measured: &Measured) -> Vec<StudyFigure> {
    let of = |beyond: bool, where_: &str| {
        let part = part(measured, beyond);
        let claim = |said: &'static str| if beyond { "not studied" } else { said };
        let over = |variant| gains_over(&part, variant, &REDUCTIONS, f64::min);
        [
            figure(
                &format!("share of time for GVT, registers in hardware, {where_}"),
                claim("near zero"),
                gvt_shares(&part, REGISTERS),
            ),
            figure(
                &format!("the same, registers in memory, {where_}"),
                "not given",
                gvt_shares(&part, IN_MEMORY),
            ),
            figure(
                &format!("registers in hardware against the best reduction, {where_}"),
                claim("a significant speed-up"),
                over(REGISTERS),
            ),
            figure(
                &format!("registers in memory against the best reduction, {where_}"),
                "not given",
                over(IN_MEMORY),
            ),
            figure(
                &format!(
                    "mailboxes in hardware against messages without copies in software, {where_}"
                ),
                claim("software almost as good"),
                gains(&part, "cores", MAILBOXES, REGISTERS),
            ),
        ]
    };
    of(false, "2 to 32 cores").into_iter().chain(of(true, BEYOND)).collect()
}

/// The places of the variants of [`SIMPLESIM`].
const ZERO_COPY: usize = 0;
const COPIES: usize = 1;
const ALL_HARDWARE: usize = 3;

fn simplesim_figures(measured: &Measured) -> Vec<StudyFigure> {
    let growth = |variant: usize| {
        let of = |name: &str| {
            let condition = measured.conditions.iter().position(|found| found == name)?;
            *measured.seconds.get(condition)?.get(variant)?
        };
        Some(format!("{:.2} times", of("50000 bytes")? / of("500 bytes")?))
    };
    vec![
        figure(
            "run time at 50 000 bytes against 500, zero copy",
            "nearly the same",
            growth(ZERO_COPY),
        ),
        figure("run time at 50 000 bytes against 500, MPI", "grows about linearly", growth(COPIES)),
        figure(
            "zero copy against MPI, 500 bytes",
            "behind",
            gains(measured, "500 bytes", ZERO_COPY, COPIES),
        ),
        figure(
            "zero copy against MPI, 7 000 bytes, 2 to 32 LPs",
            "ahead, as a curve shows for 2, 4 and 8",
            gains(measured, "LPs", ZERO_COPY, COPIES),
        ),
        figure(
            "registers and mailboxes in hardware against software, 2 to 32 LPs",
            "software almost as good",
            gains(measured, "LPs", ALL_HARDWARE, ZERO_COPY),
        ),
    ]
}
