//! Ranks as a power of two: some pass on what they have to a neighbour, and the others go on.

use super::steps::Steps;
use crate::data::{Data, Op};

/// The ranks that go on: as many as the greatest power of two. Of the first pairs of ranks, one
/// passes on what it has to the other.
#[derive(Clone, Copy)]
pub(super) struct Fold {
    /// How many go on.
    pub(super) count: u32,
    /// The number of pairs.
    pairs: u32,
    /// The rank that goes on in any case.
    keeps: Option<u32>,
}

impl Fold {
    pub(super) fn of(ranks: u32, keeps: Option<u32>) -> Self {
        let count = 1 << ranks.ilog2();
        Fold { count, pairs: ranks - count, keeps }
    }

    /// The pair of a rank, if it has one: who passes on, and who goes on.
    fn pair(&self, rank: u32) -> Option<(u32, u32)> {
        let even = rank & !1;
        if rank >= 2 * self.pairs {
            return None;
        }
        // By default the even ones pass on: what they have comes first in the order of ranks.
        Some(if self.keeps == Some(even) { (even + 1, even) } else { (even, even + 1) })
    }

    /// A rank's number among those that go on; `None` if it does not.
    pub(super) fn number(&self, rank: u32) -> Option<u32> {
        match self.pair(rank) {
            Some((out, _)) if out == rank => None,
            Some(_) => Some(rank / 2),
            None => Some(rank - self.pairs),
        }
    }

    /// The rank that goes on with this number.
    pub(super) fn rank(&self, number: u32) -> u32 {
        if number < self.pairs {
            self.pair(2 * number).map_or(2 * number, |(_, rank)| rank)
        } else {
            number + self.pairs
        }
    }

    /// Pairs become one. Returns what the rank goes on with, if it does.
    pub(super) async fn fold(&self, steps: &Steps<'_>, op: Op, data: Data) -> Option<Data> {
        let me = steps.me();
        match self.pair(me) {
            None => Some(data),
            Some((out, on)) if out == me => {
                steps.send(on, data).await;
                None
            }
            Some((out, _)) => {
                let theirs = steps.recv(out).await;
                Some(if out < me {
                    steps.combine(op, &theirs, &data)
                } else {
                    steps.combine(op, &data, &theirs)
                })
            }
        }
    }

    /// Those that have gone on pass the result back.
    pub(super) async fn unfold(&self, steps: &Steps<'_>, result: Option<Data>) -> Data {
        let me = steps.me();
        match (self.pair(me), result) {
            (Some((out, _)), Some(result)) => {
                steps.send(out, result.clone()).await;
                result
            }
            (Some((_, on)), None) => steps.recv(on).await,
            (None, result) => result.unwrap_or(Data::size(0)),
        }
    }
}
