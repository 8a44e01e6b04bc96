//! What PEs write into each other's memory.

use warpline_base::{EventKey, LpId, Moment, Priority, Sequence, VirtualTime};
use warpline_model::Portable;

use super::messages::{Control, Share, Verdict, Work};

/// The number of words in a block.
pub const BLOCK_WORDS: usize = 16;

/// What is written into the memory of another PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable)]
pub enum Put {
    /// A word of its own, which makes an idle PE join: the writer has begun to close all epochs
    /// below this.
    JumpStart(u64),
    /// A block.
    Block {
        /// Which of the four.
        place: usize,
        /// Its content.
        words: [u64; BLOCK_WORDS],
    },
}

/// Which of the four blocks belongs to a round: two-element arrays are enough for epochs as well as
/// for rounds (§2.3).
pub(super) fn block(epoch: u64, round: u32) -> usize {
    (2 * (epoch % 2) + u64::from(round % 2)) as usize
}

/// The kinds of block.
const SHARE: u64 = 0;
const AGAIN: u64 = 1;
const VERDICT: u64 = 2;

/// Where the codes of both moments lie in the first word, beside the round and the kind; each has
/// ten bits.
const FIRST_CODE: u32 = 40;
const SECOND_CODE: u32 = 50;
const CODE: u64 = 0x3FF;

impl From<Control> for Put {
    fn from(control: Control) -> Put {
        match control {
            Control::Begin { epoch, .. } => Put::JumpStart(epoch + 1),
            Control::Share {
                epoch,
                round,
                share: Share { sent, received, least, failure, work },
                ..
            } => Put::block(SHARE, epoch, round, [sent, received], [least, failure], work),
            // It is the outcome of the round before, and lies in the block of that.
            Control::Again { epoch, round } => {
                Put::block(AGAIN, epoch, round - 1, [0; 2], [Moment::Never; 2], Work::default())
            }
            Control::Verdict(Verdict { epoch, rounds, gvt, failure, work, .. }) => {
                Put::block(VERDICT, epoch, rounds - 1, [0; 2], [gvt, failure], work)
            }
        }
    }
}

impl Put {
    fn block(
        kind: u64,
        epoch: u64,
        round: u32,
        counts: [u64; 2],
        moments: [Moment; 2],
        work: Work,
    ) -> Put {
        let mut words = [0; BLOCK_WORDS];
        let [(first, first_code), (second, second_code)] = moments.map(words_of);
        words[0] =
            u64::from(round) | kind << 32 | first_code << FIRST_CODE | second_code << SECOND_CODE;
        words[1] = epoch;
        words[2..4].copy_from_slice(&counts);
        words[4..7].copy_from_slice(&first);
        words[7..10].copy_from_slice(&second);
        words[10..15].copy_from_slice(&[
            work.processed,
            work.rolled_back,
            work.steps,
            work.idle_steps,
            work.waiting_steps,
        ]);
        Put::Block { place: block(epoch, round), words }
    }

    /// What PE `from` has written.
    ///
    /// # Panics
    /// If no PE writes such a block.
    pub fn read(self, from: u32) -> Control {
        let words = match self {
            Put::JumpStart(epochs) => return Control::Begin { from, epoch: epochs - 1 },
            Put::Block { words, .. } => words,
        };
        let round = words[0] as u32;
        let epoch = words[1];
        let moment = |at: usize, code: u32| {
            moment_of([words[at], words[at + 1], words[at + 2]], words[0] >> code & CODE)
        };
        let least = moment(4, FIRST_CODE);
        let failure = moment(7, SECOND_CODE);
        let [processed, rolled_back, steps, idle_steps, waiting_steps] =
            std::array::from_fn(|place| words[10 + place]);
        let work = Work { processed, rolled_back, steps, idle_steps, waiting_steps };
        match words[0] >> 32 & 0xFF {
            SHARE => {
                let share = Share { sent: words[2], received: words[3], least, failure, work };
                Control::Share { from, epoch, round, share }
            }
            AGAIN => Control::Again { epoch, round: round + 1 },
            VERDICT => Control::Verdict(Verdict {
                epoch,
                rounds: round + 1,
                gvt: least,
                in_transit: Moment::Never,
                failure,
                work,
            }),
            kind => panic!("PE {from} wrote a block of an unknown kind, {kind}"),
        }
    }
}

/// A moment in three words and a code: its step and its LP, its time, its sequence number; and its
/// kind with its priority.
fn words_of(moment: Moment) -> ([u64; 3], u64) {
    match moment {
        Moment::Init(lp) => ([u64::from(lp.0), 0, 0], 0),
        Moment::Event(EventKey { time, step, priority, sender, sequence }) => {
            let place = u64::from(step) << 32 | u64::from(sender.0);
            ([place, time.bits(), sequence.bits()], 1 | u64::from(priority.level() as u8) << 2)
        }
        Moment::Finish(lp) => ([u64::from(lp.0), 0, 0], 2),
        Moment::Never => ([0; 3], 3),
    }
}

fn moment_of([place, time, sequence]: [u64; 3], code: u64) -> Moment {
    let lp = LpId(place as u32);
    match code & 3 {
        0 => Moment::Init(lp),
        1 => {
            let step = (place >> 32) as u32;
            let priority = Priority::new((code >> 2) as u8 as i8);
            let time = VirtualTime::from_bits(time);
            let sequence = Sequence::from_bits(sequence);
            Moment::Event(EventKey { time, step, priority, sender: lp, sequence })
        }
        2 => Moment::Finish(lp),
        _ => Moment::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a PE has to say arrives as it was.
    #[test]
    fn what_is_written_is_what_is_read() {
        let key = |time: f64, step, level, lp, sequence: Sequence| EventKey {
            time: VirtualTime::new(time).expect("a time"),
            step,
            priority: Priority::new(level),
            sender: LpId(lp),
            sequence,
        };
        let last = Sequence::first_of(Sequence::EVENT_LIMIT - 1).nth(0xFF_FFFF);
        let moments = [
            Moment::Init(LpId(u32::MAX)),
            Moment::Event(key(0.0, 0, 0, 0, Sequence::first_of(0))),
            Moment::Event(key(1e300, u32::MAX, -127, u32::MAX, last)),
            Moment::Event(key(1.5, 7, 127, 3, Sequence::first_of(5).nth(2))),
            Moment::Finish(LpId(9)),
            Moment::Never,
        ];
        for (number, &least) in (0u64..).zip(&moments) {
            for &failure in &moments {
                let work = Work {
                    processed: 1 + number,
                    rolled_back: u64::MAX,
                    steps: 3,
                    idle_steps: 4,
                    waiting_steps: 5 + number,
                };
                let epoch = number << 40;
                let round = 1 << 31 | number as u32;
                let share = Share { sent: u64::MAX - number, received: 5, least, failure, work };
                let verdict = Verdict {
                    epoch,
                    rounds: round,
                    gvt: least,
                    in_transit: Moment::Never,
                    failure,
                    work,
                };
                for control in [
                    Control::Begin { from: 6, epoch },
                    Control::Share { from: 6, epoch, round, share },
                    Control::Again { epoch, round },
                    Control::Verdict(verdict),
                ] {
                    assert_eq!(Put::from(control).read(6), control);
                }
            }
        }
    }

    /// Rounds that can be on their way at the same time have blocks of their own.
    #[test]
    fn neighbouring_rounds_have_different_blocks() {
        let place = |epoch, round: u32| match Put::from(Control::Again { epoch, round: round + 1 })
        {
            Put::Block { place, .. } => place,
            Put::JumpStart(_) => panic!("no block"),
        };
        for (epoch, round) in [(0, 0), (1, 0), (6, 3), (7, 4)] {
            let mut places = [
                place(epoch, round),
                place(epoch, round + 1),
                place(epoch + 1, round),
                place(epoch + 1, round + 1),
            ];
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3]);
        }
    }
}
