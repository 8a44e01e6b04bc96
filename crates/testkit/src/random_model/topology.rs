use warpline::{LpId, Random};

use super::recipe::{Recipe, Shape};

/// The LPs that each LP may send to; `None` if it may send to any.
pub fn neighbours(recipe: &Recipe) -> Option<Vec<Vec<LpId>>> {
    let lps = recipe.lps;
    let of = |lp: u32| -> Vec<u32> {
        match recipe.topology {
            Shape::Uniform => Vec::new(),
            Shape::Ring { reach } => (1..=reach % lps.max(1))
                .flat_map(|far| [(lp + far) % lps, (lp + lps - far) % lps])
                .collect(),
            Shape::Grid => grid(lp, lps),
            Shape::Star if lp == 0 => (1..lps).collect(),
            Shape::Star => vec![0],
            Shape::Sparse { degree } => {
                let mut random = Random::new(recipe.seed, LpId(lp), 1);
                (0..degree).map(|_| random.below(lps)).collect()
            }
        }
    };
    let tidy = |lp: u32| {
        let mut all = of(lp);
        all.retain(|&other| other != lp);
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(LpId).collect()
    };
    (recipe.topology != Shape::Uniform).then(|| (0..lps).map(tidy).collect())
}

fn grid(lp: u32, lps: u32) -> Vec<u32> {
    let width = (1..=lps).find(|side| side * side >= lps).unwrap_or(1);
    let row = lp / width;
    let column = lp % width;
    let mut all = Vec::new();
    if column > 0 {
        all.push(lp - 1);
    }
    if column + 1 < width {
        all.push(lp + 1);
    }
    if row > 0 {
        all.push(lp - width);
    }
    all.push(lp + width);
    all.retain(|&other| other < lps);
    all
}
