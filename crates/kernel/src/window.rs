#[cfg(test)]
mod tests;

use warpline_base::{Moment, VirtualTime};

use crate::gvt::Work;

/// How the window finds its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Undoing may cost as much as waiting, and no more; see [`Window`].
    Adaptive,
    /// By the rule of Devastator, another simulator, for comparison: ÷ 4 where less than 0.33 of the events stay, ÷ 2 below 0.66, × 2 above
    /// 0.95; else by 1 % in the direction that last raised the rate of commits, here per step.
    Devastator,
    /// It keeps this width, in model time.
    Fixed(f64),
}

/// How far beyond GVT events may be executed.
///
/// A wide window makes PEs undo, a narrow one makes them wait: for each other, and for GVT. Under [`Rule::Adaptive`] the window
/// balances the two costs, counted in events. As one rises with the width and the other falls, their sum where they are equal is at most twice
/// the least there is: for any width, one of the two is at least what it is at the balance. What PEs wait is told by how often GVT had to be
/// computed, as a PE that may execute nothing asks for it.
///
/// The width follows time as the model has it: it stays within a factor of how far GVT goes from one epoch to the next. So it starts at
/// nothing and finds any unit of time, does not grow where growing is of no use, and soon comes back when times turn bad.
///
/// What lies less than the lookahead beyond GVT can always be executed.
///
/// A window is a function of the verdicts that it has seen, so it is the same at all PEs.
#[derive(Clone, Debug)]
pub struct Window {
    width: f64,
    end: VirtualTime,
    method: Method,
}

#[derive(Clone, Debug)]
enum Method {
    Adaptive(Balance),
    Devastator(Climb),
    Fixed,
}

impl Window {
    /// The window at time 0 of a run to `end` on `pes` PEs.
    pub fn new(rule: Rule, end: VirtualTime, lookahead: f64, pes: u32) -> Self {
        let balance =
            Balance { pes: f64::from(pes), least: lookahead.max(f64::MIN_POSITIVE), since: 0.0, epochs: 0, work: Work::default() };
        let (width, method) = match rule {
            Rule::Adaptive => (balance.least, Method::Adaptive(balance)),
            Rule::Devastator => (end.get() * 1e-6, Method::Devastator(Climb { rate: 0.0, factor: 1.01 })),
            Rule::Fixed(width) => (width, Method::Fixed),
        };
        Window { width, end, method }
    }

    /// The present width, in model time.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Events before this time may be executed when all before `now` is done.
    pub fn bound_from(&self, now: f64) -> VirtualTime {
        VirtualTime::new(now + self.width).unwrap_or(self.end)
    }

    /// Events before this time may be executed, however narrow the window: what is due at GVT itself.
    pub fn least_bound(gvt: &Moment, end: VirtualTime) -> VirtualTime {
        VirtualTime::from_bits(gvt.time(end).bits() + 1).min(end)
    }

    /// Adapts the width to what all PEs did until they found this GVT.
    pub fn adapt(&mut self, gvt: &Moment, work: &Work) {
        if work.processed == 0 || gvt.time(self.end) == self.end {
            return;
        }
        match &mut self.method {
            Method::Adaptive(balance) => self.width = balance.adapt(self.width, gvt.time(self.end).get(), work),
            Method::Devastator(climb) => self.width = climb.adapt(self.width, work),
            Method::Fixed => {}
        }
    }
}

/// Balances the cost of undoing with that of waiting.
#[derive(Clone, Debug)]
struct Balance {
    pes: f64,
    /// The narrowest window.
    least: f64,
    /// GVT when the width was last changed.
    since: f64,
    /// Epochs since then, and what was done in them.
    epochs: u32,
    work: Work,
}

impl Balance {
    /// What an event that is undone costs in all, in events: executed in vain, and undone.
    const UNDOING: f64 = 2.0;
    /// What an epoch costs each PE, in events.
    const EPOCH: f64 = 32.0;
    /// How much of undoing there may be per committed event, whatever waiting costs.
    const UNDOING_MOST: f64 = 0.45;
    /// Less is as good as none.
    const UNDOING_LEAST: f64 = 0.005;
    /// Epochs between changes, unless things are very bad or hardly anything is done: what comes of a change is seen an epoch or two later.
    const EPOCHS: u32 = 4;
    /// Events per PE that are enough to see before then that things are bad.
    const EVENTS: f64 = 32.0;
    /// The width lies between this part and this multiple of what GVT gains in an epoch.
    const REACH: f64 = 32.0;

    fn adapt(&mut self, width: f64, now: f64, work: &Work) -> f64 {
        self.work = self.work + *work;
        self.epochs += 1;
        let (processed, undone) = (self.work.processed as f64, self.work.rolled_back as f64);
        let bad = undone > 0.5 * processed && processed > Self::EVENTS * self.pes;
        let starved = undone == 0.0 && processed < Self::EPOCH * self.pes * f64::from(self.epochs);
        if self.epochs < Self::EPOCHS && !bad && !starved {
            return width;
        }
        let epochs = f64::from(std::mem::take(&mut self.epochs));
        // Events are undone later than they were executed, so that there may be more of them.
        let committed = (processed - undone).max(1.0);
        let undoing = (Self::UNDOING * undone / committed).max(Self::UNDOING_LEAST);
        let waiting = Self::EPOCH * self.pes * epochs / committed;
        let allowed = if undoing > Self::UNDOING_LEAST { waiting.min(Self::UNDOING_MOST) } else { waiting };
        // Undoing over waiting goes about as the cube of the width.
        let width = width * (allowed / undoing).cbrt().clamp(0.25, 8.0);
        let gained = (now - std::mem::replace(&mut self.since, now)) / epochs;
        self.work = Work::default();
        let width = if gained > 0.0 { width.clamp(gained / Self::REACH, gained * Self::REACH) } else { width };
        // The lookahead may be as large as it likes.
        width.clamp(self.least, self.least.max(f64::MAX / 4.0))
    }
}

/// Devastator's rule.
#[derive(Clone, Debug)]
struct Climb {
    /// Events committed per step in the epoch before.
    rate: f64,
    /// The factor that was tried last where efficiency was neither high nor low.
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
