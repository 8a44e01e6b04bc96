use warpline::{Context, Journaled, Model, Reverse, Timer};

/// How many timers an LP remembers. It may have set more.
pub(super) const REMEMBERED: usize = 3;

/// What an LP remembers of its timers.
#[derive(Clone, Debug, Default, PartialEq, Journaled)]
pub(super) struct Timers {
    pub(super) last: [Option<Timer>; REMEMBERED],
    /// A checksum of what it has been told about timers.
    pub(super) told: u64,
}

impl Timers {
    /// Remembers another timer.
    pub(super) fn remember(
        &mut self,
        slot: usize,
        timer: Option<Timer>,
        lp: &mut Context<impl Model>,
    ) {
        if let Some(old) = self.last[slot] {
            lp.save(old);
        }
        lp.save(self.last[slot].is_some());
        lp.save(slot);
        *lp.change(&mut self.last[slot]) = timer;
    }

    /// Remembers what it has been told.
    pub(super) fn note(&mut self, told: bool, lp: &mut Context<impl Model>) {
        *lp.change(&mut self.told) = self.told.rotate_left(5) ^ (1 + u64::from(told));
    }

    /// Undoes what the last event did with timers.
    pub(super) fn release(&mut self, lp: &mut Reverse<impl Model>) {
        self.told = lp.restore();
        for _ in 0..lp.restore::<u32>() {
            let slot: usize = lp.restore();
            self.last[slot] = if lp.restore() { Some(lp.restore()) } else { None };
        }
    }
}
