//! One rule for each setting that was left to the engine. A setting whose default is a constant has
//! it in the [table](crate::Settings::table); what depends on the model, the machine or other
//! settings is found here, and nowhere else.

use warpline_kernel::{Delays, Lanes, Rule, Undoing};
use warpline_machine::{Machine, Time};
use warpline_memory::{PoolKind, PoolSettings};

use super::reason::{Chosen, Reason};
use crate::machine::boost::HAS_BOOST;
use crate::settings::THREADS_MOST;
use crate::{
    BufferPool, Carrier, Conservative, CopyInterval, Error, FossilCollection, GvtAlgorithm,
    Horizon, Mailbox, Messages, Settings, Synchronisation, Undo,
};

/// The longest that a batch should take, in seconds, as messages wait for its end.
const BATCH_SECONDS: f64 = 1e-3;
/// The batch of few PEs, and of many.
const BATCH_LEAST: u32 = 128;
const BATCH_MOST: u32 = 256;
/// With so many PEs of a modelled machine, several threads step them.
const SHARED_OUT_LEAST: u32 = 1024;
/// By how many events a batch grows with each PE, as a step looks into a mailbox per PE.
const BATCH_PER_PE: u32 = 8;
/// The largest payload, in bytes, with which a certain event is faster by value: it is copied into
/// the ring and out of it.
const VALUE_BYTES_MOST: usize = 512;
/// With more PEs than this, there are inboxes in place of rings: all rings to and from a PE take
/// about 100 kB then, and twice as many PEs would take four times as much memory.
const RINGS_MOST: u32 = 32;
/// With more PEs than this, GVT takes the place of bounds: those of PEs in a virtual cluster take
/// memory for each pair. On two cores, bounds took 0.3 to 1.1 times the processor time of GVT with
/// 64 to 4096 PEs, and once 1.7 times, with 64 PEs of 4 events each.
const BOUNDS_MOST: u32 = 1024;

/// How many PEs there are for so many threads in each process: never more than LPs.
pub(crate) fn pes(threads: u32, processes: u32, lps: u32) -> u32 {
    threads.saturating_mul(processes).min(lps).min(THREADS_MOST)
}

/// How many threads each process may have: its share of the cores, but at least one.
pub(crate) fn threads_most(settings: &Settings, cores: u32, processes: u32) -> u32 {
    settings.threads.unwrap_or_else(|| (cores / processes).max(1))
}

/// How many threads each process has for so many PEs.
pub(super) fn threads(settings: &Settings, pes: u32, processes: u32) -> Chosen<u32> {
    let threads = pes.div_ceil(processes);
    let why = if settings.threads == Some(threads) {
        Reason::Given
    } else {
        Reason::Rule("a PE for each core, but none without an LP")
    };
    Chosen { value: threads, why }
}

/// The batch and the GVT interval of events so expensive that the usual ones would take too long,
/// given how many of them a core executes per second.
fn short_batch(event_rate: Option<f64>) -> Option<Chosen<u32>> {
    let events = (event_rate? * BATCH_SECONDS).max(1.0);
    let why = Reason::Rule("events are expensive, and messages wait for the end of a batch");
    (events < f64::from(BATCH_LEAST)).then_some(Chosen { value: events as u32, why })
}

/// How many events a PE executes before it looks at its messages again: enough to pay for a step,
/// which looks into a mailbox per PE, but few enough that messages do not wait long.
pub(crate) fn batch(settings: &Settings, pes: u32, event_rate: Option<f64>) -> Chosen<u32> {
    let usual = || Chosen {
        value: pes.saturating_mul(BATCH_PER_PE).clamp(BATCH_LEAST, BATCH_MOST),
        why: Reason::Rule("a step looks into a mailbox per PE"),
    };
    Chosen::given(settings.batch).or_else(|| short_batch(event_rate)).unwrap_or_else(usual)
}

/// How many events a PE executes before it asks for a new GVT.
pub(super) fn gvt_interval(settings: &Settings, event_rate: Option<f64>) -> Chosen<u32> {
    let default = || Chosen { value: settings.gvt_interval(), why: Reason::Default };
    Chosen::given(settings.gvt_interval).or_else(|| short_batch(event_rate)).unwrap_or_else(default)
}

/// How GVT is found.
pub(super) fn gvt(settings: &Settings) -> Chosen<GvtAlgorithm> {
    let meets = Chosen {
        value: GvtAlgorithm::Synchronous,
        why: Reason::Rule("only PEs of synchronous GVT meet at a barrier"),
    };
    let implied = settings.barrier.map(|_| meets);
    Chosen::given(settings.gvt)
        .or(implied)
        .unwrap_or(Chosen { value: settings.gvt(), why: Reason::Default })
}

/// Which events PEs of this kind execute.
pub(super) fn lanes(settings: &Settings, sync: Synchronisation) -> Lanes {
    match sync {
        Synchronisation::Conservative => Lanes::Safe,
        _ if settings.use_lookahead() => Lanes::Both,
        _ => Lanes::Speculative,
    }
}

/// How far beyond GVT events may be executed. `devastator` stands for another simulator's rule.
pub(super) fn window(settings: &Settings, devastator: bool) -> Chosen<Rule> {
    let why = if settings.window.is_some() { Reason::Given } else { Reason::Default };
    let value = match settings.window {
        Some(width) => Rule::Fixed(width),
        None if devastator => Rule::Devastator,
        None => Rule::Adaptive,
    };
    Chosen { value, why }
}

/// How events are undone. Where copying a state takes hardly longer than looking up whether to, it
/// is copied before every event.
pub(super) fn undoing(settings: &Settings, copies_cheaply: bool) -> Undoing {
    match (settings.undo(), settings.copy_interval()) {
        (Undo::Copy, CopyInterval::Every(interval)) => Undoing::Copy { interval },
        (Undo::Copy, CopyInterval::Auto) if copies_cheaply => Undoing::Copy { interval: 1 },
        (Undo::Copy, CopyInterval::Auto) => Undoing::CopyAdaptively,
        (Undo::Reverse, _) => Undoing::Reverse,
        (Undo::Journal, _) => Undoing::Journal,
    }
}

/// How events with payloads of this size travel between PEs.
pub(super) fn messages(messages: Messages, payload_bytes: usize) -> warpline_kernel::Messages {
    match messages {
        Messages::Auto if payload_bytes > VALUE_BYTES_MOST => warpline_kernel::Messages::Shared,
        Messages::Auto | Messages::Value => warpline_kernel::Messages::Value,
        Messages::Copy => warpline_kernel::Messages::Copy,
        Messages::Shared => warpline_kernel::Messages::Shared,
    }
}

/// Where messages wait, between threads and between processes; nowhere in a virtual cluster or
/// on a modelled machine, which have networks of their own.
///
/// `are_near`: all processes share memory, and use it for messages.
pub(super) fn mailbox(
    settings: &Settings,
    pes: u32,
    processes: u32,
    are_near: bool,
) -> Option<Chosen<Mailbox>> {
    let chosen = match settings.mailbox() {
        Mailbox::Auto if pes > RINGS_MOST && processes == 1 => Chosen {
            value: Mailbox::Shared,
            why: Reason::Rule("rings between so many PEs would take much memory"),
        },
        Mailbox::Auto if pes > RINGS_MOST && are_near => Chosen {
            value: Mailbox::Cas,
            why: Reason::Rule(
                "rings between so many PEs would take much memory, and inboxes do not leave a \
                 process",
            ),
        },
        Mailbox::Auto => {
            Chosen { value: Mailbox::PerSender, why: Reason::Rule("only two PEs meet at a ring") }
        }
        given => Chosen { value: given, why: Reason::Given },
    };
    (settings.virtual_cluster.is_none() && settings.machine.is_none()).then_some(chosen)
}

/// How free buffers are kept.
pub(super) fn pools(settings: &Settings) -> PoolSettings {
    PoolSettings {
        kind: match settings.pool() {
            BufferPool::Partitioned => PoolKind::Partitioned(settings.sub_pool()),
            BufferPool::Sender => PoolKind::Sender,
            BufferPool::Receiver => PoolKind::Receiver,
        },
        order: settings.pool_order(),
        retires: settings.fossil_collection() == FossilCollection::OnTheFly,
    }
}

/// Whether this many conservative PEs should advance in windows: if they take turns on fewer cores,
/// as each of them then executes more per turn, and if all least delays between them are equal, as
/// each window is as long as the shortest. PEs with cores of their own would wait for the slowest
/// in every window.
fn windows_suit(pes: u32, cores: u32, delays: &Delays) -> bool {
    pes > cores && delays.are_equal()
}

/// How many PEs a modelled machine has.
pub(super) fn modelled_pes(settings: &Settings, pes: u32) -> Chosen<u32> {
    Chosen::given(settings.pes)
        .unwrap_or(Chosen { value: pes, why: Reason::Rule("a node of the machine") })
}

/// How many threads step so many PEs of a modelled machine. If they tell each other more than
/// messages do, there is only one.
pub(super) fn machine_threads(
    settings: &Settings,
    (machine, pes): (&Machine, u32),
    cores: u32,
    by_messages: bool,
) -> Chosen<u32> {
    let one = |why| Chosen { value: 1, why: Reason::Rule(why) };
    if settings.threads == Some(1) {
        return Chosen { value: 1, why: Reason::Given };
    }
    if !by_messages || machine.mailboxes.is_some() || machine.far.latency == Time::ZERO {
        return one("PEs of this machine hear of each other at once, and take turns");
    }
    let nodes = machine.nodes(pes);
    if let Some(threads) = settings.threads {
        let why = if threads <= nodes {
            Reason::Given
        } else {
            Reason::Rule("a thread has a node of the machine at least")
        };
        return Chosen { value: threads.min(nodes), why };
    }
    if pes < SHARED_OUT_LEAST {
        return one("few PEs of a modelled machine take turns");
    }
    Chosen { value: cores.min(nodes), why: Reason::Rule("threads share the nodes of the machine") }
}

/// What tells PEs how far they may go, on so many machines.
pub(super) fn horizon(settings: &Settings, pes: u32, machines: u32) -> Chosen<Horizon> {
    match settings.horizon() {
        Horizon::Auto if settings.conservative() == Conservative::Windows => {
            Chosen { value: Horizon::Bounds, why: Reason::Rule("windows end by bounds") }
        }
        Horizon::Auto if settings.machine.is_some() => Chosen {
            value: Horizon::Gvt,
            why: Reason::Rule("PEs of a modelled machine are many, or share no memory"),
        },
        Horizon::Auto if machines > 1 => Chosen {
            value: Horizon::Both,
            why: Reason::Rule("bounds of PEs on other machines are messages"),
        },
        Horizon::Auto if pes > BOUNDS_MOST => Chosen {
            value: Horizon::Gvt,
            why: Reason::Rule("every PE would read the bounds of so many others"),
        },
        Horizon::Auto => {
            Chosen { value: Horizon::Bounds, why: Reason::Rule("few PEs read each other's bounds") }
        }
        given => Chosen { value: given, why: Reason::Given },
    }
}

/// Whether conservative PEs, whose horizon follows from this, advance in windows or run freely.
pub(super) fn conservative(
    settings: &Settings,
    pes: u32,
    cores: u32,
    delays: &Delays,
    horizon: Horizon,
) -> Chosen<Conservative> {
    match settings.conservative() {
        Conservative::Auto if horizon != Horizon::Bounds => Chosen {
            value: Conservative::FreeRunning,
            why: Reason::Rule("GVT says how far PEs may go"),
        },
        Conservative::Auto if windows_suit(pes, cores, delays) => Chosen {
            value: Conservative::Windows,
            why: Reason::Rule("PEs take turns, and all least delays between them are equal"),
        },
        Conservative::Auto => {
            let why =
                Reason::Rule("PEs have cores of their own, or least delays between them differ");
            Chosen { value: Conservative::FreeRunning, why }
        }
        given => Chosen { value: given, why: Reason::Given },
    }
}

/// Who carries messages that are copied between processes.
///
/// # Errors
/// If the one that was asked for cannot.
pub(crate) fn carrier(settings: &Settings, launched: bool) -> Result<Chosen<Carrier>, Error> {
    let carrier = settings.carrier();
    let refuse =
        |why: &str| Err(Error::Setting(format!("`carrier` is `{}`, but {why}", carrier.name())));
    if is_within_machine(carrier) && launched {
        return refuse(
            "a launcher has started the processes: use mpi, or start them with `processes`, on one \
             machine",
        );
    }
    if carrier == Carrier::Mpi && !launched {
        return refuse(
            "no launcher has started the processes: use rings, or `mpirun -np` in place of \
             `processes`",
        );
    }
    if carrier == Carrier::Boost && !HAS_BOOST {
        return refuse(
            "this program was built without Boost: build it with the feature `boost` (`make \
             boost`), or use rings",
        );
    }
    if is_within_machine(carrier) && settings.zero_copy == Some(true) {
        return refuse(
            "`zero-copy` is `yes`, so that there is nothing to carry: leave one of the two out",
        );
    }
    Ok(match carrier {
        Carrier::Auto if launched => Chosen {
            value: Carrier::Mpi,
            why: Reason::Rule("a launcher has started the processes"),
        },
        Carrier::Auto => {
            Chosen { value: Carrier::Rings, why: Reason::Rule("the processes are on one machine") }
        }
        given => Chosen { value: given, why: Reason::Given },
    })
}

/// Whether processes of a machine share the memory of messages.
pub(crate) fn zero_copy(settings: &Settings) -> Chosen<bool> {
    let copied = is_within_machine(settings.carrier());
    let implied = copied.then_some(Chosen {
        value: false,
        why: Reason::Rule("whoever carries messages has to copy them"),
    });
    Chosen::given(settings.zero_copy)
        .or(implied)
        .unwrap_or(Chosen { value: settings.zero_copy(), why: Reason::Default })
}

/// Whether this carrier copies messages within a machine only.
fn is_within_machine(carrier: Carrier) -> bool {
    matches!(carrier, Carrier::Rings | Carrier::Boost)
}

/// The most bytes of a batch of messages to a process that shares no memory; `None` if each message
/// is sent by itself.
pub(super) fn communication_batch(settings: &Settings, carrier: Carrier) -> Option<usize> {
    let singly = carrier == Carrier::Boost && settings.communication_batch.is_none();
    (!singly).then(|| settings.communication_batch() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_batch_is_taken_and_otherwise_it_grows_with_the_pes() {
        let settings = Settings { batch: Some(7), ..Settings::default() };
        assert_eq!(batch(&settings, 100, Some(1.0)), Chosen { value: 7, why: Reason::Given });
        let batches =
            [1, 16, 20, 32, u32::MAX].map(|pes| batch(&Settings::default(), pes, None).value);
        assert_eq!(batches, [128, 128, 160, 256, 256]);
    }

    #[test]
    fn threads_share_the_nodes_of_a_machine_whose_pes_know_each_other_by_messages() {
        let machine = warpline_machine::open("cray-xt5").expect("a profile");
        let gsu = warpline_machine::open("multicore-gsu-mailboxes").expect("a profile");
        let threads = |threads, machine, pes, by_messages| {
            let settings = Settings { threads, ..Settings::default() };
            machine_threads(&settings, (machine, pes), 4, by_messages).value
        };
        assert_eq!(threads(None, &machine, 1024, true), 4);
        assert_eq!(threads(None, &machine, 1023, true), 1);
        assert_eq!(threads(None, &machine, 1024, false), 1);
        assert_eq!(threads(Some(1), &machine, 1024, true), 1);
        assert_eq!(threads(Some(9), &machine, 30, true), 3);
        assert_eq!(threads(Some(2), &machine, 30, false), 1);
        assert_eq!(threads(Some(2), &gsu, 16, true), 1);
    }

    #[test]
    fn the_table_tells_how_large_a_batch_is() {
        let table =
            Settings::table().iter().find(|setting| setting.name == "batch").expect("a setting");
        let rule = format!(
            "{BATCH_PER_PE} for each PE, but at least {BATCH_LEAST} and at most {BATCH_MOST}"
        );
        assert_eq!(table.default, rule);
    }

    #[test]
    fn batches_and_gvt_intervals_of_expensive_events_are_short() {
        let settings = Settings::default();
        for (rate, events) in [(1e7, 128), (1e6, 128), (5e4, 50), (100.0, 1)] {
            assert_eq!(batch(&settings, 2, Some(rate)).value, events, "{rate}");
            assert_eq!(gvt_interval(&settings, Some(rate)).value, events, "{rate}");
        }
        let given = Settings { gvt_interval: Some(1000), ..settings };
        assert_eq!(gvt_interval(&given, Some(100.0)).value, 1000);
    }

    #[test]
    fn large_payloads_stay_where_they_are() {
        use warpline_kernel::Messages::{Copy, Shared, Value};
        assert_eq!(
            [0, VALUE_BYTES_MOST, VALUE_BYTES_MOST + 1]
                .map(|bytes| messages(Messages::Auto, bytes)),
            [Value, Value, Shared]
        );
        for bytes in [0, 10 * VALUE_BYTES_MOST] {
            let given = [Messages::Value, Messages::Copy, Messages::Shared]
                .map(|given| messages(given, bytes));
            assert_eq!(given, [Value, Copy, Shared]);
        }
    }

    #[test]
    fn windows_suit_pes_that_take_turns() {
        let suit = |pes, cores| windows_suit(pes, cores, &Delays::uniform(pes, 0.5));
        assert_eq!(
            [(1, 8), (2, 2), (8, 8), (2, 1), (9, 8)].map(|(pes, cores)| suit(pes, cores)),
            [false, false, false, true, true]
        );
    }

    #[test]
    fn a_barrier_means_synchronous_gvt() {
        use crate::Barrier;
        let barrier = Settings { barrier: Some(Barrier::Central), ..Settings::default() };
        assert_eq!(
            [gvt(&Settings::default()).value, gvt(&barrier).value],
            [GvtAlgorithm::Asynchronous, GvtAlgorithm::Synchronous]
        );
    }

    #[test]
    fn rings_between_processes_copy() {
        let rings = Settings { carrier: Some(Carrier::Rings), ..Settings::default() };
        assert_eq!([zero_copy(&Settings::default()).value, zero_copy(&rings).value], [true, false]);
        let mpi = carrier(&Settings::default(), true);
        let none = carrier(&Settings::default(), false);
        assert_eq!([mpi.unwrap().value, none.unwrap().value], [Carrier::Mpi, Carrier::Rings]);
        assert!(carrier(&rings, true).is_err());
    }
}
