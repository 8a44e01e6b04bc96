//! A collective reduction over ranks: processes that share no memory. The kernel knows what is
//! reduced and how moments are ordered; [`AllReduce`] hides who carries it to the other ranks.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use warpline_base::{EventKey, LpId, Moment, Priority, Sequence, TieBreak, VirtualTime};

use super::hierarchy::Hierarchy;
use super::messages::{Share, Work};

/// How many words of a share are added up.
pub const ALL_REDUCE_SUMS: usize = 7;
/// How many words make a key. Of keys, the least is found.
pub const ALL_REDUCE_KEY: usize = 6;
/// How many words a share has: sums, and the keys of two moments.
pub const ALL_REDUCE_WORDS: usize = ALL_REDUCE_SUMS + 2 * ALL_REDUCE_KEY;

/// Reduces words over all ranks, one reduction after another, without ever blocking: MPI_Iallreduce
/// and MPI_Test.
///
/// The first [`ALL_REDUCE_SUMS`] words are added up, modulo 2^64. The others are keys of
/// [`ALL_REDUCE_KEY`] words each, the most significant first; at each place the least key of all
/// ranks is found.
///
/// Errors are messages of the system; none can be recovered from.
pub trait AllReduce: Send {
    /// Gives this rank's words for the next reduction. The one before must be over.
    ///
    /// # Errors
    /// See [`AllReduce`].
    fn start(&mut self, mine: &[u64; ALL_REDUCE_WORDS]) -> Result<(), String>;

    /// The result, once, when all ranks have given their words.
    ///
    /// # Errors
    /// See [`AllReduce`].
    fn test(&mut self) -> Result<Option<[u64; ALL_REDUCE_WORDS]>, String>;
}

/// The ranks of a run, and the place of this one among them.
#[derive(Clone, Debug)]
pub struct RankPlaces {
    /// This rank.
    pub rank: u32,
    /// By rank: its first PE; and the number of PEs.
    pub first_pes: Vec<u32>,
    /// Whether PEs drive reductions in their steps. Otherwise another thread does, as PEs may not
    /// or should not.
    pub pes_drive: bool,
}

/// What the PEs of a rank need for reductions over all ranks.
#[derive(Clone)]
pub(super) struct RankReduction(Arc<Inner>);

struct Inner {
    places: RankPlaces,
    ties: TieBreak,
    wire: Mutex<Wire>,
    /// The error that ended reductions, if there was one.
    trouble: OnceLock<String>,
}

struct Wire {
    /// `None` once it is closed.
    all_reduce: Option<Box<dyn AllReduce>>,
    is_in_progress: bool,
}

impl fmt::Debug for RankReduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RankReduction").field("places", &self.0.places).finish_non_exhaustive()
    }
}

impl RankReduction {
    pub(super) fn new(places: RankPlaces, all_reduce: Box<dyn AllReduce>, ties: TieBreak) -> Self {
        let wire = Mutex::new(Wire { all_reduce: Some(all_reduce), is_in_progress: false });
        RankReduction(Arc::new(Inner { places, ties, wire, trouble: OnceLock::new() }))
    }

    /// How many PEs all ranks have.
    pub(super) fn pes(&self) -> u32 {
        self.0.places.first_pes.last().copied().unwrap_or_default()
    }

    pub(super) fn pes_drive(&self) -> bool {
        self.0.places.pes_drive
    }

    /// The first PEs of other ranks that PE `me` calls when its rank begins: none unless it is the
    /// first of its own.
    pub(super) fn called_by(&self, me: u32) -> Vec<u32> {
        let first_pes = &self.0.places.first_pes;
        let ranks = first_pes.len() as u32 - 1;
        let rank = first_pes[..ranks as usize].iter().position(|first| *first == me);
        let neighbours =
            rank.map_or_else(Vec::new, |rank| Hierarchy::new(ranks, 1).neighbours(rank as u32));
        neighbours.into_iter().map(|rank| first_pes[rank as usize]).collect()
    }

    /// Starts a reduction of the rank's `share` if none is in progress. Then tests it, and once it
    /// is over passes the share of all ranks on, before anybody can start the next. Does nothing
    /// while another thread is at it. Returns whether a reduction has ended or failed.
    pub(super) fn go_on(
        &self,
        share: impl FnOnce() -> Option<Share>,
        pass_on: impl FnOnce(Share),
    ) -> bool {
        let mut wire = match self.0.wire.try_lock() {
            Ok(wire) => wire,
            Err(TryLockError::Poisoned(wire)) => wire.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        if self.0.trouble.get().is_some() {
            return false;
        }
        match wire.go_on(|| share().map(|share| words_of(&share, self.0.ties))) {
            Ok(None) => false,
            Ok(Some(words)) => {
                pass_on(share_of(&words));
                true
            }
            Err(why) => self.0.trouble.set(why).is_ok(),
        }
    }

    pub(super) fn trouble(&self) -> Option<&str> {
        self.0.trouble.get().map(String::as_str)
    }

    fn lock(&self) -> MutexGuard<'_, Wire> {
        self.0.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn close(&self) {
        let mut wire = self.lock();
        let all_reduce = wire.all_reduce.take();
        if wire.is_in_progress || self.trouble().is_some() {
            std::mem::forget(all_reduce);
        }
    }
}

impl Wire {
    fn go_on(
        &mut self,
        words: impl FnOnce() -> Option<[u64; ALL_REDUCE_WORDS]>,
    ) -> Result<Option<[u64; ALL_REDUCE_WORDS]>, String> {
        let Some(all_reduce) = &mut self.all_reduce else { return Ok(None) };
        if !self.is_in_progress {
            let Some(words) = words() else { return Ok(None) };
            all_reduce.start(&words)?;
            self.is_in_progress = true;
        }
        let reduced = all_reduce.test()?;
        self.is_in_progress = reduced.is_none();
        Ok(reduced)
    }
}

/// A share as words. Sums wrap around, as those of MPI do.
fn words_of(share: &Share, ties: TieBreak) -> [u64; ALL_REDUCE_WORDS] {
    let Share { sent, received, least, failure, work } = *share;
    let mut words = [0; ALL_REDUCE_WORDS];
    let (sums, keys) = words.split_at_mut(ALL_REDUCE_SUMS);
    sums.copy_from_slice(&[
        sent,
        received,
        work.processed,
        work.rolled_back,
        work.steps,
        work.idle_steps,
        work.waiting_steps,
    ]);
    let (first, second) = keys.split_at_mut(ALL_REDUCE_KEY);
    first.copy_from_slice(&key_of(least, ties));
    second.copy_from_slice(&key_of(failure, ties));
    words
}

fn share_of(words: &[u64; ALL_REDUCE_WORDS]) -> Share {
    let [sent, received, processed, rolled_back, steps, idle_steps, waiting_steps, keys @ ..] =
        *words;
    let moment =
        |place: usize| moment_of(std::array::from_fn(|word| keys[place * ALL_REDUCE_KEY + word]));
    let work = Work { processed, rolled_back, steps, idle_steps, waiting_steps };
    Share { sent, received, least: moment(0), failure: moment(1), work }
}

const INIT: u64 = 0;
const EVENT: u64 = 1;
const FINISH: u64 = 2;
const NEVER: u64 = 3;

/// A moment as words whose order, word by word, is that of moments.
fn key_of(moment: Moment, ties: TieBreak) -> [u64; ALL_REDUCE_KEY] {
    match moment {
        Moment::Init(lp) => [INIT, u64::from(lp.0), 0, 0, 0, 0],
        Moment::Event(key) => {
            let EventKey { time, step, priority, sender, sequence } = key;
            let level = (i64::from(priority.level()) + 128) as u64;
            [
                EVENT,
                time.bits(),
                u64::from(step) << 8 | level,
                ties.tie_hash(&key),
                u64::from(sender.0),
                sequence.bits(),
            ]
        }
        Moment::Finish(lp) => [FINISH, u64::from(lp.0), 0, 0, 0, 0],
        Moment::Never => [NEVER, 0, 0, 0, 0, 0],
    }
}

fn moment_of([kind, first, second, _, sender, sequence]: [u64; ALL_REDUCE_KEY]) -> Moment {
    match kind {
        INIT => Moment::Init(LpId(first as u32)),
        EVENT => Moment::Event(EventKey {
            time: VirtualTime::from_bits(first),
            step: (second >> 8) as u32,
            priority: Priority::new(((second & 0xFF) as i64 - 128) as i8),
            sender: LpId(sender as u32),
            sequence: Sequence::from_bits(sequence),
        }),
        FINISH => Moment::Finish(LpId(first as u32)),
        _ => Moment::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments() -> Vec<Moment> {
        let key = |time, step, level, sender, event| {
            let time = VirtualTime::from_bits(time);
            let sequence = Sequence::first_of(event).nth(3);
            Moment::Event(EventKey {
                time,
                step,
                priority: Priority::new(level),
                sender: LpId(sender),
                sequence,
            })
        };
        let mut all = vec![
            Moment::Init(LpId(0)),
            Moment::Init(LpId(u32::MAX)),
            Moment::Finish(LpId(0)),
            Moment::Finish(LpId(7)),
            Moment::Never,
        ];
        for (time, step) in [(0, 0), (5, 0), (5, 1), (5, u32::MAX), (VirtualTime::MAX.bits(), 0)] {
            for (level, sender) in [(-127, 3), (0, 0), (0, 3), (127, u32::MAX)] {
                all.extend([
                    key(time, step, level, sender, 0),
                    key(time, step, level, sender, Sequence::EVENT_LIMIT - 1),
                ]);
            }
        }
        all
    }

    /// MPI compares words as moments compare, and they can be read back.
    #[test]
    fn words_are_in_the_order_of_moments() {
        for ties in [TieBreak::BySender, TieBreak::Unbiased { seed: 5 }] {
            for a in moments() {
                assert_eq!(moment_of(key_of(a, ties)), a);
                for b in moments() {
                    assert_eq!(
                        key_of(a, ties).cmp(&key_of(b, ties)),
                        a.compare(&b, ties),
                        "{a:?} and {b:?}, {ties:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_share_comes_back_from_its_words() {
        let moments = moments();
        for (&least, &failure) in moments.iter().zip(moments.iter().rev()) {
            let work = Work {
                processed: 1,
                rolled_back: u64::MAX,
                steps: 3,
                idle_steps: 4,
                waiting_steps: 5,
            };
            let share = Share { sent: 5, received: u64::MAX - 1, least, failure, work };
            assert_eq!(share_of(&words_of(&share, TieBreak::BySender)), share);
        }
    }

    /// An MPI that fails, and counts how often it is tested.
    struct Failing(Arc<Mutex<u32>>);

    impl AllReduce for Failing {
        fn start(&mut self, _: &[u64; ALL_REDUCE_WORDS]) -> Result<(), String> {
            Ok(())
        }

        fn test(&mut self) -> Result<Option<[u64; ALL_REDUCE_WORDS]>, String> {
            *self.0.lock().unwrap() += 1;
            Err("the network is gone".to_owned())
        }
    }

    #[test]
    fn a_failure_is_reported_and_ends_reductions() {
        let asked = Arc::new(Mutex::new(0));
        let places = RankPlaces { rank: 0, first_pes: vec![0, 1, 2], pes_drive: true };
        let reduction =
            RankReduction::new(places, Box::new(Failing(asked.clone())), TieBreak::BySender);
        let share = Share {
            sent: 0,
            received: 0,
            least: Moment::Never,
            failure: Moment::Never,
            work: Work::default(),
        };
        assert_eq!(reduction.trouble(), None);
        for _ in 0..3 {
            reduction.go_on(|| Some(share), |_| panic!("there is no result"));
            assert_eq!(reduction.trouble(), Some("the network is gone"));
        }
        assert_eq!(*asked.lock().unwrap(), 1);
        reduction.close();
    }
}
