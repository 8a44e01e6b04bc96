//! Why a run has the engine that it has, in words.

use super::speed::Ratio;
use crate::Synchronisation;
use crate::policy::engine_choice::Engine;

pub(super) const BEGINNING: &str = "every run begins sequentially";
pub(super) fn large(lps: u32) -> String {
    format!("a model of {lps} LPs begins in parallel, as it would take long to hand over")
}

pub(super) const OVER: &str = "; the run ended meanwhile";

pub(super) const TOO_SHORT: &str = "; too little was left for trying another engine";

pub(super) fn nothing_else(lps: u32) -> String {
    match lps {
        1 => "; with one LP there is no other way".to_owned(),
        _ => "; with one thread there is no other way".to_owned(),
    }
}

pub(super) fn nothing_suitable(pending: usize) -> String {
    format!("; with {pending} pending events, PEs would mostly wait for each other")
}

/// An engine for people.
fn name(engine: Engine) -> String {
    match engine.sync {
        Synchronisation::Sequential => "the sequential engine".to_owned(),
        sync => format!("the {} engine with {} PEs", sync.name(), engine.pes),
    }
}

pub(super) fn tried(engine: Engine, window: f64, has_lookahead: bool) -> String {
    match engine.sync {
        Synchronisation::Sequential => "tried for comparison".to_owned(),
        _ if window >= 1.0 && window.is_finite() => {
            format!(
                "tried, as each of {} PEs has about {window:.0} events within the lookahead",
                engine.pes
            )
        }
        Synchronisation::Optimistic if !has_lookahead => {
            "tried, as without lookahead PEs may still go ahead".to_owned()
        }
        _ => "tried, as enough of the run is left".to_owned(),
    }
}

pub(super) fn tried_again() -> String {
    "tried again, as it has been a while".to_owned()
}

pub(super) fn tried_after_change(chosen: Engine) -> String {
    format!("tried again, as the rate of {} has changed", name(chosen))
}

/// What is added where cores count.
fn per_core(ratio: Ratio) -> &'static str {
    if ratio.per_core { " per core, as others use the cores as well" } else { "" }
}

pub(super) fn stays(than: Engine, ratio: Ratio) -> String {
    format!(
        "; kept, as it is {:.2} times as fast as {}{}",
        ratio.times,
        name(than),
        per_core(ratio)
    )
}

pub(super) fn was_slower(than: Engine, ratio: Ratio) -> String {
    format!("; it had {:.2} times the rate of {}{}", ratio.times, name(than), per_core(ratio))
}

pub(super) fn was_uneven(than: Engine, ratio: Ratio, uneven: f64) -> String {
    was_slower(than, ratio) + &format!(", while one PE had {uneven:.1} times the mean work")
}

pub(super) fn evened_out() -> String {
    "tried again, with LPs shared out evenly by what they turned out to cost".to_owned()
}

pub(super) fn goes_back(from: Engine, ratio: Ratio) -> String {
    format!("{} had only {:.2} times its rate{}", name(from), ratio.times, per_core(ratio))
}

pub(super) fn is_faster(than: Engine, ratio: Ratio) -> String {
    format!(
        "in its trial it was {:.2} times as fast as {}{}, before and after it",
        ratio.times,
        name(than),
        per_core(ratio)
    )
}
