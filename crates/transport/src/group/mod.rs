//! The processes of a run: they share memory, and end together.
//!
//! The first process starts the others, which run the same program with the same arguments, up to the same run: so each has the same model,
//! and none has to be sent anything. In the run, each has some of the PEs. What they have to tell each other beside what PEs do goes to the
//! first process as letters.

mod letters;
mod peers;

use std::env;
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_memory::{Common, Region, RegionTicket, SpinLock, desert_locks};
use warpline_model::Portable;

use self::letters::{LetterBox, Post, letter_boxes};
use self::peers::Peers;

/// The variable by which a process learns that it is one of several.
const INVITATION: &str = "WARPLINE_GROUP";
/// How often a process that waits for others looks.
const LOOK_EVERY: Duration = Duration::from_micros(200);
/// How long processes may take until they all are in the run: they have to make the model first.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long processes may take to end.
const END_WITHIN: Duration = Duration::from_secs(5);
/// The longest last words, in bytes.
const WORDS: usize = 2000;

/// What a process is told that is one of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Invitation {
    /// Which one it is.
    number: u32,
    /// Which of the program's runs of several processes it is for, from 1.
    run: u32,
    ticket: RegionTicket,
}

impl Invitation {
    /// The invitation of this process, if it has one: if the first process of a group has started it.
    pub fn of_this_process() -> Option<Self> {
        let text = env::var(INVITATION).ok()?;
        let (number, rest) = text.split_once('/')?;
        let (run, ticket) = rest.split_once('/')?;
        let invitation = Invitation { number: number.parse().ok()?, run: run.parse().ok()?, ticket: ticket.parse().ok()? };
        // Programs that it starts inherit the variable. If the first process is gone, this one must not begin a run of its own.
        let first = invitation.ticket.owner();
        (peers::parent() == Some(first) || !peers::exists(first)).then_some(invitation)
    }

    /// Which of the program's runs of several processes it is for, from 1.
    pub fn run(&self) -> u32 {
        self.run
    }
}

/// What all processes see.
#[derive(Debug, Default, Portable)]
struct GroupWords {
    /// All have placed what they share.
    begun: AtomicU32,
    /// All are to end.
    stopped: AtomicU32,
    /// The number of a process that is gone, and 1.
    lost: AtomicU32,
    /// Somebody has said so.
    told: AtomicU32,
    /// The time of the last GVT that a process knew of, in bits.
    gvt: AtomicU64,
}

/// What a process has said before it ended.
type LastWords = Common<[SpinLock<(u32, [[u8; 50]; WORDS / 50])>]>;

/// A process that is gone, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("process {number} of {of} {why}")]
pub struct Lost {
    /// Its number, from 0.
    pub number: u32,
    /// How many there were.
    pub of: u32,
    /// What became of it, or its own last words.
    pub why: String,
}

/// This process among those of a run.
#[derive(Debug)]
pub struct Group {
    number: u32,
    processes: u32,
    region: Region,
    words: Common<GroupWords>,
    last_words: LastWords,
    /// By process: whether it has said everything.
    left: Common<[AtomicU32]>,
    peers: Peers,
    letters: LetterBox,
}

/// What a process says to others when its run has failed, from whatever thread.
#[derive(Clone, Debug)]
pub struct Voice {
    number: u32,
    words: Common<GroupWords>,
    last_words: LastWords,
}

impl Voice {
    /// The last words of this process. The first process passes them on.
    pub fn say(&self, text: &str) {
        let mut end = text.len().min(WORDS);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut words = self.last_words[self.number as usize].lock();
        words.0 = end as u32;
        words.1.as_flattened_mut()[..end].copy_from_slice(&text.as_bytes()[..end]);
    }

    /// All processes are to end.
    pub fn stop(&self) {
        self.words.stopped.store(1, Ordering::Release);
    }
}

impl Group {
    /// Starts the other processes: this program once more, with the same arguments, for its `run`-th run of several processes.
    ///
    /// # Errors
    /// If the system refuses memory or processes.
    pub fn start(processes: u32, run: u32) -> io::Result<Self> {
        let (region, ticket) = Region::create(processes)?;
        // Placed before there is anybody who could use it.
        let mut group = Group::place(region, 0, processes, Peers::none());
        let invitations = (1..processes).map(|number| OsString::from(format!("{number}/{run}/{ticket}")));
        group.peers = Peers::start(INVITATION, invitations)?;
        Ok(group)
    }

    /// Joins those who have invited this process.
    ///
    /// # Errors
    /// If the first process is gone, or its memory cannot be mapped.
    pub fn join(invitation: &Invitation) -> io::Result<Self> {
        let Invitation { number, ticket, .. } = invitation;
        let peers = Peers::of(ticket.owner())?;
        let region = Region::join(ticket, *number)?;
        Ok(Group::place(region, *number, ticket.processes(), peers))
    }

    fn place(region: Region, number: u32, processes: u32, peers: Peers) -> Self {
        desert_locks(false);
        let words = region.place(GroupWords::default());
        let last_words = region.place_list(processes as usize, |_| SpinLock::new((0, [[0; 50]; WORDS / 50])));
        let left = region.place_list(processes as usize, |_| AtomicU32::new(0));
        let letters = letter_boxes(&region, number, processes);
        Group { number, processes, region, words, last_words, left, peers, letters }
    }

    /// The number of this process, from 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many processes there are.
    pub fn processes(&self) -> u32 {
        self.processes
    }

    /// Whether this is the process that has started the others.
    pub fn is_first(&self) -> bool {
        self.number == 0
    }

    /// The memory that they share.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// What may speak for this process from other threads.
    pub fn voice(&self) -> Voice {
        Voice { number: self.number, words: self.words.clone(), last_words: self.last_words.clone() }
    }

    /// Waits until all processes have placed what they share. `description` says what they are about to do, entry by entry, and must be the
    /// same everywhere.
    ///
    /// # Errors
    /// If a process is gone, does not arrive, or is about to do something else.
    pub fn begin(&mut self, description: &[(String, String)]) -> Result<(), Lost> {
        if !self.is_first() {
            self.send(&description)?;
            return self.wait(|group| group.words.begun.load(Ordering::Acquire) == 1);
        }
        for number in 1..self.processes {
            let theirs: Vec<(String, String)> = self.receive_from(number)?;
            if let Some(why) = difference(description, &theirs) {
                self.stop();
                return Err(Lost { number, of: self.processes, why });
            }
        }
        // Release pairs with the Acquire above: what this process has placed is there.
        self.words.begun.store(1, Ordering::Release);
        Ok(())
    }

    /// Has all processes end, as this one cannot go on.
    pub fn stop(&self) {
        self.words.stopped.store(1, Ordering::Release);
    }

    /// Whether all are to end.
    pub fn is_stopped(&self) -> bool {
        self.words.stopped.load(Ordering::Acquire) == 1
    }

    /// Looks whether all processes are there.
    ///
    /// # Errors
    /// If one is gone that has not [taken leave](Self::take_leave), or all are to end.
    pub fn check(&mut self) -> Result<(), Lost> {
        let lost = |number, why: String| Lost { number, of: self.processes, why };
        // One that has taken leave may end before this process has read all its letters.
        let left = &self.left;
        if let Some((number, how)) = self.peers.gone(|number| left[number as usize].load(Ordering::Acquire) == 1) {
            let why = self.words_of(number).unwrap_or(how);
            self.words.lost.store(number + 1, Ordering::Release);
            self.stop();
            desert_locks(true);
            return Err(lost(number, why));
        }
        if self.is_stopped() {
            let number = self.words.lost.load(Ordering::Acquire).checked_sub(1);
            return Err(match number {
                Some(number) => lost(number, self.words_of(number).unwrap_or_else(|| "is gone".to_owned())),
                None => lost(self.speaker(), self.words_of(self.speaker()).unwrap_or_else(|| "has given up".to_owned())),
            });
        }
        Ok(())
    }

    /// The first process that has said why it ends.
    fn speaker(&self) -> u32 {
        (0..self.processes).find(|number| self.last_words[*number as usize].lock().0 > 0).unwrap_or_default()
    }

    fn words_of(&self, number: u32) -> Option<String> {
        let words = self.last_words[number as usize].try_lock()?;
        let text = String::from_utf8_lossy(&words.1.as_flattened()[..words.0 as usize]).into_owned();
        (words.0 > 0).then(|| format!("has failed: {text}"))
    }

    /// Whether this process is the one that tells of a loss: the first, or, if that is gone, one of the others.
    pub fn is_to_tell(&self, lost: &Lost) -> bool {
        self.is_first() || lost.number == 0 && self.words.told.swap(1, Ordering::AcqRel) == 0
    }

    /// Notes the time of GVT, in bits, for those who have to tell of a loss.
    pub fn note_gvt(&self, bits: u64) {
        // Relaxed: it publishes nothing else.
        self.words.gvt.fetch_max(bits, Ordering::Relaxed);
    }

    /// The latest GVT noted, in bits.
    pub fn gvt(&self) -> u64 {
        self.words.gvt.load(Ordering::Relaxed)
    }

    fn wait(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), Lost> {
        let since = Instant::now();
        while !done(self) {
            self.check()?;
            if since.elapsed() > PATIENCE {
                let why = format!("or another one does not answer after {} s", PATIENCE.as_secs());
                return Err(Lost { number: self.number, of: self.processes, why });
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Sends a letter to the first process; from there, to all others. It waits as long as there is no room for it.
    ///
    /// # Errors
    /// If a process is gone.
    pub fn send(&mut self, letter: &impl Serialize) -> Result<(), Lost> {
        let bytes = postcard::to_stdvec(letter).unwrap_or_else(|error| panic!("a letter cannot be written: {error}"));
        for to in 0..self.letters.to.len() {
            let mut post = Post::new(&bytes);
            while !self.letters.to[to].send(&mut post) {
                self.check()?;
                thread::sleep(LOOK_EVERY);
            }
        }
        Ok(())
    }

    /// The next letter that has arrived from a process, if there is one. A process other than the first gets letters from the first only.
    ///
    /// # Panics
    /// If it is not what it is taken for.
    pub fn next_letter<T: DeserializeOwned>(&mut self, from: u32) -> Option<T> {
        let bytes = self.letters.from[from.saturating_sub(1) as usize].receive()?;
        Some(postcard::from_bytes(&bytes).unwrap_or_else(|error| panic!("a letter from process {from} cannot be read: {error}")))
    }

    /// Waits for a letter.
    ///
    /// # Errors
    /// If a process is gone.
    ///
    /// # Panics
    /// If it is not what it is taken for.
    pub fn receive_from<T: DeserializeOwned>(&mut self, from: u32) -> Result<T, Lost> {
        let since = Instant::now();
        loop {
            if let Some(letter) = self.next_letter(from) {
                return Ok(letter);
            }
            self.check()?;
            if since.elapsed() > PATIENCE {
                let why = format!("does not answer after {} s", PATIENCE.as_secs());
                return Err(Lost { number: from, of: self.processes, why });
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// This process has said everything, and may end at any time.
    pub fn take_leave(&self) {
        self.left[self.number as usize].store(1, Ordering::Release);
    }

    /// Waits until the other processes have ended, or has the system end them.
    pub fn end(&mut self) {
        self.peers.end(END_WITHIN);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.is_first() {
            self.stop();
            self.peers.end(END_WITHIN);
        }
    }
}

/// How two descriptions differ.
fn difference(ours: &[(String, String)], theirs: &[(String, String)]) -> Option<String> {
    let other = |(name, value): &(String, String)| match theirs.iter().find(|(found, _)| found == name) {
        Some((_, found)) if found == value => None,
        Some((_, found)) => Some(format!("has another {name}: {found}, where the first has {value}")),
        None => Some(format!("knows nothing of {name}")),
    };
    ours.iter().find_map(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let entry = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let ours = [entry("model", "phold"), entry("seed", "1")];
        assert_eq!(difference(&ours, &ours), None);
        let theirs = [entry("seed", "2"), entry("model", "phold")];
        assert_eq!(difference(&ours, &theirs).unwrap(), "has another seed: 2, where the first has 1");
        assert_eq!(difference(&ours, &theirs[..1]).unwrap(), "knows nothing of model");
    }

    #[test]
    fn without_an_invitation_there_is_none() {
        assert_eq!(Invitation::of_this_process(), None);
    }
}
