//! Steps the parts of a machine side by side, each in a thread of the host.
//!
//! What leaves a part takes at least the latency between two nodes. So all parts may go on for that
//! long from the time of the first step that is due anywhere: what crosses in that window arrives
//! after it. This is how the windows of a conservative run work (B. Lubachevsky, "Efficient
//! distributed event-driven simulations of multiple-loop networks", CACM 32(1), 1989). The time of
//! the machine does not depend on it: what arrives at the same time is in the order of its senders.

use std::hint;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use warpline_kernel::PanicSilencer;
use warpline_machine::Time;

use super::part::{Part, Turns};
use crate::Error;
use crate::parallel::any_pe::AnyPe;
use crate::parallel::ending::Ending;
use crate::parallel::out_of_memory::OutOfMemory;

/// So often a thread looks whether a meeting is over before it sleeps.
const LOOKS: u32 = 4000;

/// What a part says at the end of a window, or all of them together.
#[derive(Clone, Copy)]
struct Said {
    /// When the next step is due, or something crosses, at the earliest.
    next: Option<Time>,
    /// The time of the last step.
    now: Time,
    /// PEs that are not done.
    running: usize,
    /// The stretch is to end.
    stops: bool,
}

impl Said {
    /// What a thread says that steps nothing.
    const STOP: Said = Said { next: None, now: Time::ZERO, running: 0, stops: true };

    fn and(self, other: Said) -> Said {
        Said {
            next: self.next.into_iter().chain(other.next).min(),
            now: self.now.max(other.now),
            running: self.running + other.running,
            stops: self.stops || other.stops,
        }
    }
}

/// Where threads meet after each window, and tell each other what is next.
struct Meeting {
    /// How many meetings are over. Changes while the state is locked.
    held: AtomicU64,
    state: Mutex<MeetingState>,
    over: Condvar,
}

struct MeetingState {
    /// Threads that come to it.
    threads: usize,
    /// Those that are there.
    here: usize,
    /// What those that are there have said.
    said: Option<Said>,
    /// What all said in the last meeting.
    all: Option<Said>,
}

impl Meeting {
    fn new(threads: usize) -> Self {
        let state = MeetingState { threads, here: 0, said: None, all: None };
        Meeting { held: AtomicU64::new(0), state: Mutex::new(state), over: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, MeetingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something, waits for all others, and returns what all have said.
    fn meet(&self, said: Said) -> Said {
        let mut state = self.state();
        let held = self.held.load(Ordering::Relaxed);
        state.said = Some(state.said.map_or(said, |others| others.and(said)));
        state.here += 1;
        self.end_if_all_are_here(&mut state);
        drop(state);
        // To sleep and be woken takes longer than most waits.
        let is_over = || self.held.load(Ordering::Relaxed) != held;
        for _ in 0..LOOKS {
            if is_over() {
                break;
            }
            hint::spin_loop();
        }
        let mut state = self.state();
        while !is_over() {
            state = self.over.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.all.unwrap_or(said)
    }

    /// One thread fewer comes, as the system refused it.
    fn leave_out_one(&self) {
        let mut state = self.state();
        state.threads -= 1;
        self.end_if_all_are_here(&mut state);
    }

    fn end_if_all_are_here(&self, state: &mut MeetingState) {
        if state.here == state.threads && state.here > 0 {
            state.all = state.said.take();
            state.here = 0;
            self.held.fetch_add(1, Ordering::Relaxed);
            self.over.notify_all();
        }
    }
}

/// Steps all parts until one has made so many more steps, all PEs are done, or `goes_on`, which this
/// thread asks now and then, wants no more. Returns where memory ran out, if it did.
///
/// # Errors
/// Those of `goes_on`, or if the system refuses a thread.
pub(super) fn advance(
    parts: &mut [Part<'_, '_>],
    pes: &mut [&mut dyn AnyPe],
    stretch: &Stretch<'_>,
    goes_on: &mut dyn FnMut() -> Result<bool, Error>,
) -> Result<Option<OutOfMemory>, Error> {
    let threads = parts.len();
    let meeting = Meeting::new(threads);
    let mut shares = shares(parts, pes).into_iter().enumerate();
    let Some((_, (own, own_pes))) = shares.next() else { return Ok(None) };
    thread::scope(|scope| {
        let meeting = &meeting;
        let mut begun = Vec::with_capacity(threads);
        let mut refused = None;
        for (number, (part, pes)) in shares {
            let work = move || {
                let _quiet = PanicSilencer::new();
                advance_part(part, pes, stretch, &mut || Ok(true), meeting)
            };
            let thread = thread::Builder::new().name(format!("part {number}"));
            match thread.stack_size(stretch.stack).spawn_scoped(scope, work) {
                Ok(thread) => begun.push(thread),
                Err(cause) => {
                    meeting.leave_out_one();
                    refused = Some(Error::no_thread(number, threads, cause));
                }
            }
        }
        let mut outcome = match refused {
            Some(why) => {
                meeting.meet(Said::STOP);
                Err(why)
            }
            None => advance_part(own, own_pes, stretch, goes_on, meeting),
        };
        for thread in begun {
            let other = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            outcome = outcome.and_then(|full| Ok(full.or(other?)));
        }
        outcome
    })
}

/// A part, and its PEs.
type Share<'p, 'a, 'w, 'e> = (&'p mut Part<'a, 'w>, &'p mut [&'e mut dyn AnyPe]);

/// Gives each part its PEs.
fn shares<'p, 'a, 'w, 'e>(
    parts: &'p mut [Part<'a, 'w>],
    mut pes: &'p mut [&'e mut dyn AnyPe],
) -> Vec<Share<'p, 'a, 'w, 'e>> {
    let share = |part: &'p mut Part<'a, 'w>| {
        let (own, others) = std::mem::take(&mut pes).split_at_mut(part.pes());
        pes = others;
        (part, own)
    };
    parts.iter_mut().map(share).collect()
}

/// A stretch of a run, between two looks at all PEs.
pub(super) struct Stretch<'e> {
    /// The most steps of a part.
    pub(super) steps: u64,
    /// How long nothing takes that crosses from one part to another.
    pub(super) latency: Time,
    /// How the run ends early.
    pub(super) ending: &'e Ending<'e>,
    /// The bytes of the stack of a thread.
    pub(super) stack: usize,
}

/// Steps a part window by window.
fn advance_part(
    part: &mut Part<'_, '_>,
    pes: &mut [&mut dyn AnyPe],
    stretch: &Stretch<'_>,
    goes_on: &mut dyn FnMut() -> Result<bool, Error>,
    meeting: &Meeting,
) -> Result<Option<OutOfMemory>, Error> {
    let most = part.steps() + stretch.steps;
    let mut stops = false;
    let mut crosses = None;
    let mut outcome = Ok(None);
    let mut panic = None;
    loop {
        let next = part.first_due().into_iter().chain(crosses.take()).min();
        let all = meeting.meet(Said { next, now: part.now(), running: part.running(), stops });
        part.take_over();
        if all.stops || all.running == 0 {
            break;
        }
        let Some(next) = all.next else {
            part.wake_all(all.now);
            continue;
        };
        let until = next.saturating_add(stretch.latency);
        // Others would wait for ever for a thread that has panicked.
        let turns = catch_unwind(AssertUnwindSafe(|| {
            part.take_turns(pes, (until, most), stretch.ending, goes_on)
        }));
        stops = !matches!(turns, Ok(Ok(Turns::Over)));
        match turns {
            Ok(Ok(Turns::Over | Turns::Stop)) => {}
            Ok(Ok(Turns::Full(why))) => outcome = Ok(Some(why)),
            Ok(Err(why)) => outcome = Err(why),
            Err(caught) => panic = Some(caught),
        }
        crosses = part.hand_over();
    }
    match panic {
        Some(caught) => resume_unwind(caught),
        None => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(next: Option<u64>, now: u64, running: usize) -> Said {
        Said {
            next: next.map(Time::nanoseconds),
            now: Time::nanoseconds(now),
            running,
            stops: false,
        }
    }

    #[test]
    fn all_hear_what_all_have_said() {
        let meeting = Meeting::new(3);
        let heard = thread::scope(|scope| {
            let say = |said: Said| {
                let meeting = &meeting;
                scope.spawn(move || [meeting.meet(said), meeting.meet(said)])
            };
            let threads = [(Some(7), 3, 1), (None, 5, 2), (Some(4), 1, 3)]
                .map(|(next, now, running)| say(said(next, now, running)));
            threads.map(|thread| thread.join().expect("no panic"))
        });
        for all in heard.into_iter().flatten() {
            assert_eq!(all.next, Some(Time::nanoseconds(4)));
            assert_eq!((all.now, all.running, all.stops), (Time::nanoseconds(5), 6, false));
        }
    }

    #[test]
    fn nobody_waits_for_a_thread_that_does_not_come() {
        let meeting = Meeting::new(2);
        thread::scope(|scope| {
            let other = scope.spawn(|| meeting.meet(said(None, 1, 1)));
            while meeting.state().here == 0 {
                thread::yield_now();
            }
            meeting.leave_out_one();
            assert_eq!(other.join().expect("no panic").running, 1);
        });
    }
}
