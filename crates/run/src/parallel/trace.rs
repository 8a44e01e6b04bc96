//! Writes traces, in the trace event format of Chrome ("Trace Event Format", 2016), which Perfetto
//! reads too.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use warpline_base::{Moment, TieBreak};
use warpline_kernel::{
    Activity, LpEvent, Piece, Snapshot, Span, SpanLimits, SpanSum, Trace, TraceLimits,
};

use crate::{Error, TraceSummary};

/// The most bytes that an entry takes in the file, with numbers of full length.
const SPAN_BYTES: u64 = 220;
const SUM_BYTES: u64 = 400;
/// Twice as many for PE 0, which also traces GVT and the window.
const SNAPSHOT_BYTES: u64 = 240;
const EVENT_BYTES: u64 = 150;
/// The percentage of a file that entries of each kind may fill; the rest is for names.
const SPAN_SHARE: u64 = 60;
const SNAPSHOT_SHARE: u64 = 10;
const EVENT_SHARE: u64 = 25;
/// Successive spans that stay or go together.
const BLOCK: u64 = 128;
/// The most LPs whose events are shown.
const LPS_MOST: u32 = 1000;
/// The two groups of tracks.
const WALL: u32 = 1;
const VIRTUAL: u32 = 2;
/// The length of the run on the track of virtual time, in microseconds.
const SHOWN: f64 = 1e6;

/// The limits for each of `pes` PEs, in a file of this many bytes. Times count from `origin`.
pub(crate) fn limits(origin: Instant, pes: u32, lps: u32, bytes: u64) -> TraceLimits {
    let most = |share: u64, of_one: u64| bytes * share / 100 / u64::from(pes) / of_one;
    // A quarter for sums, so that many tell of a long stretch.
    let sums = most(SPAN_SHARE / 4, SUM_BYTES).max(5);
    let spans = most(SPAN_SHARE * 3 / 4, SPAN_BYTES);
    let blocks = (spans / BLOCK).clamp(3, sums - 2);
    let spans = SpanLimits {
        block: (spans / (blocks + 1)).max(1) as usize,
        blocks: blocks as usize,
        sums: sums as usize,
    };
    let snapshots = (most(SNAPSHOT_SHARE, SNAPSHOT_BYTES) / 2).max(1) as usize;
    let lp_every = lps.div_ceil(LPS_MOST).max(1);
    // With many PEs in a small file, even the least number of sums exceeds its share: fewer events
    // are shown then.
    let excess = (sums * SUM_BYTES).saturating_sub(most(SPAN_SHARE / 4, 1));
    let events = (most(EVENT_SHARE, 1).saturating_sub(excess) / EVENT_BYTES) as usize;
    TraceLimits { origin, spans, snapshots, events, lp_every }
}

/// What the file says of the run as a whole.
pub(crate) struct TraceHeader<'a> {
    pub(crate) model: &'a str,
    pub(crate) end: f64,
    pub(crate) time_unit: &'a str,
    pub(crate) ties: TieBreak,
    /// Where it failed.
    pub(crate) failure: Moment,
}

/// A file for a trace: created before the run, and filled after it.
pub(crate) struct TraceFile {
    path: PathBuf,
    file: File,
}

impl TraceFile {
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let path = path.to_owned();
        match File::create(&path) {
            Ok(file) => Ok(TraceFile { path, file }),
            Err(cause) => Err(Error::Trace { path, cause }),
        }
    }

    /// Writes what the PEs did.
    pub(crate) fn write(
        self,
        traces: &mut [&mut Trace],
        header: &TraceHeader<'_>,
    ) -> Result<TraceSummary, Error> {
        let TraceFile { path, file } = self;
        let bar = sort_events(traces, header.ties);
        let shown = |event: &&LpEvent| {
            event.lot >= bar && Moment::Event(event.key).is_before(&header.failure, header.ties)
        };
        let sum = |of: fn(&Trace) -> u64| traces.iter().map(|trace| of(trace)).sum::<u64>();
        let events = traces.iter().flat_map(|trace| &trace.events).filter(shown).count() as u64;
        let mut summary = TraceSummary {
            path: path.clone(),
            bytes: 0,
            spans: sum(|trace| trace.spans.kept().count() as u64),
            spans_left_out: sum(|trace| trace.spans.left_out()),
            events,
            events_left_out: if bar == 0 {
                0
            } else {
                sum(|trace| trace.offered).saturating_sub(events)
            },
            out_of_memory: traces.iter().any(|trace| trace.is_out_of_memory()),
        };
        let mut file = Counted { inner: BufWriter::new(file), bytes: 0 };
        write(&mut file, traces, header, &summary, shown)
            .map_err(|cause| Error::Trace { path, cause })?;
        summary.bytes = file.bytes;
        Ok(summary)
    }
}

/// A file, and how much was written to it.
struct Counted {
    inner: BufWriter<File>,
    bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(text)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Orders the events of each PE by LP, and then as they happened. Returns the bar of all PEs:
/// events with lots below it are not shown.
///
/// In place, as there may be no memory left.
fn sort_events(traces: &mut [&mut Trace], ties: TieBreak) -> u8 {
    for trace in traces.iter_mut() {
        trace.events.sort_unstable_by(|one, other| {
            one.lp.cmp(&other.lp).then_with(|| ties.compare(&one.key, &other.key))
        });
    }
    traces.iter().map(|trace| trace.bar).max().unwrap_or_default()
}

fn write(
    mut file: impl Write,
    traces: &[&mut Trace],
    header: &TraceHeader<'_>,
    summary: &TraceSummary,
    shown: impl Fn(&&LpEvent) -> bool,
) -> io::Result<()> {
    let mut other = json!({
        "model": header.model,
        "version": env!("CARGO_PKG_VERSION"),
        "spans left out": summary.spans_left_out,
        "snapshots left out": traces.iter().map(|trace| trace.snapshots.left_out()).sum::<u64>(),
        "events of LPs left out": summary.events_left_out,
    });
    if summary.is_thinned() {
        other["note"] = json!(summary.to_string());
    }
    // Viewers accept no comma before the end of a list, so a comma precedes every entry but the
    // first.
    let title =
        format!("virtual time (1 s is {} {})", header.end, header.time_unit).replace(" )", ")");
    writeln!(file, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{other},\"traceEvents\":[")?;
    write!(file, "{}", named("process_name", WALL, 0, &format!("wall time ({})", header.model)))?;
    write!(file, ",\n{}", named("process_name", VIRTUAL, 0, &title))?;
    for (pe, trace) in (0u32..).zip(traces) {
        write!(file, ",\n{}", named("thread_name", WALL, pe + 1, &format!("PE {pe}")))?;
        for piece in trace.spans.pieces() {
            match piece {
                Piece::Whole(spans) => {
                    spans.iter().try_for_each(|span| write_span(&mut file, pe, span))?
                }
                Piece::Sum(sum) => write_sum(&mut file, pe, sum)?,
            }
        }
        trace
            .snapshots
            .items()
            .iter()
            .try_for_each(|snapshot| write_snapshot(&mut file, pe, snapshot))?;
    }
    let mut last = None;
    // Each PE has a block of successive LPs.
    for event in traces.iter().flat_map(|trace| &trace.events).filter(shown) {
        if last.replace(event.lp) != Some(event.lp) {
            write!(
                file,
                ",\n{}",
                named("thread_name", VIRTUAL, event.lp.0 + 1, &event.lp.to_string())
            )?;
        }
        write_event(&mut file, event, header.end)?;
    }
    writeln!(file, "\n]}}")?;
    file.flush()
}

/// The name of a track or group of tracks.
fn named(what: &str, group: u32, track: u32, name: &str) -> Value {
    json!({ "ph": "M", "name": what, "pid": group, "tid": track, "args": { "name": name } })
}

/// Nanoseconds as microseconds.
fn micros(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

fn write_span(mut file: impl Write, pe: u32, span: &Span) -> io::Result<()> {
    let since = micros(span.since);
    let took = micros(span.until - span.since);
    let gvt = Value::from(span.gvt);
    let (name, arguments) = match span.activity {
        Activity::Making { lps } => ("making LPs", format!("\"LPs\":{lps}")),
        Activity::Batch { executed, committed } => {
            ("batch", format!("\"executed\":{executed},\"committed\":{committed},\"gvt\":{gvt}"))
        }
        Activity::Rollback { length, primary } => {
            let cause = if primary { "primary" } else { "secondary" };
            ("rollback", format!("\"length\":{length},\"cause\":\"{cause}\",\"gvt\":{gvt}"))
        }
        Activity::Commit { committed } => {
            ("commit", format!("\"committed\":{committed},\"gvt\":{gvt}"))
        }
        Activity::Idle { steps } => ("idle", format!("\"steps\":{steps},\"gvt\":{gvt}")),
    };
    let track = pe + 1;
    write!(
        file,
        ",\n{{\"ph\":\"X\",\"name\":\"{name}\",\"pid\":{WALL},\"tid\":{track},\"ts\":{since},\"dur\":{took},\"args\":{{{arguments}}}}}"
    )
}

/// A span in the place of many that were left out.
fn write_sum(mut file: impl Write, pe: u32, sum: &SpanSum) -> io::Result<()> {
    let SpanSum {
        since,
        until,
        spans,
        made,
        executed,
        committed,
        rollbacks,
        rolled_back,
        idle_steps,
        lost,
        gvt,
    } = *sum;
    let track = pe + 1;
    let took = micros(until - since);
    let gvt = Value::from(gvt);
    let [since, in_rollbacks, in_commits, idle] =
        [since, lost.rollback, lost.commit, lost.idle].map(micros);
    write!(
        file,
        ",\n{{\"ph\":\"X\",\"name\":\"left \
         out\",\"pid\":{WALL},\"tid\":{track},\"ts\":{since},\"dur\":{took},\"args\":{{\"spans\":{spans},\
         \"LPs\":{made},\"executed\":{executed},\"committed\":{committed},\"rollbacks\":{rollbacks},\"length\":{rolled_back},\
         \"idle steps\":{idle_steps},\"rollback us\":{in_rollbacks},\"commit \
         us\":{in_commits},\"idle us\":{idle},\"gvt\":{gvt}}}}}"
    )
}

fn write_snapshot(mut file: impl Write, pe: u32, snapshot: &Snapshot) -> io::Result<()> {
    let at = micros(snapshot.at);
    let mut counter = |name: &str, value: Value| {
        write!(
            file,
            ",\n{{\"ph\":\"C\",\"name\":\"{name}\",\"pid\":{WALL},\"ts\":{at},\"args\":{{\"value\":{value}}}}}"
        )
    };
    // GVT and window are the same for all PEs.
    if pe == 0 {
        counter("GVT", snapshot.gvt.into())?;
        counter("window", snapshot.window.into())?;
    }
    counter(&format!("PE {pe}: pending events"), snapshot.pending.into())?;
    counter(&format!("PE {pe}: uncommitted events"), snapshot.uncommitted.into())
}

fn write_event(mut file: impl Write, event: &LpEvent, end: f64) -> io::Result<()> {
    let track = event.lp.0 + 1;
    let sender = event.key.sender.0;
    let at = Value::from(event.key.time.get() / end * SHOWN);
    let time = Value::from(event.key.time.get());
    let arguments = format!("\"time\":{time},\"sender\":{sender}");
    write!(
        file,
        ",\n{{\"ph\":\"i\",\"s\":\"t\",\"name\":\"event\",\"pid\":{VIRTUAL},\"tid\":{track},\"ts\":{at},\"args\":{{{arguments}}}}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All entries together stay within the file, whatever the number of PEs.
    #[test]
    fn limits_fit_into_the_file() {
        for megabytes in [4, 20, 1000] {
            for pes in [1, 2, 7, 64, 1024] {
                let bytes = megabytes * 1_000_000;
                let TraceLimits {
                    spans: SpanLimits { block, blocks, sums },
                    snapshots,
                    events,
                    ..
                } = limits(Instant::now(), pes, 10, bytes);
                let [spans, sums] = [block * (blocks + 1), sums].map(|count| count as u64);
                let of_pe = spans * SPAN_BYTES
                    + sums * SUM_BYTES
                    + snapshots as u64 * SNAPSHOT_BYTES
                    + events as u64 * EVENT_BYTES;
                let all = u64::from(pes) * of_pe + snapshots as u64 * SNAPSHOT_BYTES;
                let names = u64::from(LPS_MOST) * 95 + u64::from(pes) * 90 + 4000;
                assert!(all + names <= bytes, "{all} of {bytes} for {pes} PEs");
                assert!(
                    pes > 64 || spans > 100 && events > 100 && all > bytes * 8 / 10,
                    "{spans} and {events} on {pes} PEs, {all} of {bytes}"
                );
            }
        }
    }

    #[test]
    fn no_entry_is_longer_than_was_thought() {
        let huge = u64::MAX / 4;
        let length = |write: &dyn Fn(&mut Vec<u8>) -> io::Result<()>| {
            let mut text = Vec::new();
            write(&mut text).expect("memory takes everything");
            text.len() as u64
        };
        let gvt = -1.234_567_890_123_456_7e-300;
        let activity = Activity::Rollback { length: huge, primary: false };
        let span = Span { since: huge, until: 2 * huge, activity, gvt };
        assert!(length(&|text| write_span(text, 1023, &span)) <= SPAN_BYTES);
        let span =
            Span { activity: Activity::Batch { executed: 1 << 40, committed: 1 << 40 }, ..span };
        assert!(length(&|text| write_span(text, 1023, &span)) <= SPAN_BYTES);
        let day = 100_000_000_000_000;
        let lost = warpline_kernel::LostTime { rollback: day, commit: day, idle: day };
        let count = 1 << 33;
        let events = 1 << 43;
        let sum = SpanSum {
            since: day,
            until: 2 * day,
            spans: count,
            made: count,
            executed: events,
            committed: events,
            rollbacks: count,
            rolled_back: events,
            idle_steps: count,
            lost,
            gvt,
        };
        assert!(length(&|text| write_sum(text, 1023, &sum)) <= SUM_BYTES);
        let snapshot =
            Snapshot { at: huge, gvt, window: gvt, pending: usize::MAX, uncommitted: u64::MAX };
        assert!(length(&|text| write_snapshot(text, 1023, &snapshot)) <= SNAPSHOT_BYTES);
        assert!(length(&|text| write_snapshot(text, 0, &snapshot)) <= 2 * SNAPSHOT_BYTES);
    }
}
