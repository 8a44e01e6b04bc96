//! Writes traces, in the trace event format of Chrome ("Trace Event Format", 2016), which Perfetto reads too.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use warpline_base::{Moment, TieBreak};
use warpline_kernel::{Activity, LpEvent, Snapshot, Span, Trace, TraceLimits};

use crate::Error;

/// The most entries of each kind: per PE, and in all. A full trace has about 100 MB.
const SPANS_MOST: [u32; 2] = [200_000, 500_000];
const SNAPSHOTS_MOST: [u32; 2] = [20_000, 50_000];
const EVENTS_MOST: [u32; 2] = [100_000, 250_000];
/// The most LPs whose events are shown.
const LPS_MOST: u32 = 1000;
/// The two groups of tracks.
const WALL: u32 = 1;
const VIRTUAL: u32 = 2;
/// The length of the run on the track of virtual time, in microseconds.
const SHOWN: f64 = 1e6;

/// The limits for each of `pes` PEs.
pub(crate) fn limits(origin: Instant, pes: u32, lps: u32) -> TraceLimits {
    let most = |[one, all]: [u32; 2]| one.min(all / pes) as usize;
    let lp_every = lps.div_ceil(LPS_MOST).max(1);
    TraceLimits { origin, spans: most(SPANS_MOST), snapshots: most(SNAPSHOTS_MOST), events: most(EVENTS_MOST), lp_every }
}

/// What a trace says of the run as a whole.
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
    pub(crate) fn write(self, traces: &[&Trace], header: &TraceHeader<'_>) -> Result<(), Error> {
        let TraceFile { path, file } = self;
        write(BufWriter::new(file), traces, header).map_err(|cause| Error::Trace { path, cause })
    }
}

fn write(mut file: impl Write, traces: &[&Trace], header: &TraceHeader<'_>) -> io::Result<()> {
    let (events, bar) = events(traces, header);
    let left_out = |of: fn(&Trace) -> u64| traces.iter().map(|trace| of(trace)).sum::<u64>();
    let thinned = if bar == 0 { 0 } else { left_out(|trace| trace.offered).saturating_sub(events.len() as u64) };
    let other = json!({
        "model": header.model,
        "version": env!("CARGO_PKG_VERSION"),
        "spans left out": left_out(|trace| trace.spans.left_out()),
        "snapshots left out": left_out(|trace| trace.snapshots.left_out()),
        "events of LPs left out": thinned,
    });
    // Viewers do not accept a comma before the end of a list, so every entry but the first is preceded by one.
    let title = format!("virtual time (1 s is {} {})", header.end, header.time_unit).replace(" )", ")");
    writeln!(file, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{other},\"traceEvents\":[")?;
    write!(file, "{}", named("process_name", WALL, 0, &format!("wall time ({})", header.model)))?;
    write!(file, ",\n{}", named("process_name", VIRTUAL, 0, &title))?;
    for (pe, trace) in (0u32..).zip(traces) {
        write!(file, ",\n{}", named("thread_name", WALL, pe + 1, &format!("PE {pe}")))?;
        trace.spans.items().iter().try_for_each(|span| write_span(&mut file, pe, span))?;
        trace.snapshots.items().iter().try_for_each(|snapshot| write_snapshot(&mut file, pe, snapshot))?;
    }
    let mut last = None;
    for event in &events {
        if last.replace(event.lp) != Some(event.lp) {
            write!(file, ",\n{}", named("thread_name", VIRTUAL, event.lp.0 + 1, &event.lp.to_string()))?;
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
    let (since, took, gvt) = (micros(span.since), micros(span.until - span.since), Value::from(span.gvt));
    let (name, arguments) = match span.activity {
        Activity::Making { lps } => ("making LPs", format!("\"LPs\":{lps}")),
        Activity::Batch { executed, committed } => ("batch", format!("\"executed\":{executed},\"committed\":{committed},\"gvt\":{gvt}")),
        Activity::Rollback { length, primary } => {
            let cause = if primary { "primary" } else { "secondary" };
            ("rollback", format!("\"length\":{length},\"cause\":\"{cause}\",\"gvt\":{gvt}"))
        }
        Activity::Commit { committed } => ("commit", format!("\"committed\":{committed},\"gvt\":{gvt}")),
        Activity::Idle { steps } => ("idle", format!("\"steps\":{steps},\"gvt\":{gvt}")),
    };
    let track = pe + 1;
    write!(
        file,
        ",\n{{\"ph\":\"X\",\"name\":\"{name}\",\"pid\":{WALL},\"tid\":{track},\"ts\":{since},\"dur\":{took},\"args\":{{{arguments}}}}}"
    )
}

fn write_snapshot(mut file: impl Write, pe: u32, snapshot: &Snapshot) -> io::Result<()> {
    let at = micros(snapshot.at);
    let mut counter = |name: &str, value: Value| {
        write!(file, ",\n{{\"ph\":\"C\",\"name\":\"{name}\",\"pid\":{WALL},\"ts\":{at},\"args\":{{\"value\":{value}}}}}")
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
    let (track, time, sender) = (event.lp.0 + 1, event.key.time.get(), event.key.sender.0);
    let (at, time) = (Value::from(time / end * SHOWN), Value::from(time));
    let arguments = format!("\"time\":{time},\"sender\":{sender}");
    write!(
        file,
        ",\n{{\"ph\":\"i\",\"s\":\"t\",\"name\":\"event\",\"pid\":{VIRTUAL},\"tid\":{track},\"ts\":{at},\"args\":{{{arguments}}}}}"
    )
}

/// The events of all PEs above a common bar, by LP, and that bar.
fn events(traces: &[&Trace], header: &TraceHeader<'_>) -> (Vec<LpEvent>, u8) {
    let bar = traces.iter().map(|trace| trace.bar).max().unwrap_or_default();
    // Another PE may have committed more before it learned of the failure.
    let counts = |event: &&LpEvent| event.lot >= bar && Moment::Event(event.key).is_before(&header.failure, header.ties);
    let mut events: Vec<LpEvent> = traces.iter().flat_map(|trace| &trace.events).filter(counts).copied().collect();
    // Stable: the events of one LP committed in order.
    events.sort_by_key(|event| event.lp);
    (events, bar)
}
