//! The parameters of `nasty`.

use warpline::Choices;
use warpline::prelude::*;

/// The parameters of `nasty`.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub(crate) struct NastyParameters {
    /// Number of LPs.
    #[parameter(default = 8, range = 1..=65_536)]
    pub lps: u32,
    /// Events at each LP at the start.
    #[parameter(default = 1, range = 1..=1000)]
    pub starters: u32,
    /// Events that each of these may bring about, itself included.
    #[parameter(default = 20, range = 1..=100_000)]
    pub energy: u32,
    /// Most events that an event sends on.
    #[parameter(default = 2, range = 1..=100)]
    pub fan_out: u32,
    /// The least delay between LPs, as declared.
    #[parameter(default = 0.0, range = 0.0..=1e9)]
    pub lookahead: f64,
    /// How delays beyond that are distributed.
    #[parameter(default = Delays::Exponential)]
    pub delays: Delays,
    /// Share of delays that are the least possible.
    #[parameter(default = 0.2, range = 0.0..=1.0)]
    pub zero: f64,
    /// Whether events have priorities.
    #[parameter(default = false)]
    pub priorities: bool,
    /// Whether ties are decided by a hash.
    #[parameter(default = false)]
    pub unbiased: bool,
    /// Share of events that set a timer for the largest time there is.
    #[parameter(default = 0.0, range = 0.0..=1.0)]
    pub never: f64,
    /// Share of events that set, cancel or reschedule a timer, which need not be pending any more.
    #[parameter(default = 0.0, range = 0.0..=1.0)]
    pub timers: f64,
    /// Events that LP 0 sends at once, to all LPs in turn and for one instant.
    #[parameter(default = 0, range = 0..=1_000_000)]
    pub burst: u32,
    /// Size of the payload of an event.
    #[parameter(unit = "bytes", default = 0, range = 0..=1_000_000)]
    pub payload: u32,
    /// Numbers of 8 bytes that an LP remembers.
    #[parameter(default = 1, range = 1..=1_000_000)]
    pub state: u32,
    /// How events leave their process.
    #[parameter(default = Wire::Plain)]
    pub wire: Wire,
    /// What an LP in the middle does wrong.
    #[parameter(default = Mistake::None)]
    pub mistake: Mistake,
    /// The number of the event in which it does.
    #[parameter(default = 5, range = 1..)]
    pub mistake_at: u64,
    /// What LPs do wrong on states that never really exist.
    #[parameter(default = Early::Nothing)]
    pub early: Early,
    /// Whether events record rows.
    #[parameter(default = true)]
    pub rows: bool,
}

/// How delays are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub(crate) enum Delays {
    /// Exponential, of mean 1.
    Exponential,
    /// All 1.
    Unit,
    /// 0, 1, 2 or 3.
    Integers,
    /// To the next whole time, or the one after it.
    Whole,
    /// Mostly so small that they are lost in rounding.
    Vanishing,
    /// From a billionth to a thousand.
    Powers,
    /// About 10^15, where the next time is an eighth away.
    Far,
}

impl Delays {
    /// Draws a delay from now on.
    pub(crate) fn draw(self, now: f64, random: &mut Random) -> f64 {
        match self {
            Delays::Exponential => random.exponential(1.0),
            Delays::Unit => 1.0,
            Delays::Integers => f64::from(random.below(4)),
            Delays::Whole => now.floor() + 1.0 + f64::from(random.below(2)) - now,
            Delays::Vanishing => [1e-17, 1e-300, 1e-12, 0.5][random.below(4) as usize],
            Delays::Powers => (1u64 << random.below(41)) as f64 / (1u64 << 30) as f64,
            Delays::Far => 1e15 * random.uniform(),
        }
    }
}

/// How events leave their process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub(crate) enum Wire {
    /// As they lie in memory.
    Plain,
    /// As serde writes them.
    Written,
}

/// What a model can do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub(crate) enum Mistake {
    /// Nothing.
    None,
    /// It panics.
    Panic,
    /// It says that it fails.
    Fail,
    /// It sends with a delay of NaN.
    Nan,
    /// It sends into the past.
    Negative,
    /// It sends to an LP that is not there.
    Stranger,
    /// It sends an event that goes on for ever without delay.
    Loop,
    /// It sends an event that cannot be written as bytes. This matters only if events travel as
    /// bytes.
    Unwritable,
}

/// What LPs do on states that never really exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub(crate) enum Early {
    /// Nothing.
    Nothing,
    /// They panic.
    Panic,
    /// They send a thousand events to others.
    Flood,
    /// They send an event to themselves that goes on for ever without delay.
    Loop,
    /// They send an event that cannot be written as bytes.
    Unwritable,
    /// They send into the past.
    Negative,
}
