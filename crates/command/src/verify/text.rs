//! What was verified, as a table for people and as one object for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::verified::Verified;
use crate::output::{ORDER_VARIES, format};
use warpline_run::Verification;
use warpline_run::verify::VerifiedKind;

/// The most kinds of events that are named.
const KINDS_MOST: usize = 20;

impl Verified {
    pub(super) fn json(&self, notes: &[String]) -> Value {
        let kind = |kind: &VerifiedKind| json!({ "event": kind.event, "lp": kind.lp, "events": kind.events, "tried": kind.tried });
        let method = |v: &Verification| {
            json!({
                "undo": v.undo.name(),
                "events": v.events,
                "tried": v.tried,
                "never_undone": v.never_undone,
                "end_time": v.virtual_time,
                "digest": v.digest,
                "state_digest": v.state_digest,
                "kinds": v.kinds.iter().map(kind).collect::<Vec<_>>(),
                "short_of_time": !v.is_whole || v.is_short_of_time,
            })
        };
        let first = self.ways.first();
        let mut all = json!({
            "model": first.map(|v| &v.model),
            "seed": self.seed,
            "end_time": first.map(|v| v.virtual_time),
            "methods": self.ways.iter().map(method).collect::<Vec<_>>(),
            "idle_kinds": first.map(|v| &v.idle),
            "second_process": { "same_answer": true, "order_of_text_varies": self.order_varies },
        });
        if !notes.is_empty() {
            all["notes"] = json!(notes);
        }
        all
    }

    pub(super) fn text(&self) -> String {
        let Some(least) = self.ways.iter().min_by_key(|v| v.tried) else {
            return String::new();
        };
        let time = format::time(least.virtual_time, self.unit);
        let seed = self.seed;
        if least.never_undone {
            return format!(
                "{}: {} events to time {time}, with seed {seed}; nothing undoes what processes do, \
                 so no event was undone and repeated\n{}a second process came to the same history, \
                 final states and statistics\n",
                least.model,
                least.events,
                self.shortcomings()
            );
        }
        let mut text = format!(
            "{}: {} events to time {time}, with seed {seed}, were undone and repeated exactly\n",
            least.model,
            count(least.tried, least.events),
        );
        let row = |v: &Verification| {
            [
                format!("--undo {}", v.undo.name()),
                format!("{} events", count(v.tried, v.events)),
                format!("digest {}", v.digest),
            ]
        };
        let rows: Vec<_> = self.ways.iter().map(row).collect();
        text += &format::columns(&rows, 2);
        text += &self.kinds_text();
        if !least.idle.is_empty() {
            let idle = least.idle.join(", ");
            let _ = writeln!(text, "not reached: no event came to LPs of the kind {idle}");
        }
        text += &self.shortcomings();
        text += "a second process came to the same history, final states and statistics\n";
        text
    }

    /// How many events of each kind were tried.
    fn kinds_text(&self) -> String {
        let kinds = self.kinds();
        let row = |kind: &VerifiedKind| {
            let event = if kind.event.is_empty() { "events" } else { &kind.event };
            let name = if kind.lp.is_empty() {
                event.to_owned()
            } else {
                format!("{event} at {}", kind.lp)
            };
            [name, count(kind.tried, kind.events)]
        };
        let rows: Vec<_> = kinds.iter().take(KINDS_MOST).map(row).collect();
        let mut text = format!("by kind of event\n{}", format::columns(&rows, 2));
        if let Some(more) = kinds.get(KINDS_MOST..).filter(|more| !more.is_empty()) {
            let tried = more.iter().map(|kind| kind.tried).sum();
            let events = more.iter().map(|kind| kind.events).sum();
            let _ = writeln!(text, "  {} other kinds: {}", more.len(), count(tried, events));
        }
        text
    }

    /// What was not tried for lack of time, and what is odd.
    fn shortcomings(&self) -> String {
        let mut text = String::new();
        if let Some(short) = self.ways.iter().find(|v| !v.is_whole && v.virtual_time < self.end) {
            let reached = format::time(short.virtual_time, self.unit);
            let end = format::time(self.end, self.unit);
            let way = short.undo.name();
            let _ = writeln!(
                text,
                "not reached: time was up for --undo {way} at time {reached} of {end}; a longer \
                 --time-limit goes on"
            );
        } else if self.ways.iter().any(|v| v.is_short_of_time) {
            text += "fewer events were tried than --tries-per-kind says, as trying them takes \
                     long; a longer --time-limit tries more\n";
        }
        if self.order_varies {
            text += ORDER_VARIES;
        }
        text
    }
}

/// So many of all events.
fn count(tried: u64, events: u64) -> String {
    if tried == events { format!("all {events}") } else { format!("{tried} of {events}") }
}
