#[cfg(test)]
mod tests;

use warpline_base::{Moment, VirtualTime};

use crate::gvt::Work;

/// How the window finds its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Undoing may cost as much as waiting, but no more; see [`Window`].
    Adaptive,
    /// The rule of Devastator, another simulator, for comparison: ÷ 4 at an efficiency below 0.33,
    /// ÷ 2 below 0.66, × 2 above 0.95; otherwise by 1 % in the direction that last raised the rate
    /// of commits, here measured per step.
    Devastator,
    /// The width is fixed, in model time.
    Fixed(f64),
}

/// How far beyond GVT, or the floor if that is further, events may be executed ahead.
///
/// A wide window makes PEs undo events, a narrow one makes them wait for each other and for GVT.
/// Under [`Rule::Adaptive`] the window balances the two costs, counted in events. As one rises with
/// the width and the other falls, their sum at the balance is at most twice the minimum: at any
/// other width, one of the two is at least what it is there. Waiting shows in how often GVT is
/// computed, as a PE that may not execute anything asks for it.
///
/// The width scales with the model's own unit of time: it stays within a factor of what GVT gains
/// from one epoch to the next. So it may start at the lookahead, or next to zero without one,
/// adapts to any unit, stops growing where growth gains nothing, and shrinks quickly when
/// conditions turn bad.
///
/// Events less than the lookahead beyond GVT can always be executed.
///
/// *Thrashing.* No rule may waste a run's time: where PEs undo far more than they commit, the
/// window narrows, whatever its rule. An adaptive window stops widening. The width of any other
/// rule, a fixed one included, becomes an upper limit, below which the window is adaptive. Without
/// that, PEs that go far ahead of each other can execute hundreds of events for each that commits.
/// Verdicts alone change the window. Once PEs have been found thrashing, each of them also stops
/// going ahead between two verdicts when it has undone too much (`pe/find_gvt.rs`).
///
/// A window is a function of the verdicts that it has seen, so it is the same on all PEs.
#[derive(Clone, Debug)]
pub struct Window {
    /// The width by the rule.
    width: f64,
    end: VirtualTime,
    method: Method,
    pes: u32,
    least: f64,
    waste: Waste,
    /// The width that waste allows, if the rule itself does not avoid waste.
    brake: Option<(f64, Balance)>,
    /// How many verdicts have found PEs thrashing.
    throttled: u64,
    /// How many more verdicts may report events undone that were executed before PEs were found
    /// thrashing.
    forgiving: u32,
}

#[derive(Clone, Debug)]
enum Method {
    Adaptive(Balance),
    Devastator(Climb),
    Fixed,
}

/// What has been undone beyond what committed events pay for.
#[derive(Clone, Copy, Debug)]
struct Waste {
    events: f64,
    most: f64,
}

impl Waste {
    /// How many events may be undone for each that commits.
    const PER_COMMITTED: f64 = 2.0;
    /// In this many verdicts, from the first that finds PEs thrashing, what is undone is not held
    /// against narrower windows.
    const FORGIVEN: u32 = 8;
    /// How many more may be undone for each PE, as runs may begin badly.
    const PER_PE: f64 = 256.0;

    fn new(pes: u32) -> Self {
        Waste { events: 0.0, most: Self::PER_PE * f64::from(pes) }
    }

    /// Notes what PEs did. Returns whether they have undone too much.
    fn note(&mut self, work: &Work) -> bool {
        let processed = work.processed as f64;
        let undone = work.rolled_back as f64;
        // Events may be undone in a later epoch than they were executed in.
        self.events = (self.events + undone - Self::PER_COMMITTED * (processed - undone)).max(0.0);
        self.exceeds()
    }

    /// What was undone so far says nothing about a window that gets narrower now.
    fn forgive(&mut self) {
        self.events = self.events.min(self.most);
    }

    fn exceeds(&self) -> bool {
        self.events > self.most
    }
}

impl Window {
    /// The window at the start of a run to `end` on `pes` PEs.
    pub fn new(rule: Rule, end: VirtualTime, lookahead: f64, pes: u32) -> Self {
        let least = lookahead.max(f64::MIN_POSITIVE);
        let (width, method) = match rule {
            Rule::Adaptive => (least, Method::Adaptive(Balance::new(pes, least, 0.0))),
            Rule::Devastator => {
                (end.get() * 1e-6, Method::Devastator(Climb { rate: 0.0, factor: 1.01 }))
            }
            Rule::Fixed(width) => (width, Method::Fixed),
        };
        Window {
            width,
            end,
            method,
            pes,
            least,
            waste: Waste::new(pes),
            brake: None,
            throttled: 0,
            forgiving: Waste::FORGIVEN,
        }
    }

    /// The current width, in model time.
    #[inline]
    pub fn width(&self) -> f64 {
        self.brake.as_ref().map_or(self.width, |(most, _)| self.width.min(*most))
    }

    /// Whether PEs have undone far more than they commit lately.
    #[inline]
    pub fn thrashes(&self) -> bool {
        self.waste.exceeds()
    }

    /// How many verdicts have found that PEs undo far more than they commit, so that the window was
    /// kept narrow.
    pub fn throttled(&self) -> u64 {
        self.throttled
    }

    /// Events before this time may be executed once everything before `now` is done.
    pub fn bound_from(&self, now: f64) -> VirtualTime {
        VirtualTime::new(now + self.width()).unwrap_or(self.end)
    }

    /// Events before this time may be executed, however narrow the window: those that are due at
    /// GVT itself.
    pub fn due(gvt: &Moment, end: VirtualTime) -> VirtualTime {
        VirtualTime::from_bits(gvt.time(end).bits() + 1).min(end)
    }

    /// Adapts the width to the work that all PEs reported with this GVT.
    pub fn adapt(&mut self, gvt: &Moment, work: &Work) {
        if work.processed == 0 || gvt.time(self.end) == self.end {
            return;
        }
        let now = gvt.time(self.end).get();
        let thrashes = self.waste.note(work);
        if self.forgiving > 0 && (thrashes || self.throttled > 0) {
            self.forgiving -= 1;
            self.waste.forgive();
        }
        self.throttled += u64::from(thrashes);
        match &mut self.method {
            Method::Adaptive(balance) => {
                return self.width = balance.adapt(self.width, now, work, thrashes);
            }
            Method::Devastator(climb) => self.width = climb.adapt(self.width, work),
            Method::Fixed => {}
        }
        match &mut self.brake {
            Some((most, balance)) => {
                *most = balance.adapt(most.min(self.width), now, work, thrashes)
            }
            None if thrashes => {
                self.brake = Some((self.least, Balance::new(self.pes, self.least, now)))
            }
            None => {}
        }
    }
}

/// Balances the cost of undoing against the cost of waiting.
#[derive(Clone, Debug)]
struct Balance {
    pes: f64,
    /// The narrowest window.
    least: f64,
    /// GVT at the last change of the width.
    since: f64,
    /// Epochs since then, and the work done in them.
    epochs: u32,
    work: Work,
    /// The greatest factor by which a change widens the window.
    wider_most: f64,
}

impl Balance {
    /// The total cost of an undone event, in events: one executed in vain, one undone.
    const UNDOING: f64 = 2.0;
    /// What an epoch costs each PE, in events.
    const EPOCH: f64 = 32.0;
    /// How many events may be undone per committed event, whatever waiting costs.
    const UNDOING_MOST: f64 = 0.45;
    /// Undoing less than this counts as undoing nothing.
    const UNDOING_LEAST: f64 = 0.005;
    /// Epochs between changes, unless rollbacks are very frequent or hardly anything is done: the
    /// effect of a change shows an epoch or two later.
    const EPOCHS: u32 = 4;
    /// Events per PE that suffice to recognise frequent rollbacks before then.
    const EVENTS: f64 = 32.0;
    /// The width lies between this fraction and this multiple of what GVT gains in an epoch.
    const REACH: f64 = 32.0;
    /// The greatest factor by which a change widens it, at first and once PEs have been found
    /// thrashing.
    const WIDER_MOST: f64 = 8.0;
    const WIDER_WITH_CARE: f64 = 2.0;

    /// A balance that begins at this GVT.
    fn new(pes: u32, least: f64, since: f64) -> Self {
        Balance {
            pes: f64::from(pes),
            least,
            since,
            epochs: 0,
            work: Work::default(),
            wider_most: Self::WIDER_MOST,
        }
    }

    /// The next width after this one. It is no wider if PEs are found `thrashing`: what a wide
    /// window costs may show long after it was widened, as few rollbacks may undo very much.
    fn adapt(&mut self, width: f64, now: f64, work: &Work, thrashing: bool) -> f64 {
        self.work = self.work + *work;
        self.epochs += 1;
        if thrashing {
            self.wider_most = Self::WIDER_WITH_CARE;
        }
        let processed = self.work.processed as f64;
        let undone = self.work.rolled_back as f64;
        let bad = undone > 0.5 * processed && processed > Self::EVENTS * self.pes;
        let starved = undone == 0.0 && processed < Self::EPOCH * self.pes * f64::from(self.epochs);
        if self.epochs < Self::EPOCHS && !bad && !starved {
            return width;
        }
        let epochs = f64::from(std::mem::take(&mut self.epochs));
        // Events may be undone in a later epoch than they were executed in, so the count can exceed
        // it.
        let committed = (processed - undone).max(1.0);
        let undoing = (Self::UNDOING * undone / committed).max(Self::UNDOING_LEAST);
        let waiting = Self::EPOCH * self.pes * epochs / committed;
        let allowed =
            if undoing > Self::UNDOING_LEAST { waiting.min(Self::UNDOING_MOST) } else { waiting };
        // The ratio of undoing to waiting grows about as the cube of the width.
        let wider_most = if thrashing { 1.0 } else { self.wider_most };
        let width = width * (allowed / undoing).cbrt().clamp(0.25, wider_most);
        let gained = (now - std::mem::replace(&mut self.since, now)) / epochs;
        self.work = Work::default();
        let width = if gained > 0.0 {
            width.clamp(gained / Self::REACH, gained * Self::REACH)
        } else {
            width
        };
        // There is no upper bound on the lookahead.
        width.clamp(self.least, self.least.max(f64::MAX / 4.0))
    }
}

/// Devastator's rule.
#[derive(Clone, Debug)]
struct Climb {
    /// Events committed per step in the previous epoch.
    rate: f64,
    /// The factor tried last while efficiency was neither high nor low.
    factor: f64,
}

impl Climb {
    fn adapt(&mut self, width: f64, work: &Work) -> f64 {
        let efficiency = 1.0 - work.rolled_back as f64 / work.processed as f64;
        let rate = (work.processed as f64 - work.rolled_back as f64) / work.steps.max(1) as f64;
        if rate < std::mem::replace(&mut self.rate, rate) {
            self.factor = self.factor.recip();
        }
        let factor = match efficiency {
            e if e < 0.33 => 0.25,
            e if e < 0.66 => 0.5,
            e if e > 0.95 => 2.0,
            _ => self.factor,
        };
        (width * factor).clamp(f64::MIN_POSITIVE, f64::MAX / 4.0)
    }
}
