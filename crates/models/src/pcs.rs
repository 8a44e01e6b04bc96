//! `pcs`: a network of radio cells, between which people move with their telephones.
//!
//! Source: the personal communication services network of R. Fujimoto and K. Panesar, "Buffer
//! management in shared-memory Time Warp systems", PADS 1995, §7.2, after C. Carothers, R.
//! Fujimoto, Y.-B. Lin and P. England, "Distributed simulation of large-scale PCS networks",
//! MASCOTS 1994. Each cell of a square grid has a few channels. A portable, as these telephones are
//! called, stays in a cell for a while, and then moves to one of the four cells beside it. A call
//! takes a channel of the cell; if none is free, it is *blocked*. A portable that moves during a
//! call needs a channel in the new cell; if none is free there, the call is *dropped*. The time in
//! a cell (dwell), the length of a call, and the time from the end of a call, or from one that was
//! blocked or dropped, to the next are exponential.
//!
//! **The grid has no edge**: it wraps around, so that all cells are alike.
//!
//! **One pending event per portable.** All its times are exponential. So the time to its next event
//! is exponential, too, with the sum of the rates; which event that is does not depend on the time;
//! and nothing has to be remembered afterwards. A cell draws a portable's next event when the
//! portable arrives or its last event happens, and sends it to the cell where it happens; so there
//! is no lookahead. When a call moves away, an event of its own gives up the channel.
//!
//! **Truth.** If nobody moves (`dwell` 0), cells are queues of T. Engset ("Die
//! Wahrscheinlichkeitsrechnung zur Bestimmung der Wählerzahl in automatischen Fernsprechämtern",
//! ETZ 31, 1918), and with many portables that seldom call, of A. Erlang. If they move, what begins
//! must end: calls and hand-offs balance.

use warpline::Outcome;
use warpline::prelude::*;
use warpline::record::{GridView, View};

/// The parameters of `pcs`.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct PcsParameters {
    /// Number of cells, each of which is an LP; a square number.
    #[parameter(default = 1024, range = 1..=16_777_216)]
    pub cells: u32,
    /// Number of portables, which start in the cells in turn.
    #[parameter(default = 25_000, range = 1..=1_000_000_000)]
    pub portables: u32,
    /// Channels of each cell.
    #[parameter(default = 10, range = 0..=1_000_000)]
    pub channels: u32,
    /// Mean time that a portable stays in a cell; with 0, it stays for ever.
    #[parameter(unit = "min", default = 75.0, range = 0.0..=1e9)]
    pub dwell: f64,
    /// Mean length of a call.
    #[parameter(unit = "min", default = 3.0, range = 1e-9..=1e9)]
    pub call: f64,
    /// Mean time from the end of a portable's call, or from one that was blocked or dropped, to its
    /// next.
    #[parameter(unit = "min", default = 6.0, range = 1e-9..=1e9)]
    pub inter_call: f64,
}

/// The model.
#[derive(Debug)]
pub struct Pcs {
    parameters: PcsParameters,
    /// Cells in a row, and rows.
    side: u32,
    idle: Pace,
    talking: Pace,
}

/// How soon a portable's next event happens, and how likely it is a move.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// The mean time, in min.
    mean: f64,
    /// The probability that it moves.
    moves: f64,
}

/// A cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Journaled)]
pub struct State {
    /// Channels in use.
    pub busy: Level,
    /// Channels wanted, for new calls and for calls that moved here.
    pub wanted: u32,
    /// How many of these requests found no free channel.
    pub refused: u32,
}

/// What happens in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable)]
pub enum Event {
    /// A portable wants to make a call.
    Call,
    /// A call ends.
    End,
    /// A portable arrives.
    Arrive,
    /// A portable arrives with a call.
    HandOff,
    /// A portable has moved away with its call.
    Leave,
}

const BLOCKING: Mean = Mean::slot(0);
const DROPPING: Mean = Mean::slot(1);
const BUSY: TimeMean = TimeMean::slot(2);
const ENDED: Counter = Counter::slot(3);
const WANTED: Counter = Counter::slot(4);
const REFUSED: Counter = Counter::slot(5);

/// The next event of a portable: where, after what delay, and which; and whether its call leaves
/// the cell.
struct Next {
    to: u32,
    delay: f64,
    event: Event,
    leaves: bool,
}

impl Pcs {
    /// What a portable in this cell does next, depending on whether it has a call.
    fn next(&self, cell: LpId, talks: bool, random: &mut Random) -> Next {
        let Pace { mean, moves } = if talks { self.talking } else { self.idle };
        let delay = random.exponential(mean);
        let moves = random.bernoulli(moves);
        let to = if moves { self.neighbour(cell.0, random.below(4)) } else { cell.0 };
        let event = match (talks, moves) {
            (false, false) => Event::Call,
            (false, true) => Event::Arrive,
            (true, false) => Event::End,
            (true, true) => Event::HandOff,
        };
        Next { to, delay, event, leaves: talks && moves }
    }

    /// The cell beside a cell in one of four directions.
    fn neighbour(&self, cell: u32, direction: u32) -> u32 {
        let row = cell / self.side;
        let column = cell % self.side;
        let last = self.side - 1;
        let after = |place: u32| if place == last { 0 } else { place + 1 };
        let before = |place: u32| if place == 0 { last } else { place - 1 };
        match direction {
            0 => row * self.side + after(column),
            1 => row * self.side + before(column),
            2 => after(row) * self.side + column,
            _ => before(row) * self.side + column,
        }
    }

    /// Schedules the next event of a portable, depending on whether it has a call.
    fn go_on(&self, talks: bool, lp: &mut Context<Self>) {
        let me = lp.id();
        let Next { to, delay, event, leaves } = self.next(me, talks, lp.random());
        if leaves {
            lp.send(me, delay, Event::Leave);
        }
        lp.send(to, delay, event);
    }

    /// Takes a channel for a call, if there is one. Returns whether there is.
    fn take_channel(&self, cell: &mut State, refusals: Mean, lp: &mut Context<Self>) -> bool {
        let is_free = cell.busy.get() < f64::from(self.parameters.channels);
        lp.observe(refusals, f64::from(u8::from(!is_free)));
        if is_free {
            cell.busy.set(cell.busy.get() + 1.0, BUSY, lp);
        }
        *lp.change(&mut cell.wanted) += 1;
        if !is_free {
            *lp.change(&mut cell.refused) += 1;
        }
        lp.save(is_free);
        is_free
    }
}

fn give_up_channel(cell: &mut State, lp: &mut Context<Pcs>) {
    cell.busy.set(cell.busy.get() - 1.0, BUSY, lp);
}

#[model(journal)]
impl Model for Pcs {
    type State = State;
    type Event = Event;

    fn lps(&self) -> u32 {
        self.parameters.cells
    }

    fn links(&self, cell: LpId) -> Option<Vec<Link>> {
        if self.parameters.dwell == 0.0 {
            return Some(Vec::new());
        }
        let mut neighbours: Vec<u32> =
            (0..4).map(|direction| self.neighbour(cell.0, direction)).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        Some(neighbours.into_iter().map(|cell| Link { to: LpId(cell), lookahead: 0.0 }).collect())
    }

    fn declare(&self, declare: &mut Declarations) {
        declare
            .mean(BLOCKING, "blocking", "", "share of new calls for which no channel was free")
            .series();
        declare
            .mean(
                DROPPING,
                "dropping",
                "",
                "share of calls that moved to another cell and found no free channel there",
            )
            .series();
        declare
            .time_mean(BUSY, "busy", "channels", "channels in use in all cells together")
            .series();
        declare.counter(ENDED, "ended", "calls", "calls that came to their own end");
        let cells = self.parameters.cells;
        declare
            .counter(
                WANTED,
                "wanted",
                "channels",
                "channels that calls wanted since time 0, by cell",
            )
            .items(cells);
        declare
            .counter(REFUSED, "refused", "channels", "those that were not free, by cell")
            .items(cells);
        declare.headlines(&["blocking", "dropping", "busy"]);
    }

    fn init(&self, lp: &mut Init<Self>) -> State {
        let PcsParameters { cells, portables, .. } = self.parameters;
        let own = portables / cells + u32::from(lp.id().0 < portables % cells);
        for _ in 0..own {
            let Next { to, delay, event, .. } = self.next(lp.id(), false, lp.random());
            lp.send(to, delay, event);
        }
        State::default()
    }

    fn handle(&self, cell: &mut State, event: &Event, lp: &mut Context<Self>) {
        match event {
            Event::Call => {
                let talks = self.take_channel(cell, BLOCKING, lp);
                self.go_on(talks, lp);
            }
            Event::HandOff => {
                let talks = self.take_channel(cell, DROPPING, lp);
                self.go_on(talks, lp);
            }
            Event::End => {
                lp.count(ENDED, 1);
                give_up_channel(cell, lp);
                self.go_on(false, lp);
            }
            Event::Arrive => self.go_on(false, lp),
            Event::Leave => give_up_channel(cell, lp),
        }
    }

    fn reverse(&self, cell: &mut State, event: &Event, lp: &mut Reverse<Self>) {
        match event {
            Event::Call | Event::HandOff => {
                let was_free: bool = lp.restore();
                cell.wanted -= 1;
                cell.refused -= u32::from(!was_free);
                if was_free {
                    cell.busy.unset(lp);
                }
            }
            Event::End | Event::Leave => cell.busy.unset(lp),
            Event::Arrive => {}
        }
    }

    fn finish(&self, cell: &State, lp: &mut Finish<Self>) {
        let id = lp.id().0;
        lp.count(WANTED.at(id), cell.wanted.into());
        lp.count(REFUSED.at(id), cell.refused.into());
    }

    fn results(&self, outcome: &Outcome) -> Results<Self> {
        // Both are by cell; the map shows them.
        Results::of(outcome.statistics).without("wanted").without("refused")
    }

    fn views(&self, outcome: &Outcome) -> Vec<View> {
        let share = |cell: u32| {
            let [wanted, refused] =
                [WANTED, REFUSED].map(|counter| outcome.statistics.counter(counter.at(cell)));
            (wanted > 0).then(|| refused as f64 / wanted as f64)
        };
        let values: Vec<Option<f64>> = (0..self.parameters.cells).map(share).collect();
        vec![View::Grid(GridView {
            title: "Calls without a channel, by cell".to_owned(),
            value_name: "share of calls, new and moving, that found no channel".to_owned(),
            unit: String::new(),
            columns: self.side,
            values,
        })]
    }
}

impl Configure for Pcs {
    type Parameters = PcsParameters;

    const NAME: &'static str = "pcs";
    const ABOUT: &'static str =
        "radio cells with few channels, between which people move with their telephones";
    const TIME_UNIT: &'static str = "min";
    const DEFAULT_END: f64 = 1000.0;

    fn configure(parameters: &PcsParameters) -> Result<Self, String> {
        let PcsParameters { cells, dwell, call, inter_call, .. } = *parameters;
        let side = cells.isqrt();
        if side * side != cells {
            let below = side * side;
            let above = (side + 1) * (side + 1);
            return Err(format!("{cells} cells make no square; choose {below} or {above}, say"));
        }
        if cells == 1 && dwell > 0.0 {
            return Err(
                "one cell has no neighbours to move to: set `dwell` to 0, or `cells` to 4 or more"
                    .to_owned(),
            );
        }
        let leaving = if dwell > 0.0 { 1.0 / dwell } else { 0.0 };
        let pace = |mean: f64| {
            let rate = 1.0 / mean + leaving;
            Pace { mean: 1.0 / rate, moves: leaving / rate }
        };
        Ok(Pcs {
            parameters: parameters.clone(),
            side,
            idle: pace(inter_call),
            talking: pace(call),
        })
    }
}
