//! The processes of a run: those of a machine share memory, and all end together.
//!
//! Either the first process starts the others, which run the same program with the same arguments, up to the same run; or a launcher of MPI
//! programs has started all of them. Each has the same model, and none has to be sent anything. In the run, each has some of the PEs. What
//! they have to tell each other beside what PEs do goes to the first process as control messages.

#[cfg(feature = "mpi")]
mod all_reduce;
#[cfg(feature = "mpi")]
mod control_channel;
mod control_messages;
mod cpu_share;
mod failure_reporter;
mod invitation;
#[cfg(feature = "mpi")]
mod launched;
mod lost;
#[cfg(not(feature = "mpi"))]
mod no_ranks;
mod peers;
#[cfg(feature = "mpi")]
mod ranks;

use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_kernel::gvt::AllReduce;
use warpline_memory::{Common, Region, desert_locks, share_payloads, unshare_payloads};

#[cfg(feature = "mpi")]
use self::control_channel::MpiControlChannel;
use self::control_messages::{LetterBox, Post, Receiver, letter_boxes};
pub use self::cpu_share::CpuShare;
pub use self::failure_reporter::FailureReport;
use self::failure_reporter::{FailureReporter, STOPPED};
use self::invitation::INVITATION;
pub use self::invitation::Invitation;
pub use self::lost::Lost;
#[cfg(not(feature = "mpi"))]
use self::no_ranks::MpiControlChannel;
#[cfg(not(feature = "mpi"))]
pub use self::no_ranks::Ranks;
use self::peers::Peers;
#[cfg(feature = "mpi")]
pub use self::ranks::Ranks;
use crate::couriers::{Carrier, CarrierKind, CourierPlan, copy_carriers, try_out};
#[cfg(feature = "boost")]
use crate::couriers::{boost_carriers, join_boost_carriers};
use crate::{Fold, Tally};

/// How often a process that waits for others looks.
const LOOK_EVERY: Duration = Duration::from_micros(200);
/// How long processes may take until they all are in the run: they have to make the model first.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long processes may take to end.
const END_WITHIN: Duration = Duration::from_secs(5);
/// The words of a group, by place in its tally.
const WORDS_OF_GROUP: &[Fold] = &[Fold::Max, Fold::Max, Fold::Max];
/// The number of a process that is gone, and 1.
const LOST: usize = 1;
/// The time of the last GVT that a process knew of, in bits.
const GVT: usize = 2;

/// This process among those of a run.
#[derive(Debug)]
pub struct Group {
    number: u32,
    processes: u32,
    /// Those with which it shares memory, itself among them.
    near: Range<u32>,
    cpu_share: CpuShare,
    region: Region,
    words: Tally,
    /// Somebody has said that a process is gone.
    told: Common<AtomicU32>,
    /// By process, of those near.
    failure_reporter: FailureReporter,
    /// By process, of those near: whether it has said everything.
    left: Common<[AtomicU32]>,
    peers: Peers,
    /// If all share memory.
    letters: LetterBox,
    /// The office, if a launcher has started the processes.
    office: Option<MpiControlChannel>,
    /// Whether control messages go through the control channel, as not all processes share memory.
    by_office: bool,
    /// Whether all has gone well.
    is_done: bool,
}

impl Group {
    /// Starts the other processes: this program once more, with the same arguments, for its `run`-th run of several processes.
    ///
    /// # Errors
    /// If the system refuses memory or processes.
    pub fn start(processes: u32, run: u32) -> io::Result<Self> {
        let (region, ticket) = Region::create(processes)?;
        // Placed before there is anybody who could use it.
        let mut group = Group::place(region, 0, processes, 0..processes, Peers::none());
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
        Ok(Group::place(region, *number, ticket.processes(), 0..ticket.processes(), peers))
    }

    fn place(region: Region, number: u32, processes: u32, near: Range<u32>, peers: Peers) -> Self {
        desert_locks(false);
        let words = Tally::place(&region, WORDS_OF_GROUP);
        let told = region.place(AtomicU32::new(0));
        let failure_reporter = FailureReporter::place(&region, near.len());
        let left = region.place_list(near.len(), |_| AtomicU32::new(0));
        let by_office = near.len() < processes as usize;
        let letters = if by_office { LetterBox::default() } else { letter_boxes(&region, number, processes) };
        let (office, is_done) = (None, false);
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let cpu_share = CpuShare { number, of: processes, cores: f64::from(cores) / f64::from(processes) };
        Group {
            number,
            processes,
            near,
            cpu_share,
            region,
            words,
            told,
            failure_reporter,
            left,
            peers,
            letters,
            office,
            by_office,
            is_done,
        }
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

    /// The processes with which this one shares memory, itself among them.
    pub fn near(&self) -> Range<u32> {
        self.near.clone()
    }

    /// Where it is among the processes of its machine.
    pub fn cpu_share(&self) -> CpuShare {
        self.cpu_share
    }

    /// The memory that it shares with them.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// What may speak for this process from other threads.
    pub fn failure_report(&self) -> FailureReport {
        FailureReport { number: self.number - self.near.start, words: self.words.clone(), failure_reporter: self.failure_reporter.clone() }
    }

    /// Makes sure that all processes are about to do the same, which `description` says entry by entry.
    ///
    /// # Errors
    /// If a process is gone, does not arrive, or is about to do something else.
    pub fn introduce(&mut self, description: &[(String, String)]) -> Result<(), Lost> {
        if !self.is_first() {
            self.send(&description)?;
            return self.receive_from(0);
        }
        for number in 1..self.processes {
            let theirs: Vec<(String, String)> = self.receive_from(number)?;
            if let Some(why) = difference(description, &theirs) {
                self.stop();
                return Err(Lost { number, of: self.processes, why });
            }
        }
        self.send(&())
    }

    /// Waits until all processes have come to the same point.
    ///
    /// # Errors
    /// If a process is gone, or does not arrive.
    pub fn meet(&mut self) -> Result<(), Lost> {
        self.decide(&(), |_| ())
    }

    /// All processes do what the first decides, once it knows what each has found. What they have found is in their order.
    ///
    /// # Errors
    /// If a process is gone, or does not arrive.
    ///
    /// # Panics
    /// If another process is at another point.
    pub fn decide<F, D>(&mut self, found: &F, decide: impl FnOnce(Vec<F>) -> D) -> Result<D, Lost>
    where
        F: Clone + Serialize + DeserializeOwned,
        D: Serialize + DeserializeOwned,
    {
        if !self.is_first() {
            self.send(found)?;
            return self.receive_from(0);
        }
        let others = (1..self.processes).map(|number| self.receive_from(number));
        let all: Result<Vec<F>, Lost> = std::iter::once(Ok(found.clone())).chain(others).collect();
        let decision = decide(all?);
        self.send(&decision)?;
        Ok(decision)
    }

    /// Has couriers send each other batches as the run would, to measure them. Returns how long a batch takes, at the slowest
    /// of this process; or why carriers fail. All processes have to do so at the same point.
    ///
    /// # Errors
    /// If a process is gone.
    pub fn try_out(&mut self, plan: &CourierPlan) -> Result<Result<Duration, String>, Lost> {
        // What is copied through rings lies in common memory.
        share_payloads(&self.region);
        let carriers = self.carriers(plan);
        // Nobody may use the rings before the first process has placed its own.
        self.meet()?;
        match carriers {
            Ok(carriers) => try_out(carriers, plan, || self.check()),
            Err(why) => Ok(Err(why)),
        }
    }

    /// Who brings pieces of bytes to processes that share no memory with this one, or not that of messages, for each courier of this process.
    /// All processes have to call it at the same point.
    ///
    /// # Errors
    /// Those of MPI or Boost, in words, or if a process is gone.
    pub fn carriers(&mut self, plan: &CourierPlan) -> Result<Vec<Box<dyn Carrier>>, String> {
        match (plan.carrier, &self.office) {
            (CarrierKind::Mpi, Some(office)) => office.carriers(plan),
            (CarrierKind::Rings, None) => Ok(copy_carriers(&self.region, plan)),
            (CarrierKind::Boost, None) => self.boost_carriers(plan),
            (kind, office) => unreachable!("{kind:?} for processes that a launcher has started: {}", office.is_some()),
        }
    }

    /// Carriers in a segment that the first process creates. It has no name any more when all have opened it.
    #[cfg(feature = "boost")]
    fn boost_carriers(&mut self, plan: &CourierPlan) -> Result<Vec<Box<dyn Carrier>>, String> {
        let in_words = |lost: Lost| lost.to_string();
        if !self.is_first() {
            let name: String = self.receive_from(0).map_err(in_words)?;
            let carriers = join_boost_carriers(&name, plan)?;
            self.send(&()).map_err(in_words)?;
            return Ok(carriers);
        }
        let (mut segment, carriers) = boost_carriers(plan)?;
        self.send(&segment.name()).map_err(in_words)?;
        (1..self.processes).try_for_each(|number| self.receive_from(number)).map_err(in_words)?;
        segment.remove_name();
        Ok(carriers)
    }

    #[cfg(not(feature = "boost"))]
    fn boost_carriers(&mut self, _: &CourierPlan) -> Result<Vec<Box<dyn Carrier>>, String> {
        Err("this program was built without Boost".to_owned())
    }

    /// Reductions over the ranks that a launcher has started, if one has. All processes have to call it at the same point.
    ///
    /// # Errors
    /// Those of MPI.
    pub fn all_reduce(&self) -> Result<Option<Box<dyn AllReduce>>, String> {
        self.office.as_ref().map(MpiControlChannel::all_reduce).transpose()
    }

    /// Has all processes end, as this one cannot go on.
    pub fn stop(&self) {
        self.words.say(STOPPED, 1);
    }

    /// Says why this one cannot go on, and has all processes end.
    pub fn give_up(&mut self, why: &str) {
        self.failure_report().say(why);
        self.stop();
        if let Some(office) = &mut self.office {
            office.say(why);
        }
        self.post();
    }

    /// Has the control channel send what it still has to, but not for long.
    fn post(&mut self) {
        let since = Instant::now();
        while let Some(office) = &mut self.office
            && office.work().is_ok()
            && !office.is_done()
            && since.elapsed() < END_WITHIN
        {
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Whether it has to [pass on](Self::exchange) what is said in tallies, as not all processes share memory.
    pub fn passes_on(&self) -> bool {
        self.by_office
    }

    /// Passes on what has been said in the tally of the run, and in that of the group.
    pub fn exchange(&mut self, tally: &Tally) {
        if let Some(office) = &mut self.office {
            // Whatever fails is found by `check`.
            let _ = office.work();
        }
        self.exchange_words(Some(tally));
        if let Some(office) = &mut self.office {
            let _ = office.work();
        }
    }

    /// Passes words on to those with which this process shares no memory, and takes theirs over. Of those near each other one does so.
    fn exchange_words(&mut self, of_run: Option<&Tally>) {
        if !self.by_office || self.near.start != self.number {
            return;
        }
        let Some(office) = &mut self.office else { return };
        let others = office.leaders();
        office.exchange(0, &self.words, &others);
        if let Some(tally) = of_run {
            office.exchange(1, tally, &others);
        }
    }

    /// Looks whether all processes are there.
    ///
    /// # Errors
    /// If one is gone that has not [taken leave](Self::take_leave), or all are to end.
    pub fn check(&mut self) -> Result<(), Lost> {
        // Whoever waits for room may be waited for.
        self.letters.from.iter_mut().for_each(Receiver::take_in);
        self.check_presence()
    }

    /// The same, but leaves control messages where they are: those who send more than there is room for wait.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_presence(&mut self) -> Result<(), Lost> {
        let of = self.processes;
        let lost = |number, why: String| Lost { number, of, why };
        let worked = self.office.as_mut().map_or(Ok(()), MpiControlChannel::work);
        self.exchange_words(None);
        // One that has taken leave may end before this process has read all its control messages.
        let (left, near, office) = (&self.left, &self.near, &self.office);
        let may = |number: u32| match near.contains(&number) {
            true => left[(number - near.start) as usize].load(Ordering::Acquire) == 1,
            false => office.as_ref().is_some_and(|office| office.has_left(number)),
        };
        let gone = self.peers.gone(may).or(worked.err().map(|why| (self.number, format!("cannot reach the others: {why}"))));
        // One that is gone may have ended because of another one, and said so.
        if let Some((number, how)) = gone.filter(|_| self.words.read(LOST) == 0) {
            let why = self.words_of(number).unwrap_or(how);
            self.words.say(LOST, u64::from(number) + 1);
            self.stop();
            self.exchange_words(None);
            self.office.as_mut().map(MpiControlChannel::work);
            desert_locks(true);
            return Err(lost(number, why));
        }
        if self.words.read(STOPPED) == 1 {
            let number = (self.words.read(LOST) as u32).checked_sub(1);
            return Err(match number {
                Some(number) => lost(number, self.words_of(number).unwrap_or_else(|| "is gone".to_owned())),
                None => lost(self.speaker(), self.words_of(self.speaker()).unwrap_or_else(|| "has given up".to_owned())),
            });
        }
        Ok(())
    }

    /// The first process that has said why it ends.
    fn speaker(&self) -> u32 {
        (0..self.processes).find(|number| self.words_of(*number).is_some()).unwrap_or_default()
    }

    fn words_of(&self, number: u32) -> Option<String> {
        if !self.near.contains(&number) {
            return self.office.as_ref()?.failure_reporter(number).map(|text| format!("has failed: {text}"));
        }
        self.failure_reporter.of(number - self.near.start).map(|text| format!("has failed: {text}"))
    }

    /// Whether this process is the one that tells of a loss: the first, or, if that is gone, one of the others.
    pub fn is_to_tell(&self, lost: &Lost) -> bool {
        // Those that share memory agree on one of them.
        let chosen = || if self.by_office { self.number == 1 } else { self.told.swap(1, Ordering::AcqRel) == 0 };
        self.is_first() || lost.number == 0 && chosen()
    }

    /// Notes the time of GVT, in bits, for those who have to tell of a loss.
    pub fn note_gvt(&self, bits: u64) {
        self.words.say(GVT, bits);
    }

    /// The latest GVT noted, in bits.
    pub fn gvt(&self) -> u64 {
        self.words.read(GVT)
    }

    /// Sends a control message to the first process; from there, to all others. It waits as long as there is no room for it.
    ///
    /// # Errors
    /// If a process is gone.
    pub fn send(&mut self, letter: &impl Serialize) -> Result<(), Lost> {
        let bytes = letter_bytes(letter);
        let mut others = if self.is_first() { 1..self.processes } else { 0..1 };
        others.try_for_each(|number| self.send_bytes(number, &bytes))
    }

    /// Sends a control message from the first process to one of the others. It waits as long as there is no room for it.
    ///
    /// # Errors
    /// If a process is gone.
    pub fn send_to(&mut self, number: u32, letter: &impl Serialize) -> Result<(), Lost> {
        self.send_bytes(number, &letter_bytes(letter))
    }

    fn send_bytes(&mut self, number: u32, bytes: &[u8]) -> Result<(), Lost> {
        if self.by_office {
            let Some(office) = &mut self.office else { return Ok(()) };
            office.send_letter(number, bytes);
            return self.check();
        }
        let mut post = Post::new(bytes);
        while !self.letters.to[number.saturating_sub(1) as usize].send(&mut post) {
            self.check()?;
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// The next control message that has arrived from a process, if there is one. A process other than the first gets control messages from the first only.
    ///
    /// # Panics
    /// If it is not what it is taken for.
    pub fn next_message<T: DeserializeOwned>(&mut self, from: u32) -> Option<T> {
        let bytes = match &mut self.office {
            Some(office) if self.by_office => office.next_message(from)?,
            _ => self.letters.from[from.saturating_sub(1) as usize].receive()?,
        };
        Some(postcard::from_bytes(&bytes).unwrap_or_else(|error| panic!("a letter from process {from} cannot be read: {error}")))
    }

    /// Waits for a control message.
    ///
    /// # Errors
    /// If a process is gone.
    ///
    /// # Panics
    /// If it is not what it is taken for.
    pub fn receive_from<T: DeserializeOwned>(&mut self, from: u32) -> Result<T, Lost> {
        let since = Instant::now();
        loop {
            if let Some(letter) = self.next_message(from) {
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
    pub fn take_leave(&mut self) {
        self.is_done = true;
        if !self.is_first() {
            // So that the first knows which payloads are its own when the others have ended.
            unshare_payloads(&self.region);
        }
        self.left[(self.number - self.near.start) as usize].store(1, Ordering::Release);
        self.office.iter_mut().for_each(MpiControlChannel::take_leave);
    }

    /// Waits until the other processes have ended, or has the system end them. Where a launcher has started them, waits until all have
    /// [taken leave](Self::take_leave).
    pub fn end(&mut self) {
        if self.office.is_some() {
            self.post();
        }
        if let Some(office) = self.office.take() {
            office.finish();
        }
        self.see_off();
    }

    /// Waits until the processes that this one has started have ended. What it shared with them is its own then.
    fn see_off(&mut self) {
        self.peers.end(END_WITHIN);
        if self.is_first() {
            unshare_payloads(&self.region);
        }
    }

    /// Ends without the others, as one of them is gone.
    pub fn abandon(&mut self) {
        self.office.take().into_iter().for_each(MpiControlChannel::abandon);
    }

    /// The same in a run that somebody has ended early: a launcher that ends all processes may leave them little time, and does not help them
    /// to wait for each other.
    pub fn end_early(&mut self) {
        self.post();
        if let Some(office) = self.office.take() {
            office.abandon();
            if !self.is_first() {
                // The launcher ends all processes when one ends like that, and the first may still be writing.
                self.peers.wait_for_first(END_WITHIN);
            }
        }
        self.see_off();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_first() {
            return;
        }
        if self.is_done {
            return self.end();
        }
        self.stop();
        self.exchange_words(None);
        if let Some(mut office) = self.office.take() {
            let _ = office.work();
            office.abandon();
        }
        self.see_off();
    }
}

fn letter_bytes(letter: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(letter).unwrap_or_else(|error| panic!("a letter cannot be written: {error}"))
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
}
