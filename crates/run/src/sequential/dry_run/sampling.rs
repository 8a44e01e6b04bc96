//! Which events are tried out: the first of each kind, and then fewer and fewer over the whole run.

use std::collections::HashMap;
use std::fmt::{self, Debug, Write};
use std::time::{Duration, Instant};

use warpline_base::random::mix64;

use crate::outcome::verify::{VerifiedKind, VerifyLimits};

/// With more kinds than this, kinds are told apart by the first word of their events alone.
const KINDS: usize = 64;
/// The most words that name a kind of events.
const WORDS: usize = 3;
/// How many bytes of the text of an event are read to find its kind.
const READ: usize = 256;
/// The share of the allowed time that dry runs may take at the very beginning. It grows to all of
/// it at the end.
const AT_ONCE: f64 = 0.1;
/// After a dry run that takes this long, the clock is read at once.
const SLOW: Duration = Duration::from_millis(1);

/// The kinds of events that there have been, and who decides which events are tried out.
pub(crate) struct Sampling {
    limits: VerifyLimits,
    kinds: Vec<VerifiedKind>,
    /// The kinds, by the kind of the LP and the words of the event.
    known: HashMap<String, HashMap<String, usize>>,
    words: Words,
    /// How many LPs there have been, by their kind.
    lps: HashMap<String, u64>,
    began: Instant,
    trying: Duration,
    /// How long the last dry run took.
    last: Duration,
    /// Events that would have been tried had there been time.
    passed_over: u64,
}

impl Sampling {
    pub(crate) fn new(limits: VerifyLimits) -> Self {
        Sampling {
            limits,
            kinds: Vec::new(),
            known: HashMap::new(),
            words: Words::default(),
            lps: HashMap::new(),
            began: Instant::now(),
            trying: Duration::ZERO,
            last: Duration::ZERO,
            passed_over: 0,
        }
    }

    /// Counts an LP of this kind before it is initialised. Returns whether that is to be tried out.
    pub(crate) fn count_lp(&mut self, kind: &str) -> bool {
        if !self.lps.contains_key(kind) {
            self.lps.insert(kind.to_owned(), 0);
        }
        let Some(count) = self.lps.get_mut(kind) else { return true };
        *count += 1;
        let has_time = self
            .limits
            .patience
            .is_none_or(|patience| self.began.elapsed() <= patience.mul_f64(AT_ONCE));
        *count == 1 || has_time && is_drawn(*count, self.limits.each, 0)
    }

    /// All LPs have been initialised.
    pub(crate) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// The kinds of LPs that no event reached.
    pub(crate) fn idle(&self) -> Vec<String> {
        let mut idle: Vec<String> =
            self.lps.keys().filter(|kind| !self.known.contains_key(*kind)).cloned().collect();
        idle.sort_unstable();
        idle
    }

    /// Counts an event of an LP of this kind, when the run has `come` so far, from 0 to 1. Returns
    /// whether it is to be tried out.
    pub(crate) fn count(&mut self, event: &impl Debug, lp: &str, come: f64, may_try: bool) -> bool {
        let kind = self.kind(event, lp);
        let VerifiedKind { events, tried, .. } = &mut self.kinds[kind];
        *events += 1;
        let wanted = is_drawn(*events, self.limits.each, kind as u64);
        let allowed = self
            .limits
            .patience
            .map(|patience| patience.mul_f64((AT_ONCE + (1.0 - AT_ONCE) * come).clamp(0.0, 1.0)));
        let has_time =
            may_try && (*tried == 0 || allowed.is_none_or(|allowed| self.trying < allowed));
        *tried += u64::from(wanted && has_time);
        self.passed_over += u64::from(wanted && !has_time);
        wanted && has_time
    }

    /// Counts an event of an LP of this kind, which nothing can undo, so that it is not tried out.
    pub(crate) fn count_untried(&mut self, event: &impl Debug, lp: &str) {
        let kind = self.kind(event, lp);
        self.kinds[kind].events += 1;
    }

    /// Notes how long a dry run took on a core. Time in which others had the core does not count.
    pub(crate) fn note_dry_run(&mut self, took: Duration) {
        self.trying += took;
        self.last = took;
    }

    /// Whether the last dry run took long, so that the clock should be read.
    pub(crate) fn is_slow(&self) -> bool {
        self.last >= SLOW
    }

    /// Whether there is no time left.
    pub(crate) fn time_is_up(&self) -> bool {
        self.limits.patience.is_some_and(|patience| self.began.elapsed() >= patience)
    }

    /// How many events were tried out.
    pub(crate) fn tried(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.tried).sum()
    }

    /// Whether there was too little time for all events that were to be tried out.
    pub(crate) fn is_short_of_time(&self) -> bool {
        self.passed_over > 0
    }

    /// The kinds of events that there were, the most frequent first.
    pub(crate) fn into_kinds(self) -> Vec<VerifiedKind> {
        let mut kinds = self.kinds;
        kinds.sort_by(|a, b| {
            b.events.cmp(&a.events).then_with(|| (&a.event, &a.lp).cmp(&(&b.event, &b.lp)))
        });
        kinds
    }

    fn kind(&mut self, event: &impl Debug, lp: &str) -> usize {
        self.words.read(event);
        if self.kinds.len() >= KINDS
            && !self.known.get(lp).is_some_and(|known| known.contains_key(&self.words.text))
        {
            self.words.keep_first();
        }
        if let Some(kind) = self.known.get(lp).and_then(|known| known.get(&self.words.text)) {
            return *kind;
        }
        let kind = self.kinds.len();
        self.kinds.push(VerifiedKind {
            event: self.words.text.clone(),
            lp: lp.to_owned(),
            events: 0,
            tried: 0,
        });
        self.known.entry(lp.to_owned()).or_default().insert(self.words.text.clone(), kind);
        kind
    }
}

/// Whether event `number` of a kind, from 1, is to be tried: the first `each` are, and as many on
/// average of each later stretch that is as long as all before it.
fn is_drawn(number: u64, each: Option<u64>, kind: u64) -> bool {
    each.is_none_or(|each| {
        number <= each
            || mix64(number ^ kind << 48) < (each as f64 / number as f64 * 2f64.powi(64)) as u64
    })
}

/// The first words of the text of an event that begin with a capital letter: its variant, and the
/// variants in it.
#[derive(Default)]
struct Words {
    text: String,
    count: usize,
    /// How much has been read.
    length: usize,
    inside: Inside,
    previous: char,
}

/// Where in a text its reader is.
#[derive(Clone, Copy, Default, PartialEq)]
enum Inside {
    #[default]
    Nothing,
    /// A word that counts.
    Name,
    /// A word that does not.
    Word,
    /// Text in quotes of this kind.
    Quotes(char),
}

impl Words {
    fn read(&mut self, event: &impl Debug) {
        self.text.clear();
        self.count = 0;
        self.length = 0;
        self.inside = Inside::Nothing;
        self.previous = ' ';
        // An error says that enough has been read.
        let _ = write!(self, "{event:?}");
    }

    fn keep_first(&mut self) {
        self.text.truncate(self.text.find(' ').unwrap_or(self.text.len()));
    }

    fn push(&mut self, letter: char) {
        let is_word = letter.is_alphanumeric() || letter == '_';
        self.inside = match self.inside {
            Inside::Quotes(quote) if letter == quote && self.previous != '\\' => Inside::Nothing,
            Inside::Quotes(quote) => Inside::Quotes(quote),
            _ if letter == '"' || letter == '\'' => Inside::Quotes(letter),
            Inside::Name | Inside::Word if is_word => self.inside,
            _ if letter.is_uppercase() && self.count < WORDS => {
                if self.count > 0 {
                    self.text.push(' ');
                }
                self.count += 1;
                Inside::Name
            }
            _ if is_word => Inside::Word,
            _ => Inside::Nothing,
        };
        if self.inside == Inside::Name {
            self.text.push(letter);
        }
        // Of two backslashes in a row, the second escapes nothing.
        self.previous = if self.previous == '\\' { ' ' } else { letter };
    }
}

impl Write for Words {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.length += piece.len();
        let text = piece.get(..READ.min(piece.len())).unwrap_or_default();
        text.chars().for_each(|letter| self.push(letter));
        if self.length < READ { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(each: u64) -> VerifyLimits {
        VerifyLimits { each: Some(each), ..VerifyLimits::default() }
    }

    fn words(text: &str) -> String {
        let mut words = Words::default();
        words.read(&format_args!("{text}"));
        words.text
    }

    #[test]
    fn a_kind_is_named_by_its_variants() {
        for (text, name) in [
            ("()", ""),
            ("17", ""),
            ("Arrive", "Arrive"),
            ("Customer { number: 0, Kind: 3 }", "Customer Kind"),
            ("Packet(Tcp { to: Some(3), via: None })", "Packet Tcp Some"),
            ("Note(\"Not \\\"A\\\" Word\", 'X', First)", "Note First"),
            ("event_Of 0Xff", ""),
        ] {
            assert_eq!(words(text), name, "{text}");
        }
    }

    #[test]
    fn the_text_of_a_large_event_is_not_read_to_its_end() {
        assert_eq!(words(&format!("Large({})", "1, ".repeat(10_000) + "End")), "Large");
    }

    #[test]
    fn few_events_are_all_tried_and_of_many_some_from_everywhere() {
        let mut sampling = Sampling::new(limits(100));
        for number in 0..100_000u32 {
            let tries = sampling.count(&format_args!("Often"), "till", 0.0, true);
            assert!(tries || number >= 100);
            if number % 1000 == 7 {
                assert!(sampling.count(&format_args!("Rare"), "till", 0.0, true), "{number}");
            }
        }
        let kinds = sampling.into_kinds();
        let [often, rare] = &kinds[..] else { panic!("{kinds:?}") };
        assert_eq!((rare.event.as_str(), rare.events, rare.tried), ("Rare", 100, 100));
        // 100 (1 + ln 1000)
        assert!(often.events == 100_000 && (700..900).contains(&often.tried), "{often:?}");
    }

    #[test]
    fn late_events_are_tried_too() {
        let mut sampling = Sampling::new(limits(50));
        let tried: Vec<u32> = (0..10_000).filter(|_| sampling.count(&(), "", 0.0, true)).collect();
        let late = tried.iter().filter(|number| **number >= 5000).count();
        assert!((20..60).contains(&late), "{late} of {}", tried.len());
    }

    #[test]
    fn expensive_dry_runs_are_spread_over_the_run() {
        let patience = Duration::from_secs(10);
        let mut sampling = Sampling::new(VerifyLimits {
            each: Some(1000),
            patience: Some(patience),
            ..VerifyLimits::default()
        });
        let tried = (0..1000u32).filter(|number| {
            let tries = sampling.count(&(), "", f64::from(*number) / 1000.0, true);
            if tries {
                sampling.note_dry_run(patience / 10);
            }
            tries
        });
        let tried: Vec<u32> = tried.collect();
        assert_eq!(tried, [0, 1, 112, 223, 334, 445, 556, 667, 778, 889]);
        assert!(sampling.is_short_of_time());
    }

    #[test]
    fn too_many_kinds_are_told_apart_by_their_first_word() {
        let mut sampling = Sampling::new(limits(1));
        for number in 0..1000 {
            sampling.count(&format_args!("Event(Kind{number})"), "", 0.0, true);
        }
        let kinds = sampling.into_kinds();
        assert_eq!(kinds.len(), KINDS + 1);
        assert_eq!(
            kinds[0],
            VerifiedKind {
                event: "Event".into(),
                lp: String::new(),
                events: 1000 - KINDS as u64,
                tried: kinds[0].tried
            }
        );
    }
}
