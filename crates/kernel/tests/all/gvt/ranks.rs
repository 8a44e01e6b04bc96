//! PEs that are divided among ranks, which reduce collectively.

use std::sync::{Arc, Mutex};

use warpline_base::TieBreak;
use warpline_base::random::mix64;
use warpline_kernel::gvt::{
    ALL_REDUCE_KEY, ALL_REDUCE_SUMS, ALL_REDUCE_WORDS, AllReduce, AnyGvt, Barrier, RankPlaces,
};

use super::dice::Dice;

/// Collective reductions whose results arrive late, and at some ranks later than at others.
struct VirtualAllReduce {
    rank: usize,
    dice: Dice,
    /// The reductions that this rank has started.
    started: usize,
    all: Arc<Mutex<Collective>>,
}

/// What the ranks have given, by reduction: which of them did, and the words reduced so far.
#[derive(Default)]
struct Collective {
    ranks: usize,
    given: Vec<(Vec<usize>, [u64; ALL_REDUCE_WORDS])>,
}

impl AllReduce for VirtualAllReduce {
    fn start(&mut self, mine: &[u64; ALL_REDUCE_WORDS]) -> Result<(), String> {
        let mut all = self.all.lock().unwrap();
        match all.given.get_mut(self.started) {
            None => all.given.push((vec![self.rank], *mine)),
            Some((ranks, words)) => {
                assert!(!ranks.contains(&self.rank), "a rank takes part in a reduction once");
                ranks.push(self.rank);
                for (word, mine) in words.iter_mut().zip(mine).take(ALL_REDUCE_SUMS) {
                    *word = word.wrapping_add(*mine);
                }
                let keys = words[ALL_REDUCE_SUMS..].chunks_mut(ALL_REDUCE_KEY);
                for (key, mine) in keys.zip(mine[ALL_REDUCE_SUMS..].chunks(ALL_REDUCE_KEY)) {
                    if *mine < *key {
                        key.copy_from_slice(mine);
                    }
                }
            }
        }
        self.started += 1;
        Ok(())
    }

    fn test(&mut self) -> Result<Option<[u64; ALL_REDUCE_WORDS]>, String> {
        let all = self.all.lock().unwrap();
        let (ranks, words) = &all.given[self.started - 1];
        Ok((ranks.len() == all.ranks && self.dice.percent(50)).then_some(*words))
    }
}

/// The parts of PEs that are divided among some ranks at random.
pub(super) fn ranks(dice: &mut Dice, pes: u32, ties: TieBreak) -> Vec<AnyGvt> {
    let mut first_pes: Vec<u32> = (1..pes).filter(|_| dice.percent(40)).collect();
    first_pes.insert(0, 0);
    let ranks = first_pes.len();
    first_pes.push(pes);
    let all = Arc::new(Mutex::new(Collective { ranks, given: Vec::new() }));
    let of_rank = |rank: usize| {
        let places =
            RankPlaces { rank: rank as u32, first_pes: first_pes.clone(), pes_drive: true };
        let all_reduce = VirtualAllReduce {
            rank,
            dice: Dice(mix64(dice.0 ^ rank as u64)),
            started: 0,
            all: all.clone(),
        };
        let barrier = Barrier::of_rank(places, Box::new(all_reduce), ties);
        AnyGvt::all_at(&barrier, pes, ties)
            .into_iter()
            .take(first_pes[rank + 1] as usize)
            .skip(first_pes[rank] as usize)
    };
    (0..ranks).flat_map(of_rank).collect()
}
