//! The delays that a random model declares, as a function of its recipe.

use warpline::LpId;
use warpline::base::random::mix64;

use super::recipe::{Declares, Recipe, Shape};

/// How much more than the lookahead of the model an LP or a link may declare.
const MORE: [f64; 5] = [0.0, 0.0, 0.125, 0.7, 2.0];
/// LPs form groups of this size. Links between groups always declare more than the model, so that
/// some models have lookahead only between PEs.
const GROUP: u32 = 4;

fn more(recipe: &Recipe, from: LpId, to: Option<LpId>) -> f64 {
    let within = to.is_none_or(|to| from.0 / GROUP == to.0 / GROUP);
    let to = to.map_or(u32::MAX, |to| to.0);
    let choice = mix64(recipe.seed ^ mix64(u64::from(from.0) << 32 | u64::from(to)));
    let all = if within { &MORE[..] } else { &MORE[2..] };
    all[(choice % all.len() as u64) as usize]
}

/// Whether `lp` declares links.
pub(super) fn has_links(recipe: &Recipe, lp: LpId) -> bool {
    recipe.declares == Declares::Links
        && (recipe.topology != Shape::Uniform || lp.0.is_multiple_of(2))
}

/// The lookahead that `lp` declares for all its sends, if it differs from that of the model.
pub(super) fn of_lp(recipe: &Recipe, lp: LpId) -> Option<f64> {
    let more = if recipe.declares == Declares::Model { 0.0 } else { more(recipe, lp, None) };
    (more > 0.0).then_some(recipe.lookahead + more)
}

/// The least delay that is declared for sends from one LP to another, if it may send there.
pub(super) fn between(recipe: &Recipe, from: LpId, to: LpId) -> f64 {
    if from == to {
        0.0
    } else if has_links(recipe, from) {
        recipe.lookahead + more(recipe, from, Some(to))
    } else {
        of_lp(recipe, from).unwrap_or(recipe.lookahead)
    }
}
