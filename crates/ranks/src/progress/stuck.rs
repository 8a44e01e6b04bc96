//! Who waits for whom, in words.

use super::messages::is_collective;
use super::requests::{Slot, Work};
use super::state::Progress;

impl Progress {
    /// What a request is for, in words.
    pub(super) fn describe(&self, slot: &Slot) -> String {
        match &slot.work {
            Work::Receive { pattern, .. } => {
                let from = match pattern.from {
                    Some(rank) => format!("rank {rank}"),
                    None => "any rank".to_owned(),
                };
                if is_collective(pattern.context) {
                    return format!("the message of {from}");
                }
                let tag = pattern.tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"));
                format!("a message of {from} with {tag}")
            }
            Work::Arriving => format!("the bytes of a message of rank {}", slot.received.from),
            Work::Send { to, tag, content } => {
                format!("rank {to} to receive {} bytes with tag {tag}", content.len())
            }
            Work::Done | Work::Cancelled => "nothing".to_owned(),
        }
    }

    /// What the rank waits for, if it can no longer come: how many waits there are, and the first
    /// `most` in words.
    pub(crate) fn stuck(&self, rank: u32, most: usize) -> (u64, Vec<String>) {
        if self.has_ended || self.has_failed {
            return (0, Vec::new());
        }
        let call = self.call;
        let mut lines: Vec<String> = self
            .requests
            .iter()
            .filter(|slot| slot.is_awaited && !matches!(slot.work, Work::Done))
            .map(|slot| {
                let what = self.describe(slot);
                format!("rank {rank} waits for {what}, since {} s, in {call}", slot.at)
            })
            .collect();
        if self.probes {
            lines.push(format!("rank {rank} waits for a message, in {call}"));
        }
        let waits = lines.len() as u64;
        lines.truncate(most);
        (waits, lines)
    }
}
