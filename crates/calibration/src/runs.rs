//! What runs cost, by comparing runs that differ in one thing alone.

use warpline_machine::Sheet;
use warpline_model::prelude::*;
use warpline_record::{ParallelRecord, RunRecord};
use warpline_run::{Error, GvtIntervalControl, Simulation, Synchronisation};

use super::sample::Sample;
use super::threads::Wires;

/// LPs, as many as fit into the caches of most cores.
const LPS: u32 = 1 << 13;
/// The least delay, which is a tenth of the mean delay beside it.
const LOOKAHEAD: f64 = 0.1;
/// Events in a step where there are to be many steps.
const SHORT_BATCH: u32 = 4;
/// Events between two computations of GVT where there are to be many.
const SHORT_INTERVAL: u32 = 1;
/// LPs where PEs are to get into each other's way.
const FEW_LPS: u32 = 1 << 8;

/// The classic workload of Fujimoto, "Performance of Time Warp under synthetic workloads" (1990):
/// as many messages as LPs hop for ever.
struct Hops {
    lps: u32,
    /// Messages go to all LPs, or only to those of the same half.
    everywhere: bool,
}

impl Model for Hops {
    type State = u64;
    type Event = u64;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        LOOKAHEAD
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        let delay = LOOKAHEAD + lp.random().exponential(1.0);
        lp.send(lp.id(), delay, 0);
        0
    }

    fn handle(&self, seen: &mut u64, word: &u64, lp: &mut Context<Self>) {
        *seen = seen.wrapping_add(*word);
        let half = self.lps / 2;
        let to = if self.everywhere {
            lp.random().below(self.lps)
        } else {
            lp.id().0 / half * half + lp.random().below(half)
        };
        let delay = LOOKAHEAD + lp.random().exponential(1.0);
        lp.send(to, delay, word.wrapping_add(1));
    }
}

/// A kind of run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One PE in the safe lane.
    Safe,
    /// The same, in many steps.
    ManySteps,
    /// The same, with many computations of GVT.
    ManyGvts,
    /// One PE that may have to undo everything.
    Ahead,
    /// Two PEs that undo and send.
    AheadOnTwo,
    /// Two PEs that send half of all events to each other.
    Apart,
    /// Two PEs that send each other nothing.
    Local,
}

impl Kind {
    const ALL: [(Kind, &'static str); 7] = [
        (Kind::Safe, "one PE"),
        (Kind::ManySteps, "one PE, short steps"),
        (Kind::ManyGvts, "one PE, GVT"),
        (Kind::Ahead, "one PE, optimistic"),
        (Kind::AheadOnTwo, "two PEs, optimistic"),
        (Kind::Apart, "two PEs, messages"),
        (Kind::Local, "two PEs, no messages"),
    ];

    fn run(self, end: f64) -> Result<Taken, Error> {
        let hops = match self {
            Kind::Local => Hops { lps: LPS, everywhere: false },
            Kind::AheadOnTwo => Hops { lps: FEW_LPS, everywhere: true },
            _ => Hops { lps: LPS, everywhere: true },
        };
        // As many events, whatever the number of LPs.
        let end = end * f64::from(LPS / hops.lps);
        let all = Simulation::new(hops).end(end);
        let safe = |all: Simulation<'static, Hops>| all.sync(Synchronisation::Conservative);
        let ahead = |all: Simulation<'static, Hops>| {
            all.sync(Synchronisation::Optimistic).use_lookahead(false)
        };
        let run = match self {
            Kind::Safe => safe(all).threads(1),
            Kind::ManySteps => safe(all).threads(1).batch(SHORT_BATCH),
            Kind::ManyGvts => safe(all)
                .threads(1)
                .batch(SHORT_BATCH)
                .gvt_interval(SHORT_INTERVAL)
                .gvt_interval_control(GvtIntervalControl::Fixed),
            Kind::Ahead => ahead(all).threads(1),
            Kind::AheadOnTwo => ahead(all).threads(2),
            Kind::Apart | Kind::Local => safe(all).threads(2),
        };
        Ok(Taken::of(&run.run()?.record))
    }
}

/// What a run took, in seconds, and what it did. Time in which others had the cores is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Taken {
    events: f64,
    /// Of all PEs, without waiting.
    busy: f64,
    steps: f64,
    gvts: f64,
    messages: f64,
    undone: f64,
    sending: f64,
    receiving: f64,
    undoing: f64,
    committing: f64,
}

impl Taken {
    fn of(record: &RunRecord) -> Self {
        let alone = Taken {
            events: record.committed_events as f64,
            busy: record.loop_seconds * record.core_share.unwrap_or(1.0),
            ..Taken::default()
        };
        let Some(parallel) = &record.parallel else { return alone };
        let ParallelRecord { steps, gvt_epochs, rolled_back_events, phase_seconds, pes, .. } =
            parallel;
        let busy: f64 = phase_seconds.list().iter().map(|(_, seconds)| seconds).sum();
        let messages: u64 = pes.iter().map(|pe| pe.messages_sent).sum();
        Taken {
            busy: busy - phase_seconds.idle - phase_seconds.off_core,
            steps: *steps as f64,
            gvts: *gvt_epochs as f64,
            messages: messages as f64,
            undone: *rolled_back_events as f64,
            sending: phase_seconds.send,
            receiving: phase_seconds.receive,
            undoing: phase_seconds.rollback,
            committing: phase_seconds.fossil_collection,
            ..alone
        }
    }

    fn per_event(&self) -> f64 {
        self.busy / self.events
    }
}

/// Repetitions of all runs, and the end of each in model time.
fn extent(quick: bool) -> (usize, f64) {
    if quick { (5, 20.0) } else { (15, 200.0) }
}

/// How many runs there are.
pub(super) fn parts(quick: bool) -> u64 {
    (extent(quick).0 * Kind::ALL.len()) as u64
}

/// What work costs, in seconds.
#[derive(Clone, Debug)]
pub(super) struct RunCosts {
    event: Sample,
    send: Sample,
    receive: Sample,
    /// Of all rounds, as rollbacks are rare; `None` if there were none.
    undo: Option<f64>,
    copy: Sample,
    commit: Sample,
    gvt_step: Sample,
    turn: Sample,
}

impl RunCosts {
    /// Measures them; `progress` hears how many runs are over, and which comes next.
    ///
    /// # Errors
    /// If a run fails.
    pub(super) fn measured(
        quick: bool,
        wires: &Wires,
        progress: &mut dyn FnMut(u64, &str),
    ) -> Result<Self, Error> {
        let (times, end) = extent(quick);
        let mut rounds = Vec::with_capacity(times);
        let mut done = 0;
        for _ in 0..times {
            let mut round = Round::default();
            for (kind, name) in Kind::ALL {
                progress(done, name);
                round.note(kind, kind.run(end)?);
                done += 1;
            }
            rounds.push(round);
        }
        Ok(Self::of(&rounds, wires.message.median()))
    }

    /// What follows from rounds of runs, if a ring takes `overhead` for a message.
    fn of(rounds: &[Round], overhead: f64) -> Self {
        let each = |figure: &dyn Fn(&Round) -> f64| rounds.iter().map(figure).collect::<Sample>();
        let sum = |figure: fn(&Round) -> f64| rounds.iter().map(figure).sum::<f64>();
        let undone = sum(|round| round.ahead_on_two.undone);
        let undoing = sum(|round| round.ahead_on_two.undoing);
        let sending = sum(|round| round.apart.sending - round.local.sending).max(0.0);
        let receiving = sum(|round| round.apart.receiving - round.local.receiving).max(0.0);
        let of_sender =
            if sending + receiving > 0.0 { sending / (sending + receiving) } else { 0.5 };
        let message =
            |share: f64| each(&|round: &Round| (round.message() * share - overhead).max(0.0));
        RunCosts {
            event: each(&Round::event),
            send: message(of_sender),
            receive: message(1.0 - of_sender),
            undo: (undone > 0.0 && undoing > 0.0).then_some(undoing / undone),
            copy: each(&|round| round.ahead()[0]),
            commit: each(&|round| round.ahead()[1]),
            gvt_step: each(&Round::gvt_step),
            turn: each(&Round::turn),
        }
    }

    pub(super) fn samples(&self) -> [(&'static str, &Sample); 7] {
        let RunCosts { event, send, receive, copy, commit, gvt_step, turn, .. } = self;
        [
            ("costs.event", event),
            ("costs.send", send),
            ("costs.receive", receive),
            ("costs.copy", copy),
            ("costs.commit", commit),
            ("costs.gvt_step", gvt_step),
            ("costs.turn", turn),
        ]
    }

    pub(super) fn write(&self, sheet: &mut Sheet) {
        let hows = [
            "an event of a small model in a run of one PE, without its turns",
            "what a message costs two PEs, as far as it is sending, less a ring's part",
            "what a message costs two PEs, as far as it is receiving, less a ring's part",
            "an optimistic PE against a conservative one, without committing",
            "an optimistic PE, committing alone",
            "computations of GVT of one PE, many against few",
            "turns of one PE, many against few",
        ];
        for ((name, sample), how) in self.samples().into_iter().zip(hows) {
            sheet.time(name.trim_start_matches("costs."), sample.median(), &sample.origin(how));
        }
        match self.undo {
            Some(undo) => sheet.time(
                "undo",
                undo,
                "measured: mean of all events that two optimistic PEs undid",
            ),
            None => {
                let event = self.event.median();
                sheet.time("undo", event, "assumed: an event, as nothing had to be undone");
            }
        }
    }
}

/// One run of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Round {
    safe: Taken,
    many_steps: Taken,
    many_gvts: Taken,
    ahead: Taken,
    ahead_on_two: Taken,
    apart: Taken,
    local: Taken,
}

/// A cost by two runs: the difference of their times over that of what they did.
fn slope(more: [f64; 2], less: [f64; 2]) -> f64 {
    ((more[0] - less[0]) / (more[1] - less[1])).max(0.0)
}

impl Round {
    fn note(&mut self, kind: Kind, taken: Taken) {
        let place = match kind {
            Kind::Safe => &mut self.safe,
            Kind::ManySteps => &mut self.many_steps,
            Kind::ManyGvts => &mut self.many_gvts,
            Kind::Ahead => &mut self.ahead,
            Kind::AheadOnTwo => &mut self.ahead_on_two,
            Kind::Apart => &mut self.apart,
            Kind::Local => &mut self.local,
        };
        *place = taken;
    }

    fn turn(&self) -> f64 {
        let Round { many_steps: many, safe: few, .. } = self;
        slope([many.busy, many.steps], [few.busy, few.steps])
    }

    fn event(&self) -> f64 {
        (self.safe.per_event() - self.turn() * self.safe.steps / self.safe.events).max(0.0)
    }

    fn gvt_step(&self) -> f64 {
        let Round { many_gvts: many, many_steps: few, .. } = self;
        slope([many.busy, many.gvts], [few.busy, few.gvts])
    }

    /// For each event that is executed ahead: what it takes to be able to undo it, and to commit it.
    fn ahead(&self) -> [f64; 2] {
        let more = (self.ahead.per_event() - self.safe.per_event()).max(0.0);
        let commit = (self.ahead.committing / self.ahead.events).min(more);
        [more - commit, commit]
    }

    /// What a message costs its sender and its receiver, together.
    fn message(&self) -> f64 {
        let Round { apart, local, .. } = self;
        let more = (apart.per_event() - local.per_event()).max(0.0);
        more * apart.events / apart.messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round whose costs are known: an event takes 40 ns, and so on.
    fn round() -> Round {
        let run = |busy: f64| Taken { events: 1000.0, busy: busy * 1e-9, ..Taken::default() };
        Round {
            safe: Taken { steps: 10.0, ..run(40_500.0) },
            many_steps: Taken { steps: 250.0, gvts: 2.0, ..run(52_500.0) },
            many_gvts: Taken { steps: 250.0, gvts: 52.0, ..run(56_500.0) },
            ahead: Taken { committing: 10_000e-9, ..run(70_500.0) },
            ahead_on_two: Taken { undone: 20.0, undoing: 3_000e-9, ..run(90_000.0) },
            apart: Taken { messages: 500.0, sending: 1.0, receiving: 3.0, ..run(80_000.0) },
            local: Taken { sending: 0.5, receiving: 1.5, ..run(40_000.0) },
        }
    }

    #[test]
    fn costs_follow_from_runs_that_differ_in_them() {
        let costs = RunCosts::of(&[round(), round()], 5e-9);
        let found = costs.samples().map(|(name, sample)| (name, (sample.median() * 1e9).round()));
        assert_eq!(
            found,
            [
                ("costs.event", 40.0),
                // A message costs 80 ns, a quarter of it sending, and 5 ns of each end in the ring.
                ("costs.send", 15.0),
                ("costs.receive", 55.0),
                ("costs.copy", 20.0),
                ("costs.commit", 10.0),
                ("costs.gvt_step", 80.0),
                ("costs.turn", 50.0),
            ]
        );
        assert_eq!(costs.undo.map(|seconds| (seconds * 1e9).round()), Some(150.0));
    }

    #[test]
    fn what_did_not_happen_is_assumed() {
        let never = Round { ahead_on_two: Taken::default(), ..round() };
        let mut sheet = Sheet::new("test");
        RunCosts::of(&[never], 0.0).write(&mut sheet);
        let line =
            "undo = { ns = 40, origin = \"assumed: an event, as nothing had to be undone\" }";
        assert!(sheet.text().contains(line), "{}", sheet.text());
    }

    #[test]
    fn runs_of_all_kinds_do_what_they_are_for() {
        let taken = |kind: Kind| kind.run(5.0).unwrap();
        let safe = taken(Kind::Safe);
        assert!(taken(Kind::ManySteps).steps > 2.0 * safe.steps);
        assert!(taken(Kind::ManyGvts).gvts > 2.0 * taken(Kind::ManySteps).gvts);
        assert!(taken(Kind::Apart).messages > 0.3 * safe.events);
        assert_eq!(taken(Kind::Local).messages, 0.0);
        assert!(taken(Kind::AheadOnTwo).busy > 0.0);
    }
}
