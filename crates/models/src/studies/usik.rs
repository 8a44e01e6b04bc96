//! The engine µsik: GVT by messages and by writing into each other's memory.

use warpline::command::{Study, StudyCase};

/// K. Perumalla, A. Park and V. Tipparaju, "Discrete event execution with one-sided and two-sided
/// GVT algorithms on 216,000 processor cores", ACM TOMACS 24(3), 2014, §4.3 and §7.1.
pub(super) const RCPHOLD: Study = Study {
    name: "usik/rcphold",
    about: "RCPHOLD with synchronous, asynchronous and one-sided GVT, conservative and optimistic, at four lookaheads",
    source: "Perumalla, Park and Tipparaju, ACM TOMACS 24(3), 2014, Fig. 5 to 8 and 18 to 21",
    claim: "asynchronous GVT is as fast as synchronous GVT or up to 1.5 times as fast (1.2 to 1.5 times in optimistic runs), the more so the \
            more cores there are; synchronous GVT is ahead only at a lookahead of 0.01 in optimistic runs",
    differs: "the paper had 1 008 to 216 000 cores and a network between them; here PEs share memory, and reductions take microseconds, so \
              that there is little to gain",
    model: "phold",
    conditions: rcphold_conditions,
    variants: gvt_variants,
    figures: |_| Vec::new(),
    ends: [250.0, 4.0],
    seconds: [1.0, 0.03],
    in_pairs: false,
};

/// Structure × synchronisation × lookahead. A cluster is a PE, as in the paper; with more than two,
/// messages go to the neighbouring ones.
fn rcphold_conditions(pes: u32) -> Vec<StudyCase> {
    let mut all = Vec::new();
    for (lps, messages) in [(10, 1000), (100, 100)] {
        for (sync, more) in [("conservative", None), ("optimistic", Some("--undo=reverse"))] {
            for lookahead in ["0.01", "0.1", "0.5", "1"] {
                let reach = u32::from(pes > 2);
                let arguments = [
                    format!("--lps={}", lps * pes),
                    format!("--clusters={pes}"),
                    format!("--population={messages}"),
                    format!("--reach={reach}"),
                    format!("--lookahead={lookahead}"),
                    format!("--sync={sync}"),
                ];
                let name = format!("({lps},{messages}) {sync}, {lookahead}");
                all.push(StudyCase::new(
                    name,
                    arguments.into_iter().chain(more.map(str::to_owned)),
                ));
            }
        }
    }
    all
}

fn gvt_variants(_: u32) -> Vec<StudyCase> {
    ["usik-2s", "usik-2a", "usik-1a", "gsu"]
        .map(|preset| StudyCase::new(preset, [format!("--preset={preset}")]))
        .into()
}
